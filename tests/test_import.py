"""What `import sourcead` reads: the rules and the compiler are read when they are first used."""

import subprocess
import sys

CODE = """
import sys
import sourcead
loaded = [m for m in sys.modules if m.startswith(("sourcead.primitives.", "sourcead.ad", "sourcead.passes", "sourcead.compile.pipeline"))]
others = [m for m in ("scipy", "numba", "torch", "matplotlib") if m in sys.modules]
print(sorted(set(loaded) - {f"sourcead.primitives.{name}" for name in ("kinds", "registry", "rule")}), others)
print(sourcead.grad(lambda x: x ** 2)(3.0))
"""


def test_importing_reads_neither_the_compiler_nor_the_rules(tmp_path):
    (tmp_path / "first.py").write_text(CODE)
    shown = subprocess.run([sys.executable, tmp_path / "first.py"], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == ["[] []", "6.0"]
