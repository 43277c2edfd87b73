"""The positions behind `sorted`, `min`, `max`, `zip` and slices of lists."""


def sorted_order(keys, reverse=False):
    """The positions from which `sorted` takes its items, for items with these keys."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def shortest(rows):
    """The length of the shortest row, which is that of `zip(*rows)`."""
    return min(map(len, rows), default=0)


def best_place(keys, largest):
    """The position of the first of the largest or smallest keys."""
    return (max if largest else min)(range(len(keys)), key=keys.__getitem__)


def slice_bounds(n, lower, upper):
    """The positions at which the part `[lower:upper]` of n items begins and ends."""
    start, stop, _ = slice(lower, upper).indices(n)
    return start, max(start, stop)
