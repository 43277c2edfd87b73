"""The data sets: reading, refusing what is damaged, downloading, falling back."""

import gzip
import hashlib
import http.server
import struct
import threading

import numpy as np
import pytest

from sourcead.errors import SourceADError
from sourcead.nn import data
from sourcead.nn.data import DataError, load, minibatches, read_idx

TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS = data.MNIST_SHA256


def idx_bytes(array, code=0x08):
    return bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


@pytest.fixture
def small_mnist():
    """The content of four small files of MNIST's form: 20 images to train on, 10 to test with."""
    rng = np.random.default_rng(0)
    return {
        TRAIN_IMAGES: idx_bytes(rng.integers(0, 256, (20, 28, 28), dtype=np.uint8)),
        TRAIN_LABELS: idx_bytes(np.arange(20, dtype=np.uint8) % 10),
        TEST_IMAGES: idx_bytes(rng.integers(0, 256, (10, 28, 28), dtype=np.uint8)),
        TEST_LABELS: idx_bytes(np.arange(10, dtype=np.uint8)),
    }


@pytest.fixture
def folder(tmp_path, small_mnist):
    for name, content in small_mnist.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def mirror(tmp_path, small_mnist, monkeypatch):
    """A server on this machine that offers `small_mnist`: its folder, its address and the paths it was asked for."""
    root = tmp_path / "mirror"
    root.mkdir()
    for name, content in small_mnist.items():
        (root / f"{name}.gz").write_bytes(gzip.compress(content))
    monkeypatch.setattr(data, "MNIST_SHA256", {n: hashlib.sha256(c).hexdigest() for n, c in small_mnist.items()})
    monkeypatch.setenv("no_proxy", "*")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(root))

        def log_message(self, *_):
            asked.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setattr(data, "MIRRORS", (url,))
        yield root, url, asked
        server.shutdown()
        thread.join()


# Reading


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    "code, dtype", [(0x08, ">u1"), (0x09, ">i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")]
)
def test_an_idx_file_reads_as_the_array_it_holds(tmp_path, code, dtype, compress):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    content = idx_bytes(array, code)
    (tmp_path / "file").write_bytes(gzip.compress(content) if compress else content)
    found = read_idx(tmp_path / "file")
    np.testing.assert_array_equal(found, array)
    assert found.dtype == np.dtype(dtype).newbyteorder("=") and found.flags.writeable


GOOD = idx_bytes(np.zeros((3, 28, 28), np.uint8))


@pytest.mark.parametrize(
    "content, trouble",
    [
        (b"", "not an IDX file"),
        (b"hello, this is text", "not an IDX file"),
        (b"\0\0\x07\x01\0\0\0\0", "not an IDX file"),
        (GOOD[:10], "header alone takes 16"),
        (GOOD[:-1], "truncated"),
        (GOOD + b"\0", "too long"),
        (b"\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", "truncated"),
        (gzip.compress(GOOD)[:-20], "damaged or truncated gzip"),
        (gzip.compress(GOOD)[:-8] + b"\1" * 8, "damaged or truncated gzip"),
        (gzip.compress(GOOD[:-1]), "truncated"),
        (b"\0\0\x08\xc8" + 200 * b"\0\0\0\1" + b"\0", "no such array"),  # 200 axes
        (b"\0\0\x08\3\0\0\0\0" + 8 * b"\xff", "no such array"),
        (gzip.compress(bytes(2**27)), "bytes unpack to more than 67108864"),
    ],
    ids=range(13),  # what gzip makes contains the time
)
def test_a_damaged_file_is_an_error_that_names_it(tmp_path, content, trouble):
    path = tmp_path / "images.idx"
    path.write_bytes(content)
    with pytest.raises(DataError, match=trouble) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, SourceADError)


def test_an_unreadable_path_is_an_error_that_names_it(tmp_path):
    with pytest.raises(DataError, match=f"{tmp_path.name}: cannot be read"):
        read_idx(tmp_path)


# A folder


@pytest.mark.parametrize("rename", ["{}", "{}.gz", "dotted"])
def test_a_folder_loads_plain_or_compressed(folder, rename):
    for name in data.MNIST_SHA256:
        path = folder / name
        if rename == "{}.gz":
            (folder / f"{name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
        elif rename == "dotted":
            path.rename(folder / name.replace("-idx", ".idx"))
    loaded = load(folder)
    assert (loaded.x_train.shape, loaded.x_test.shape) == ((20, 784), (10, 784))
    assert loaded.x_train.dtype == np.float32 and loaded.y_train.dtype == np.int64
    assert 0 <= loaded.x_train.min() and loaded.x_train.max() == 1
    np.testing.assert_array_equal(loaded.y_test, np.arange(10))
    np.testing.assert_array_equal(
        np.round(loaded.x_test * 255), read_idx(data._find(folder, TEST_IMAGES)).reshape(10, 784)
    )


@pytest.mark.parametrize(
    "name, array, trouble",
    [
        (TRAIN_LABELS, np.zeros(19, np.uint8), "19 labels for the 20 images"),
        (TEST_LABELS, np.full(10, 10, np.uint8), "a label is 10"),
        (TEST_LABELS, np.zeros((10, 2), np.uint8), "not a list of labels"),
        (TRAIN_IMAGES, np.zeros((20, 27, 28), np.uint8), "not 28 x 28"),
        (TRAIN_IMAGES, np.zeros(20, np.uint8), "not 28 x 28"),
    ],
)
def test_files_that_do_not_fit_are_refused(folder, name, array, trouble):
    (folder / name).write_bytes(idx_bytes(array))
    with pytest.raises(DataError, match=trouble) as caught:
        load(folder)
    assert name in str(caught.value)


def test_an_empty_data_set_is_refused(folder):
    (folder / TRAIN_IMAGES).write_bytes(idx_bytes(np.zeros((0, 28, 28), np.uint8)))
    (folder / TRAIN_LABELS).write_bytes(idx_bytes(np.zeros(0, np.uint8)))
    with pytest.raises(DataError, match="holds no label"):
        load(folder)


def test_a_missing_file_is_named(folder):
    (folder / TEST_LABELS).unlink()
    with pytest.raises(DataError, match=f"{TEST_LABELS}: no such file"):
        load(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such folder"):
        load(tmp_path / "nowhere")


# The download and the cache


def test_mnist_is_downloaded_once(cache, mirror):
    _, _, asked = mirror
    first, again = load("mnist"), load("mnist")
    assert len(asked) == 4
    assert "downloaded now" in first.note and "from the cache" in again.note
    np.testing.assert_array_equal(first.x_train, again.x_train)
    assert sorted(path.name for path in (cache / "mnist").iterdir()) == sorted(
        f"{name}.gz" for name in data.MNIST_SHA256
    )


def test_a_damaged_cached_file_is_downloaded_again(cache, mirror):
    load("mnist")
    path = cache / "mnist" / f"{TRAIN_IMAGES}.gz"
    path.write_bytes(path.read_bytes()[:100])
    assert "downloaded now" in load("mnist").note
    assert "from the cache" in load("mnist").note


def test_the_second_mirror_is_tried(cache, mirror, monkeypatch):
    _, url, _ = mirror
    monkeypatch.setattr(data, "MIRRORS", (f"{url}nothing-here/", url))
    assert load("mnist").name == "mnist"


def wrong_content(path):
    path.write_bytes(gzip.compress(b"not what was asked for"))


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-5])


@pytest.mark.parametrize(
    "damage, trouble",
    [
        (wrong_content, "SHA-256"),
        (cut_short, "damaged or truncated gzip"),
        (lambda path: path.unlink(), "HTTP Error 404"),
    ],
)
def test_a_bad_download_is_an_error_and_leaves_nothing_behind(cache, mirror, damage, trouble):
    root, url, _ = mirror
    damage(root / f"{TRAIN_LABELS}.gz")
    with pytest.raises(DataError, match=trouble) as caught:
        load("mnist")
    assert f"{url}{TRAIN_LABELS}.gz" in str(caught.value)
    assert [path.name for path in (cache / "mnist").iterdir()] == [f"{TRAIN_IMAGES}.gz"]


def test_a_connection_that_breaks_off_is_an_error(cache, mirror, monkeypatch):
    root, _, _ = mirror
    real = http.server.SimpleHTTPRequestHandler.copyfile
    monkeypatch.setattr(
        http.server.SimpleHTTPRequestHandler, "copyfile", lambda self, source, out: out.write(source.read(10)) and None
    )
    with pytest.raises(DataError, match="after 10 of"):
        load("mnist")
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "copyfile", real)
    assert load("mnist").name == "mnist"


def test_the_cache_folder_must_be_writable(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(DataError, match="cannot write to the cache folder"):
        load("mnist")


def test_auto_takes_mnist_where_it_can(cache, mirror):
    assert load("auto").name == "mnist"


def test_auto_falls_back_to_digits_and_says_why(cache, monkeypatch):
    monkeypatch.setattr(data, "MIRRORS", ("http://127.0.0.1:9/",))
    loaded = load("auto")
    assert loaded.name == "digits"
    assert "instead of MNIST" in loaded.note and "127.0.0.1:9" in loaded.note


# Digits


def test_digits_are_enlarged_and_split_by_class():
    loaded = load("digits")
    assert loaded.x_train.shape == (1442, 784) and loaded.x_test.shape == (355, 784)
    assert loaded.x_train.dtype == np.float32
    assert 0 <= loaded.x_train.min() and loaded.x_train.max() <= 1
    shares = np.bincount(loaded.y_test) / np.bincount(np.concatenate([loaded.y_train, loaded.y_test]))
    assert np.all((0.19 < shares) & (shares <= 0.2))


def test_enlarging_keeps_a_constant_and_the_slope_between_centres():
    enlarge = data._enlarging(8, 28)
    np.testing.assert_allclose(enlarge.sum(axis=1), 1)
    inner = (enlarge @ np.arange(8.0))[2:-2]
    np.testing.assert_allclose(np.diff(inner), 8 / 28)


# Batches


def test_an_epoch_draws_every_row_once_and_keeps_pairs_together():
    x, y = np.arange(23) * 10, np.arange(23)
    batches = list(minibatches(np.random.default_rng(0), 5, x, y))
    assert [len(rows) for rows, _ in batches] == [5, 5, 5, 5, 3]
    assert sorted(np.concatenate([rows for _, rows in batches])) == sorted(y)
    assert all(np.array_equal(a, 10 * b) for a, b in batches)


def test_each_epoch_draws_anew_and_a_seed_repeats_it():
    def epochs(seed):
        rng = np.random.default_rng(seed)
        return [np.concatenate([rows for (rows,) in minibatches(rng, 7, np.arange(30))]).tolist() for _ in range(2)]

    first, second = epochs(0)
    assert first != second
    assert epochs(0) == [first, second]


def test_batches_of_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"lengths \[3, 4\]"):
        next(minibatches(np.random.default_rng(0), 2, np.zeros(3), np.zeros(4)))
    with pytest.raises(ValueError, match="size=0"):
        next(minibatches(np.random.default_rng(0), 0, np.zeros(3)))
