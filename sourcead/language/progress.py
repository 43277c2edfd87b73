"""Progress of what lasts: a bar of tqdm, or one line, after two seconds, on terminals and in notebooks; nothing in pipes."""

import contextlib
import sys
import threading
from collections.abc import Iterable, Iterator, Sized
from typing import Any

PATIENCE = 2.0  # seconds before anything is shown


def is_watched() -> bool:
    """Return whether somebody sees what is written to the standard error: on a terminal or in a notebook."""
    return "ipykernel" in sys.modules or getattr(sys.stderr, "isatty", lambda: False)()


def bar(what: str, **options: Any) -> Any:
    """Return a bar of tqdm with a text and options, or None where nobody sees it or tqdm is not installed."""
    if not is_watched():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(desc=what, **options)


def watched(items: Iterable, what: str, total: int | None = None) -> Iterable:
    """Return the items, with a bar if going over them lasts.

    Args:
        items: what is gone over.
        what: the text before the bar.
        total: how many they are, if they do not know it.
    """
    total = len(items) if isinstance(items, Sized) else total
    shown = bar(what, iterable=items, total=total, delay=PATIENCE, leave=False)
    return items if shown is None else shown


@contextlib.contextmanager
def waiting(what: str, patience: float | None = None) -> Iterator[None]:
    """Show a line if the block lasts, and take it away at its end.

    Args:
        what: what is done, such as "Numba compiles f".
        patience: the seconds after which it is shown, `PATIENCE` if that is not given.
    """
    if not is_watched():
        yield
        return
    stream: Any = sys.stderr
    line = f"{what} ..."
    told = threading.Event()

    def tell():
        told.set()
        stream.write(line)
        stream.flush()

    timer = threading.Timer(PATIENCE if patience is None else patience, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if told.is_set():
            stream.write(f"\r{' ' * len(line)}\r")
            stream.flush()
