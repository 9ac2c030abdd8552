"""What the tests share: models of the repository, and a pendulum of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import hinge

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def examples() -> Path:
    return ROOT / "examples"


@pytest.fixture
def pendulum() -> hinge.Model:
    return hinge.loads(hinge.example)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "notebook: runs a notebook from top to bottom")
