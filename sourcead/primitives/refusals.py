"""Functions that are refused if a derivative has to pass through them, listed under the reason for the refusal."""

from sourcead.places.spelling import spelled
from sourcead.primitives.function_kinds import GENERATORS

_REASONS = {
    "numpy": {
        "it reads, writes or names what lies outside of the program": """
            fromfile fromregex fromstring frombuffer from_dlpack genfromtxt load loadtxt memmap save savetxt savez savez_compressed
            DataSource""",
        "it makes a function of a function that the compiler does not see: write the loop, or call the function": """
            frompyfunc nditer nested_iters flatiter broadcast""",
        "it is a class of arrays of its own, and derivatives are those of plain arrays: use np.array": """
            matrix asmatrix bmat recarray record poly1d chararray char rec ma core strings void rec""",
        "it needs the Bessel function of order one, which NumPy lacks: use scipy.special.i0": "i0 kaiser",
        "the edges and the counts of several dimensions at once: use np.histogram, or np.bincount with weights": """
            histogram2d histogramdd""",
        "extended precision of complex numbers has no place in the types": "clongdouble complex256",
        "it chooses the type of the result by the values": "require",
        "it is deprecated, an alias of np.vstack": "row_stack",
        "it is deprecated, an alias of np.trapezoid": "trapz in1d",
        "ufuncs are called by name": "ufunc",
        "its result has names for its parts: use np.unique": "unique_all unique_counts unique_inverse",
        "it is deprecated or takes memory that is not an array": "msort sometrue alltrue product cumproduct asfarray find_common_type",
    },
    "numpy.linalg": {"it is an exception": "LinAlgError"},
    "ndarray": {
        "it shows the memory of the array, which the gradient does not share": """
            base ctypes data strides flags view getfield setfield setflags byteswap tobytes tofile dump dumps
            to_device device resize tostring""",
        "NumPy 2 has it no more": "newbyteorder ptp itemset",
    },
    "scipy.special": {
        "it returns whole sequences or tables of several orders": """
            assoc_legendre_p assoc_legendre_p_all legendre_p legendre_p_all sph_legendre_p sph_legendre_p_all sph_harm_y sph_harm_y_all
            sph_harm lpn lpmn clpmn lqmn lqn lmbda riccati_jn riccati_yn kelvin pbdn_seq pbdv_seq pbvv_seq obl_cv_seq pro_cv_seq""",
        "it returns an object, not an array: use the function that evaluates it": """
            chebyc chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi laguerre legendre sh_chebyt sh_chebyu
            sh_jacobi sh_legendre""",
        "no formula of its derivative is known here": """
            assoc_laguerre besselpoly diric ellip_harm ellip_harm_2 ellip_normal elliprc elliprd elliprg elliprj kolmogi kolmogorov lpmv
            log_wright_bessel mathieu_a mathieu_b mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1
            mathieu_modsem2 modfresnelm modfresnelp obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv
            pro_ang1 pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv smirnov smirnovi tklmbda airye zetac""",
        "no formula of its derivative in the parameters that it solves for is known here": """
            bdtri bdtrik bdtrin btdtr btdtri btdtria btdtrib chdtriv chndtr chndtridf chndtrinc chndtrix fdtridfd gdtria gdtrib nbdtri
            nbdtrik nbdtrin ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit nrdtrimn nrdtrisd pdtri
            pdtrik stdtridf""",
        "its nodes depend on parameters of which no derivative is known here": """
            roots_jacobi roots_gegenbauer roots_genlaguerre roots_sh_jacobi j_roots cg_roots la_roots js_roots""",
        "it is an exception or a warning": "SpecialFunctionError SpecialFunctionWarning",
    },
    "scipy.linalg": {
        "it is deprecated: use np.kron": "kron",
        "its factors depend on choices of pivots or orders, which jump": """
            ldl schur rsf2csf cdf2rdf qz ordqz hessenberg matrix_balance cossin
            qr_delete qr_insert qr_update qr_multiply rq clarkson_woodruff_transform""",
        "no formula of its derivative is known here": """
            cholesky_banded cho_solve_banded eig_banded eigvals_banded eigh_tridiagonal eigvalsh_tridiagonal expm_cond expm_frechet
            fractional_matrix_power funm signm solveh_banded orthogonal_procrustes
            subspace_angles diagsvd pinvh companion convolution_matrix fiedler fiedler_companion leslie""",
        "its vectors are of any length and order: use np.linalg.eig": "eig",
        "a basis of a space is not unique, and its derivative does not exist": "null_space orth",
        "it returns functions of a library": "find_best_blas_type get_blas_funcs get_lapack_funcs",
        "it is an exception or a warning": "LinAlgError LinAlgWarning",
    },
}  # fmt: skip

REFUSALS = {
    (home, name): reason for home, reasons in _REASONS.items() for reason, names in reasons.items() for name in names.split()
}
"""(where a name lives, the name) -> why it is refused."""


DRAWN = "what is drawn has none by its parameters"

FROM_STANDARD = {  # a draw whose parameters carry a derivative -> the same by a draw with fixed parameters
    "normal": "mu + sigma * {0}standard_normal(size)", "uniform": "low + (high - low) * {0}random(size)",
    "exponential": "scale * {0}standard_exponential(size)", "laplace": "mu + scale * {0}laplace(size=size)",
    "logistic": "mu + scale * {0}logistic(size=size)", "gumbel": "mu + scale * {0}gumbel(size=size)",
    "rayleigh": "scale * {0}rayleigh(size=size)", "lognormal": "np.exp(mu + sigma * {0}standard_normal(size))",
    "gauss": "mu + sigma * {0}gauss(0, 1)", "normalvariate": "mu + sigma * {0}gauss(0, 1)", "expovariate": "{0}expovariate(1) / lambd",
    **dict.fromkeys(("permutation", "permuted"), "x[{0}permutation(len(x))]"), "choice": "x[{0}choice(len(x))]",
    "multivariate_normal": "mean + np.linalg.cholesky(cov) @ {0}standard_normal(len(mean))",
}  # fmt: skip


def draw_from_standard(function) -> str | None:
    """Return what to write in place of a draw from parameters that carry a derivative, None for a function that draws nothing."""
    if reason_of(function) is not DRAWN:
        return None
    home = f"{spelled(function).rpartition('.')[0]}."
    home = "rng." if home.startswith(("np.random.Generator", "np.random.RandomState", "random.Random")) else home
    form = FROM_STANDARD.get(getattr(function, "__name__", ""))
    if form is None:
        return "a draw with fixed parameters, of which the result is calculated, or draw outside of your function and pass what is drawn"
    form = form.format(home)
    return f"`{form.replace('random(size)', 'random_sample(size)') if home == 'np.random.' else form}`, a draw with fixed parameters"


def reason_of(function) -> str | None:
    """Return the reason why a function is refused, or None if there is no entry for it."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", "")
    if module.startswith(("numpy.random", "random")) or any(getattr(cls, name, None) is function for cls in GENERATORS):
        return DRAWN
    home = next((home for home in _REASONS if module.startswith(home)), "scipy.special" if not module else "numpy")
    return REFUSALS.get((home, name)) or (REFUSALS.get(("numpy", name)) if module.startswith("numpy") else None)
