"""ABCD matrices of optics, as objects that are multiplied and collected."""

from raytracing import DielectricInterface, GaussianBeam, ImagingPath, Lens, Matrix, MatrixGroup, Ray, Space, ThickLens

from tests.packages.case import case

REQUIREMENTS = ("raytracing==1.4.7",)
FIELD = "optics"


def traced(f, y):
    ray = Lens(f=f) * (Space(d=10.0) * Ray(y=y, theta=0.1))
    return ray.y + 2 * ray.theta


def imaged(f, d):
    path = ImagingPath()
    path.append(Space(d=d))
    path.append(Lens(f=f, diameter=25.0))
    path.append(Space(d=120.0))
    return path.A + 2 * path.B + 3 * path.C + 4 * path.D


def grouped(f):
    group = MatrixGroup([Space(d=f), Lens(f=f), Space(d=f)])
    ray = group.trace(Ray(y=1.0, theta=0.2))[-1]
    return ray.y + group.effectiveFocalLengths()[0]


CASES = [
    case("raytracing.Matrix.__mul__", lambda a, b: (Matrix(A=1, B=a, C=0, D=1) * Matrix(A=1, B=0, C=b, D=1)).A, 10.0, -0.1),
    case("raytracing.Lens", traced, 50.0, 2.0),
    case("raytracing.ImagingPath", imaged, 50.0, 80.0),
    case("raytracing.MatrixGroup.trace", grouped, 50.0),
    case("raytracing.ThickLens", lambda r, n: ThickLens(n=n, R1=r, R2=-80.0, thickness=5.0).C, 60.0, 1.5),
    case("raytracing.GaussianBeam", lambda w, d: (Space(d=d) * GaussianBeam(w=w, wavelength=0.0006)).w, 0.5, 100.0),
    case("raytracing.Matrix.backFocalLength", lambda r: DielectricInterface(n1=1.0, n2=1.5, R=r).C, 30.0),
]
