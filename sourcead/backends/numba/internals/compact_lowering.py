"""Array elements, ranges, variables and reference counts in few LLVM instructions.

For each element that is read or written, Numba copies the array's descriptor of nine numbers to the stack; it keeps the state of a range
behind a pointer in memory, and most variables on the stack.  LLVM removes all of that, but a gradient has hundreds of loops over elements,
and the removal took a third of its compilation time.  Here these loops have a third of the instructions.  Loops over ranges end when their
number reaches the stop, which LLVM analyses better than a count of remaining iterations.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite.ir import Constant, FunctionType, Value
from numba import types
from numba.core import cgutils, ir
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.runtime.nrtdynmod import incref_decref_ty
from numba.core.typed_passes import NativeLowering
from numba.cpython.slicing import fix_index
from numba.np.arrayobj import _getitem_array_generic, load_item, make_array, normalize_indices, store_item

from sourcead.backends.numba.internals.repeated_operations import LISTS, Repeated
from sourcead.backends.numba.internals.variables import assigned_once, borrowed, iterators, with_loops_inside

RANGE = types.range_state64_type


class CompactLower(Lower):
    """Numba's lowering to LLVM, with shorter code for loops over elements.

    It is valid only for generated texts, which have no `try`: an error leaves the function.
    """

    def init(self):
        super().init()
        self._once = set() if self._disable_sroa_like_opt else assigned_once(self.func_ir) - self._singly_assigned_vars
        self._once = {name for name in self._once if self.is_counted_alone(self.typeof(name))}
        self._singly_assigned_vars |= self._once
        known = set() if self._disable_sroa_like_opt else self._singly_assigned_vars
        self._borrowed = borrowed(self.func_ir, known, self.fndesc)
        self._memory: dict[str, Value] = {}  # stack slots of the memory pointers of arrays whose other fields are values
        self._repeated = Repeated(self)
        self._origins = iterators(self.func_ir, self.fndesc.typemap)
        self._outer = with_loops_inside(self.func_ir, self._origins)
        self._bounds: dict[int, tuple[Value, ...]] = {}  # start, stop and step of each range
        self._states: dict[str, tuple[Value, ...]] = {}  # by iterator: the stack slot of the next number, the stop and the step
        self._faults: dict[int, Any] = {}  # the blocks for subscripts out of bounds, by line

    def lower_inst(self, inst):
        if isinstance(inst, ir.Assign) and self._origins.get(inst.target.name) is not None and self.start_iterator(inst):
            return None
        if isinstance(inst, ir.Assign) and inst.target.name in self._borrowed:
            self._blk_local_varmap[inst.target.name] = self.borrow(inst.target.name, inst.value)
            return None
        if isinstance(inst, ir.SetItem | ir.StaticSetItem) and self.write(inst):
            return None
        return super().lower_inst(inst)

    def lower_expr(self, resty, expr):
        if expr.op in ("getitem", "static_getitem"):
            place = self.place(expr.value, expr.index if expr.op == "getitem" else expr.index_var)
            if place is not None and self.typeof(expr.value.name).dtype == resty:
                return load_item(self.context, self.builder, self.typeof(expr.value.name), place)
        elif expr.op == "arrayexpr":
            return self._repeated.expression(expr)
        elif expr.op == "call" and resty == RANGE:
            made = self.range(expr)
            if made is not None:
                return made
        elif expr.op == "iternext" and self._origins.get(expr.value.name) in self._states:
            return self.next(resty, self._origins[expr.value.name])
        elif expr.op in ("pair_first", "pair_second") and isinstance(resty, types.Integer | types.Boolean):
            return self.builder.extract_value(self.loadvar(expr.value.name), int(expr.op == "pair_second"))
        return super().lower_expr(resty, expr)

    # parts of arrays, and lists

    def lower_getitem(self, resty, expr, value, index, signature):
        kinds = self.typeof(value.name), self.typeof(index.name)
        if not is_slice(*kinds):
            return super().lower_getitem(resty, expr, value, index, signature)
        values = [self.loadvar(v.name) for v in (value, index)]
        body = self.subscript(operator.getitem, kinds, signature)
        found = self._repeated.call(("getitem", kinds, signature), signature.return_type, kinds, values, body)
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def borrow(self, name: str, expr: ir.Expr) -> Value:
        """Return a view without counting a reference, since its array outlives the view's variable."""
        key = expr.index if expr.op == "getitem" else expr.index_var
        kinds, result = (self.typeof(expr.value.name), self.typeof(key.name)), self.typeof(name)

        def body(builder, values):
            return part_of(self.context, builder, result, kinds, values)

        self.debuginfo.mark_location(self.builder, self.loc.line)
        values = [self.loadvar(expr.value.name), self.loadvar(key.name)]
        return self._repeated.call(("part", kinds, result), result, kinds, values, body) if is_slice(*kinds) else body(self.builder, values)

    def lower_setitem(self, target_var, index_var, value_var, signature):
        names = target_var.name, index_var.name, value_var.name
        kinds = tuple(map(self.typeof, names))
        if not is_slice(*kinds[:2]):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        values, body = list(map(self.loadvar, names)), self.subscript(operator.setitem, kinds, signature)
        return self._repeated.call(("setitem", kinds, signature), types.none, kinds, values, body, "noinline")

    def subscript(self, operation, kinds, signature) -> Callable:
        """Return what emits Numba's code for a subscript, `operator.getitem` or `operator.setitem`, of values of some types."""
        function = self.context.typing_context.resolve_value_type(operation)
        implementation = self.context.get_function(function, function.get_call_type(self.context.typing_context, signature.args, {}))

        def body(builder, values):
            return implementation(builder, [self.context.cast(builder, v, *ts) for v, *ts in zip(values, kinds, signature.args)])

        return body

    def _lower_call_normal(self, fnty, expr, signature):
        is_list = isinstance(fnty, types.BoundFunction) and fnty.typing_key in LISTS and not expr.kws and not expr.vararg
        if not is_list:
            return super()._lower_call_normal(fnty, expr, signature)
        kinds = (signature.recvr, *signature.args)
        values = [self.loadvar(expr.func.name), *(self._cast_var(a, t) for a, t in zip(expr.args, signature.args))]
        implementation = self.context.get_function(fnty, signature)

        def body(builder, values):
            return implementation(builder, values, self.loc)

        return self._repeated.call((fnty.typing_key, kinds, signature), signature.return_type, kinds, values, body)

    # elements of arrays

    def write(self, inst: ir.SetItem | ir.StaticSetItem) -> bool:
        """Lower a statement that writes one number into an array; return whether it is one."""
        array, of = self.typeof(inst.target.name), self.typeof(inst.value.name)
        if not isinstance(of, types.Number | types.Boolean):
            return False
        place = self.place(inst.target, inst.index if isinstance(inst, ir.SetItem) else inst.index_var)
        if place is None:
            return False
        value = self.context.cast(self.builder, self.loadvar(inst.value.name), of, array.dtype)
        store_item(self.context, self.builder, array, value, place)
        return True

    def place(self, array: ir.Var, key: ir.Var | None) -> Value | None:
        """Return the address of an array element; None if the subscript selects anything else."""
        of = self.typeof(array.name)
        if not is_plain(of) or key is None:
            return None
        index = self.typeof(key.name)
        kinds = index.types if isinstance(index, types.BaseTuple) else (index,)
        if len(kinds) != of.ndim or not all(isinstance(k, types.Integer) for k in kinds):
            return None
        value = self.loadvar(key.name)
        given = cgutils.unpack_tuple(self.builder, value, of.ndim) if isinstance(index, types.BaseTuple) else [value]
        shape = [self.field(array, "shape", k) for k in range(of.ndim)]
        indices = [self.index(*found) for found in zip(given, kinds, shape)]
        if self.context.enable_boundscheck:
            self.check(indices, shape)
        strides = [self.field(array, "strides", k) for k in range(of.ndim)] if of.layout == "A" else ()
        data = self.field(array, "data")
        return cgutils.get_item_pointer2(self.context, self.builder, data, shape, strides, of.layout, indices)

    def index(self, value: Value, of: types.Integer, length: Value) -> Value:
        """Return a subscript counted from the beginning of its axis."""
        if not of.signed:
            return self.context.cast(self.builder, value, of, types.uintp)
        value = self.context.cast(self.builder, value, of, types.intp)
        is_from_start = isinstance(value, Constant) and isinstance(value.constant, int) and value.constant >= 0
        return value if is_from_start else fix_index(self.builder, value, length)

    def check(self, indices: list[Value], shape: list[Value]) -> None:
        """Emit code that leaves the function with an error if a subscript is out of bounds."""
        for index, length in zip(indices, shape):
            for out in (("<", Constant(index.type, 0)), (">=", length)):
                within = self.builder.append_basic_block("within")
                is_out = self.builder.icmp_signed(out[0], index, out[1])
                self.builder.cbranch(is_out, self.fault(), within).set_weights([1, 99])
                self.builder.position_at_end(within)

    def fault(self):
        """Return the block that raises the error for subscripts out of bounds, one for each line."""
        key = self.loc.line
        if key not in self._faults:
            self._faults[key] = self.builder.append_basic_block("out_of_bounds")
            with self.builder.goto_block(self._faults[key]):
                self.call_conv.return_user_exc(
                    self.builder, IndexError, ("index is out of bounds",), loc=self.loc, func_name=self.func_ir.func_id.func_name
                )
        return self._faults[key]

    def field(self, array: ir.Var, name: str, *within: int) -> Value:
        """Return a field of an array's descriptor."""
        position = self.context.data_model_manager[self.typeof(array.name)].get_field_position(name)
        if array.name in self._blk_local_varmap and not self._disable_sroa_like_opt:
            return self.builder.extract_value(self._blk_local_varmap[array.name], (position, *within))
        return self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(array.name), 0, position, *within))

    # ranges

    def range(self, expr: ir.Expr) -> Value | None:
        """Return the value of a call of `range` with 64-bit integers; None for other arguments."""
        signature = self.fndesc.calltypes[expr]
        if expr.kws or expr.vararg or any(t != types.int64 for t in signature.args):
            return None
        given = [self._cast_var(a, t) for a, t in zip(expr.args, signature.args)]
        one = Constant(given[0].type, 1)
        start, stop, step = (Constant(one.type, 0), *given, one) if len(given) == 1 else (*given, one)[:3]
        made = Constant(self.context.get_value_type(RANGE), None)
        for k, part in enumerate((start, stop, step)):
            made = self.builder.insert_value(made, part, k)
        self._bounds[id(made)] = start, stop, step
        return made

    def start_iterator(self, inst: ir.Assign) -> bool:
        """Make the iterator of a range with step 1 or -1, or skip the copy of one; return whether that was done."""
        origin = self._origins[inst.target.name]
        if not isinstance(inst.value, ir.Expr):
            return origin in self._states
        bounds = self._bounds.get(id(self.loadvar(inst.value.value.name)))
        if bounds is None or not isinstance(bounds[2], Constant) or bounds[2].constant not in (1, -1):
            return False
        self.debuginfo.mark_location(self.builder, self.loc.line)
        start, stop, step = bounds
        place = cgutils.alloca_once(self.builder, start.type)
        self.builder.store(start, place)
        self._states[origin] = place, stop, step
        if isinstance(start, Constant) and isinstance(stop, Constant):
            self._outer.discard(origin)  # the bounds are constants, so the loop may be unrolled
        return True

    def next(self, of: types.Pair, origin: str) -> Value:
        """Return the next number of a range, and whether there is one.

        The number of an outer loop passes through an empty `asm`, which hides it from LLVM: if LLVM knew how the rows of an array follow
        each other, it would test for overlap once for all rows, not for each inner loop, and find that the rows of one array overlap.
        """
        place, stop, step = self._states[origin]
        number = self.builder.load(place)
        if origin in self._outer:
            number = self.builder.asm(FunctionType(number.type, [number.type]), "", "=r,0", [number], False)
        self.builder.store(self.builder.add(number, step, flags=["nsw"]), place)
        is_one = self.builder.icmp_signed("<" if step.constant > 0 else ">", number, stop)
        pair = Constant(self.context.get_value_type(of), None)
        return self.builder.insert_value(self.builder.insert_value(pair, number, 0), is_one, 1)

    # variables

    def is_counted_alone(self, t: types.Type) -> bool:
        """Return whether values of a type hold no counted references, or are arrays, which hold one."""
        return is_array(t) or not self.context.data_model_manager[t].contains_nrt_meminfo()

    def storevar(self, value, name, argidx=None):
        if name in self._once and is_array(self.typeof(name)):
            place = self.memory(name)
            self.count("NRT_decref", self.builder.load(place))
            self.builder.store(self.builder.extract_value(value, 0), place)
        elif argidx is None and name not in self._singly_assigned_vars and is_array(self.typeof(name)):
            self._alloca_var(name, self.typeof(name))
            self.count("NRT_decref", self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(name), 0, 0)))
            self.builder.store(value, self.getvar(name))
            return
        super().storevar(value, name, argidx)

    def delvar(self, name):
        of = self.typeof(name)
        if name in self._borrowed or self._origins.get(name) in self._states or name in self._once and not is_array(of):
            return
        if name in self._once:
            place = self.memory(name)
        elif is_array(of) and name not in self._singly_assigned_vars:
            self._alloca_var(name, of)
            place = cgutils.gep_inbounds(self.builder, self.getvar(name), 0, 0)
        else:
            super().delvar(name)
            return
        self.count("NRT_decref", self.builder.load(place))
        self.builder.store(Constant(place.type.pointee, None), place)

    def memory(self, name: str) -> Value:
        """Return the stack slot of an array's memory pointer, which is null before the assignment and after the deletion."""
        if name not in self._memory:
            self._memory[name] = cgutils.alloca_once(self.builder, cgutils.voidptr_t, name=f"{name}.memory")
        return self._memory[name]

    def incref(self, typ, val):
        if is_array(typ) and self.context.enable_nrt:
            self.count("NRT_incref", self.builder.extract_value(val, 0))
        else:
            super().incref(typ, val)

    def decref(self, typ, val):
        if is_array(typ) and self.context.enable_nrt:
            self.count("NRT_decref", self.builder.extract_value(val, 0))
        else:
            super().decref(typ, val)

    def count(self, how: str, memory: Value) -> None:
        """Emit the call `how`, which adjusts the reference count of an array's memory."""
        function = cgutils.get_or_insert_function(self.builder.module, incref_decref_ty, how)
        function.args[0].add_attribute("noalias")
        self.builder.call(function, [memory])


def is_array(t: types.Type) -> bool:
    return type(t) is types.Array


def part_of(context, builder, result: types.Array, kinds: tuple[types.Array, types.Type], values: list[Value]) -> Value:
    """Return the view that a subscript selects, without counting a reference to the array's memory."""
    array, key = kinds
    is_tuple = isinstance(key, types.BaseTuple)
    given = cgutils.unpack_tuple(builder, values[1], len(key)) if is_tuple else [values[1]]
    index_types, indices = normalize_indices(context, builder, key.types if is_tuple else (key,), given)
    return _getitem_array_generic(context, builder, result, array, make_array(array)(context, builder, values[0]), index_types, indices)


def is_slice(array: types.Type, index: types.Type) -> bool:
    """Return whether a subscript of an array contains slices and no arrays."""
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    return is_array(array) and any(isinstance(p, types.SliceType) for p in parts) and not any(isinstance(p, types.Array) for p in parts)


def is_plain(t: types.Type) -> bool:
    """Return whether a type is that of arrays of numbers with at least one axis."""
    return is_array(t) and t.ndim > 0 and isinstance(t.dtype, types.Number | types.Boolean)


@register_pass(mutates_CFG=True, analysis_only=False)
class CompactLowering(NativeLowering):
    """The pass that lowers with `CompactLower`."""

    _name = "compact_lowering"

    @property
    def lowering_class(self):
        return CompactLower
