"""Kernels in the manner of NPBench (Ziogas et al., 2021): physics, transforms, finance."""

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(
    args=lambda rng: (rng.uniform(0.5, 2, size=(4, 1)), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))), wrt=(0, 1, 2)
)
def nbody(mass, pos, vel):
    def accelerations(pos, mass, G, softening):
        x = pos[:, 0:1]
        y = pos[:, 1:2]
        z = pos[:, 2:3]
        dx = x.T - x
        dy = y.T - y
        dz = z.T - z
        inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
        inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
        ax = G * (dx * inv_r3) @ mass
        ay = G * (dy * inv_r3) @ mass
        az = G * (dz * inv_r3) @ mass
        return np.hstack((ax, ay, az))

    def energies(pos, vel, mass, G):
        KE = 0.5 * np.sum(mass * vel**2)
        x = pos[:, 0:1]
        y = pos[:, 1:2]
        z = pos[:, 2:3]
        dx = x.T - x
        dy = y.T - y
        dz = z.T - z
        inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
        inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
        PE = G * np.sum(np.triu(-(mass * mass.T) * inv_r, 1))
        return KE, PE

    steps, dt = 3, 0.01
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = accelerations(pos, mass, 1.0, 0.1)
    KE = np.ndarray(steps + 1, dtype=np.float64)
    KE[0], PE = energies(pos, vel, mass, 1.0)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = accelerations(pos, mass, 1.0, 0.1)
        vel += acc * dt / 2.0
        KE[i + 1], _ = energies(pos, vel, mass, 1.0)
    return np.sum(KE) + np.sum(pos * vel)


@program(
    args=lambda rng: (rng.uniform(0.5, 2, size=4), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))), wrt=(0, 1, 2)
)
def nbody_of_elements(mass, pos, vel):
    n = len(mass)
    for step in range(2):
        for i in range(n):
            for j in range(i + 1, n):
                d2 = 0.0
                for k in range(3):
                    d2 += (pos[i, k] - pos[j, k]) ** 2
                mag = 0.01 / (d2 + 0.1) ** 1.5
                for k in range(3):
                    dx = pos[i, k] - pos[j, k]
                    vel[i, k] -= dx * mass[j] * mag
                    vel[j, k] += dx * mass[i] * mag
        for i in range(n):
            for k in range(3):
                pos[i, k] += 0.01 * vel[i, k]
    return np.sum(mass[:, None] * vel * vel) + np.sum(pos**3)


@program(args=lambda rng: (rng.normal(size=12), rng.uniform(0.1, 3.9, size=12)), wrt=(0,))
def azimuthal_integration(data, radius):
    npt = 4
    rmax = radius.max()
    res = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        mask_r12 = np.logical_and((r1 <= radius), (radius < r2))
        values_r12 = data[mask_r12]
        on_values = 0.0
        if values_r12.size:
            on_values = values_r12.mean()
        res[i] = on_values
    return np.sum(res * res)


@program(
    args=lambda rng: (
        rng.normal(size=(5, 5)) * 0.1,
        rng.normal(size=(5, 5)) * 0.1,
        rng.normal(size=(5, 5)) * 0.1,
        1.1,
        0.1,
    ),
    wrt=(0, 1, 2, 3, 4),
)
def cavity_flow(u, v, p, rho, nu):
    dt, dx, dy, nit = 0.01, 0.25, 0.25, 3
    b = np.zeros_like(p)
    for n in range(2):
        un = u.copy()
        vn = v.copy()
        b[1:-1, 1:-1] = rho * (
            1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
            - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
            - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
            - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
        )
        for q in range(nit):
            pn = p.copy()
            p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2) / (
                2 * (dx**2 + dy**2)
            ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
        )
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = v[-1, :] = 0
        v[:, 0] = v[:, -1] = 0
    return np.sum(u * u) + np.sum(v * p)


@program(
    args=lambda rng: (rng.normal(size=(4, 5)) * 0.1, rng.normal(size=(4, 5)) * 0.1, rng.normal(size=(4, 5)) * 0.1, 1.0),
    wrt=(0, 1, 2, 3),
)
def channel_flow(u, v, p, F):
    dt, dx, dy, rho, nu = 0.01, 0.5, 0.5, 1.0, 0.1
    udiff, stepcount = 1.0, 0
    while udiff > 0.001 and stepcount < 3:
        un = u.copy()
        vn = v.copy()
        for q in range(2):
            pn = p.copy()
            p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2) / (
                2 * (dx**2 + dy**2)
            )
            p[1:-1, -1] = (pn[1:-1, 0] + pn[1:-1, -2]) / 2 + (pn[2:, -1] + pn[0:-2, -1]) / 2
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
            + F * dt
        )
        u[1:-1, -1] = un[1:-1, -1] - un[1:-1, -1] * dt / dx * (un[1:-1, -1] - un[1:-1, -2]) + F * dt
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        stepcount += 1
    return np.sum(u * u) + np.sum(v) + np.sum(p * u)


@program(args=lambda rng: (rng.normal(size=(3, 3)) * 0.3, rng.normal(size=(3, 3)) * 0.3), wrt=(0, 1))
def mandelbrot_smooth(cr, ci):
    zr = np.zeros(cr.shape)
    zi = np.zeros(cr.shape)
    escaped = np.zeros(cr.shape)
    for n in range(6):
        inside = zr * zr + zi * zi < 4.0
        zr[inside], zi[inside] = (
            zr[inside] ** 2 - zi[inside] ** 2 + cr[inside],
            2 * zr[inside] * zi[inside] + ci[inside],
        )
        escaped[inside] += 1.0 / (1.0 + np.exp(zr[inside] ** 2 + zi[inside] ** 2 - 4.0))
    return np.sum(escaped) + np.sum(zr)


@program(args=normal((8,), (8,)), wrt=(0, 1))
def stockham_fft_in_real_arithmetic(re, im):
    n = len(re)
    half = n // 2
    stages = int(np.log2(n))
    xr, xi = re.copy(), im.copy()
    yr, yi = np.empty(n), np.empty(n)
    l, m = half, 1
    for s in range(stages):
        for j in range(l):
            angle = -np.pi * j / l
            wr, wi = np.cos(angle), np.sin(angle)
            for k in range(m):
                ar, ai = xr[k + j * m], xi[k + j * m]
                br, bi = xr[k + j * m + l * m], xi[k + j * m + l * m]
                yr[k + 2 * j * m] = ar + br
                yi[k + 2 * j * m] = ai + bi
                dr, di = ar - br, ai - bi
                yr[k + 2 * j * m + m] = wr * dr - wi * di
                yi[k + 2 * j * m + m] = wr * di + wi * dr
        xr, yr = yr, xr
        xi, yi = yi, xi
        l //= 2
        m *= 2
    return np.sum(np.sqrt(xr**2 + xi**2 + 0.1)) + xr[1] * xi[2]


@program(
    args=lambda rng: (np.array([0, 2, 2, 5, 6]), np.array([0, 3, 1, 2, 0, 3]), rng.normal(size=6), rng.normal(size=4)),
    wrt=(2, 3),
)
def spmv_of_csr(rows, cols, vals, x):
    y = np.empty(rows.size - 1, vals.dtype)
    for i in range(rows.size - 1):
        c = cols[rows[i] : rows[i + 1]]
        v = vals[rows[i] : rows[i + 1]]
        y[i] = v @ x[c]
    return np.sum(y * y)


@program(
    args=lambda rng: (np.array([0, 2, 2, 5, 6]), np.array([0, 3, 1, 2, 0, 3]), rng.normal(size=6), rng.normal(size=4)),
    wrt=("vals", "x"),
)
def spmv_of_csr_elements(rows, cols, vals, x):
    y = np.zeros(len(rows) - 1)
    for i in range(len(rows) - 1):
        for k in range(rows[i], rows[i + 1]):
            y[i] += vals[k] * x[cols[k]]
    return np.sum(y * y)


@program(
    args=lambda rng: (rng.normal(size=(3, 2, 2)) + 2 * np.eye(2), rng.normal(size=(2, 2))), wrt=(0, 1), level="python"
)
def contour_integral(Ham, Y):
    n = Ham.shape[1]
    slab = Ham.shape[0]
    P0 = np.zeros((n, n), dtype=np.complex128)
    P1 = np.zeros((n, n), dtype=np.complex128)
    for z in (1.0 + 0.5j, -1.0 + 0.3j, 0.2 - 1.1j):
        Tz = np.zeros((n, n), dtype=np.complex128)
        for k in range(slab):
            zz = np.power(z, slab / 2 - k - 1)
            Tz += zz * Ham[k]
        X = np.linalg.inv(Tz)
        if abs(z) < 1.0:
            X = -X
        P0 += X @ Y
        P1 += z * (X @ Y)
    return np.sum(np.abs(P0) ** 2) + np.sum(P1.real)


@program(args=normal((6, 6, 2), (6, 6, 2), (2, 2, 2)), wrt=(0, 2))
def hdiff(in_field, out_field, coeff):
    I, J, K = 2, 2, 2
    lap_field = 4.0 * in_field[1 : I + 3, 1 : J + 3, :] - (
        in_field[2 : I + 4, 1 : J + 3, :]
        + in_field[0 : I + 2, 1 : J + 3, :]
        + in_field[1 : I + 3, 2 : J + 4, :]
        + in_field[1 : I + 3, 0 : J + 2, :]
    )
    res1 = lap_field[1:, 1 : J + 1, :] - lap_field[: I + 1, 1 : J + 1, :]
    flx_field = np.where((res1 * (in_field[2 : I + 3, 2 : J + 2, :] - in_field[1 : I + 2, 2 : J + 2, :])) > 0, 0, res1)
    res2 = lap_field[1 : I + 1, 1:, :] - lap_field[1 : I + 1, : J + 1, :]
    fly_field = np.where((res2 * (in_field[2 : I + 2, 2 : J + 3, :] - in_field[2 : I + 2, 1 : J + 2, :])) > 0, 0, res2)
    out_field[:I, :J, :] = in_field[2 : I + 2, 2 : J + 2, :] - coeff[:, :, :] * (
        flx_field[1:, :, :] - flx_field[:-1, :, :] + fly_field[:, 1:, :] - fly_field[:, :-1, :]
    )
    return np.sum(out_field[:I, :J] ** 2)


@program(
    args=lambda rng: (
        rng.normal(size=(2, 2, 4)), rng.normal(size=(2, 2, 4)), 0.3 * rng.normal(size=(3, 2, 4)),
        rng.normal(size=(2, 2, 4)), rng.normal(size=(2, 2, 4)), 1.5,
    ),
    wrt=(0, 1, 2, 3, 4, 5),
)  # fmt: skip
def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    BET_M, BET_P = 0.5, 0.5
    I, J, K = utens_stage.shape
    ccol = np.ndarray((I, J, K), dtype=utens_stage.dtype)
    dcol = np.ndarray((I, J, K), dtype=utens_stage.dtype)
    data_col = np.ndarray((I, J), dtype=utens_stage.dtype)
    for k in range(1):
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        cs = gcv * BET_M
        ccol[:, :, k] = gcv * BET_P
        bcol = dtr_stage - ccol[:, :, k]
        correction_term = -cs * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction_term
        divided = 1.0 / bcol
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = dcol[:, :, k] * divided
    for k in range(1, K - 1):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        as_ = gav * BET_M
        cs = gcv * BET_M
        acol = gav * BET_P
        ccol[:, :, k] = gcv * BET_P
        bcol = dtr_stage - acol - ccol[:, :, k]
        correction_term = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - cs * (
            u_stage[:, :, k + 1] - u_stage[:, :, k]
        )
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction_term
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = (dcol[:, :, k] - (dcol[:, :, k - 1]) * acol) * divided
    for k in range(K - 1, K):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        as_ = gav * BET_M
        acol = gav * BET_P
        bcol = dtr_stage - acol
        correction_term = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction_term
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided
    for k in range(K - 1, K - 2, -1):
        datacol = dcol[:, :, k]
        data_col[:] = datacol
        utens_stage[:, :, k] = dtr_stage * (datacol - u_pos[:, :, k])
    for k in range(K - 2, -1, -1):
        datacol = dcol[:, :, k] - ccol[:, :, k] * data_col[:, :]
        data_col[:] = datacol
        utens_stage[:, :, k] = dtr_stage * (datacol - u_pos[:, :, k])
    return np.sum(utens_stage**2)


@program(args=lambda rng: (rng.uniform(20, 30, size=4), 0.2, 25.0), wrt=(0, 1, 2))
def go_fast_and_arc_distance(a, theta, z):
    trace = 0.0
    m = np.outer(a, np.sin(a)) * theta
    for i in range(m.shape[0]):
        trace += np.tanh(m[i, i])
    temp = np.sin((a - z) / 2) ** 2 + np.cos(a) * np.cos(z) * np.sin(theta / 2) ** 2
    d = 2 * np.arctan2(np.sqrt(np.abs(temp)), np.sqrt(np.abs(1 - temp) + 1))
    return np.sum(m + trace) + np.sum(d)


@program(
    args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), 0.01, rng.normal(size=(4, 4))), wrt=(0, 1, 3)
)
def scattering_self_energies(G, D, w, dH):
    nk, na = G.shape
    sigma = np.zeros_like(G)
    for k in range(nk):
        for q in range(nk):
            for a in range(na):
                for b in range(na):
                    if k - q >= 0:
                        dHG = G[k - q, a] * dH[a, b]
                        dHD = dH[b, a] * D[q, b]
                        sigma[k, a] += dHG * dHD
    return np.sum(sigma * sigma)
