"""Files that are written as a whole, read only if they are whole, and run only if they are the user's own.

`write` fills a new file of its own in the same folder and then renames it, so that a file of the final name is always complete, and a link
that somebody planted is never followed.  What is read again ends in a line with a checksum of its content, of what it is, and of the
version of this form:

    sourcead machine-code/5f1d... 1 sha256 9f86d081...

The checksum finds damage; anybody can compute it.  Against others stand owner and mode: what is run is read only if
it belongs to the user of this process and nobody else can write it (`caches.py` asks the same of its folders).
"""

import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from sourcead.errors import FileError

VERSION = 1  # of the form of the last line
SEAL = re.compile(rb"\nsourcead (\S+) (\d+) sha256 ([0-9a-f]{64})\n\Z")
LONGEST_SEAL = 300  # bytes
PART = ".part"  # ends the name of a file that is not complete


class NotUsable(Exception):
    """Why a file is not read: it is damaged, or not what was asked for, or others can write it."""


# Writing


def write(path: str | os.PathLike, content: bytes | memoryview, kind: str | None = None, private: bool = True) -> None:
    """Write a file as a whole: until it is complete, what was there stays.

    Args:
        path: the file.
        content: what it holds.
        kind: what it is, a word; then `read` reads it. None for a file without a last line of ours.
        private: only its owner can read and write it. Otherwise it has the mode of what was there, or the usual one.

    Raises:
        FileError: it cannot be written, or there is a link, a folder or a device in its place.
    """
    folder, path = str(path).endswith(("/", os.sep)), Path(path)
    with _as_file_error(path):
        if folder:
            raise OSError("it is the name of a folder")
        part, handle, mode = _new_part(path, private)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.write(_seal(content, kind) if kind else b"")
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(part, mode)
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def check_writable(path: str | os.PathLike) -> None:
    """Raise the error that `write` would raise, before there is anything to write."""
    path = Path(path)
    with _as_file_error(path):
        part, handle, _ = _new_part(path, True)
        os.close(handle)
        part.unlink()


def _new_part(path: Path, private: bool) -> tuple[Path, int, int | None]:
    """Create an empty file beside `path`, and return its path, its descriptor, and the mode that it is to get."""
    mode = None
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat().st_mode
        if not stat.S_ISREG(found):
            raise OSError(f"it is {'a link' if stat.S_ISLNK(found) else 'a folder' if stat.S_ISDIR(found) else 'a device'}")
        mode = None if private else stat.S_IMODE(found) & 0o777
    part = path.with_name(f".{path.name[:50]}.{secrets.token_hex(8)}{PART}")
    # O_EXCL fails where anything has this name, a link too
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return part, os.open(part, flags, 0o600 if private else 0o666), mode


@contextlib.contextmanager
def _as_file_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        instead = "name a file, and no link, in a folder in which you may write"
        if not os.path.isdir(path.parent):
            instead = f"make the folder {path.parent} first"
        raise FileError(f"{path} cannot be written: {error.strerror or error}", instead=instead) from error


def _seal(content: bytes | memoryview, kind: str) -> bytes:
    digest = hashlib.sha256(f"{kind} {VERSION}\n".encode())
    digest.update(content)
    return f"\nsourcead {kind} {VERSION} sha256 {digest.hexdigest()}\n".encode()


# Reading


def read(path: str | os.PathLike, kind: str, own: bool = False) -> memoryview:
    """Return the content of a file that `write` wrote.

    Args:
        path: the file.
        kind: what it must be.
        own: refuse a file that belongs to another user or that others can write, before a byte of it is read.

    Raises:
        OSError: it cannot be read.
        NotUsable: it is damaged, something else, of another version, or not the user's own.
    """
    raw = memoryview(read_regular(path, own))
    last = SEAL.search(raw[-LONGEST_SEAL:])
    if last is None:
        raise NotUsable("it is cut off, damaged, or was written by something else")
    if (theirs := last[1].decode(errors="replace")) != kind:
        raise NotUsable(f"it is of the kind {theirs} and not {kind}")
    if int(last[2]) != VERSION:
        raise NotUsable(f"it is of version {int(last[2])}, and this sourcead reads version {VERSION}")
    content = raw[: len(raw) - len(last[0])]
    if _seal(content, kind) != last[0]:
        raise NotUsable("it is damaged: its checksum does not fit")
    return content


def read_regular(path: str | os.PathLike, own: bool = False) -> bytes:
    """Return what a file holds, whoever wrote it, unless it is a device or a pipe, which may have no end; for `own` see `read`."""
    more = getattr(os, "O_NONBLOCK", 0) | (getattr(os, "O_NOFOLLOW", 0) if own else 0)  # does not wait for a writer into a pipe
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | more)) as file:
        found = os.fstat(file.fileno())  # of what was opened, whatever the name stands for by now
        if not stat.S_ISREG(found.st_mode):
            raise NotUsable("it is no regular file")
        if own:
            check_own(found)
        return file.read()


def check_own(found: os.stat_result) -> None:
    """Refuse a file or folder that belongs to another user or that others can write.

    The superuser trusts only its own files as well: those of another user would run with all its rights.

    Raises:
        NotUsable: it does or they can.
    """
    if not hasattr(os, "geteuid"):
        return  # Windows has access lists in place of modes, and its cache folders are in the user's profile
    if found.st_uid != os.geteuid():
        raise NotUsable(f"it belongs to the user {found.st_uid}, and this process runs as {os.geteuid()}")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NotUsable("others can write it (chmod go-w)")
