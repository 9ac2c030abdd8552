"""Notebooks run from top to bottom; those that compare with other packages where these are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))
OTHERS = re.findall(r'"([a-z]+)"', re.search(r"^notebooks = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.M).group(1))


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs: clear them before a commit"
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for name in OTHERS:
        if re.search(rf"^import {name}$", code, re.M):
            pytest.importorskip(name)
    if "tomllib" in code:
        pytest.importorskip("tomllib")  # Python 3.11
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    nbformat.write(notebook, tmp_path / path.name)


def test_the_notebooks_compare_with_what_the_extra_installs():
    code = "".join(p.read_text() for p in NOTEBOOKS)
    assert OTHERS and all(f"import {name}" in code for name in OTHERS)
