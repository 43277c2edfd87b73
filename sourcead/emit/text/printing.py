"""A tree as text, comments included."""

from __future__ import annotations

import ast
import re
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # astor mentions node classes that Python has deprecated
    import astor


def to_text(function: ast.FunctionDef, comments: dict[str, str]) -> str:
    """The function's source; statements that are a marker's name alone become comments."""
    module = ast.fix_missing_locations(ast.Module([function], []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        source = astor.to_source(module, pretty_string=_quoted, pretty_source="".join)
    return re.sub(
        r"^( *)(__comment_\d+__)$",
        lambda m: comments[m[2]] and f"{m[1]}# {comments[m[2]]}",
        source.strip("\n") + "\n",
        flags=re.MULTILINE,
    )


def _quoted(string: str, _embedded, line: str, *_, **__) -> str:
    """A string in double quotes; one that is a statement of its own is a docstring."""
    if not line.strip():
        text = string.replace("\\", "\\\\").replace('"""', '\\"""')
        text = text.replace("\n", "\n" + line).replace(f"\n{line}\n", "\n\n")
        return f'"""{text}"""'
    text = repr(string)
    if text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"'
    return text
