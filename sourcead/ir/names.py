"""The words that may stand as names in generated text, and names made from any other words, which may come from outside."""

import itertools
import keyword
import unicodedata
from collections.abc import Iterator


def is_name(word: str) -> bool:
    """Return whether a word can stand in Python text as a name, and is read there as itself: Python reads `ﬁ` as `fi`."""
    return word.isidentifier() and not keyword.iskeyword(word) and word != "__debug__" and unicodedata.is_normalized("NFKC", word)


def as_name(wish: str, otherwise: str) -> str:
    """Return a name that resembles a word; `otherwise` if the word is empty.

    Example:
        >>> as_name("learning rate", "t"), as_name("class", "t"), as_name("1st", "t"), as_name("", "t")
        ('learning_rate', 'class_', '_1st', 't')
    """
    name = "".join(c if f"_{c}".isidentifier() else "_" for c in unicodedata.normalize("NFKC", wish)) or otherwise
    name = name if name.isidentifier() else f"_{name}"
    return name if is_name(name) else f"{name}_"


def name_of(f: object, otherwise: str = "function") -> str:
    """Return the name of a function if it can stand in text, which that of a lambda cannot."""
    name = getattr(f, "__name__", None)
    return name if isinstance(name, str) and is_name(name) else otherwise


def of_part(name: str, key: object) -> str:
    """Return what to call the part of a variable that a key selects."""
    try:
        return f"{name}_{key}"
    except Exception:  # see `shown`
        return name


def shown(key: object) -> str:
    """Return the `repr` of a key for a message; a class may refuse it, as Python does for integers of more than 4300 digits."""
    try:
        return repr(key)
    except Exception:
        return f"<{type(key).__name__}>"


def numbered(wish: str) -> Iterator[str]:
    """Yield a name, and then the name with the numbers 1, 2, ..."""
    return itertools.chain([wish], (f"{wish}_{k}" for k in itertools.count(1)))
