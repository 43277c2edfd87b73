"""Second derivatives of programs with one function each: forward over reverse, and reverse over reverse, against differences of gradients."""

# ruff: noqa: E501  (tables of cases)

import numpy as np
import pytest

from sourcead import grad, jvp

special = pytest.importorskip("scipy.special")

pytestmark = pytest.mark.sampled(4)
rng = np.random.default_rng(0)
A = rng.normal(size=(4, 4)) + 3 * np.eye(4)
S = A @ A.T + np.eye(4)
x = rng.normal(size=5)
M, T = rng.normal(size=(3, 4)), rng.normal(size=(5, 3))
W = rng.normal(size=(4, 4))

PROGRAMS = {
    # fmt: off
    'norm': (lambda x: np.linalg.norm(x), x), 'norm3': (lambda x: np.linalg.norm(x,3), x), 'norm_ax': (lambda x: np.sum(np.linalg.norm(x,axis=1)**3), M),
    'nuc': (lambda x: np.linalg.norm(x,'nuc'), T), 'n2': (lambda x: np.linalg.norm(x,2), T), 'prod': (lambda x: np.prod(x), x), 'prodax': (lambda x: np.sum(np.prod(x,axis=1)**2), M),
    'cumprod': (lambda x: np.sum(np.cumprod(x)**2), x), 'std': (lambda x: np.std(x), x), 'var': (lambda x: np.sum(np.var(x,axis=0)**2), M),
    'det': (lambda a: np.linalg.det(a), A), 'slogdet': (lambda a: np.linalg.slogdet(a)[1], A), 'inv': (lambda a: np.sum(np.linalg.inv(a)**2), A),
    'solve': (lambda a: np.sum(np.linalg.solve(a, np.ones(4))**2), A), 'chol': (lambda a: np.sum(W*np.linalg.cholesky(a)), S),
    'eigh': (lambda a: np.sum(np.linalg.eigh(a)[0]**3), S), 'eighv': (lambda a: np.sum(W*np.linalg.eigh(a)[1]**2), S), 'eigvalsh': (lambda a: np.sum(np.linalg.eigvalsh(a)**3), S),
    'qr': (lambda a: np.sum(W*np.linalg.qr(a)[0])+np.sum(np.linalg.qr(a)[1]**2), A), 'svd': (lambda a: np.sum(np.linalg.svd(a,full_matrices=False)[0]**2*T)+np.sum(np.linalg.svd(a,compute_uv=False)**3), T),
    'pinv': (lambda a: np.sum(np.linalg.pinv(a)**2), T), 'lstsq': (lambda a: np.sum(np.linalg.lstsq(a, np.ones(5), rcond=None)[0]**2), T),
    'mpow': (lambda a: np.sum(np.linalg.matrix_power(a,3)**2), A/3), 'kron': (lambda a: np.sum(np.kron(a,a)**2), M), 'tdot': (lambda a: np.sum(np.tensordot(a,a.T,1)**2), M),
    'dot3': (lambda a: np.sum(np.dot(np.stack([a,2*a]),a.T)**3), M), 'conv': (lambda a: np.sum(np.convolve(a,a[:3],'same')**2), x), 'corr': (lambda a: np.sum(np.correlate(a,a[:3],'full')**3), x),
    'ein3': (lambda a: np.einsum('ij,jk,kl->',a,a,a), A), 'einell': (lambda a: np.sum(np.einsum('...i,i->...',a,a[0])**2), M), 'eindiag': (lambda a: np.einsum('ii->',a)**3, A),
    'interp': (lambda fp: np.sum(np.interp(np.linspace(0,3,7), np.array([0.,1.,2.,3.]), fp)**3), np.array([1.,3.,2.,4.])), 'interpx': (lambda t: np.sum(np.interp(t, np.array([0.,1.,2.,3.]), np.array([1.,3.,2.,4.]))**2), np.array([.3,1.2,2.6])),
    'polyval': (lambda p: np.sum(np.polyval(p,p)**2), np.array([.3,.2,.1])), 'quant': (lambda x: np.quantile(x,.3)**3, x), 'median': (lambda x: np.median(x)**3, x),
    'sort': (lambda x: np.sum(np.sort(x)**3*np.arange(5.)), x), 'max': (lambda x: np.max(x)**3, x), 'maxpy': (lambda x: max(x[0],x[1])**3, x), 'maxacc': (lambda x: np.sum(np.maximum.accumulate(x)**3), x),
    'diff': (lambda x: np.sum(np.diff(x,2)**3), x), 'gradient': (lambda x: np.sum(np.gradient(x)**3), x), 'pad': (lambda x: np.sum(np.pad(x,2,mode='reflect')**3), x), 'padc': (lambda x: np.sum(np.pad(x,2)**3), x),
    'tile': (lambda x: np.sum(np.tile(x,2)**3), x), 'repeat': (lambda x: np.sum(np.repeat(x,2)**3), x), 'take': (lambda x: np.sum(np.take(x,[0,0,1])**3), x), 'fancy': (lambda x: np.sum(x[np.array([0,0,1])]**3), x),
    'concat': (lambda x: np.sum(np.concatenate([x,x**2])**3), x), 'stack': (lambda x: np.sum(np.stack([x,x**2])**3), x), 'meshgrid': (lambda x: np.sum(np.meshgrid(x,x**2)[0]*np.meshgrid(x,x**2)[1]), x),
    'choose': (lambda x: np.sum(np.choose(np.array([0,1,1]),[x[:3],x[:3]**2])**3), x), 'select': (lambda x: np.sum(np.select([x>1,x>0],[x**3,x**2],0.5)), x), 'power': (lambda x: np.sum(np.abs(x)**x), np.abs(x)), 'power0': (lambda x: x[0]**x[1], np.array([2.,0.])),
    'sinc': (lambda x: np.sum(np.sinc(x)), np.array([0.,4e-16,1e-8,.02,.5,1.])), 'hypot': (lambda x: np.hypot(x[0],x[1]), x), 'lse': (lambda x: special.logsumexp(x), x), 'softmax': (lambda x: np.sum(special.softmax(x)**2), x),
    'rfft': (lambda x: np.sum(np.abs(np.fft.rfft(x))**3), x), 'irfft': (lambda x: np.sum(np.fft.irfft(x)**3), x), 'trapz': (lambda x: np.trapezoid(x,x**2), x), 'cov': (lambda x: np.sum(np.cov(x)**2), M), 'ptp': (lambda x: np.ptp(x)**3, x),
    'bcast': (lambda x: np.sum((x[:,None]*x)**2), x), 'linsp': (lambda x: np.sum(np.linspace(x[0],x[1],5)**3), x), 'avg': (lambda x: np.average(x,weights=x**2), x), 'vander': (lambda x: np.sum(np.vander(x,4)**2), x), 'normabsc': (lambda x: np.sum(np.abs(x+1j*x[::-1])**3), x), 'normc': (lambda x: np.linalg.norm(x+1j*x[::-1],3)**2, x),
    'multidot': (lambda a: np.sum(np.linalg.multi_dot([a,a.T,a])**2), M), 'logaddexp': (lambda x: np.sum(np.logaddexp(x,x**2)), x), 'cross': (lambda x: np.sum(np.cross(x[:3],x[2:])**3), x), 'nanvar': (lambda x: np.nanvar(x)**2, x), 'unwrap': (lambda x: np.sum(np.unwrap(x)**3), x), 'det0':(lambda a: np.linalg.det(np.stack([a,2*a]))[1], A),
    'roll': (lambda x: np.sum(np.roll(x,2)*x**2), x),'delete': (lambda x: np.sum(np.delete(x,1)**3), x),'insert': (lambda x: np.sum(np.insert(x,1,x[0]**2)**3), x),
    # fmt: on
}
ONE_TRIANGLE = ("chol", "eigh", "eighv", "eigvalsh")  # the gradient reads one triangle of a matrix, the difference both


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    f, a = PROGRAMS[name]
    v = np.random.default_rng(1).normal(size=a.shape)
    gradient = grad(f)
    d_a = gradient(a)
    expected = (gradient(a + 1e-6 * v) - gradient(a - 1e-6 * v)) / 2e-6
    scale = 1 + np.max(np.abs(expected))
    assert jvp(f, (a,), (v,))[1] == pytest.approx(np.sum(d_a * v), rel=1e-9, abs=1e-9)
    forward = jvp(gradient, (a,), (v,))[1]
    np.testing.assert_allclose(forward, expected, rtol=0, atol=1e-5 * scale)
    reverse = grad(lambda a: np.sum(gradient(a) * v))(a)
    assert np.sum(reverse * v) == pytest.approx(np.sum(forward * v), rel=1e-8, abs=1e-8 * scale)
    if name not in ONE_TRIANGLE:
        np.testing.assert_allclose(reverse, expected, rtol=0, atol=1e-5 * scale)
