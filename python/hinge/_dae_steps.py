"""The way of solve_dae: steps of a method, events between them, and the solution at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from . import _core
from ._errors import InputError, NumericalError

if TYPE_CHECKING:
    from ._row import Array

Event = Callable[..., float]

_nodes = np.cos(np.pi * np.arange(7, -1, -1) / 7)  # Chebyshev's, on [-1, 1]: eight, enough for what the methods have
_weights = np.array([0.5, -1, 1, -1, 1, -1, 1, -0.5])


class DenseOutput:
    """The solution at any time of the run: `sol.sol(t)`.

    Between two steps it is the polynomial of the method, of degree seven at most, kept by its values at eight points.
    """

    def __init__(self, ends: Array, values: Array) -> None:
        self._sign = -1.0 if ends[-1] < ends[0] else 1.0  # of the way that time goes
        #: where steps end
        self.ts = ends
        self._values = values  # step, point, unknown
        self.t_min, self.t_max = float(ends.min()), float(ends.max())

    def __call__(self, t: float | Sequence[float] | Array) -> Array:
        times = np.atleast_1d(np.asarray(t, dtype=float))
        if times.ndim > 1:
            raise InputError(f"the solution is asked for at a time, or at a list of times, not at an array of shape {times.shape}")
        for limit in (self.t_min, self.t_max):  # missed by rounding
            times = np.where(np.abs(times - limit) <= 1e-12 * max(abs(self.t_min), abs(self.t_max)), limit, times)
        if times.size and not (times.min() >= self.t_min and times.max() <= self.t_max):
            raise InputError(f"the solution is known from t = {self.t_min:g} to {self.t_max:g}")
        k = np.clip(np.searchsorted(self._sign * self.ts, self._sign * times, side="right") - 1, 0, len(self._values) - 1)
        begin, end = self.ts[k], self.ts[k + 1]
        s = (2 * times - begin - end) / (end - begin)
        distance = s[:, None] - _nodes
        exact = np.isclose(distance, 0, atol=1e-15)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = _weights / distance
        hit = exact.any(axis=1)
        factor[hit] = exact[hit]
        factor /= factor.sum(axis=1, keepdims=True)
        y: Array = np.einsum("tp,tpn->nt", factor, self._values[k])
        return y[:, 0] if np.ndim(t) == 0 else y


class _Watch:
    """One event: its function, which changes of sign count, after how many of them the run ends."""

    def __init__(self, function: Event, args: Sequence[Any], t: float, y: Array) -> None:
        self._function, self._args = function, args
        self.direction = float(getattr(function, "direction", 0))
        terminal = getattr(function, "terminal", False)
        self.limit = (1 if terminal is True else int(terminal or 0)) or None
        self.before = self.function(t, y)
        self.t: list[float] = []
        self.y: list[Array] = []

    def function(self, t: float, y: Array) -> float:
        value: Any = self._function(t, y.copy(), *self._args)
        if isinstance(value, (bool, np.bool_)):
            raise InputError("events: an event is a number that changes its sign where it happens, not True or False; as in y[0] - 1, not y[0] > 1")
        return float(value.item() if getattr(value, "size", 0) == 1 else value)

    def root(self, steps: _core.DaeSteps, t0: float, t1: float, y1: Array) -> float | None:
        """Where within the step it changes its sign, in the direction that counts."""
        g0, g1 = self.before, self.function(t1, y1)
        self.before = g1
        if not (g0 <= 0 <= g1 and self.direction >= 0 or g0 >= 0 >= g1 and self.direction <= 0) or g0 == 0:
            return None
        first, last = t0, t1  # last is nearer to the end of the step, whichever way time goes
        for k in range(200):  # halving, with the secant where it stays inside
            if abs(last - first) <= 4e-16 * max(abs(first), abs(last)):
                break
            middle = (first * g1 - last * g0) / (g1 - g0) if g1 != g0 and k % 3 else 0.5 * (first + last)
            if not min(first, last) < middle < max(first, last):
                middle = 0.5 * (first + last)
                if not min(first, last) < middle < max(first, last):
                    break
            g = self.function(middle, steps.at(middle).y)
            if g == 0:
                return middle
            if (g > 0) == (g1 > 0):
                last, g1 = middle, g
            else:
                first, g0 = middle, g
        return last


class Way:
    """What is kept of the steps from t0 to t1: rows, events, pieces for dense output, and how it ended."""

    def __init__(self, steps: _core.DaeSteps, t0: float, t1: float, t_eval: Array | None, dense: bool) -> None:
        self.steps, self.t0, self.t1, self.t_eval, self.dense = steps, t0, t1, t_eval, dense
        self.sign = -1.0 if t1 < t0 else 1.0
        self.t: list[float] = []
        self.y: list[Array] = []
        self.yp: list[Array] = []
        self.ends: list[float] = [t0]
        self.pieces: list[list[Array]] = []
        self.watches: list[_Watch] = []
        self.status, self.message = 0, "The solver successfully reached the end of the integration interval."

    def go(self, events: Sequence[Event], args: Sequence[Any]) -> None:
        """From t0 to t1, or to where an event or a failure ends it."""
        state = self.steps.state
        t = self.t0
        if self.t_eval is None or (len(self.t_eval) and self.t_eval[0] == t):
            self._keep(t, state.y, state.z)
        self.watches = [_Watch(e, args, t, state.y) for e in events]
        while self.sign * t < self.sign * self.t1 and self.status == 0:
            try:
                self.steps.advance(self.t1)
            except NumericalError as failure:
                backwards = " (time goes backwards: t in this sentence is -t)" if self.sign < 0 else ""
                self.status, self.message = -1, str(failure) + backwards
                break
            before, state = t, self.steps.state
            t, y, yp = state.t, state.y, state.z
            ended = self._events(before, t, y)
            if ended is not None:
                there = self.steps.at(ended)
                t, y, yp = ended, there.y, there.z
                self.status, self.message = 1, "A termination event occurred."
            self._rows(t, y, yp)
            if self.dense:
                self.ends.append(t)
                self.pieces.append([self.steps.at(float(x)).y for x in 0.5 * (before + t) + 0.5 * (t - before) * _nodes])

    def _events(self, before: float, t: float, y: Array) -> float | None:
        """Notes what happened within a step; where the one that ends it is, if there is one."""
        ended: float | None = None
        hits = [(root, w) for w in self.watches if (root := w.root(self.steps, before, t, y)) is not None]
        for root, w in sorted(hits, key=lambda h: self.sign * h[0]):
            if ended is not None and self.sign * root > self.sign * ended:
                break
            w.t.append(root)
            w.y.append(self.steps.at(root).y)
            if w.limit is not None and len(w.t) >= w.limit:
                ended = root
        return ended

    def _rows(self, t: float, y: Array, yp: Array) -> None:
        if self.t_eval is None:
            self._keep(t, y, yp)
            return
        while len(self.t) < len(self.t_eval) and self.sign * self.t_eval[len(self.t)] <= self.sign * t:
            wanted = float(self.t_eval[len(self.t)])
            shown = self.steps.at(wanted)
            self._keep(wanted, shown.y, shown.z)

    def _keep(self, t: float, y: Array, yp: Array) -> None:
        self.t.append(t)
        self.y.append(y)
        self.yp.append(yp)
