"""Robots of arms, by classes of attrs."""

import numpy as np
from pybotics.geometry import matrix_2_vector, vector_2_matrix
from pybotics.link import RevoluteMDHLink
from pybotics.predefined_models import ur10
from pybotics.robot import Robot

from tests.packages.case import blend, case

REQUIREMENTS = ("pybotics==3.1.2", "attrs==26.1.0")
FIELD = "robotics"
Q = [0.1, 0.4, -0.3, 0.2, 0.5, 0.6]


def torques(wrench):
    robot = Robot.from_parameters(ur10())
    return blend(robot.compute_joint_torques(q=np.array(Q), wrench=wrench))


CASES = [
    case("pybotics.robot.Robot.fk", lambda q: blend(Robot.from_parameters(ur10()).fk(q)), Q),
    case("pybotics.robot.Robot.from_parameters", lambda p: blend(Robot.from_parameters(p).fk(np.array(Q[:2]))),
         [[0.1, 0.2, 0.3, 0.4], [0.3, 0.5, 0.1, 0.2]]),
    case("pybotics.robot.Robot.jacobian_world", lambda q: blend(Robot.from_parameters(ur10()).jacobian_world(q)), Q),
    case("pybotics.robot.Robot.compute_joint_torques", torques, [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]),
    case("pybotics.geometry.vector_2_matrix", lambda v: blend(vector_2_matrix(v)), Q),
    case("pybotics.geometry.matrix_2_vector", lambda v: blend(matrix_2_vector(vector_2_matrix(v))), Q),
    case("pybotics.link.RevoluteMDHLink.transform", lambda a, q: blend(RevoluteMDHLink(a, 0.2, 0.1, 0.4).transform(q)), 0.3, 0.7),
]
