"""Compositions of `scipy.sparse`: a sparse matrix through whose entries a derivative passes is their array, with the place of each.

The places are constants. Matrices that come from outside of the program stay SciPy's own, until they meet such a one.
"""

import numpy as np
from scipy import sparse

from sourcead.ir.records import IN_PYTHON
from sourcead.ir.types import Opaque
from sourcead.primitives import sparse_matrices  # noqa: F401  (the rules of the helpers)
from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import enter
from sourcead.runtime import pairs_to_multiply, sparse_product, sparse_triplets


class SparseMatrix:
    """A sparse matrix of any format; `times` tells whether `*` is the product of matrices, as it is of SciPy's older classes."""

    __array_ufunc__ = None

    def __init__(self, entries, rows, columns, shape, times=True):
        self.entries, self.rows, self.columns, self.shape, self.times = entries, rows, columns, shape, times

    @property
    def T(self):
        return SparseMatrix(self.entries, self.columns, self.rows, (self.shape[1], self.shape[0]), self.times)

    def transpose(self):
        return self.T

    @property
    def ndim(self):
        return 2

    @property
    def data(self):
        refuse("`data` of a sparse matrix: keep the array of which it is made")

    def __getattr__(self, name):
        refuse(f"`{name}` of a sparse matrix through whose entries a derivative passes: compute it of the array of which it is made")

    def __abs__(self):
        refuse("`abs` of a sparse matrix through whose entries a derivative passes: make it of their `np.abs`")

    def with_entries(self, entries):
        return SparseMatrix(entries, self.rows, self.columns, self.shape, self.times)

    def tocsr(self):
        return self

    def tocsc(self):
        return self

    def tocoo(self):
        return self

    def copy(self):
        return self

    def toarray(self):
        dense = np.zeros(self.shape, np.asarray(self.entries).dtype)
        np.add.at(dense, (self.rows, self.columns), self.entries)
        return dense

    def todense(self):
        self.refuse_matrix("`todense()`")
        return self.toarray()

    def refuse_matrix(self, what):
        if self.times:
            refuse(f"{what} of a sparse matrix, which is an `np.matrix`: use `toarray()`, or `csr_array` and kin")

    def __matmul__(self, other):
        if isinstance(other, SparseMatrix) or sparse.issparse(other):
            return product_of_two(self, as_sparse(other))
        return sparse_product(self.entries, self.rows, self.columns, self.shape[0], np.asarray(other))

    def __rmatmul__(self, other):
        if sparse.issparse(other):
            return product_of_two(as_sparse(other), self)
        return sparse_product(self.entries, self.columns, self.rows, self.shape[1], np.asarray(other).T).T

    def dot(self, other):
        if isinstance(other, SparseMatrix) or sparse.issparse(other):
            return self @ other
        return self.with_entries(self.entries * other) if np.ndim(other) == 0 else self @ other

    def __mul__(self, other):
        if isinstance(other, SparseMatrix) or sparse.issparse(other):
            return self @ other if self.times else self.multiply(other)
        if np.ndim(other) == 0:
            return self.with_entries(self.entries * other)
        return self @ other if self.times else self.multiply(other)

    def __rmul__(self, other):
        if np.ndim(other) == 0:
            return self.with_entries(other * self.entries)
        return other @ self if self.times else self.multiply(other)

    def multiply(self, other):
        if isinstance(other, SparseMatrix) or sparse.issparse(other):
            other = as_sparse(other).toarray()
        if np.ndim(other) == 0:
            return self.with_entries(self.entries * other)
        factors = np.broadcast_to(np.asarray(other), self.shape)
        return self.with_entries(self.entries * factors[self.rows, self.columns])

    def __truediv__(self, other):
        if np.ndim(other) != 0:
            refuse("a sparse matrix divided by an array")
        return self.with_entries(self.entries / other)

    def __neg__(self):
        return self.with_entries(-self.entries)

    def __add__(self, other):
        if not (isinstance(other, SparseMatrix) or sparse.issparse(other)):
            self.refuse_matrix("the sum with an array")
            return self.toarray() + other
        more = as_sparse(other)
        return SparseMatrix(
            np.concatenate((self.entries, more.entries)), np.concatenate((self.rows, more.rows)),
            np.concatenate((self.columns, more.columns)), self.shape, self.times and more.times,
        )  # fmt: skip

    def __radd__(self, other):
        if sparse.issparse(other):
            return self + other
        return self if np.ndim(other) == 0 else self + other

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def sum(self, axis=None, dtype=None, out=None):
        if axis is None:
            return np.sum(self.entries)
        self.refuse_matrix("`sum(axis=...)`")
        if axis not in (0, 1, -1, -2):
            refuse("`sum` of a sparse matrix along more than one axis: `sum()` is that of all entries")
        if axis in (0, -2):
            return sparse_product(self.entries, self.columns, self.rows, self.shape[1], np.ones(self.shape[0]))
        return sparse_product(self.entries, self.rows, self.columns, self.shape[0], np.ones(self.shape[1]))

    def diagonal(self, k=0):
        if k != 0:
            refuse("`diagonal` of a sparse matrix with another k than 0")
        found = np.zeros(min(self.shape), np.asarray(self.entries).dtype)
        inside = self.rows == self.columns
        np.add.at(found, self.rows[inside], self.entries[inside])
        return found

    def trace(self):
        return np.sum(self.diagonal())


IN_PYTHON.add(SparseMatrix)


def made(fn, args, kwargs):
    """Return the type of a sparse matrix that a function of SciPy makes: one of its matrices, or of its arrays."""
    return Opaque(MADE[fn])


MADE = {fn: type(fn(2)) for fn in (sparse.eye, sparse.identity, sparse.eye_array)}
MADE.update({cls: cls for cls in (
    sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.dia_matrix,
    sparse.dia_array, sparse.bsr_matrix, sparse.bsr_array, sparse.lil_matrix, sparse.lil_array, sparse.dok_matrix, sparse.dok_array,
)})  # fmt: skip
MADE.update({fn: type(fn([1.0, 2.0])) for fn in (sparse.diags, sparse.diags_array)})
MADE[sparse.spdiags] = type(sparse.spdiags([[1.0, 2.0]], 0, 2, 2))
enter(*MADE, result=made)


def as_sparse(matrix):
    """Return a matrix of SciPy, or an array of two axes, with its entries and their places."""
    if isinstance(matrix, SparseMatrix):
        return matrix
    if isinstance(matrix, np.ndarray):
        count = matrix.shape[1]
        rows, columns = np.divmod(np.arange(matrix.size), count)
        return SparseMatrix(np.ravel(matrix), rows, columns, matrix.shape)
    entries, rows, columns, height, width = sparse_triplets(matrix)
    return SparseMatrix(entries, rows, columns, (height, width), not isinstance(matrix, sparse.sparray))


def product_of_two(a, b):
    """Return the product of two sparse matrices: an entry for each two that meet."""
    mine, theirs = pairs_to_multiply(a.columns, b.rows)
    entries = a.entries[mine] * b.entries[theirs]
    return SparseMatrix(entries, a.rows[mine], b.columns[theirs], (a.shape[0], b.shape[1]), a.times and b.times)


# ---- making ----


def from_triplets(arg1, shape, dtype, times):
    """Return a matrix of entries with their places, of an array, or of another matrix."""
    if isinstance(arg1, tuple) and len(arg1) == 2 and isinstance(arg1[1], (tuple, list, np.ndarray)):
        entries, places = arg1
        rows, columns = np.asarray(places[0]), np.asarray(places[1])
        if shape is None:
            shape = (int(np.max(rows)) + 1, int(np.max(columns)) + 1)
        return typed(np.asarray(entries), rows, columns, shape, dtype, times)
    found = as_sparse(arg1 if isinstance(arg1, SparseMatrix) or sparse.issparse(arg1) else np.asarray(arg1))
    return typed(found.entries, found.rows, found.columns, found.shape, dtype, times)


def typed(entries, rows, columns, shape, dtype, times):
    return SparseMatrix(entries if dtype is None else entries.astype(dtype), rows, columns, (shape[0], shape[1]), times)


def from_pointers(arg1, shape, dtype, times, by_columns):
    """Return a matrix of entries, the place of each in its row (or column), and where each begins, or of what else it is."""
    if not (isinstance(arg1, tuple) and len(arg1) == 3):
        return from_triplets(arg1, shape, dtype, times)
    entries, places, begins = arg1
    lines = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    places = np.asarray(places)
    if shape is None:
        within, across = len(begins) - 1, int(np.max(places)) + 1
        shape = (across, within) if by_columns else (within, across)
    rows, columns = (places, lines) if by_columns else (lines, places)
    return typed(np.asarray(entries), rows, columns, shape, dtype, times)


composed({sparse.issparse: lambda x: isinstance(x, (SparseMatrix, sparse.spmatrix, sparse.sparray))}, always=True)  # whatever `x` is
composed({
    sparse.coo_matrix: lambda arg1, shape=None, dtype=None, copy=False: from_triplets(arg1, shape, dtype, True),
    sparse.coo_array: lambda arg1, shape=None, dtype=None, copy=False: from_triplets(arg1, shape, dtype, False),
    sparse.csr_matrix: lambda arg1, shape=None, dtype=None, copy=False: from_pointers(arg1, shape, dtype, True, False),
    sparse.csr_array: lambda arg1, shape=None, dtype=None, copy=False: from_pointers(arg1, shape, dtype, False, False),
    sparse.csc_matrix: lambda arg1, shape=None, dtype=None, copy=False: from_pointers(arg1, shape, dtype, True, True),
    sparse.csc_array: lambda arg1, shape=None, dtype=None, copy=False: from_pointers(arg1, shape, dtype, False, True),
    sparse.diags: lambda diagonals, offsets=0, shape=None, format=None, dtype=None: of_diagonals(diagonals, offsets, shape, dtype, True),
    sparse.diags_array: lambda diagonals, *, offsets=0, shape=None, format=None, dtype=None: of_diagonals(
        diagonals, offsets, shape, dtype, False
    ),
    sparse.kron: lambda A, B, format=None: kron(as_sparse(A), as_sparse(B)),
    sparse.vstack: lambda blocks, format=None, dtype=None: stacked([as_sparse(block) for block in blocks], False),
    sparse.hstack: lambda blocks, format=None, dtype=None: stacked([as_sparse(block).T for block in blocks], False).T,
    sparse.block_diag: lambda mats, format=None, dtype=None: stacked([as_sparse(block) for block in mats], True),
})  # fmt: skip


def of_diagonals(diagonals, offsets, shape, dtype, times):
    """Return a matrix of its diagonals, numbers or arrays, each with its distance from the main one."""
    if np.ndim(offsets) == 0:
        diagonals = [diagonals] if np.ndim(diagonals[0]) == 0 else diagonals
        offsets = [offsets]
    if shape is None:
        size = len(diagonals[0]) + abs(offsets[0])
        shape = (size, size)
    entries, rows, columns = [], [], []
    for diagonal, offset in zip(diagonals, offsets):
        along = np.arange(max(0, -offset), min(shape[0], shape[1] - offset))
        entries.append(np.zeros(len(along)) + diagonal)
        rows.append(along)
        columns.append(along + offset)
    return typed(np.concatenate(entries), np.concatenate(rows), np.concatenate(columns), shape, dtype, times)


def kron(a, b):
    """Return the Kronecker product of two sparse matrices."""
    entries = np.ravel(a.entries[:, None] * b.entries)
    rows, columns = np.ravel(a.rows[:, None] * b.shape[0] + b.rows), np.ravel(a.columns[:, None] * b.shape[1] + b.columns)
    return SparseMatrix(entries, rows, columns, (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]), a.times and b.times)


def stacked(blocks, diagonally):
    """Return the matrix of blocks below each other, each right of those before if `diagonally`."""
    entries, rows, columns = [], [], []
    below, right = 0, 0
    for block in blocks:
        entries.append(block.entries)
        rows.append(block.rows + below)
        columns.append(block.columns + right)
        below = below + block.shape[0]
        right = right + block.shape[1] if diagonally else 0
    shape = (below, right if diagonally else blocks[0].shape[1])
    return SparseMatrix(np.concatenate(entries), np.concatenate(rows), np.concatenate(columns), shape, blocks[0].times)
