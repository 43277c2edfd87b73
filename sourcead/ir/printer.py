"""The IR as text, for `.lower(...)`, tests and the developers of the compiler."""

from sourcead.ir.nodes import (
    AdjointBlock, Append, Attr, Block, Branch, Build, Call, Closure, Effect, Function, Index, Let, Loop, Op, Operand,
    Pop, Range, Stmt, Sub, Update
)

UPDATES = {"set": "=", "add": "+=", "sub": "-="}


def show(function: Function) -> str:
    """Return the IR of a function as text, with one statement and its types on each line."""
    params = ", ".join(f"{p!r}: {p.type}" for p in function.params)
    return f"function {function.name}({params}):\n" + show_block(function.body, 1, "return")


def show_block(block: Block, depth: int = 0, word: str = "yield") -> str:
    """Return the IR of a block as text, indented by `depth` levels."""
    pad = "    " * depth
    lines = [_statement(s, depth) for s in block.stmts]
    lines.append(f"{pad}{word} {', '.join(map(repr, block.results))}")
    return "\n".join(lines)


def _statement(stmt: Stmt, depth: int) -> str:
    pad = "    " * depth
    targets = ", ".join(f"{t!r}: {t.type}" for t in stmt.targets)
    head = f"{pad}{targets} = " if stmt.targets else pad
    match stmt.op:
        case Branch(cond, then, orelse):
            return f"{head}if {cond!r}:\n{show_block(then, depth + 1)}\n{pad}else:\n{show_block(orelse, depth + 1)}"
        case Loop(domain, index, params, inits, body, leave):
            carried = ", ".join(f"{p!r}: {p.type} = {i!r}" for p, i in zip(params, inits))
            match domain:
                case Range(start, stop, step):
                    over = f"for {index!r} in range({start!r}, {stop!r}, {step!r})"
                case Block():
                    over = f"while\n{show_block(domain, depth + 1)}\n{pad}do"
                case _:
                    over = f"for {index!r} in {domain!r}"
            over += "" if leave is None else f" until {leave!r}"
            return f"{head}loop ({carried}) {over}:\n{show_block(body, depth + 1)}"
        case Closure(params, body):
            return f"{head}closure ({', '.join(map(repr, params))}):\n{show_block(body, depth + 1, 'return')}"
        case AdjointBlock(values, params, body):
            return f"{head}adjoint_of ({_list(values)}) as ({_list(params)}):\n{show_block(body, depth + 1)}"
    return head + show_op(stmt.op)


def show_op(op: Op) -> str:
    """Return an op without blocks as text."""
    match op:
        case Call(fn, args, kwargs):
            named = [f"{k}={show_operand(v)}" for k, v in kwargs] + ([] if op.into is None else [f"into={op.into}"])
            name = getattr(fn, "__name__", None) or repr(fn)
            return f"{name}({', '.join([*map(show_operand, args), *named])})" + (" !" if op.effect else "")
        case Let(value):
            return show_operand(value)
        case Attr(base, name):
            return f"{base!r}.{name}"
        case Index(base, key):
            return f"{base!r}[{show_operand(key)}]"
        case Update(base, path, value, mode):
            steps = "".join(f"[{show_operand(s.key)}]" if isinstance(s, Sub) else f".{s.fn.__name__}" for s in path)
            return f"{base!r} with {steps or 'all'} {UPDATES[mode]} {show_operand(value)}"
        case Build("record", items, keys, cls):
            return f"{cls.__name__}({', '.join(f'{k}={v!r}' for k, v in zip(keys, items))})"
        case Build(kind, items, keys):
            return f"{kind}({_list(items)})" if keys is None else f"dict({', '.join(f'{k!r}: {v!r}' for k, v in zip(keys, items))})"
        case Append(base, value, path, at):
            return f"{place(base, path)} ++ [{show_operand(value)}]" + ("" if at is None else f" at {at!r}")
        case Pop(base, path, at):
            return f"pop {place(base, path)}" + ("" if at is None else f" at {at!r}")
        case Effect(kind, args):
            return f"{kind} {_list(args)}"
    return repr(op)


def show_operand(operand: Operand) -> str:
    """Return an operand as text."""
    return f"({_list(operand)})" if isinstance(operand, tuple) else repr(operand)


def _list(operands) -> str:
    return ", ".join(map(show_operand, operands))


def place(base, path) -> str:
    """Return the text for the part of a container that a path leads to."""
    return repr(base) + "".join(f"[{show_operand(step.key)}]" for step in path)
