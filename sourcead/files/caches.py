"""Folders of files that later processes use: where they are, whose they must be, how large they may become."""

import contextlib
import functools
import logging
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sourcead.files.whole import PART, NotUsable, check_own, read, write

VARIABLES = ("SOURCEAD_CACHE_DIR", "SOURCEAD_CACHE")  # name the cache folder; the second is an older name
UNFINISHED = 3600  # seconds, after which a file that is still incomplete is one that a process left behind


def cache_folder() -> Path:
    """Return the folder of all caches: what `SOURCEAD_CACHE_DIR` names, else `sourcead` in the user's cache folder.

    Where the user has no home folder, it is one of the user's own in the system's folder for temporary files.

    Raises:
        OSError: there is no folder for temporary files either, or a link in its place.
    """
    for variable in VARIABLES:
        if given := os.environ.get(variable):
            return Path(given)
    if sys.platform == "win32" and (base := os.environ.get("LOCALAPPDATA")):
        return Path(base) / "sourcead"
    if sys.platform not in ("win32", "darwin") and (base := os.environ.get("XDG_CACHE_HOME")):
        return Path(base) / "sourcead"
    user = os.geteuid() if hasattr(os, "geteuid") else None
    try:
        home = Path.home()
        owner = home.stat().st_uid
        if user not in (owner, None):  # as under `sudo`, which would leave folders that the user cannot write
            raise NotUsable(f"{home} belongs to the user {owner}")
    except (RuntimeError, OSError, NotUsable) as error:  # RuntimeError: the system does not know the user
        folder = Path(tempfile.gettempdir()) / ("sourcead" if user is None else f"sourcead-{user}")
        _log(f"sourcead keeps its cache in {folder}, since the home folder cannot be used: {error}; {VARIABLES[0]} names another folder")
        if folder.is_symlink():  # anybody may make one there
            raise OSError(f"{folder} is a link") from None
        return folder
    between = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    return home / between / "sourcead"


def made(folder: Path) -> Path:
    """Return a folder of the cache folder; both are made if they are missing, for their user alone."""
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    for missing in (folder.parent, folder):
        with contextlib.suppress(FileExistsError):
            missing.mkdir(0o700)
    return folder


@dataclass(frozen=True)
class Cache:
    """Files by which later processes save work, in a folder of the cache folder. What cannot be used is left aside, with a line in the log.

    Attributes:
        name: the name of the folder.
        most: how many bytes it may hold; what was not used for the longest time is removed.
    """

    name: str
    most: int

    def read(self, key: str) -> memoryview | None:
        """Return the content that was written for a key; None if there is none, or none that is whole and the user's own."""
        folder = self._folder()
        if folder is None:
            return None
        try:
            content = read(folder / key, f"{self.name}/{key}", own=True)
        except FileNotFoundError:
            return None
        except (NotUsable, OSError) as error:
            self.leave_aside(key, error)
            return None
        with contextlib.suppress(OSError):
            os.utime(folder / key)  # the time of the last use
        return content

    def write(self, key: str, content: bytes) -> None:
        """Keep content for a key, in place of what was there, if the folder is the user's own."""
        folder = self._folder()
        if folder is None:
            return
        try:
            write(folder / key, content, f"{self.name}/{key}")
            self._prune(folder)
        except OSError as error:
            _log(f"sourcead cannot keep {folder / key}: {error.__cause__ or error}")

    def leave_aside(self, key: str, error: Exception) -> None:
        """Say that a file is not used, and why."""
        _log(f"sourcead does not use {self.name}/{key} of its cache, and makes it anew: {error}")

    def _folder(self) -> Path | None:
        """Return the folder, made now if there is none; None if it cannot be used."""
        asked = None
        try:
            asked = root = cache_folder()
            folder = made(root / self.name)
            check_own(os.stat(root))  # the user may name a link to a folder
            asked = folder
            check_own(os.lstat(folder))
            return folder
        except (NotUsable, OSError) as error:
            _log(f"sourcead keeps no {self.name} in {asked or 'a cache'}: {error}; {VARIABLES[0]} names another folder")
            return None

    def _prune(self, folder: Path) -> None:
        files = []
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):  # another process removed it
                found = entry.stat(follow_symlinks=False)
                if not (entry.name.endswith(PART) and time.time() - found.st_mtime < UNFINISHED):
                    files.append((found.st_mtime_ns, found.st_size, entry.path))
        size = sum(size for _, size, _ in files)
        for _, freed, path in sorted(files):
            if size <= self.most:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            size -= freed


@functools.cache
def _log(line: str) -> None:
    logging.getLogger("sourcead").warning(line)
