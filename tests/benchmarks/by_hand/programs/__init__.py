"""Programs as users write them, each with its gradient as a careful hand writes it.

Each module has:

* `primal`, a function that returns a number;
* `WRT`, the arguments by which it is differentiated;
* `by_hand`, with the same arguments: the gradients in the order of `WRT`, the one gradient if there is one;
* `inputs(size, dtype)`, the arguments: `size` is "small" for tests, "full" for what is measured.
"""
