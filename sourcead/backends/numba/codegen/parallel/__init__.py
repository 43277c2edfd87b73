"""Loops that run in parallel.

    independence.py     which do
    elements.py         whether subscripts name different elements in different iterations
    sums.py             sums and counters among the variants of a loop
    work.py             how much a loop calculates
    rewrite.py          their text
"""
