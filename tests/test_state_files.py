"""Files that are written as a whole, and caches that read only what is whole and their user's own."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import FileError, SourceADError
from sourcead.files import caches, whole
from sourcead.files.caches import Cache, cache_folder
from sourcead.files.whole import NotUsable, check_writable, read, write
from sourcead.nn import checkpoints, data

on_posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no modes")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path / "caches"))
    return Cache("things", most=10_000)


def square(x):
    return np.sum(x**2)


# Writing


def test_a_file_is_read_as_it_was_written(tmp_path):
    for content in (b"", b"content", bytes(range(256)) * 9, b"\nsourcead thing 1 sha256 \n"):
        write(tmp_path / "file", content, "thing")
        assert read(tmp_path / "file", "thing") == content
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


WRITERS = {
    "module": lambda path: grad(square).save(path, np.ones(3)),
    "checkpoint": lambda path: checkpoints.save(path, {"w": np.ones(3)}),
}


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_what_was_there_stays_until_a_new_file_is_complete(writer, fails, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, fails, full)
    with pytest.raises(FileError, match="file cannot be written: No space left"):
        writer(path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_a_missing_folder_is_an_error_that_says_what_to_do(writer, tmp_path):
    with pytest.raises(FileError, match="make the folder .*missing first") as error:
        writer(tmp_path / "missing" / "file")
    assert isinstance(error.value, OSError) and isinstance(error.value, SourceADError)


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_links_at_the_name_of_the_temporary_file_are_not_followed(writer, tmp_path, monkeypatch):
    victim, path = tmp_path / "victim", tmp_path / "file"
    victim.write_bytes(b"precious")
    (tmp_path / "file.part").symlink_to(victim)
    writer(path)
    assert victim.read_bytes() == b"precious" and path.stat().st_size
    before = path.read_bytes()
    monkeypatch.setattr(whole.secrets, "token_hex", lambda _: "guessed")
    (tmp_path / ".file.guessed.part").symlink_to(victim)
    with pytest.raises(FileError, match="File exists"):
        writer(path)
    assert victim.read_bytes() == b"precious" and path.read_bytes() == before


def test_links_folders_and_devices_are_not_replaced(tmp_path):
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "folder").mkdir()
    for name, trouble in (("link", "it is a link"), ("folder", "it is a folder"), (os.devnull, "it is a device")):
        with pytest.raises(FileError, match=trouble):
            write(tmp_path / name, b"new")
        with pytest.raises(FileError, match=trouble):
            check_writable(tmp_path / name)
    assert (tmp_path / "target").read_bytes() == b"precious"


@on_posix
def test_files_are_for_their_user_alone_but_modules_have_the_usual_mode(tmp_path, cache):
    before = os.umask(0o022)
    try:
        for name, writer in WRITERS.items():
            writer(tmp_path / name)
        cache.write("key", b"content")
        (tmp_path / "kept").write_bytes(b"")
        (tmp_path / "kept").chmod(0o640)
        WRITERS["module"](tmp_path / "kept")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"module": 0o644, "kept": 0o640, "checkpoint": 0o600, "caches": 0o700, "things": 0o700, "key": 0o600}


# Reading


def test_files_of_other_kinds_and_versions_are_told_from_damaged_ones(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write(path, b"content", "thing")
    with pytest.raises(NotUsable, match="of the kind thing and not other"):
        read(path, "other")
    path.write_bytes(path.read_bytes().replace(b"content", b"kontent"))
    with pytest.raises(NotUsable, match="checksum"):
        read(path, "thing")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(NotUsable, match="cut off"):
        read(path, "thing")
    monkeypatch.setattr(whole, "VERSION", 7)
    write(path, b"content", "thing")
    monkeypatch.undo()
    with pytest.raises(NotUsable, match="version 7, and this sourcead reads version 1"):
        read(path, "thing")


@on_posix
def test_pipes_and_devices_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(NotUsable, match="no regular file"):
            read(path, "thing")
        with pytest.raises(checkpoints.CheckpointError, match="no regular file"):
            checkpoints.load(path, [np.ones(3)])
        with pytest.raises(data.DataError, match="no regular file"):
            data.read_idx(path)


# Caches


def test_a_cache_gives_what_was_written_for_a_key(cache):
    assert cache.read("a") is None
    cache.write("a", b"one")
    cache.write("b", b"two")
    cache.write("a", b"three")
    assert (cache.read("a"), cache.read("b"), cache.read("c")) == (b"three", b"two", None)


def test_a_file_under_the_name_of_another_is_not_used(cache):
    cache.write("a", b"one")
    folder = cache_folder() / "things"
    (folder / "a").rename(folder / "b")
    assert cache.read("b") is None


@on_posix
@pytest.mark.parametrize("who", ["group", "all"])
@pytest.mark.parametrize("place", ["caches", "caches/things", "caches/things/key"])
def test_what_others_can_write_is_not_read_and_the_log_says_so_once(cache, tmp_path, caplog, place, who):
    cache.write("key", b"content")
    assert cache.read("key") == b"content"
    (tmp_path / place).chmod({"group": 0o770, "all": 0o777}[who])
    assert cache.read("key") is None and cache.read("key") is None
    assert len(caplog.messages) == 1 and "others can write it" in caplog.text
    in_file = place.endswith("key")  # which is replaced; a folder that others can write is left alone
    assert ("things/key of its cache" if in_file else f"in {tmp_path / place}: ") in caplog.text
    cache.write("key", b"new")
    assert cache.read("key") == (b"new" if in_file else None)


@on_posix
@pytest.mark.parametrize("place", ["caches", "caches/things", "caches/things/key"])
def test_what_belongs_to_another_user_is_not_read_by_the_superuser_either(cache, tmp_path, caplog, place, monkeypatch):
    cache.write("key", b"content")
    real, other = (tmp_path / place).stat(), os.geteuid() + 1

    def owner_changed(found):
        theirs = (found.st_dev, found.st_ino) == (real.st_dev, real.st_ino)
        return os.stat_result([*found[:4], other, *found[5:]]) if theirs else found

    for function in (os.stat, os.lstat, os.fstat):
        monkeypatch.setattr(os, function.__name__, lambda *a, of=function, **k: owner_changed(of(*a, **k)))
    assert cache.read("key") is None
    assert f"belongs to the user {other}" in caplog.text


def test_a_link_in_place_of_a_file_or_folder_of_a_cache_is_not_followed(cache, tmp_path):
    cache.write("key", b"content")
    folder = cache_folder() / "things"
    (folder / "key").rename(tmp_path / "key")
    (folder / "key").symlink_to(tmp_path / "key")
    assert cache.read("key") is None
    (folder / "key").unlink()
    (tmp_path / "key").rename(folder / "key")
    assert cache.read("key") == b"content"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert cache.read("key") is None


def test_damaged_files_are_replaced(cache):
    cache.write("key", b"content")
    path = cache_folder() / "things" / "key"
    path.write_bytes(b"spoiled")
    assert cache.read("key") is None
    cache.write("key", b"content")
    assert cache.read("key") == b"content"


def test_a_cache_removes_what_was_not_used_for_the_longest_time(cache):
    folder = cache_folder() / "things"
    for k in range(10):
        cache.write(f"key{k}", bytes(800))
        os.utime(folder / f"key{k}", (1000 + k, 1000 + k))
    assert cache.read("key0") == bytes(800)  # used now
    cache.write("large", bytes(5000))
    assert sorted(path.name for path in folder.iterdir()) == ["key0", "key6", "key7", "key8", "key9", "large"]
    assert sum(path.stat().st_size for path in folder.iterdir()) <= cache.most


def test_a_cache_removes_incomplete_files_that_were_left_behind_but_not_those_of_another_process(cache):
    folder = cache_folder() / "things"
    cache.write("key", b"content")
    (folder / ".key.left.part").write_bytes(bytes(20_000))
    os.utime(folder / ".key.left.part", (1000, 1000))
    (folder / ".key.now.part").write_bytes(b"")
    cache.write("large", bytes(9900))
    assert sorted(path.name for path in folder.iterdir()) == [".key.now.part", "large"]


@on_posix
def test_a_file_that_cannot_be_replaced_is_named_in_the_log(cache, tmp_path, caplog):
    cache.write("other", b"content")
    link = cache_folder() / "things" / "key"
    link.symlink_to(tmp_path / "other")
    cache.write("key", b"content")
    assert f"cannot keep {link}: it is a link" in caplog.text


def test_a_folder_that_cannot_be_made_is_one_line_in_the_log(cache, tmp_path, caplog):
    (tmp_path / "caches").write_text("in the way")
    cache.write("key", b"content")
    assert cache.read("key") is None and cache.read("other") is None
    assert len(caplog.messages) == 1 and "SOURCEAD_CACHE_DIR names another folder" in caplog.text


@pytest.mark.parametrize("platform, variables, expected", [
    ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/sourcead"),
    ("linux", {}, "HOME/.cache/sourcead"),
    ("darwin", {}, "HOME/Library/Caches/sourcead"),
    ("linux", {"SOURCEAD_CACHE_DIR": "/mine", "SOURCEAD_CACHE": "/old"}, "/mine"),
    ("linux", {"SOURCEAD_CACHE": "/old"}, "/old"),
])  # fmt: skip
def test_the_cache_is_where_the_system_keeps_caches(monkeypatch, tmp_path, platform, variables, expected):
    for name in ("SOURCEAD_CACHE_DIR", "SOURCEAD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(tmp_path), **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder().as_posix() == expected.replace("HOME", str(tmp_path))


@on_posix
@pytest.mark.parametrize("home", [None, "/nonexistent", "/"])
def test_without_a_home_folder_the_cache_is_among_temporary_files(monkeypatch, tmp_path, caplog, home):
    import pwd

    def unknown(*_):
        raise KeyError("uid not found")

    for name in ("SOURCEAD_CACHE_DIR", "SOURCEAD_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    if home is None:
        monkeypatch.setattr(pwd, "getpwuid", unknown)
    else:
        monkeypatch.setenv("HOME", home)
    if home == "/":
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    expected = tmp_path / f"sourcead-{os.geteuid()}"
    assert cache_folder() == expected
    assert "the home folder cannot be used" in caplog.text
    if home == "/":
        return
    things = Cache("things", most=1000)
    things.write("key", b"content")
    assert things.read("key") == b"content" and stat.S_IMODE(expected.stat().st_mode) == 0o700
    expected.chmod(0o777)  # somebody else made it before
    assert things.read("key") is None
    expected.chmod(0o700)
    assert things.read("key") == b"content"
    expected.rename(tmp_path / "elsewhere")
    expected.symlink_to(tmp_path / "elsewhere")
    assert things.read("key") is None and f"{expected} is a link" in caplog.text


def test_processes_write_the_same_key_at_once(cache):
    code = """
import sys
from sourcead.files.caches import Cache
cache, letter = Cache("things", most=10_000), sys.argv[1].encode()
for _ in range(150):
    cache.write("key", 3000 * letter)
    cache.write(f"key{_ % 7}", 3000 * letter)
    assert cache.read("key") in (None, 3000 * b"a", 3000 * b"b")
"""
    running = [
        subprocess.Popen([sys.executable, "-c", code, letter], cwd=Path(__file__).parents[1], stderr=subprocess.PIPE, text=True)
        for letter in "ab"
    ]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in running] == [("", 0), ("", 0)]
    assert cache.read("key") in (None, 3000 * b"a", 3000 * b"b")
    assert not [path for path in (cache_folder() / "things").iterdir() if path.name.endswith(".part")]


@pytest.fixture(autouse=True)
def log_anew():
    caches._log.cache_clear()
