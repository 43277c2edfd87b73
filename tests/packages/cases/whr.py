"""Whole-history ratings."""

from whr import Base

from tests.packages.case import case

REQUIREMENTS = ("whole-history-rating==3.7.1",)
FIELD = "games"


def rated(w2):
    base = Base({"w2": w2})
    base.create_game("shusaku", "shusai", "B", 1, 0)
    base.create_game("shusaku", "shusai", "W", 2, 0)
    base.create_game("shusaku", "shusai", "W", 3, 0)
    base.iterate(5)
    return base.ratings_for_player("shusaku")[0][1]


def handicapped(w2, handicap):
    base = Base({"w2": w2})
    base.create_game("shusaku", "shusai", "B", 1, handicap)
    base.create_game("shusaku", "shusai", "W", 4, handicap)
    base.iterate(3)
    return base.players["shusaku"].days[0].elo


CASES = [
    case("whr.Base.iterate", rated, 300.0),
    case("whr.Base.create_game", handicapped, 300.0, 20.0),
]
