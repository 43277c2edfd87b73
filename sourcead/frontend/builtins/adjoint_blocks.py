"""`with adjoint_of(x) as d_x:`: a block of the user's that runs in the reverse sweep, over the cotangent of `x`.

The block is lowered where it stands, so that it may read every value in scope, and then undone: the statements after it see
nothing of what it did.  All that it leaves behind is the value of `d_x`.  After it, the name `x` is bound to the result of a
`Steer`, which is `x` itself for every other purpose.

`adjoint_of` blocks inside the block are about the same point of the program: their cotangents are known here too.
"""

from __future__ import annotations

import gast

# -- what is steered ---------------------------------------------------------------------------------------------------




# -- stop_gradient --------------------------------------------------------------------------------------------------------




# -- what a block may do -------------------------------------------------------------------------------------------------
