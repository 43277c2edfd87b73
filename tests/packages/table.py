"""docs/packages.md, from the outcomes of every case."""

import re
import statistics
from pathlib import Path

STATUSES = ("right", "wrong", "refused", "error", "stair")
DOCUMENT = Path(__file__).parents[2] / "docs" / "packages.md"
HEAD = """\
# Packages differentiated as they are installed

Written by `python -m tests.packages --table`, which installs each package from PyPI in an environment of its own and differentiates
calls of its functions, as its documentation shows them. Nothing of the packages is changed or copied here: a case, in
`tests/packages/cases/`, is the package with its version, a call, and inputs. The cases were chosen before they were judged, and none was
left out because it is refused. Inputs are points at which the package's own formulas have a derivative: not where it takes the square root
of zero, or returns a limit as a special case.

A case is **right** if the value is the package's own, and the gradient by every input agrees with central differences; components where two
step sizes do not agree with each other (bends, jumps, sums that cancel) are not compared. It is **wrong** if the value or a component
differs, also if the compiler's own check found that, **refused** if the compiler says that it cannot differentiate the call, and an
**error** if anything else happens, or if the compiler does not end in a minute. It is a **stair** if its value is known to be found by
comparisons alone, as in a search that halves an interval: no derivative passes through a comparison. Seconds are what the compiler
took of the processor.
"""


def count_rows(results):
    """A table of the packages, a row each."""
    rows = ["| package | for | " + " | ".join(STATUSES) + " | seconds, median and worst |", "| --- " * (3 + len(STATUSES)) + "|"]
    for package, outcomes in results:
        statuses = [outcome["status"] for outcome in outcomes]
        seconds = [outcome["seconds"] for outcome in outcomes]
        counts = " | ".join(str(statuses.count(status) or "") for status in STATUSES)
        times = f"{statistics.median(seconds):.1f}, {max(seconds):.1f}" if seconds else ""
        rows.append(f"| `{package.requirements[0]}` | {package.field} | {counts} | {times} |")
    return rows


def reason(detail):
    """The part of a message that is about the package: not the line of the case, and no folder of this machine."""
    kind, _, _ = detail.partition(":")
    inside = detail.rfind(" | In ")
    shown = f"{kind}: {detail[inside + 3 :]}" if inside >= 0 else detail.partition(" | case(")[0].partition(" | lambda ")[0]
    return re.sub(r"(?<![\w.])/[^ :`']*/(?=[^/]+/[^/]+\.py)", "", shown)


def case_rows(outcomes):
    """A table of one package's cases, a row each."""
    rows = ["| call | outcome | seconds | |", "| --- | --- | --- | --- |"]
    for outcome in outcomes:
        detail = reason(outcome["detail"]).replace("|", "\\|").replace("`", "'")
        if outcome["left_out"]:
            detail = f"{outcome['left_out']} of {outcome['compared'] + outcome['left_out']} components not compared. {detail}".strip()
        code = f"`{detail}`" if outcome["status"] != "right" else detail
        rows.append(f"| `{outcome['calls']}` | {outcome['status']} | {outcome['seconds']:.1f} | {code} |")
    return rows


def document(results):
    """The text of the page: the counts, a table of packages, and a table of cases for each."""
    every = [outcome for _, outcomes in results for outcome in outcomes]
    counts = ", ".join(f"{sum(outcome['status'] == status for outcome in every)} {status}" for status in STATUSES)
    seconds = sorted(outcome["seconds"] for outcome in every if outcome["status"] == "right") or [0.0]
    lines = [
        HEAD,
        f"**{len(every)} cases of {len(results)} packages: {counts}.** For those that are right, the compiler took "
        f"{statistics.median(seconds):.2f} seconds in the median and {seconds[-1]:.0f} in the worst case.\n",
        *count_rows(results),
    ]
    for package, outcomes in results:
        lines += ["", f"## {package.requirements[0]}", "", *case_rows(outcomes)]
    return "\n".join(lines) + "\n"


def write_table(results):
    """Write the page."""
    DOCUMENT.write_text(document(results), encoding="utf-8")


def right_cases() -> set[tuple[str, str]]:
    """Return (requirement, call) of each case that the page says is right."""
    found, package = set(), ""
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            package = line[3:]
        elif line.startswith("| `") and "` | right | " in line:
            found.add((package, line.split("`")[1]))
    return found
