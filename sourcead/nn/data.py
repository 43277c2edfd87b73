"""MNIST as arrays, read from a folder or downloaded once into a cache; or scikit-learn's digits in its place.

An IDX file is a magic number (two zero bytes, a type code, the number of dimensions), one big-endian 32-bit size per
dimension, and the elements, big-endian, in C order.

`load` takes `"auto"`, `"mnist"`, `"digits"` or a folder, and gives a `Dataset` whose `note` says where it came from.
"""

import gzip
import hashlib
import io
import math
import os
import sys
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import numpy as np

from sourcead.errors import SourceADError
from sourcead.files.caches import cache_folder, made
from sourcead.files.whole import NotUsable, check_writable, read_regular, write

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)

#: The four files of MNIST and the SHA-256 of what each holds, decompressed.
MNIST_SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}

IDX_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
CLASSES = 10
SIDE = 28
TIMEOUT_SECONDS = 15
SMALL = 2**26  # bytes: what any file may unpack to, and what any of MNIST's may have
PACKED = 100  # bytes that a byte of a larger file may unpack to; one of MNIST's images stands for five, zeros for a thousand


class DataError(SourceADError, ValueError):
    """A data set is missing, damaged, or not what its name says.

    The message names the file and what is wrong with it. Download the file again, or name the folder that holds the four IDX
    files (`train-images-idx3-ubyte` and so on, plain or with `.gz`).
    """


@dataclass(frozen=True)
class Dataset:
    """Images as rows of pixels, with their labels.

    Attributes:
        x_train: float32 of shape (n, 784), from 0 (background) to 1.
        y_train: int64 of shape (n,), from 0 to 9.
        x_test: like `x_train`.
        y_test: like `y_train`.
        name: `"mnist"`, `"digits"`, or the folder.
        note: one sentence that says which data this is, and why.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    name: str
    note: str


def load(spec: str | os.PathLike = "auto") -> Dataset:
    """Return the data set that `spec` names.

    Args:
        spec: `"mnist"`: the cached files, downloaded first if need be. `"digits"`: scikit-learn's digits, which need no
            network. `"auto"`: the cache, else the download, else digits. Anything else is a folder with the four IDX
            files, gzip-compressed or plain.

    Returns:
        The data set; its `note` says which one it is and why.

    Raises:
        DataError: A file is missing, damaged or truncated, or could not be downloaded.

    Example:
        >>> data = load("digits")
        >>> data.x_train.shape, data.x_train.dtype, data.y_test.shape
        ((1442, 784), dtype('float32'), (355,))
    """
    if spec == "auto":
        return _load_auto()
    if spec == "mnist":
        return _load_mnist()
    if spec == "digits":
        return _load_digits("scikit-learn's digits, because the call names them")
    folder = Path(spec)
    if not os.path.isdir(folder):
        raise DataError(f"{spec}: no such folder; give auto, mnist, digits, or a folder with the IDX files of MNIST")
    paths = {name: _find(folder, name) for name in MNIST_SHA256}
    return _dataset(paths, {name: _content(path) for name, path in paths.items()}, str(spec), f"the IDX files in {folder}")


def minibatches(rng: np.random.Generator, size: int, *arrays: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Draw one epoch: every row once, in a new order, `size` rows at a time (the last batch may be smaller).

    Args:
        rng: The generator that the order is drawn from; each call draws a new order.
        size: Rows per batch, at least 1.
        *arrays: Arrays of one length; the same rows are taken from each.

    Yields:
        For each batch, one array per array given.

    Example:
        >>> x = np.arange(5)
        >>> sorted(int(i) for batch, _ in minibatches(np.random.default_rng(0), 2, x, x) for i in batch)
        [0, 1, 2, 3, 4]
    """
    if size < 1:
        raise ValueError(f"a batch has at least 1 row, got size={size}")
    order = new_order(rng, "minibatches", arrays)
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        yield tuple(array[rows] for array in arrays)


def split(rng: np.random.Generator, share: float, *arrays: np.ndarray) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Keep some rows for validation, drawn at random.

    Args:
        rng: The generator that the rows are drawn with.
        share: The share of the rows that is kept, from 0 to 1.
        *arrays: Arrays of one length.

    Returns:
        The arrays of the rows to train on, and those of the rows kept.

    Example:
        >>> (x,), (kept,) = split(np.random.default_rng(0), 0.4, np.arange(5))
        >>> len(x), len(kept), sorted([*x.tolist(), *kept.tolist()])
        (3, 2, [0, 1, 2, 3, 4])
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share is from 0 to 1, got {share}")
    order = new_order(rng, "split", arrays)
    kept = round(share * len(order))
    return tuple(array[order[kept:]] for array in arrays), tuple(array[order[:kept]] for array in arrays)


def new_order(rng: np.random.Generator, name: str, arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    """Draw an order of the rows of arrays; raise an error in the name of the caller if their lengths differ."""
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) != 1:
        raise ValueError(f"{name} takes arrays of one length, got lengths {lengths}")
    return rng.permutation(lengths[0])


# Reading


def read_idx(path: str | os.PathLike) -> np.ndarray:
    """Read an IDX file, plain or gzip-compressed (told by its first bytes, not its name).

    Returns:
        A new array of the file's shape and type, in this machine's byte order.

    Raises:
        DataError: The file cannot be read, is truncated or too long, or is not an IDX file.
    """
    return _array(path, _content(path))


def _array(path: str | os.PathLike, content: bytes) -> np.ndarray:
    """Return the array in the content of an IDX file."""
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in IDX_DTYPES:
        first = content[:4].hex(" ")
        raise DataError(f"{path}: not an IDX file: it starts with the bytes {first}, not with 00 00, a type and a rank")
    dtype, rank = np.dtype(IDX_DTYPES[content[2]]), content[3]
    start = 4 + 4 * rank
    if len(content) < start:
        raise DataError(f"{path}: truncated: {len(content)} bytes, and the header alone takes {start}")
    shape = tuple(int.from_bytes(content[at : at + 4], "big") for at in range(4, start, 4))
    expected = start + math.prod(shape) * dtype.itemsize
    if len(content) != expected:
        trouble = "truncated" if len(content) < expected else "too long"
        raise DataError(
            f"{path}: {trouble}: {len(content)} bytes, where its header, of shape {shape}, needs {expected}"
        )
    try:
        return np.frombuffer(content, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))
    except ValueError as error:
        raise DataError(f"{path}: its header gives the shape {shape}, and there is no such array: {error}") from error


def _content(path: str | os.PathLike) -> bytes:
    try:
        return _unpacked(path, read_regular(path))
    except NotUsable as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def _unpacked(name: str | os.PathLike, raw: bytes) -> bytes:
    """Return the content of a file, gzip-compressed or plain, but not the endless content that a few bytes may stand for."""
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    most = max(SMALL, PACKED * len(raw))
    try:
        content = gzip.GzipFile(fileobj=io.BytesIO(raw)).read(most + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: damaged or truncated gzip file: {error}") from error
    if len(content) > most:
        raise DataError(f"{name}: its {len(raw)} bytes unpack to more than {most}, as no images do")
    return content


def _find(folder: Path, name: str) -> Path:
    """Return the path of the file `name` in the folder, plain or with `.gz`, with `-idx3-ubyte` or `.idx3-ubyte`."""
    candidates = [folder / (stem + suffix) for stem in (name, name.replace("-idx", ".idx")) for suffix in ("", ".gz")]
    for path in candidates:
        if os.path.isfile(path):
            return path
    raise DataError(f"{folder / name}: no such file, with or without .gz")


def _dataset(paths: dict[str, Path], contents: dict[str, bytes], name: str, note: str) -> Dataset:
    arrays = {part: _array(paths[part], content) for part, content in contents.items()}
    train_x, train_y, test_x, test_y = MNIST_SHA256
    return Dataset(*_pair(paths, arrays, train_x, train_y), *_pair(paths, arrays, test_x, test_y), name, note)


def _pair(paths: dict[str, Path], arrays: dict[str, np.ndarray], x: str, y: str) -> tuple[np.ndarray, np.ndarray]:
    """Return images, as float32 rows in [0, 1], and their labels."""
    images, labels, image_path, label_path = arrays[x], arrays[y], paths[x], paths[y]
    if images.dtype != np.uint8 or images.shape[1:] != (SIDE, SIDE):
        raise DataError(f"{image_path}: {images.dtype} of shape {images.shape}, not {SIDE} x {SIDE} images of bytes")
    if labels.dtype != np.uint8 or labels.ndim != 1:
        raise DataError(f"{label_path}: {labels.dtype} of shape {labels.shape}, not a list of labels as bytes")
    if len(images) != len(labels):
        raise DataError(f"{label_path}: {len(labels)} labels for the {len(images)} images of {image_path}")
    if len(labels) == 0:
        raise DataError(f"{label_path}: holds no label")
    if labels.max() >= CLASSES:
        raise DataError(f"{label_path}: a label is {labels.max()}, they go from 0 to {CLASSES - 1}")
    return images.reshape(len(images), SIDE * SIDE) / np.float32(255), labels.astype(np.int64)


# MNIST: the cache and the download


def _load_auto() -> Dataset:
    try:
        return _load_mnist()
    except DataError as error:
        return _load_digits(f"scikit-learn's digits instead of MNIST, which is not in the cache: {error}")


def _load_mnist() -> Dataset:
    try:
        folder = cache_folder() / "mnist"
    except OSError as error:
        raise DataError(f"there is no folder for a cache: {error}") from error
    paths = {name: folder / f"{name}.gz" for name in MNIST_SHA256}
    found = {name: _intact(path, name) for name, path in paths.items()}
    missing = [name for name, content in found.items() if content is None]
    contents = {name: download(name, paths[name]) if content is None else content for name, content in found.items()}
    origin = "downloaded now into" if missing else "from the cache in"
    return _dataset(paths, contents, "mnist", f"MNIST, {origin} {folder}")


def _intact(path: Path, name: str) -> bytes | None:
    """Return the content of a file that was downloaded; None if it is not there or not what it was."""
    try:
        content = _content(path)
    except DataError:
        return None
    return content if _sha256(content) == MNIST_SHA256[name] else None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def download(name: str, path: Path, mirrors: tuple[str, ...] | None = None) -> bytes:
    """Download one of MNIST's files, check its content, only then write it, and return the content, decompressed.

    Args:
        name: A key of `MNIST_SHA256`.
        path: Where to put the compressed file.
        mirrors: Addresses to try in turn, each ending in a slash; by default `MIRRORS`.

    Raises:
        DataError: The folder is not writable, or no mirror gave the right content; the message tells of each.
    """
    try:
        check_writable(made(path.parent) / path.name)
    except OSError as error:
        raise DataError(f"{path.parent}: cannot write to the cache folder: {error.__cause__ or error}") from error
    failures = []
    for mirror in MIRRORS if mirrors is None else mirrors:
        url = f"{mirror}{name}.gz"
        try:
            raw = _fetch(url)
            content = _unpacked(path.name, raw)
            if (found := _sha256(content)) != MNIST_SHA256[name]:
                raise DataError(f"{path.name}: its content has SHA-256 {found}, not {MNIST_SHA256[name]}")
            write(path, raw)
            return content
        except (OSError, HTTPException, ValueError) as error:  # ValueError: a header that is no number, or what is refused here
            failures.append(f"{url}: {_cause(error)}")
    raise DataError(f"{name} could not be downloaded ({'; '.join(failures)})")


def _cause(error: Exception) -> object:
    """Return the cause of an error, without urllib's wrapper around it."""
    return error.reason if type(error) is urllib.error.URLError else error


def _fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
        total = int(response.headers.get("Content-Length") or 0)
        advance, close = _byte_progress(url.rsplit("/", 1)[-1], total)
        received = bytearray()
        try:
            while len(received) <= SMALL and (block := response.read(1 << 16)):
                received += block
                advance(len(block))
        finally:
            close()
    if len(received) > SMALL:
        raise DataError(f"{url}: it sends more than {SMALL} bytes")
    if total and len(received) != total:
        raise DataError(f"{url}: the connection closed after {len(received)} of {total} bytes")
    return bytes(received)


def _byte_progress(what: str, total: int) -> tuple[Callable[[int], object], Callable[[], object]]:
    """Return two functions that advance and close a progress bar; where tqdm is not installed, prints one line."""
    try:
        from tqdm import tqdm
    except ImportError:
        print(f"downloading {what} ({total / 1e6:.1f} MB)", file=sys.stderr)
        return (lambda count: None), (lambda: None)
    bar = tqdm(desc=what, total=total or None, unit="B", unit_scale=True, leave=False)
    return bar.update, bar.close


# scikit-learn's digits


def _load_digits(note: str) -> Dataset:
    """Return 1,797 digits of 8 x 8 pixels, enlarged to 28 x 28; every fifth of each class is for the test."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise DataError(f"{note}; but scikit-learn is not installed: pip install scikit-learn") from error
    digits = load_digits()
    enlarge = _enlarging(digits.images.shape[1], SIDE)
    x = (enlarge @ (digits.images / 16) @ enlarge.T).reshape(len(digits.images), SIDE * SIDE).astype(np.float32)
    y = digits.target.astype(np.int64)
    test = np.zeros(len(y), bool)
    for label in range(CLASSES):
        test[np.flatnonzero(y == label)[4::5]] = True
    return Dataset(x[~test], y[~test], x[test], y[test], "digits", note)


def _enlarging(source: int, target: int) -> np.ndarray:
    """Return the matrix of shape (target, source) that interpolates linearly between pixel centres; its rows sum to 1."""
    centres = np.clip((np.arange(target) + 0.5) * source / target - 0.5, 0, source - 1)
    return np.maximum(0, 1 - np.abs(centres[:, None] - np.arange(source)))
