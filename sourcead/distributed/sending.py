"""How functions travel to other processes: once to each, as bytes, which are told apart by their digest.

A process that gets a function makes it anew once and keeps it, so that the text of a gradient is generated, and compared with the user's
function, once in each process. Functions of the main program, which other processes do not have, travel as code with their text.
"""

import functools
import hashlib
import importlib
import io
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.compile.pickling import Pickled, with_text

MOST = 32  # functions that a process keeps
ALIGNED = 8  # bytes, as numbers of all types but the longest are
_lock = threading.Lock()
_made: dict[str, Callable] = {}


@dataclass(frozen=True)
class Sent:
    """A function as it travels."""

    digest: str
    content: bytes

    @classmethod
    def of(cls, function: Callable) -> "Sent":
        """Return a function as it travels.

        Raises:
            UnsupportedValueError: it is a derivative that cannot be pickled.
        """
        content = dumped(function)
        return cls(hashlib.sha256(content).hexdigest(), content)

    def function(self) -> Callable:
        """Return the function, made once in this process."""
        with _lock:
            made = _made.pop(self.digest, None)
            if made is None:
                made = pickle.loads(self.content)
                while len(_made) >= MOST:
                    _made.pop(next(iter(_made)))
            _made[self.digest] = made  # last, as what was used last
            return made


@dataclass(frozen=True)
class Boxed:
    """Data as it travels: the memory of its arrays, which is not copied, and all else as bytes."""

    content: bytes
    memory: list[np.ndarray]

    @classmethod
    def of(cls, thing: Any) -> "Boxed":
        buffers: list[pickle.PickleBuffer] = []
        content = dumped(thing, buffers.append)
        return cls(content, [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers])

    def thing(self) -> Any:
        """Return the data, in arrays that may be written and are aligned, on the memory of this box where that may be.

        NumPy adds in another order where an array is not aligned, as messages from other processes may be.
        """
        ready = [part if part.flags.writeable and part.ctypes.data % ALIGNED == 0 else part.copy() for part in self.memory]
        return loaded(self.content, buffers=ready)


@functools.cache
def _pickler() -> type[pickle.Pickler]:
    """The pickler: that of cloudpickle where it is installed, by which functions of the main program travel as code."""
    try:
        base = importlib.import_module("cloudpickle").Pickler
    except ImportError:
        base = pickle.Pickler

    class Pickler(base):
        def reducer_override(self, thing):
            if base is not pickle.Pickler and isinstance(thing, Pickled) and thing.__module__ == "__main__":
                return with_text(thing)
            return super().reducer_override(thing) if base is not pickle.Pickler else NotImplemented

    return Pickler


def dumped(thing: Any, aside: Callable[[pickle.PickleBuffer], Any] | None = None) -> bytes:
    """Return an object as bytes, which `loaded` reads in any process that has the modules that it comes from.

    Args:
        thing: the object.
        aside: takes the memory of arrays, which then is not copied into the bytes.
    """
    file = io.BytesIO()
    _pickler()(file, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=aside).dump(thing)
    return file.getvalue()


loaded = pickle.loads


def sendable(error: Exception) -> bytes:
    """Return an error as bytes: in parts where its constructor does not take its `args`, another with its text where that fails, too."""
    parts = made_of_parts, (type(error), error.args, error.__dict__)
    for form in (error, _InParts(*parts)):
        try:
            content = dumped(form)
            loaded(content)
            return content
        except Exception:
            continue
    return dumped(RuntimeError(f"{type(error).__name__}: {error}"))


class _InParts:
    """Pickled as a call of a function with arguments."""

    def __init__(self, function: Callable, arguments: tuple):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def made_of_parts(kind: type[Exception], args: tuple, attributes: dict) -> Exception:
    """Return an error without calling its constructor."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error
