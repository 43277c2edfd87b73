"""A PID controller."""

from simple_pid import PID

from tests.packages.case import case

REQUIREMENTS = ("simple-pid==2.0.1",)
FIELD = "control"


def boiled(kp, ki, kd, setpoint):
    pid = PID(kp, ki, kd, setpoint=setpoint)
    pid.output_limits = (0, 100)
    temperature = 20.0
    for _ in range(5):
        power = pid(temperature, dt=0.1)
        temperature = temperature + 0.1 * power - 0.02 * (temperature - 20.0)
    return temperature


def tuned(kp, x):
    pid = PID()
    pid.tunings = (kp, 0.1, 0.05)
    pid(x, dt=0.1)
    p, i, d = pid.components
    return p + 2 * i + 3 * d


CASES = [
    case("simple_pid.PID.__call__", boiled, 1.0, 0.1, 0.05, 60.0),
    case("simple_pid.PID.components", tuned, 1.0, 0.5),
    case("simple_pid.PID proportional on measurement",
         lambda kp, x: PID(kp, 0.2, 0.1, 3.0, proportional_on_measurement=True, starting_output=1.0)(x, dt=0.2), 1.5, 0.5),
]
