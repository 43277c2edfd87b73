"""The documentation builds as a site without a warning and without network, and every page is in it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFIGURATION = (ROOT / ".ci" / "mkdocs.yml").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation():
    named = set(re.findall(r": ([\w-]+\.md)$", CONFIGURATION, re.M))
    assert {p.name for p in (ROOT / "docs").glob("*.md")} <= named


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path):
    for name in ("mkdocs", "material", "mkdocstrings", "griffe"):
        pytest.importorskip(name, reason="the extra `docs` is not installed")
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    paths = ["-f", str(ROOT / ".ci" / "mkdocs.yml"), "-d", str(tmp_path / "site")]
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", *paths]
    made = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    reference = (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    assert "Return a function that runs a derivative once" in reference and "&gt;&gt;&gt;" in reference
    start = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert 'href="solvers/"' in start and "fonts.googleapis" not in start
