"""What the compiler makes of every program of the corpus, written down so that two versions of the compiler can be compared.

    python -m tests.snapshots write          writes the snapshot to .snapshots/, about four minutes on two cores
    python -m tests.snapshots compare        compares with it, under another hash seed, and shows what differs
    python -m tests.snapshots check          compares with tests/snapshots/digests.txt, which tells what differs, not how
    python -m tests.snapshots digests        writes tests/snapshots/digests.txt anew from .snapshots/
    python -m tests.snapshots verify         verifies the IR after every pass; of each tenth program it also evaluates it before and after

For each program there is one file with a section for each kind of derivative: grad, value_and_grad, vjp, jvp, hvp, grad under each
checkpoint policy, and the text that Numba compiles.  A section holds the generated text and its notes, or the error.  How long each
compilation took is kept beside it.  Options take a part of the corpus: `-k NAME`, `--every N`; `--kinds grad,vjp` a part of the kinds.
"""
