"""Cotangents of products of arrays."""

import numpy as np

from sourcead.runtime.broadcasting import unbroadcast


def product_in_range(a, b):
    """Return the product of matrices of numbers between 0 and 1, if no element of it is so small that it suffers from underflow.

    Raises:
        FloatingPointError: one is smaller than the square root of the least normal number, or is not a number.
    """
    product = a @ b
    if product.size and not product.min() >= (1e-154 if product.itemsize == 8 else 1e-19):
        raise FloatingPointError("a sum of exponentials is out of range")
    return product


def tensordot_cotangents(d_y, a, b, axes=2):
    """Return the cotangents of `a` and `b` in `y = np.tensordot(a, b, axes)`."""
    with_b, with_a, a_order, b_order = tensordot_back(np.ndim(a), np.ndim(b), axes)
    d_a, d_b = np.tensordot(d_y, b, with_b), np.tensordot(a, d_y, with_a)
    return d_a if a_order is None else np.transpose(d_a, a_order), d_b if b_order is None else np.transpose(d_b, b_order)


def tensordot_back(a_ndim, b_ndim, axes):
    """Return the axes over which d_y is summed with b and a with d_y, and the orders of the axes of the results, None for as they are."""
    if not np.iterable(axes):
        axes = (range(a_ndim - axes, a_ndim), range(axes))
    left, right = ([int(n) % ndim for n in np.atleast_1d(np.asarray(ns, dtype=int))] for ns, ndim in zip(axes, (a_ndim, b_ndim)))
    a_free = tuple(i for i in range(a_ndim) if i not in left)
    b_free = tuple(i for i in range(b_ndim) if i not in right)
    first, last = tuple(range(len(a_free))), tuple(range(len(a_free), len(a_free) + len(b_free)))
    a_order = [*a_free, *(left[i] for i in np.argsort(right))]
    b_order = [*(right[i] for i in np.argsort(left)), *b_free]
    orders = (None if o == sorted(o) else tuple(int(k) for k in np.argsort(o)) for o in (a_order, b_order))
    return (last, b_free), (a_free, first), *orders


def kron_cotangents(d_y, a, b):
    """Return the cotangents of `a` and `b` in `y = np.kron(a, b)`."""
    n = max(np.ndim(a), np.ndim(b))
    a_shape = (1,) * (n - np.ndim(a)) + np.shape(a)
    b_shape = (1,) * (n - np.ndim(b)) + np.shape(b)
    d = np.reshape(d_y, [size for pair in zip(a_shape, b_shape) for size in pair])
    odd, even = tuple(range(1, 2 * n, 2)), tuple(range(0, 2 * n, 2))
    d_a = np.sum(d * np.expand_dims(np.reshape(b, b_shape), even), axis=odd)
    d_b = np.sum(d * np.expand_dims(np.reshape(a, a_shape), odd), axis=even)
    return d_a.reshape(np.shape(a)), d_b.reshape(np.shape(b))


def diagonals(x, subscripts):
    """Return the view of the diagonals of `x` that the subscripts of einsum with a repeated letter name, as in "ijj->ij"."""
    return np.einsum(subscripts, x)


def einsum_terms(subscripts, ranks=None):
    """Return the letters of each operand and of the result, with unused letters in place of an ellipsis."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = inputs.replace(",", "").replace("...", "")
        output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    if "..." in inputs:
        unused = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in subscripts]
        counts = [rank - len(term.replace("...", "")) if "..." in term else 0 for term, rank in zip(terms, ranks)]
        spare = "".join(unused[: max(counts)])
        terms = [term.replace("...", spare[len(spare) - n :]) for term, n in zip(terms, counts)]
        output = output.replace("...", spare)
    return terms, output


def einsum_is_plain(subscripts, count):
    """Return whether the cotangent of each of `count` operands is one einsum of the result's cotangent and the other operands."""
    if "." in subscripts:
        return False
    terms, output = einsum_terms(subscripts)
    return len(terms) == count and all(
        len(set(term)) == len(term) and set(term) <= set(output).union(*terms[:k], *terms[k + 1 :])
        for k, term in enumerate(terms)
    )


def einsum_back(subscripts, k):
    """Return the subscripts of the einsum of the result's cotangent and the other operands that gives the cotangent of operand k."""
    terms, output = einsum_terms(subscripts)
    return ",".join([output, *terms[:k], *terms[k + 1 :]]) + "->" + terms[k]


def einsum_cotangents(d_y, subscripts, operands):
    """Return the cotangents of the operands in `y = np.einsum(subscripts, *operands)`."""
    terms, output = einsum_terms(subscripts, [np.ndim(x) for x in operands])
    sizes = {}
    for term, x in zip(terms, operands):
        for letter, n in zip(term, np.shape(x)):
            sizes[letter] = n if sizes.get(letter, 1) == 1 else sizes[letter]
    cotangents = []
    for k, (term, x) in enumerate(zip(terms, operands)):
        others = terms[:k] + terms[k + 1 :]
        unique = "".join(dict.fromkeys(term))
        alone = [c for c in unique if c not in output and not any(c in t for t in others)]  # summed over, here only
        values = [
            d_y,
            *operands[:k],
            *operands[k + 1 :],
            *(np.ones(sizes[c], dtype=np.asarray(x).dtype) for c in alone),
        ]
        d = np.einsum(",".join([output, *others, *alone]) + "->" + unique, *values)
        if len(unique) < len(term):
            d_x = np.zeros([sizes[c] for c in term], dtype=d.dtype)
            np.einsum(term + "->" + unique, d_x)[...] = d
            d = d_x
        cotangents.append(unbroadcast(d, x))
    return tuple(cotangents)
