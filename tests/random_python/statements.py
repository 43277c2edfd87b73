"""Which statement comes next: simple ones by topic, and compound ones while the budget lasts."""

from tests.random_python import blocks, functions
from tests.random_python.prelude import forms
from tests.random_python.templates import Missing, filled

SIMPLE = ("base", "write", "alias", "lists", "dicts", "collections", "records", "lazy", "order", "kinds", "calls", "numpy")
COMPOUND = {
    "branch": (blocks.branch, blocks.branch, blocks.flagged, blocks.bound_late),
    "loop": (blocks.for_loop, blocks.for_loop, blocks.for_loop, blocks.bound_late),
    "while": (blocks.while_loop,),
    "try": (blocks.attempt, blocks.attempt, blocks.for_loop),
    "with": (blocks.context,),
    "match": (blocks.matched, blocks.matched, blocks.for_loop),
    "leave": (blocks.leaving, blocks.jump),
    "functions": (functions.function, functions.function, functions.numeric),
    "generators": (functions.generator,),
    "closures": (functions.snippet,),
}
DEEPEST = 3  # levels of compound statements


def statement(w):
    """Draw one statement that runs on the samples, as lines; no lines if eight attempts fail."""
    for _ in range(8):
        try:
            lines = _drawn(w)
        except (Missing, RecursionError):
            continue
        if any(len(line) > 400 for line in lines):
            continue
        if w.trial(lines):
            w.budget[0] -= 1
            return lines
    return []


def _drawn(w):
    """Return the lines of a statement of one of the world's topics."""
    topic = w.rng.choice(w.topics)
    if topic in SIMPLE:
        return filled(w, w.rng.choice(forms(topic)))
    if w.depth >= DEEPEST:
        raise Missing
    w.budget[0] -= 1
    return w.rng.choice(COMPOUND[topic])(w)
