"""Metamorphic tests: a rewriting of a program that cannot change its meaning must not change its value or its gradient.

    python -m tests.metamorphic                          every program of the corpus with every rewriting that applies
    python -m tests.metamorphic --rewrites peel,inline   some rewritings
    python -m tests.metamorphic -k lu --rounds 3         some programs, with three random rewritings one after the other
    python -m tests.metamorphic --random 200             random programs in place of the corpus

A pair of programs is judged only if Python's own value is the same for both, so a rewriting may try what is not always sound.
`trees` has the tools for syntax trees, `units` makes programs of trees and trees of programs, and the other files hold the
rewritings, which `rewrites` gathers.
"""
