"""Ratings of players by many systems, as objects that change with each bout."""

from elote import DWZCompetitor, ECFCompetitor, EloCompetitor, Glicko2Competitor, GlickoCompetitor, LambdaArena

from tests.packages.case import case

REQUIREMENTS = ("elote==1.5.1", "tqdm==4.70.1")
FIELD = "games"


def beaten(a, b, k):
    good, better = EloCompetitor(initial_rating=a, k_factor=k), EloCompetitor(initial_rating=b, k_factor=k)
    better.beat(good)
    good.tied(better)
    return good.rating + 2 * better.rating + good.expected_score(better)


def by(kind):
    def played(a, b):
        one, other = kind(initial_rating=a), kind(initial_rating=b)
        one.beat(other)
        return one.rating + 2 * other.rating + one.expected_score(other)

    return played


def arena(a):
    bouts = LambdaArena(lambda one, other: one > other, base_competitor=EloCompetitor,
                        base_competitor_kwargs={"initial_rating": a})
    bouts.matchup(3, 2)
    bouts.matchup(1, 3)
    return bouts.expected_score(3, 2) + bouts.competitors[3].rating


CASES = [
    case("elote.EloCompetitor.beat", beaten, 400.0, 500.0, 32.0),
    case("elote.EloCompetitor.expected_score",
         lambda a, b: EloCompetitor(initial_rating=a).expected_score(EloCompetitor(initial_rating=b)), 400.0, 500.0),
    case("elote.GlickoCompetitor.beat", by(GlickoCompetitor), 1500.0, 1600.0),
    case("elote.Glicko2Competitor.beat", by(Glicko2Competitor), 1500.0, 1600.0),
    case("elote.ECFCompetitor.beat", by(ECFCompetitor), 130.0, 120.0),
    case("elote.DWZCompetitor.beat", by(DWZCompetitor), 400.0, 500.0),
    case("elote.LambdaArena.matchup", arena, 400.0),
]
