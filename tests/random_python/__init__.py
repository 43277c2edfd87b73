"""Random Python programs over NumPy arrays, and a judge that compares their derivatives with differences.

`python -m tests.random_python --seed 0 --count 300` draws and judges programs. A program is a module with one function
`f`, which returns a number, and a function `arguments`, which makes its arguments.
"""

VERSION = 1  # a program is identified by its seed and this number: raise it with every change of what is drawn
