"""Kinematics of chains of links."""

from ikpy.chain import Chain
from ikpy.link import OriginLink, URDFLink
from ikpy.utils import geometry

from tests.packages.case import blend, case

REQUIREMENTS = ("ikpy==4.2.1", "sympy==1.14.0")
FIELD = "robotics"
ARM = Chain(name="left_arm", links=[
    OriginLink(),
    URDFLink(name="shoulder", origin_translation=[-10, 0, 5], origin_orientation=[0, 1.57, 0], rotation=[0, 1, 0]),
    URDFLink(name="elbow", origin_translation=[25, 0, 0], origin_orientation=[0, 0, 0], rotation=[0, 1, 0]),
    URDFLink(name="wrist", origin_translation=[22, 0, 0], origin_orientation=[0, 0, 0], rotation=[0, 1, 0]),
])


def made(x, q):
    chain = Chain(name="arm", links=[
        OriginLink(),
        URDFLink(name="shoulder", origin_translation=[x, 0, 5], origin_orientation=[0, 1.57, 0], rotation=[0, 1, 0]),
    ])
    return blend(chain.forward_kinematics([0.0, q]))


CASES = [
    case("ikpy.chain.Chain.forward_kinematics", lambda q: blend(ARM.forward_kinematics(q)), [0.0, 0.3, 0.5, -0.2]),
    case("ikpy.chain.Chain", made, 10.0, 0.3),
    case("ikpy.utils.geometry.rpy_matrix", lambda a, b, c: blend(geometry.rpy_matrix(a, b, c)), 0.1, 0.2, 0.3),
    case("ikpy.utils.geometry.axis_rotation_matrix",
         lambda v, a: blend(geometry.axis_rotation_matrix(v, a)), [0.0, 0.6, 0.8], 0.3),
]
