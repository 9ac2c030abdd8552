"""What can go wrong. The sentences are those of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._result import Result


class Error(Exception):
    """Root of what Hinge raises on purpose."""

    __module__ = "hinge"


class InputError(Error, ValueError):
    """The input cannot be used: the sentence says where, why, and what to do."""

    __module__ = "hinge"


class NumericalError(Error, ArithmeticError):
    """The numerics failed in a run. What was computed before is kept."""

    __module__ = "hinge"
    #: what was computed before
    result: Result | None = None
    #: where the step that failed began
    time: float | None = None
