"""Makes the pages of the site that stand elsewhere: the README, the tour, and the reference from the docstrings."""

import importlib
import json
import re
from pathlib import Path

import griffe
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
SHOWN = {"Gradient": ("source", "lower", "view", "save"), "Lowered": (), "Numba": ()}  # the members of a class that users need


class Examples(griffe.Extension):
    """Shows the part `Example:` of a docstring as code with its output."""

    def on_object(self, *, obj, **others):
        """Give the part the name that the parser knows."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.M)


def readme():
    """The README, whose links lead to the pages, with what stands side by side one below the other."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^</?(table|tr|td|th)\b.*\n", "", text, flags=re.M)
    text = re.sub(r"\]\(docs/([^)]+)\)", r"](\1)", text)
    return re.sub(r"\[([^\]]+)\]\((?!http|#)(?!\w[\w-]*\.(?:md|png|svg))([^)]+)\)", r"`\1`", text)


def tour():
    """The cells of the notebook, one after another."""
    cells = json.loads((ROOT / "examples" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    return "\n\n".join(f"```python\n{t}\n```" if cell["cell_type"] == "code" else t for t, cell in zip(texts, cells))


def reference():
    """The public names of the package, by their homes."""
    import sourcead

    parts = ["# Functions and classes", "`from sourcead import ...` takes each of these names."]
    for name in sorted(sourcead.__all__, key=str.lower):
        module = next(home for home, names in sourcead._HOMES.items() if name in names)
        members = SHOWN.get(name)
        chosen = "" if members is None else f"\n    options:\n      inherited_members: true\n      members: {list(members)}"
        parts.append(f"::: {module}.{name}{chosen}")
    parts += ["## sourcead.distributed", "::: sourcead.distributed.gradients.grad_over"]
    return "\n\n".join(parts)


def reference_of_networks():
    """The public names of `sourcead.nn`, by file."""
    parts = ["# Networks", "What `sourcead.nn` has for layers, losses, optimisers and training."]
    for file in sorted((ROOT / "sourcead" / "nn").glob("[a-z]*.py")):
        module = importlib.import_module(f"sourcead.nn.{file.stem}")
        if not (module.__doc__ or "").strip():
            continue
        parts += [f"## {file.stem}", f"::: sourcead.nn.{file.stem}\n    options:\n      show_root_heading: false"]
    return "\n\n".join(parts)


PAGES = {"index.md": readme, "tour.md": tour, "reference.md": reference, "reference-nn.md": reference_of_networks}


def on_config(config):
    """Name the extension by its place, whatever the working directory."""
    handlers = config.plugins["mkdocstrings"].config.handlers
    handlers["python"]["options"]["extensions"] = [f"{Path(__file__).resolve()}:Examples"]
    return config


def on_files(files, config):
    """Add the pages."""
    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=make()))
    return files
