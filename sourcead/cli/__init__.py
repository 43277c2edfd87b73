"""The command line, `sourcead` or `python -m sourcead`: look at what is generated, write it as a module, check it.

    commands.py     the commands and their options, and `main`
    targets.py      from `FILE:FUNCTION` to the function
    arguments.py    from `--args` to the arguments of a call
    derivatives.py  from `--mode`, `--wrt` and kin to a derivative and its text
    show.py         the text, with colours, notes, and the user's lines beside it
    check.py        a derivative against difference quotients, and its time against the function's
    doctor.py       what this machine has
"""
