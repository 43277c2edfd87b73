"""Lower attributes and methods of arrays, numbers, strings and tuples, and attributes of modules, classes and other objects."""

import dataclasses
import enum
import types
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import (
    MISSING, BoundVal, Cell, Flat, FunctionVal, Iterable, Lowering, MethodVal, TupleVal, Value
)
from sourcead.frontend.core.known_values import FOLDABLE, PURE
from sourcead.frontend.values import (
    array_objects, generated_inits, lists, members, objects, opaque_objects, operator_methods, strides
)
from sourcead.ir.nodes import UNDEFINED, Attr, Call, Const, Slice, Stmt, Var
from sourcead.ir.number_classes import is_base
from sourcead.ir.records import find
from sourcead.ir.types import (
    BOOL, INT, UNKNOWN, ArrayLike, FunctionT, Opaque, Scalar, Str, Type, Unknown, is_array, kind_of, rank
)
from sourcead.places.spelling import spelled
from sourcead.primitives.methods import INPLACE, METHODS, NORMALISERS
from sourcead.primitives.result_types.sparse import is_sparse

core.attribute.register("list")(lambda lo, value, name, node: MethodVal(value, name))


@core.attribute.register(FunctionVal)
def _attribute_of_function(lo: Lowering, value: FunctionVal, name: str, node) -> Value:
    found = value.attributes.get(name, MISSING)
    if found is UNDEFINED:
        raise core.surely(lo, core.refused(lo, f"`.{name}` is read here, but nothing was assigned to it on this path"), AttributeError)
    return MethodVal(value, name) if found is MISSING else found


@core.attribute.register(Iterable)
def _attribute_of_iterator(lo: Lowering, value: Iterable, name: str, node) -> Value:
    has = value.once if name in ("__next__", "__iter__") else name in ("send", "close") and value.suspended is not None
    return MethodVal(value, name) if has else attribute_of_data(lo, value, name, node)


@core.attribute.register(Slice)
def _attribute_of_slice(lo: Lowering, value: Slice, name: str, node) -> Value:
    bounds = {"start": value.lower, "stop": value.upper, "step": value.step}
    bound = bounds.get(name, MethodVal(value, name))
    return Const(None) if bound is None else bound

TEST_IT = "test for the case with `if`, as in `isinstance(x, np.ndarray)`"


@core.attribute.register(TupleVal)
def _attribute_of_tuple(lo: Lowering, value: TupleVal, name: str, node) -> Value:
    if value.cls is not None:
        return objects.attribute(lo, value, name, node)
    return named_result(lo, value, name, node) or MethodVal(value, name)


@core.attribute.register(Const)
def _attribute_of_constant(lo: Lowering, value: Const, name: str, node) -> Value:
    if not value.live and (found := attribute_of_immutable(value.value, name)) is not None:
        return found
    if value.live or not isinstance(value.value, enum.Enum) and isinstance(value.value, (int, float, complex, str, tuple, np.dtype)):
        return attribute_of_data(lo, value, name, node)
    return attribute_of_object(lo, value, name, node)


@core.attribute.register(object)
def attribute_of_data(lo: Lowering, value: Value, name: str, node) -> Value:
    """Lower an attribute of an array, a number or a string."""
    if name == "__class__":
        return core.call_object(lo, type, [value], {}, node)
    if (found := named_result(lo, value, name, node)) is not None:
        return found
    atom = lo.read(value)
    t = atom_type(atom)
    if name in members.NAMES and isinstance(t, Scalar) and members.may_be(t):
        raise core.refused(lo, f"`.{name}` of what may be a number, or a member of one of several enumerations", "`if isinstance(...)`")
    if isinstance(t, FunctionT) and isinstance(t.value, enum.Enum):  # so far the same member in each iteration of a loop
        return core.attribute(lo, Const(t.value), name, node)
    if members.is_own(t, name):
        return members.attribute(lo, value, t.cls, name, node)
    if isinstance(t, Str):
        return attribute_of_text(lo, value, name)
    if (described := attribute_of_description(lo, atom, name)) is not None:
        return described
    if isinstance(t, Scalar) and lo.number_classes and (found := attribute_of_class(lo, value, name)) is not None:
        return found
    if isinstance(t, Scalar) and issubclass(AttributeError, lo.catching) and (has := core.has_attribute(lo, value, name)) is not True:
        if has is False:
            raise core.no_attribute(lo, value, name)
        why = f"whether this number is one of Python or of NumPy, which has a `.{name}`, is not known here"
        raise core.unsupported(lo, node, why, TEST_IT)
    if name == "ndim" and rank(t) is not None:
        return Const(rank(t))
    if name == "ndim" and is_sparse(t):
        return Const(2)
    if name in ("shape", "size") and isinstance(t, Scalar):
        return TupleVal(()) if name == "shape" else Const(1)
    if name in ("shape", "size", "ndim") and isinstance(t, Unknown) and lo.static_only:
        return lo.wrap(lo.build.call(getattr(np, name), atom))
    if name in ("shape", "size", "ndim", "dtype", "itemsize", "nbytes"):
        var = lo.build.attr(atom, name)
        if name == "dtype" and getattr(t, "dtype", None) is not None and t.dtype != np.dtype(object):
            lo.build.known[var] = t.dtype
        return lo.wrap(var)
    if name == "T":
        return core.call_library(lo, np.transpose, [value], {}, node) if not isinstance(t, Scalar) else value
    if name == "mT" and is_array(t):
        return core.call_library(lo, np.matrix_transpose, [value], {}, node)
    if name in ("real", "imag"):
        return core.call_library(lo, getattr(np, name), [value], {}, node)
    if name == "flat" and isinstance(value, Cell) and is_array(t):
        elements = lo.view(value, Flat(np.reshape, (Const(-1),)))  # in C order, whatever the layout
        lo.read(elements)
        return elements
    if name == "strides":
        return strides.strides(lo, value, node)
    if name in ("flat", "data", "base", "ctypes", "flags"):
        why = f"`.{name}` of an array shows its memory, which the gradient does not share"
        raise core.unsupported(lo, node, why, "use `ravel()` or a subscript")
    if isinstance(t, Opaque) or isinstance(t, Unknown) and opaque_objects.is_part(lo, value, name):
        return opaque_objects.attribute(lo, value, name)
    if core.has_attribute(lo, value, name) is False and name not in (*core.OF_DEQUES, "extendleft"):
        raise core.no_attribute(lo, value, name)
    return MethodVal(value, name)


def attribute_of_class(lo: Lowering, value: Value, name: str) -> Value | None:
    """Lower an attribute of a global number of a class derived from `float` or another, which that does not have; None for others."""
    number = core.number_of_class(lo, value)
    if number is None or any(hasattr(cls, name) for cls in type(number).__mro__ if is_base(cls)):
        return None
    held = getattr(number, "__dict__", {})
    _, found = find(type(number), name)
    if isinstance(found, property):
        return core.call_object(lo, found.fget, [value], {}, None)
    if isinstance(found, types.FunctionType) and name not in held:
        return BoundVal(Const(found), (value,))
    found = getattr(number, name, MISSING)
    return None if found is MISSING else Const(found) if core.is_code(found) else core.live_data(lo, name, found, (number, name))


def attribute_of_text(lo: Lowering, value: Value, name: str) -> Value:
    """Lower an attribute of a string, or of an instance of a class derived from `str`, which may have more of them."""
    found, known = core.known(lo, value)
    text = known if found else ""
    if getattr(type(text), name, MISSING) is getattr(str, name, MISSING) and name not in getattr(text, "__dict__", ()):
        if not hasattr(str, name):  # it may be an instance of such a class that is not known here
            raise core.no_attribute(lo, value, name)
        return MethodVal(value, name)
    found = getattr(text, name)
    return Const(found) if core.is_code(found) else core.live_data(lo, name, found, (text, name))


def attribute_of_immutable(obj: Any, name: str) -> Const | None:
    """Return an attribute of an object that cannot change, such as `sys.float_info.min`, or None for any other object."""
    named = isinstance(obj, tuple) and hasattr(obj, "n_fields")  # a tuple of the interpreter whose items have names
    constant = named or isinstance(obj, (np.dtype, np.finfo, np.iinfo, types.CodeType, *PURE))
    if not constant and type(obj).__module__ not in ("types", "typing"):
        return None
    found = getattr(obj, name, MISSING)
    return Const(found) if isinstance(found, (*FOLDABLE, float)) else None


def attribute_of_description(lo: Lowering, atom: Any, name: str) -> Value | None:
    """Lower an attribute of what describes a dtype, as in `x.dtype.kind` and `np.finfo(x.dtype).eps`, or return None for other atoms."""
    made = lo.build.made_by.get(atom) if isinstance(atom, Var) else None
    match made:
        case Attr(_, "dtype"):
            found, known = core.known(lo, atom)
        case Call(np.finfo | np.iinfo, (dtype,)):
            found, known = core.known(lo, dtype)
            known = made.fn(known) if found else None
        case _:
            return None
    constant = attribute_of_immutable(known, name) if found else None
    if isinstance(made, Attr) and not found and name in OF_DTYPES:
        return lo.build.emit(Attr(atom, name), OF_DTYPES[name], name)
    if constant is None or isinstance(made, Attr):
        return constant
    return lo.build.emit(Attr(atom, name), atom_type(constant), name)


OF_DTYPES = {"kind": Str(), "char": Str(), "name": Str(), "str": Str(), "itemsize": INT, "num": INT}
RESULTS = {
    np.linalg.slogdet: ("sign", "logabsdet"), np.linalg.eigh: ("eigenvalues", "eigenvectors"),
    np.linalg.eig: ("eigenvalues", "eigenvectors"), np.linalg.qr: ("Q", "R"), np.linalg.svd: ("U", "S", "Vh"),
}  # fmt: skip
"""The names under which NumPy gives the results of a call."""


def named_result(lo: Lowering, value: Value, name: str, node) -> Value | None:
    """Lower a named result, as in `np.linalg.slogdet(a).logabsdet`, or return None for any other attribute."""
    atom = value.origin if isinstance(value, TupleVal) else value
    made = lo.build.made_by.get(atom) if isinstance(atom, Var) else None
    names = RESULTS.get(made.fn, ()) if isinstance(made, Call) and not isinstance(made.fn, Var) else ()
    return core.subscript(lo, value, Const(names.index(name)), node) if name in names else None


def attribute_of_object(lo: Lowering, value: Const, name: str, node) -> Value:
    """Lower an attribute of a module, a class or another object that is known while compiling."""
    obj = value.value
    if isinstance(obj, type):
        lo.classes.setdefault(obj, True)
    try:
        found = getattr(obj, name)
    except AttributeError:
        wrong = core.unsupported(lo, node, f"`{value!r}` has no attribute `{name}`", core.similar(name, obj))
        raise core.surely(lo, wrong, AttributeError) from None
    text = f"{value.text}.{name}" if value.text else None
    if isinstance(obj, dataclasses.Field) and name == "metadata":
        return generated_inits.metadata(lo, obj)
    if core.is_module(obj):
        if (assigned := core.assigned_global(lo, vars(obj), name)) is not None:
            return assigned
        holder = obj.__dict__ if name in obj.__dict__ else obj  # some modules make their names on first access
        if core.is_code(found) or core.is_library_module(obj):
            if not core.is_library_module(obj) and not isinstance(found, types.ModuleType) and not lo.static_only:
                lo.guards[(id(holder), name)] = (holder, name, found)
            return Const(core.in_source(found), text=text)
        if hasattr(found, "n_fields"):  # as `sys.float_info`
            return Const(found)
        return core.live_data(lo, name, found, (holder, name))
    if core.is_code(found) or isinstance(found, enum.Enum) or isinstance(obj, enum.Enum):
        return Const(found, text=text)
    if isinstance(obj, type) and not core.is_library(obj):
        return core.live_data(lo, name, found, (obj, name))
    if isinstance(obj, types.FunctionType) and name in vars(obj):
        return core.live_data(lo, name, found, (vars(obj), name))
    if isinstance(found, (int, float, bool, complex)):
        return Const(found, text=text) if isinstance(obj, type) else core.live_data(lo, name, found, (obj, name))
    why = f"the attribute `{name}` of an object cannot be read in a differentiated function yet"
    raise core.unsupported(lo, node, why, "pass it as an argument")


# -- methods ---------------------------------------------------------------------------------------------------------------


core.call.register(MethodVal)(lambda lo, fn, args, kwargs, node: core.call_method(lo, fn.value, fn.name, args, kwargs, node))


@core.method.register(TupleVal)
def tuple_method(lo: Lowering, value: TupleVal, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a method of a tuple."""
    if value.cls is not None:
        return objects.tuple_method(lo, value, name, args, kwargs, node)
    if name in ("index", "count"):
        return core.method(lo, lo.new_list(value.items), name, args, kwargs, node)
    raise core.unsupported(lo, node, f"the method `{name}` of a tuple")


@core.method.register(Str)
def string_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a method of a string."""
    args = [lists.as_list(lo, a, node) if isinstance(a, Iterable) else a for a in args]
    found, (text, *given) = core.known(lo, TupleVal((value, *args)))
    if found and not kwargs:
        try:
            result = getattr(text, name)(*given)
        except Exception:  # the program raises the same error at run time
            result = None
        if isinstance(result, list):
            return lo.new_list(map(Const, result))
        if isinstance(result, (str, int, bool, tuple)):
            return Const(result)
    options = {k: lo.operand(v) for k, v in kwargs.items()}
    operands = (lo.read(value), *map(lo.operand, args))
    return core.told(lo, lo.build.applied(getattr(str, name), operands, options, text_result(name)), operands)


APPENDING = "`x = np.append(x, item)` for an array, else a list that begins as `[]` or `list(...)`"


@core.method.register(object)
def array_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a method of an array or a number, or one of a ufunc that is called by way of its class: `np.ufunc.at(np.add, a, i, v)`."""
    if isinstance(value, Const) and isinstance(value.value, np.ufunc):
        return core.call_object(lo, getattr(value.value, name), args, kwargs, node)
    if isinstance(atom_type(lo.read(value)), Str):
        return string_method(lo, value, name, args, kwargs, node)
    if isinstance(atom_type(lo.read(value)), Opaque):
        return opaque_objects.method(lo, value, name, args, kwargs, node)
    if name in INPLACE:
        return inplace_method(lo, value, name, args, kwargs, node)
    if name == "copy" and isinstance(atom_type(lo.read(value)), ArrayLike):
        raise core.unsupported(lo, node, "`copy` of what may be a list or an array", "`np.array(x)` or `list(x)`")
    if name == "append":
        raise core.unsupported(lo, node, "`append` to something that is not known to be a list", APPENDING)
    if name == "view" and not args and not kwargs and rank(atom_type(lo.read(value))):
        return core.subscript(lo, value, Slice(None, None, None), node)
    if name == "view" and len(args) + len(kwargs) == 1:
        return array_objects.view(lo, value, *args, *kwargs.values(), node)
    if name == "compress" and args:
        return core.call_library(lo, np.compress, [args[0], value, *args[1:]], kwargs, node)
    if name == "item" and args:  # the item at one place: `x.item(i, j)`
        of, place = (value, TupleVal(tuple(args))) if len(args) > 1 else (core.call_library(lo, np.ravel, [value], {}, node), args[0])
        return core.call_method(lo, core.subscript(lo, of, place, node), name, [], {}, node)
    if name in NORMALISERS:
        fn, new_args, new_kwargs = NORMALISERS[name](tuple(args), dict(kwargs))
        return core.call_library(lo, fn, [value, *[static(v) for v in new_args]], {k: static(v) for k, v in new_kwargs.items()}, node)
    if name in ("conj", "conjugate") and not args and kind_of(atom_type(lo.read(value))) in ("bool", "int", "float"):
        return value  # NumPy returns a real array itself
    if name == "conjugate" and not args and core.classes_of(lo, value) == [complex]:
        return core.call_library(lo, complex, [core.call_library(lo, np.conjugate, [value], {}, node)], {}, node)
    if name in METHODS:
        return core.call_object(lo, METHODS[name], [value, *args], kwargs, node)
    if name in OF_TEXTS:
        return string_method(lo, value, name, args, kwargs, node)
    classes = core.classes_of(lo, value)
    if name in OF_NUMBERS and not args and classes and all(issubclass(cls, OF_NUMBERS[name].__objclass__) for cls in classes):
        return core.fold(lo, OF_NUMBERS[name], [value]) or lo.build.call(OF_NUMBERS[name], lo.read(value), type=RESULTS_OF_NUMBERS[name])
    if (found := operator_methods.applied(lo, name, [value, *args], kwargs)) is not None:
        return found
    if is_array(atom_type(lo.read(value))):
        raise core.unsupported(lo, node, f"the method `{name}` of an array is not differentiated", "call a function of NumPy instead")
    made = lo.build.made_by.get(lo.read(value))
    why = f"whose method `{name}` this is, is not known before the program runs"
    if isinstance(made, Call) and isinstance(made.fn, type):
        why = f"what `{name}` of `{spelled(made.fn)}` does is not seen: the class is compiled, or makes its objects in a way of its own"
    raise core.unsupported(lo, node, why, "call it outside of your function, and pass what it returns as an argument")


OF_TEXTS = frozenset(vars(str)) - frozenset(dir(np.ndarray)) - frozenset(dir(list)) - frozenset(dir(dict)) - frozenset(dir(tuple))
"""The methods that strings alone have."""


OF_NUMBERS = {"bit_length": int.bit_length, "bit_count": int.bit_count, "is_integer": float.is_integer}
"""The methods that numbers of Python alone have, and give a number without a derivative."""
RESULTS_OF_NUMBERS = {"bit_length": INT, "bit_count": INT, "is_integer": BOOL}


def text_result(name: str) -> Type:
    """Return the type of the result of a string method."""
    if name.startswith("is") or name in ("startswith", "endswith"):
        return BOOL
    if name in ("count", "find", "index", "rfind", "rindex"):
        return INT
    return UNKNOWN if name.endswith(("split", "splitlines", "partition", "encode")) else Str()


def static(value: Any) -> Value:
    """Wrap an argument that a normaliser returned as a value."""
    if isinstance(value, Value):
        return value
    if isinstance(value, tuple):
        return TupleVal(tuple(map(static, value)))
    return Const(value)


def inplace_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs, node) -> Value:
    """Lower a method that changes the array in place."""
    if name == "setflags" and not args and all(isinstance(v, Const) and v.value is False for v in kwargs.values()):
        return Const(None)  # a promise not to write it
    if isinstance(value, Cell) and name == "fill" and len(args) == 1:
        lo.keeps_fractions(lo.read(value), (), f"`{value.name}`", lo.operand(args[0]))
        lo.write(value, (), lo.operand(args[0]))
        return Const(None)
    if name == "put":
        return core.call_library(lo, np.put, [value, *args], dict(kwargs), node)
    if isinstance(value, Cell) and name in ("sort", "partition"):
        if not is_array(atom_type(held := lo.read(value))):  # lists have the method too
            lo.build.add(Stmt((Var("checked"),), Call(runtime.check_array, (held,), effect=True), lo.here))
        lo.write(value, (), lo.read(core.call_library(lo, getattr(np, name), [value, *args], dict(kwargs), node)))
        return Const(None)
    raise core.unsupported(lo, node, f"the method `{name}` changes the array in a way that cannot be differentiated yet")
