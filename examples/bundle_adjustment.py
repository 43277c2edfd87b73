"""Fits cameras and points to what the cameras see (bundle adjustment): sourcead finds which elements of the Jacobian are zero.

Each observation depends on one camera and one point, so that a few sweeps give the whole Jacobian, whatever the number of points.

    python examples/bundle_adjustment.py
    python examples/bundle_adjustment.py --points 2000 --plot fit.png
"""

import argparse

import numpy as np
from comparison import picture
from scipy.optimize import least_squares

from sourcead import jacobian, sparse_pattern

NUMBERS = 7  # of a camera: the axis times the angle of its rotation, its translation, its focal length


def turned(rotations: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Turns points, a row each, about axes by angles: each row of `rotations` is the axis times the angle (Rodrigues' formula)."""
    angles = np.sqrt(np.sum(rotations**2, axis=1, keepdims=True))
    axes = rotations / angles
    along = np.sum(axes * points, axis=1, keepdims=True) * axes
    return np.cos(angles) * points + np.sin(angles) * np.cross(axes, points) + (1 - np.cos(angles)) * along


def residuals(parameters: np.ndarray, of_camera: np.ndarray, of_point: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Gives the differences, in pixels, between where cameras see points and where they should."""
    count = NUMBERS * (of_camera.max() + 1)
    cameras, points = parameters[:count].reshape(-1, NUMBERS)[of_camera], parameters[count:].reshape(-1, 3)[of_point]
    in_front = turned(cameras[:, :3], points) + cameras[:, 3:6]
    return np.ravel(cameras[:, 6:] * in_front[:, :2] / in_front[:, 2:] - seen)


def made_scene(cameras: int, points: int, seen_by: int, seed: int = 0):
    """Gives true parameters, which camera sees which point, and where, with noise of half a pixel."""
    rng = np.random.default_rng(seed)
    turns = np.linspace(-0.6, 0.6, cameras)[:, None] * [0.1, 1.0, 0.05] + 1e-3
    poses = np.column_stack([turns, np.tile([0.0, 0.0, 6.0], (cameras, 1)), np.full(cameras, 500.0)])
    cloud = rng.normal(size=(points, 3))
    of_point = np.repeat(np.arange(points), seen_by)
    of_camera = np.concatenate([rng.choice(cameras, seen_by, replace=False) for _ in range(points)])
    truth = np.concatenate([poses.ravel(), cloud.ravel()])
    seen = residuals(truth, of_camera, of_point, 0.0).reshape(-1, 2)
    return truth, of_camera, of_point, seen + 0.5 * rng.normal(size=seen.shape)


slopes = jacobian(residuals, sparse=True)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cameras", type=int, default=8, help="(default: 8)")
    parser.add_argument("--points", type=int, default=200, help="(default: 200)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the elements of the Jacobian")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated text of one sweep")
    options = parser.parse_args(argv)
    truth, *scene = made_scene(options.cameras, options.points, min(4, options.cameras))
    start = truth + 0.02 * np.random.default_rng(1).normal(size=truth.size)
    found = sparse_pattern(residuals)(start, *scene)
    print(repr(found))
    fit = least_squares(residuals, start, slopes, args=scene, x_scale="jac", method="trf", tr_solver="lsmr", max_nfev=30)
    pixels = np.sqrt(np.mean(fit.fun**2))
    print(f"root mean square of the residuals: {np.sqrt(np.mean(residuals(start, *scene) ** 2)):.1f} pixels before, {pixels:.2f} after")
    picture(options.plot, found.plot)
    if options.show_gradient:
        print(slopes.source)
    return found, pixels


if __name__ == "__main__":
    main()
