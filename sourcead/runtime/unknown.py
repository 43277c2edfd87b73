"""The helpers for values of which it is not known before the program runs whether they are arrays, lists or tuples."""

from sourcead.runtime import copy, index_add


def with_added(d, key, v):
    """A cotangent with `v` added to one of its parts."""
    return index_add(copy(d), key, v)
