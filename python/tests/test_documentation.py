"""Docstrings run, types hold, help is readable."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import pydoc
import re
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest

import hinge

ROOT = Path(__file__).resolve().parents[2]
MODULES = [m.name for m in pkgutil.iter_modules(hinge.__path__) if m.name != "_core"]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_of_docstrings_run(name):
    module = importlib.import_module("hinge" + ("." + name if name else ""))
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_everything_public_has_a_sentence_and_what_is_called_an_example():
    things = {name: getattr(hinge, name) for name in hinge.__all__}
    things.update({"contact." + name: getattr(hinge.contact, name) for name in hinge.contact.__all__})
    without = []
    for name, thing in things.items():
        if not callable(thing) or name in ("version", "build_features"):  # of the module in C++, without arguments
            continue
        members = vars(thing).items() if isinstance(thing, type) else ()
        for place, value in [(name, thing)] + [(f"{name}.{m}", v) for m, v in members if not m.startswith("_")]:
            if isinstance(value, property):
                assert value.__doc__, place
            elif callable(value) and ">>>" not in (value.__doc__ or ""):
                without.append(place)
    assert without == []


def test_help_is_readable():
    text = pydoc.render_doc(hinge, renderer=pydoc.plaintext)
    assert "Constrained mechanical systems" in text and "solve_dae" in text and max(map(len, hinge.__doc__.splitlines())) < 128


def test_types_hold():
    pytest.importorskip("mypy")
    settings = str(ROOT / "pyproject.toml")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", settings], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_program_of_a_user_is_checked_strictly(tmp_path):
    pytest.importorskip("mypy")
    names = [n for n in hinge.__all__ if n not in ("t", "example", "pi")]
    assert set(hinge._later) <= set(hinge.__all__) and len(hinge.__all__) == len(set(hinge.__all__))
    program = "import hinge\n" + "".join(f"print(hinge.{n})\n" for n in names) + """
m: hinge.Model = hinge.loads(hinge.example)
r: hinge.Result = m.run(step=0.01, end=1, on_row=lambda row: print(row.t, row["q"]), stages=3)
q = hinge.coordinates("q", 2)
built = hinge.Lagrangian(q, kinetic=0.5 * q.dot @ q.dot, potential=q[1] % 2, position={q: [1, 0]}, step=0.01)
sol: hinge.DaeResult = hinge.solve_dae(lambda t, y, yp: yp + y, (0.0, 1.0), [1.0], dense_output=True)
print(hinge.contact.solve(W=[[1.0]], q=[-1.0], mu=[0], dimension=1).r, built.run(end=1).t, sol.t, r.energy[0])
name: str = r.t
"""
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "program.py"], capture_output=True, text=True, cwd=tmp_path)
    assert re.fullmatch(r"program.py:\d+: error: Incompatible types in assignment [^\n]*\nFound 1 error [^\n]*\n", done.stdout), done.stdout


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_what_stands_on_a_page_runs_as_it_is_typed(page, tmp_path, monkeypatch):
    for extra in ("matplotlib", "pandas"):
        pytest.importorskip(extra)
    import matplotlib

    matplotlib.use("agg")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda url: True)
    typed = {}
    for block in blocks:
        if not hinge._core.has_page():
            block = block.replace("r.view()", "")
        exec(compile(block, page, "exec"), typed)
