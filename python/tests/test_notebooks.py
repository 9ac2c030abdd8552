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
    shown = [o.get("text", "") + o.get("data", {}).get("text/plain", "") for cell in notebook.cells for o in cell.get("outputs", [])]
    assert not any("doubtful:" in text for text in shown), "a notebook shows results that its readers may trust"
    nbformat.write(notebook, tmp_path / path.name)


@pytest.mark.notebook
def test_a_bar_and_a_page_leave_one_output_each():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    code = ["import hinge, itertools, hinge._progress\nm = hinge.loads(hinge.example)\nseconds = itertools.count()",
            "hinge._progress.time.monotonic = lambda: next(seconds)\nm.run(end=100, every=1000, progress=True); hinge.sweep(m, "
            "{'integrate.step': [0.01] * 4}, end=1)",
            "m.run(end=1).view(height=300) if hinge._core.has_page() else None"]  # fmt: skip
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in code])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    kinds = [[o.output_type for o in cell.outputs] for cell in notebook.cells]
    assert kinds[1][-2:] == ["display_data", "execute_result"] and len(kinds[1]) <= 3  # of the run one, where it took long enough
    assert all(o.data["text/plain"] == "" for o in notebook.cells[1].outputs[:-1])  # the bar is wiped away
    for output in notebook.cells[2].outputs:
        assert output.data["text/html"].startswith("<iframe srcdoc=")


def test_the_notebooks_compare_with_what_the_extra_installs():
    code = "".join(p.read_text() for p in NOTEBOOKS)
    assert OTHERS and all(f"import {name}" in code for name in OTHERS)
