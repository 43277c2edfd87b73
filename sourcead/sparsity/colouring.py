"""Colourings of sparse patterns: columns, or rows, of one colour are computed in one sweep.

    distance-2    two columns with an element in one row have two colours: each element of the sum of the columns of a colour is one
                  element of the Jacobian
    star          of a symmetric pattern; neighbours have two colours, and every path of four vertices three: each element of the Hessian
                  is one element of the sum of the columns of a colour, its own or, by symmetry, that across the diagonal

Source: A. H. Gebremedhin, F. Manne, A. Pothen, What color is your Jacobian? Graph coloring for computing derivatives, SIAM Review 47
(2005), algorithms 3.1 and 4.1.  Vertices are taken in the order of falling degree.
"""

from typing import Any

import numpy as np


def distance_2(pattern: Any) -> np.ndarray:
    """Return the colour of each column, from 0 on, of a `scipy.sparse` array; -1 for columns without elements."""
    rows, columns = pattern.tocsr(), pattern.tocsc()
    colours = np.full(columns.shape[1], -1)
    degree = np.diff(columns.indptr)
    if not degree.any():
        return colours
    forbidden = np.full(columns.shape[1] + 1, -1)  # by colour, the last column that it is forbidden for
    row_starts, row_items = rows.indptr.tolist(), rows.indices
    column_starts, column_items = columns.indptr.tolist(), columns.indices.tolist()
    for c in np.argsort(-degree, kind="stable").tolist():
        if not degree[c]:
            break
        for r in column_items[column_starts[c] : column_starts[c + 1]]:
            forbidden[colours[row_items[row_starts[r] : row_starts[r + 1]]]] = c  # -1 of a column without colour: the last place
        colours[c] = first_free(forbidden, c)
    return colours


def first_free(forbidden: np.ndarray, vertex: int) -> int:
    """Return the first colour that is not forbidden for a vertex."""
    some = 16
    while True:
        free = np.flatnonzero(forbidden[:some] != vertex)
        if len(free):
            return int(free[0])
        some *= 4


def star(pattern: Any) -> np.ndarray:
    """Return the colour of each column, from 0 on, of a `scipy.sparse` array that is symmetric; -1 for columns without elements."""
    rows = pattern.tocsr()
    starts, items = rows.indptr.tolist(), rows.indices.tolist()
    neighbours = [[w for w in items[a:b] if w != v] for v, (a, b) in enumerate(zip(starts, starts[1:]))]
    colours = [-1] * len(neighbours)
    for v in sorted(range(len(neighbours)), key=lambda v: -len(neighbours[v])):
        if starts[v] == starts[v + 1]:
            continue
        forbidden = set()
        for w in neighbours[v]:
            if colours[w] < 0:  # v - w - x: the two ends differ
                forbidden.update(colours[x] for x in neighbours[w])
                continue
            forbidden.add(colours[w])
            for x in neighbours[w]:  # v - w - x - y with w and y of one colour: x and v differ
                if x != v and colours[x] >= 0 and any(colours[y] == colours[w] for y in neighbours[x] if y != w):
                    forbidden.add(colours[x])
        colours[v] = next(c for c in range(len(forbidden) + 1) if c not in forbidden)
    return np.array(colours)
