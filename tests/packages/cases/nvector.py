"""Positions on the Earth as normal vectors, without singular points."""

import numpy as np
import nvector as nv

from tests.packages.case import blend, case

REQUIREMENTS = ("nvector==1.2.0",)
FIELD = "geodesy"


def distance_of_points(lat, lon):
    wgs84 = nv.FrameE(name="WGS84")
    a = wgs84.GeoPoint(lat[0], lon[0], degrees=True)
    b = wgs84.GeoPoint(lat[1], lon[1], degrees=True)
    s, azimuth, _ = a.distance_and_azimuth(b)
    return s + azimuth


def distance_on_the_sphere(lat, lon):
    n = nv.lat_lon2n_E(lat, lon)
    return blend(nv.great_circle_distance(n[:, :1], n[:, 1:]))


def vector_between(lat, lon, z):
    n = nv.lat_lon2n_E(lat, lon)
    return blend(nv.n_EA_E_and_n_EB_E2p_AB_N(n[:, :1], n[:, 1:], z[0], z[1]))


def off_the_track(lat, lon):
    n = nv.lat_lon2n_E(lat, lon)
    return blend(nv.cross_track_distance((n[:, :1], n[:, 1:2]), n[:, 2:], radius=6371e3))


CASES = [
    case("nvector.lat_lon2n_E", lambda lat, lon: blend(nv.lat_lon2n_E(lat, lon)), [0.6, 0.7], [0.2, 0.5]),
    case("nvector.n_E2lat_lon", lambda n: blend(*nv.n_E2lat_lon(n)), [[0.6], [0.3], [0.7]]),
    case("nvector.n_EB_E2p_EB_E", lambda n: blend(nv.n_EB_E2p_EB_E(nv.unit(n))), [[0.6], [0.3], [0.7]]),
    case("nvector.p_EB_E2n_EB_E", lambda p: blend(*nv.p_EB_E2n_EB_E(p)), [[5.7e6], [-1.2e6], [2.5e6]]),
    case("nvector.n_EA_E_and_n_EB_E2p_AB_N", vector_between, [0.2, 0.3], [0.1, 0.15], [3.0, 10.0]),
    case("nvector.great_circle_distance", distance_on_the_sphere, [1.5, 1.4], [0.3, 0.9]),
    case("nvector.cross_track_distance", off_the_track, [0.1, 0.3, 0.2], [0.2, 0.5, 0.4]),
    case("nvector.mean_horizontal_position", lambda n: blend(nv.mean_horizontal_position(n)), [[0.6, 0.5], [0.3, 0.2], [0.7, 0.8]]),
    case("nvector.R2xyz", lambda x, y, z: blend(*nv.R2xyz(nv.xyz2R(x, y, z))), 0.3, -0.2, 0.5),
    case("nvector.n_EA_E_distance_and_azimuth2n_EB_E",
         lambda s, az: blend(nv.n_EA_E_distance_and_azimuth2n_EB_E(np.array([[0.6], [0.0], [0.8]]), s, az)), 0.3, 0.8),
    # The nearly antipodal points of Karney's paper: for others the package takes roots of zero, whose values np.where does not select.
    case("nvector.GeoPoint.distance_and_azimuth", distance_of_points, [-30.0, 29.9], [0.0, 179.8]),
]
