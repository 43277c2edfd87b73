"""Keep the calls of functions that would make a text long.

A function that is called is lowered in place, once for each call. Where that makes a long text, the function is lowered again, and the
functions that are called several times become functions of the text (`control/pairs.py`): it is shorter to read, and sooner compiled.
A call is lowered in place as before where the function cannot be called, such as one that changes what is not its own.
"""

from collections.abc import Hashable, Sequence

import gast

from sourcead.frontend import core
from sourcead.frontend.core import Lowering
from sourcead.frontend.core.lowering import Kept
from sourcead.ir.nodes import Block, Stmt
from sourcead.ir.walk import walk

LONG = 1500  # statements of a text in which calls are kept, and repeated ones after which lowering begins again with such calls
LARGE = 20  # statements of a function whose calls are
SAVED = 100  # the fewest statements that are saved by that


def note_size(lo: Lowering, node, kinds: Hashable, made: Sequence[Stmt]) -> None:
    """Note how many statements a call of a function with arguments of some kinds has made.

    Raises:
        TooLong: such calls make a long text, so that lowering is to begin again, with calls that are kept.
    """
    calls, size = lo.sizes.get((node, kinds), (0, 0))
    lo.sizes[node, kinds] = calls, size = calls + 1, size + number_of_statements(Block(tuple(made), ()))
    if lo.keeps and repeated(calls, size) >= LONG and node not in lo.kept and (more := called_often(lo)):
        raise core.TooLong(Kept({**lo.kept, **more}))


def number_of_statements(block: Block) -> int:
    """Count the statements of a block and of the blocks inside them."""
    return sum(1 for _ in walk(block))


def repeated(calls: int, size: int) -> int:
    """Return how many statements are not those of the first call, for a number of calls that made `size` statements."""
    return size - size // calls


def called_often(lo: Lowering) -> dict:
    """Return the syntax of the functions that were lowered in place so often that their calls are kept."""
    made = lo.sizes.items()
    large = (node for (node, _), (calls, size) in made if size >= LARGE * calls and repeated(calls, size) >= SAVED)
    often = (node for node in large if not handles_exceptions(node))
    return dict.fromkeys((node for node in often if node not in lo.kept), True)


@core.once_for_each_node
def handles_exceptions(node: gast.AST) -> bool:
    """Return whether a function has a `try`: what it handles may be decided by the sizes of its arguments, which its text does not know."""
    return any(isinstance(n, gast.Try) for n in gast.walk(node))


def check_length(lo: Lowering, body: Block) -> None:
    """Begin again with calls that are kept if a function is long."""
    if lo.keeps and number_of_statements(body) >= LONG and (more := called_often(lo)):
        raise core.TooLong(Kept({**lo.kept, **more}))
