"""What a list holds, and where: the numbers behind `sorted`, `min`, `max`, `zip` and slices of lists."""


def sorted_order(keys, reverse=False):
    """Where `sorted` takes its items from, for items with these keys."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def shortest(rows):
    """The length of the shortest row, as `zip(*rows)` sees it."""
    return min(map(len, rows), default=0)


def best_place(keys, largest):
    """Where the first of the largest or smallest keys is."""
    return (max if largest else min)(range(len(keys)), key=keys.__getitem__)


def slice_bounds(n, lower, upper):
    """Where the part `[lower:upper]` of n items begins, and where what follows it does."""
    start, stop, _ = slice(lower, upper).indices(n)
    return start, max(start, stop)
