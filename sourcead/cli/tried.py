"""Call the user's function once, to tell arguments that it does not take: shapes that do not fit are no error of the compiler."""

import contextlib
import copy
import io
import threading
import warnings
from collections.abc import Callable
from typing import Any

PATIENCE = 2.0  # seconds, after which a function that still runs is taken to take its arguments


def tried(function: Callable, args: tuple, kwargs: dict[str, Any]) -> None:
    """Call a function on copies of its arguments, without what it prints; raise what it raises within a short time."""
    raised: list[Exception] = []

    def call() -> None:
        try:
            function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        except Exception as error:
            raised.append(error)

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(PATIENCE)
    if raised:
        raise raised[0]
