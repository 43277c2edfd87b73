"""Loops and memory as drawings in SVG, in the colours of the page."""

from collections.abc import Sequence

from sourcead.ad.residuals.notes import amount
from sourcead.page.loops import LoopFacts, Value
from sourcead.page.markup import Markup, joined, tag
from sourcead.page.measured import Measured

LONGEST = 46  # characters of a line of text in a drawing


def loop_drawing(loop: LoopFacts) -> Markup:
    """Return the drawing of a loop: iterations forward, what they keep, iterations backward."""
    if loop.runs is None or loop.depth:
        numbers = ["first", "…", "last"]
    else:
        numbers = ["1", "…", f"{loop.runs:,}"] if loop.runs > 3 else [str(k + 1) for k in range(loop.runs)] or ["none"]
    width, lefts = 70, {1: [145], 2: [85, 205], 3: [45, 145, 245]}[len(numbers)]
    parts = []
    for k, (number, left) in enumerate(zip(numbers, lefts)):
        right, end = left + width, lefts[k + 1] if k + 1 < len(lefts) else left + width + 30
        parts += [_box(left, 22, width, number, "forward"), _arrow(right, end, 37, "forward")]
        parts += [_box(left, 148, width, number, "adjoint"), _arrow(end, right, 163, "adjoint")]
        if loop.kept:
            parts += [_down(left + width / 2, 52, 82), _down(left + width / 2, 116, 148)]
    parts += [_arrow(lefts[0] - 30, lefts[0], 37, "forward"), _arrow(lefts[0], lefts[0] - 30, 163, "adjoint")]
    if loop.kept:
        parts.append(tag("rect", x=20, y=82, width=320, height=34, rx=4, class_="saves"))
    parts.append(_text(180, 104, f"keeps {_names(loop.kept)}{_total(loop.kept)}"))
    parts += [_text(180, 14, f"forward, carries {_names(loop.forward)}"), _text(180, 194, f"back, carries {_names(loop.back)}")]
    return tag("svg", tag("title", "What the loop carries and keeps"), *parts, viewBox="0 0 360 204", role="img", class_="loop")


def _names(values: Sequence[Value]) -> str:
    """Return the names of values, as many as have place."""
    names = [v.name for v in values]
    text = ", ".join(names) or "nothing"
    while len(text) > LONGEST - 20 and len(names) > 1:
        names.pop()
        text = f"{', '.join(names)} and {len(values) - len(names)} more"
    return text if len(text) <= LONGEST - 10 else f"{text[: LONGEST - 11]}…"


def _total(values: Sequence[Value]) -> str:
    """Return the bytes of all values that were kept, if they are known."""
    sizes = [v.bytes * v.times for v in values if v.bytes is not None and v.times is not None]
    return f": {amount(sum(sizes))}" if len(sizes) == len(values) > 0 else ""


def _box(x: float, y: float, width: float, text: str, kind: str) -> Markup:
    return joined(tag("rect", x=x, y=y, width=width, height=30, rx=4, class_=kind), _text(x + width / 2, y + 20, text))


def _text(x: float, y: float, text: str, anchor: str = "middle") -> Markup:
    return tag("text", text, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor)


def _arrow(start: float, end: float, y: float, kind: str) -> Markup:
    back = -6 if end > start else 6
    return tag("path", d=f"M{start:g} {y:g}H{end:g}m{back} -4l{-back} 4l{back} 4", class_=f"line {kind}")


def _down(x: float, start: float, end: float) -> Markup:
    return tag("path", d=f"M{x:g} {start:g}V{end:g}m-4 -6l4 6l4 -6", class_="line saves")


def memory_plot(name: str, found: Measured, highest: int) -> Markup:
    """Return the plot of memory over a run.

    Args:
        name: what was run.
        found: what was measured.
        highest: the bytes at the top of the vertical axis, which plots beside each other share.
    """
    left, top, width, height, most = 12, 22, 276, 110, max(found.lines, 1)
    across = [left + width * min((k + 0.5) * found.stretch / most, 1) for k in range(len(found.curve))]
    points = [(x, top + height * (1 - held / highest)) for x, held in zip(across, found.curve)]
    floor = top + height
    steps = "".join(f"L{x:.1f} {y:.1f}" for x, y in points)
    end = points[-1][0] if points else left
    parts = [
        tag("path", d=f"M{points[0][0] if points else left:.1f} {floor}{steps}L{end:.1f} {floor}Z", class_="held"),
        tag("path", d=f"M{left} {top}V{floor}H{left + width}", class_="axis"),
        tag("path", d=f"M{left} {top}h{width}", class_="grid"),
        _text(left, top - 7, amount(highest), "start"), _text(left, floor + 16, "0", "start"),
        _text(left + width, floor + 16, f"{most:,} lines run", "end"),
    ]  # fmt: skip
    if found.turn is not None:
        x = left + width * found.turn / most
        parts += [tag("path", d=f"M{x:.1f} {top}V{floor}", class_="turn"), _text(min(max(x, 78), 245), top - 7, "reverse", "start")]
    title = f"{name}: memory over the run, {amount(found.peak)} at most"
    return tag("svg", tag("title", title), *parts, viewBox="0 0 300 152", role="img", class_="memory")
