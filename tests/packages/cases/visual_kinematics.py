"""Robots of arms, as objects with many properties."""

import numpy as np
from visual_kinematics.Frame import Frame
from visual_kinematics.RobotDelta import RobotDelta
from visual_kinematics.RobotSerial import RobotSerial

from tests.packages.case import blend, case

REQUIREMENTS = ("visual-kinematics==0.2.1",)
FIELD = "robotics"
DH = [[0.163, 0.0, 0.5 * np.pi, 0.0], [0.0, 0.632, np.pi, 0.5 * np.pi], [0.0, 0.6005, np.pi, 0.0]]


def reached(dh, q):
    robot = RobotSerial(dh)
    f = robot.forward(q)
    return blend(f.t_3_1, f.r_3_3)


def jacobian(q):
    robot = RobotSerial(np.array(DH))
    robot.forward(q)
    return blend(robot.jacobian)


CASES = [
    case("visual_kinematics.RobotSerial.forward", reached, DH, [0.1, 0.4, -0.3]),
    case("visual_kinematics.RobotSerial.jacobian", jacobian, [0.1, 0.4, -0.3]),
    case("visual_kinematics.RobotDelta.forward",
         lambda q, r: blend(RobotDelta(np.array([r, 2.2 / 4, 3.15, 7.4])).forward(q).t_3_1), [0.3, 0.4, 0.2], 1.2),
    case("visual_kinematics.RobotDelta.inverse",
         lambda t: blend(RobotDelta(np.array([4.0, 2.2, 3.15, 7.4])).inverse(Frame.from_r_3_3(np.eye(3), t))), [[0.2], [0.4], [-7.0]]),
    case("visual_kinematics.Frame.from_euler_3", lambda e: blend(Frame.from_euler_3(e, np.ones((3, 1))).q_4), [0.1, 0.4, -0.3]),
    case("visual_kinematics.Frame.inv",
         lambda p: blend((Frame.from_dh(p) * Frame.from_dh(p[::-1]).inv).t_3_1), [0.1, 0.4, -0.3, 0.2]),
    case("visual_kinematics.Frame.angle_to",
         lambda p: Frame.from_dh(p).angle_to(Frame.from_dh([0.0, 0.1, 0.2, 1.0])), [0.1, 0.4, -0.3, 0.2]),
]
