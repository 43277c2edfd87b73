"""Self-organizing maps."""

from minisom import MiniSom

from tests.packages.case import blend, case

REQUIREMENTS = ("MiniSom==2.3.6",)
FIELD = "networks"
DATA = [[0.80, 0.55, 0.22], [0.82, 0.50, 0.23], [0.10, 0.54, 0.36]]


def quantized(data):
    som = MiniSom(3, 3, 3, sigma=0.8, learning_rate=0.5, random_seed=1)
    return som.quantization_error(data)


def updated(x, rate):
    som = MiniSom(3, 3, 3, sigma=0.8, learning_rate=rate, random_seed=1)
    som.update(x, som.winner(x), 0, 10)
    return blend(som.get_weights())


CASES = [
    case("minisom.MiniSom.quantization_error", quantized, DATA),
    case("minisom.MiniSom.update", updated, DATA[0], 0.5),
    case("minisom.MiniSom.activate", lambda x: blend(MiniSom(3, 3, 3, random_seed=1).activate(x)), DATA[0]),
]
