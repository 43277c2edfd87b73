"""The frontend: a Python function and the types of its arguments become IR.

A file imports files of its own folder and of those before it in this list, never in a circle:

    core        the state of a lowering, its memory, the journal and attempts; the operations that the other folders implement
    control     branches, loops, calls lowered in place, generators, recursion
    values      what each kind of value does: attributes, methods, subscripts, operators, iteration
    builtins    calls of built-in functions, of libraries and of other Python objects
    syntax      expressions and statements

Syntax, values and built-ins register with `core` what they implement, for one kind of subject each (`core/operations.py`), and call each
other by the operations of `core`. `lower.py` imports all of them, so whoever lowers functions imports it; in which order the files
are imported decides nothing. `find_source.py` finds the source of a function, `source_texts.py` the text that its
code was compiled from.
"""
