"""Lowering of branches.

A branch whose condition is not known is lowered side by side: first one arm, then, from the same state, the other; what
differs afterwards becomes a result of the `Branch`.
"""

from __future__ import annotations

import gast

# -- branches --------------------------------------------------------------------------------------------------------




# -- conditions ------------------------------------------------------------------------------------------------------
