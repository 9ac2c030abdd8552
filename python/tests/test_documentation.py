"""Docstrings run, types hold, help is readable."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import hinge

MODULES = [m.name for m in pkgutil.iter_modules(hinge.__path__) if m.name != "_core"]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_of_docstrings_run(name):
    module = importlib.import_module("hinge" + ("." + name if name else ""))
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_everything_public_has_a_sentence():
    for name in hinge.__all__:
        thing = getattr(hinge, name)
        if callable(thing):
            assert thing.__doc__, name
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"


def test_help_is_readable():
    text = pydoc.render_doc(hinge, renderer=pydoc.plaintext)
    assert "Constrained mechanical systems" in text and "solve_dae" in text and max(map(len, hinge.__doc__.splitlines())) < 128


def test_types_hold():
    pytest.importorskip("mypy")
    settings = str(Path(__file__).resolve().parents[2] / "pyproject.toml")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", settings], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
