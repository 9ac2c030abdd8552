"""What can go wrong. The sentences are those of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._result import Result


class Error(Exception):
    """Root of what Hinge raises on purpose.

    >>> import hinge
    >>> issubclass(hinge.InputError, hinge.Error) and issubclass(hinge.NumericalError, hinge.Error)
    True
    """

    __module__ = "hinge"


class InputError(Error, ValueError):
    """The input cannot be used: the sentence says where, why, and what to do.

    >>> import hinge
    >>> try:
    ...     hinge.loads(hinge.example).run(step=-1)
    ... except hinge.InputError as e:
    ...     print(e)
    --step: step = -1; it must be positive, as in step = 0.01
    """

    __module__ = "hinge"


class NumericalError(Error, ArithmeticError):
    """The numerics failed in a run. What was computed before is kept.

    >>> import hinge
    >>> x = hinge.coordinates("x")
    >>> escapes = hinge.Mechanical(x, mass=[1], force=[x**3], position={x: 1}, velocity={x: 1})
    >>> try:
    ...     escapes.run(method="explicit", tolerance=1e-6, end=10)
    ... except hinge.NumericalError as e:
    ...     print(0 < e.time < 10, e.result["x"][-1] > 100)
    True True
    """

    __module__ = "hinge"
    #: what was computed before
    result: Result | None = None
    #: where the step that failed began
    time: float | None = None
