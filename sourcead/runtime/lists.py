"""Positions of items in lists, for `sorted`, `min`, `max`, `zip` and slices."""


def sorted_order(keys, reverse=False):
    """Return the positions of the items in the order in which `sorted` puts items with these keys."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def shortest(rows):
    """Return the length of the shortest row, which is the length of `zip(*rows)`."""
    return min(map(len, rows), default=0)


def best_place(keys, largest):
    """Return the position of the first of the largest keys if `largest` is true, else of the smallest."""
    return (max if largest else min)(range(len(keys)), key=keys.__getitem__)


def slice_bounds(n, lower, upper):
    """Return the positions at which the slice `[lower:upper]` of n items begins and ends."""
    start, stop, _ = slice(lower, upper).indices(n)
    return start, max(start, stop)
