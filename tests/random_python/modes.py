"""The ways to differentiate a program, each as a check that raises `Wrong`."""

import copy

import numpy as np

import sourcead
from sourcead import Revolve, Segments
from tests.random_python.judge import Discard, Wrong, run, slope
from tests.random_python.structure import close, direction, leaves, moved, product, resized, same, shaped_like


def value_and_gradient(subject):
    """The value is Python's, and the arguments stay as they are."""
    if not hasattr(subject, "gradient_function"):
        subject.gradient_function = sourcead.value_and_grad(subject.f, subject.wrt, verify=False)
    args = subject.copies()
    value, gradient = subject.gradient_function(*args)
    subject.gradient = gradient
    _same_value(value, subject.value)
    if not same(args, subject.copies()):
        raise Wrong("the arguments were changed")


def _same_value(value, wanted):
    if np.ndim(value) or not abs(float(value) - wanted) <= 1e-9 * (1 + abs(wanted)):
        raise Wrong(f"the value is {value!r}, Python's is {wanted!r}")


def gradient(subject):
    """The gradient agrees with differences in random directions, and has the shapes of the arguments."""
    _agrees(subject, subject.gradient, subject.args, subject.slopes)


def _agrees(subject, gradient, args, slopes):
    chosen = [a for n, a in zip(subject.names, args) if n in subject.wrt]
    if not shaped_like(tuple(gradient), tuple(chosen)):
        raise Wrong(f"the gradient has another structure than the arguments: {gradient!r}")
    for along, wanted, error in slopes:
        got = product(gradient, tuple(d for n, d in zip(subject.names, along) if n in subject.wrt))
        if not abs(got - wanted) <= error:
            raise Wrong(f"the slope in a direction is {got!r}, by differences {wanted!r}; the gradient is {gradient!r}")


def forward(subject):
    """Forward mode has Python's value, and the derivative by differences."""
    along, wanted, error = subject.slopes[0]
    tangents = [d if n in subject.wrt else None for n, d in zip(subject.names, along)]
    args = subject.copies()
    value, tangent = sourcead.jvp(subject.f, args, tangents, verify=False)
    _same_value(value, subject.value)
    if not same(args, subject.copies()):
        raise Wrong("the arguments were changed")
    if not abs(float(tangent) - wanted) <= error:
        raise Wrong(f"the tangent is {tangent!r}, by differences {wanted!r}")


def pullback(subject):
    """The pullback gives the gradient, the second time too."""
    value, pull = sourcead.vjp(subject.f, *subject.copies(), wrt=subject.wrt, verify=False)
    _same_value(value, subject.value)
    seed = type(value)(1) if not isinstance(value, np.ndarray) else np.ones((), value.dtype)
    first = copy.deepcopy(pull(seed))
    second = pull(seed)
    if not close(first, second, 1e-12):
        raise Wrong(f"the pullback gives {first!r}, then {second!r}")
    _agrees(subject, first, subject.args, subject.slopes)


def second(subject):
    """The product with the Hessian agrees with differences of the gradient."""
    along = subject.slopes[0][0]
    chosen = tuple(d for n, d in zip(subject.names, along) if n in subject.wrt)
    found = []
    for step in (1e-4, 1e-5):
        ahead = subject.gradient_function(*moved(subject.args, step, along))[1]
        behind = subject.gradient_function(*moved(subject.args, -step, along))[1]
        pairs = zip(leaves(tuple(ahead)), leaves(tuple(behind)), strict=True)
        found.append([(np.asarray(a) - np.asarray(b)) / (2 * step) for a, b in pairs])
    if not close(found[0], found[1], 1e-4):
        raise Discard("not smooth")
    got = sourcead.hvp(subject.f, subject.wrt, verify=False)(*subject.copies(), chosen)
    if not close(leaves(tuple(got)), found[1], 1e-4):
        raise Wrong(f"the product with the Hessian is {got!r}, by differences {found[1]!r}")


def _policy(subject, **options):
    value, gradient = sourcead.value_and_grad(subject.f, subject.wrt, **{"verify": False, **options})(*subject.copies())
    _same_value(value, subject.value)
    _agrees(subject, gradient, subject.args, subject.slopes)


def compiled(subject):
    """Numba's gradient agrees too."""
    _policy(subject, backend="numba")


def again(subject):
    """The gradient function, called again with other numbers, is still right; a first call did not change it."""
    if not same(subject.gradient_function(*subject.copies())[1], subject.gradient):
        raise Wrong("the second call gives another gradient")
    _elsewhere(subject, moved(subject.args, 0.11, direction(subject.args, subject.rng)))


def _elsewhere(subject, args):
    value = run(subject.f, args)
    slopes = [slope(subject.f, args, subject_along(subject, args))]
    got, gradient = subject.gradient_function(*copy.deepcopy(args))
    _same_value(got, value)
    _agrees(subject, gradient, args, slopes)


def subject_along(subject, args):
    """Return a random direction of other arguments of the program."""
    made = direction(args, subject.rng)
    return tuple(d if n in subject.wrt else moved(d, -1.0, d) for n, d in zip(subject.names, made))


def sizes(subject):
    """The gradient function, called with arrays of other sizes, is still right."""
    judged = 0
    for table in ({1: 2, 2: 3, 3: 4, 4: 5}, {2: 1, 3: 2, 4: 3}, {1: 0, 2: 0, 3: 0, 4: 0}):
        args = resized(subject.args, table)
        try:
            _elsewhere(subject, args)
            judged += 1
        except Discard:
            pass
    if not judged:
        raise Discard("no other sizes")


def fresh(subject):
    """A gradient that is made anew equals the one that has been called before."""
    value, gradient = sourcead.value_and_grad(subject.f, subject.wrt, verify=False)(*subject.copies())
    if not same(tuple(gradient), tuple(subject.gradient)):
        raise Wrong(f"made anew it gives {gradient!r}, before it gave {subject.gradient!r}")


MODES = {
    "value": value_and_gradient, "grad": gradient, "jvp": forward, "vjp": pullback, "hvp": second,
    "again": again, "sizes": sizes, "fresh": fresh,
    "store": lambda s: _policy(s, checkpoint="store"), "states": lambda s: _policy(s, checkpoint="states"),
    "recompute": lambda s: _policy(s, checkpoint="recompute"), "segments": lambda s: _policy(s, checkpoint=Segments(2)),
    "revolve": lambda s: _policy(s, checkpoint=Revolve(2)), "budget": lambda s: _policy(s, budget="1kB"),
    "verify": lambda s: _policy(s, verify="gradient"), "numba": compiled,
}
ALWAYS = ("value", "grad")
SHARE = {"jvp": 0.35, "vjp": 0.3, "hvp": 0.2, "again": 0.5, "sizes": 0.5, "fresh": 0.1, "verify": 0.2}
SHARE.update(dict.fromkeys(("store", "states", "recompute", "segments", "revolve", "budget"), 0.12))


def chosen(rng, wanted=None, numba=False):
    """Return the modes for one program: those that are wanted, or value and gradient and some others by chance."""
    modes = list(ALWAYS) + [m for m, p in SHARE.items() if (rng.random() < p if wanted is None else m in wanted)]
    return modes + ["numba"] * numba
