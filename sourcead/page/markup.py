"""Elements of HTML and SVG as text: whatever is not markup already is escaped, so that names and strings of a program stay text."""

import html
from typing import Any


class Markup(str):
    """Text that is markup."""


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element; `class_` stands for `class`, an underscore for a hyphen, and attributes that are None or False are left out.

    Example:
        >>> tag("b", "x < y", tag("i", 2), class_="warm", id=0, hidden=False)
        '<b class="warm" id="0">x &lt; y<i>2</i></b>'
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None and value is not False}
    written = "".join(f" {key}" if value is True else f' {key}="{escaped(value)}"' for key, value in given.items())
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Any) -> Markup:
    """Return markup, and text that is escaped, one behind the other."""
    return Markup("".join(child if isinstance(child, Markup) else escaped(child) for child in children))


def escaped(value: Any) -> str:
    """Return a value as text in which nothing is markup, and what is not printable is visible.

    Example:
        >>> escaped("</script> \\u202e")
        '&lt;/script&gt; \\\\u202e'
    """
    return html.escape("".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in str(value)))
