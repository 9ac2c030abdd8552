"""Stepping by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._result import Result
from ._row import Columns, State

if TYPE_CHECKING:
    from ._model import Model


class Session:
    """A run that goes on when it is told to: `s = m.start()`.

    >>> import hinge
    >>> s = hinge.loads(hinge.example).start()
    >>> s.step(0.01)
    >>> s.state.t
    0.01
    >>> s.until(1.0)
    >>> s.result()["q"].shape
    (101, 2)
    """

    def __init__(self, model: Model, core: _core.Session) -> None:
        self.model = model
        self._core = core
        self._columns = Columns(model._held.state_columns)

    def step(self, h: float | None = None) -> None:
        """Goes on by the time h, in as many steps of the method as it takes; without h by one step of the method.

        >>> import hinge
        >>> s = hinge.loads(hinge.example).start()
        >>> s.step(0.5)
        >>> s.t, len(s.result())
        (0.5, 51)
        """
        self._core.step(None if h is None else float(h))

    def until(self, end: float) -> None:
        """Goes on until `end`; the last step is fitted.

        >>> import hinge
        >>> s = hinge.loads(hinge.example).start()
        >>> s.until(0.123)
        >>> s.t
        0.123
        """
        self._core.until(float(end))

    @property
    def t(self) -> float:
        """The time."""
        return self._core.state.t

    @property
    def state(self) -> State:
        """Where the motion is."""
        return State(self._columns, self._core.state)

    def result(self) -> Result:
        """The rows so far: a copy, since the session may go on.

        >>> import hinge
        >>> len(hinge.loads(hinge.example).start().result())
        1
        """
        return Result(self._core.result(), self.model)
