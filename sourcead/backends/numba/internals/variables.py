"""Analyses of Numba's IR: which variables are assigned once, are uncounted views, or are iterators over ranges."""

from collections import Counter

from numba import types
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca

from sourcead.analysis.connected import reachable

RANGE_ITERATOR = types.range_iter64_type


def assigned_once(func_ir: ir.FunctionIR) -> set[str]:
    """Return the variables whose only assignment dominates all reads, so that they need no stack slot."""
    blocks = func_ir.blocks
    if func_ir.func_id.is_generator:
        return set()
    found = compute_use_defs(blocks)
    before = compute_cfg_from_blocks(blocks).dominators()
    counts = Counter(inst.target.name for block in blocks.values() for inst in block.find_insts(ir.Assign))
    made = {name: label for label, names in found.defmap.items() for name in names if counts[name] == 1}
    for label, names in found.usemap.items():
        for name in names:
            if name in made and not (made[name] in before.get(label, ()) and made[name] < label):
                del made[name]
    return set(made) - must_use_alloca(blocks)


def borrowed(func_ir: ir.FunctionIR, once: set[str], fndesc) -> set[str]:
    """Return the variables of `once` that are views of an array that outlives them, so that they need to count no reference.

    Such a view is made and read in one loop in which the variable of the array is neither assigned nor deleted.
    """
    blocks = func_ir.blocks
    loops = compute_cfg_from_blocks(blocks).loops().values()
    used = compute_use_defs(blocks).usemap if loops else {}
    found = set()
    for loop in loops:
        inside = [blocks[label] for label in loop.body]
        changed = {inst.target.name for block in inside for inst in block.find_insts(ir.Assign)}
        changed |= {inst.value for block in inside for inst in block.find_insts(ir.Del)}
        after = {name for label, names in used.items() if label not in loop.body for name in names}
        for block in inside:
            for inst in block.find_insts(ir.Assign):
                name = inst.target.name
                if name in once and name not in after and is_view(inst, fndesc) and inst.value.value.name not in changed:
                    found.add(name)
    return found


def is_view(inst: ir.Assign, fndesc) -> bool:
    """Return whether an assignment makes a view of an array by slices and integers."""
    made = inst.value
    if not isinstance(made, ir.Expr) or made.op not in ("getitem", "static_getitem"):
        return False
    key = made.index if made.op == "getitem" else made.index_var
    array, result = fndesc.typemap[made.value.name], fndesc.typemap[inst.target.name]
    if key is None or type(array) is not types.Array or type(result) is not types.Array:
        return False
    index = fndesc.typemap[key.name]
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    is_basic = all(isinstance(p, types.Integer | types.SliceType | types.NoneType | types.EllipsisType) for p in parts)
    signature = fndesc.calltypes.get(made)
    return is_basic and signature is not None and signature.return_type == result


def iterators(func_ir: ir.FunctionIR, typemap: dict[str, types.Type]) -> dict[str, str | None]:
    """Return, for each variable that holds an iterator over a range, the variable that first held it; None if it has other uses."""
    values: dict[str, list] = {}
    used: set[str] = set()
    for block in func_ir.blocks.values():
        for inst in block.body:
            if isinstance(inst, ir.Del):
                continue
            if isinstance(inst, ir.Assign) and typemap.get(inst.target.name) == RANGE_ITERATOR:
                values.setdefault(inst.target.name, []).append(inst.value)
                if isinstance(inst.value, ir.Var) or isinstance(inst.value, ir.Expr) and inst.value.op == "getiter":
                    continue
            if isinstance(inst, ir.Assign) and isinstance(inst.value, ir.Expr) and inst.value.op == "iternext":
                continue
            used |= {v.name for v in inst.list_vars()}

    def origin(name: str) -> str | None:
        sources = reachable([name], lambda at: [v.name for v in values.get(at, ()) if isinstance(v, ir.Var)])  # where paths meet, several
        made = [(at, v) for at in sources for v in values.get(at, [None]) if not isinstance(v, ir.Var)]
        return made[0][0] if len(made) == 1 and isinstance(made[0][1], ir.Expr) else None

    origins = {name: origin(name) for name in values}
    others = {origins.get(name) for name in used}
    return {name: None if found in others else found for name, found in origins.items()}


def with_loops_inside(func_ir: ir.FunctionIR, origins: dict[str, str | None]) -> set[str | None]:
    """Return the range iterators of loops that contain other loops."""
    cfg = compute_cfg_from_blocks(func_ir.blocks) if origins else None
    around = {label: cfg.in_loops(label)[:1] for label in func_ir.blocks} if cfg else {}  # of each block, the innermost loop
    outer = {other.header for found in around.values() for loop in found for other in cfg.in_loops(loop.header)[1:]}
    heads = [func_ir.blocks[label] for label, found in around.items() if any(loop.header in outer for loop in found)]
    return {origins.get(e.value.name) for block in heads for e in block.find_exprs("iternext")}
