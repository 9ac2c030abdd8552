"""F(t, y, y') = 0 in the shape of scipy.integrate.solve_ivp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, Union

import numpy as np

from . import _core
from ._dae_form import Form
from ._errors import InputError, NumericalError
from ._result import Columns
from ._symbols import Symbol

if TYPE_CHECKING:
    from ._result import Array

Event = Callable[[float, "Array"], float]
Equations = Union[str, Symbol, Sequence[Union[str, Symbol]], Callable[..., Any]]

_nodes = np.cos(np.pi * np.arange(7, -1, -1) / 7)  # Chebyshev's, on [-1, 1]: eight, enough for what the methods have
_weights = np.array([0.5, -1, 1, -1, 1, -1, 1, -0.5])


class DenseOutput:
    """The solution at any time of the run: `sol.sol(t)`.

    Between two steps it is the polynomial of the method, of degree seven at most, kept by its values at eight points.
    """

    def __init__(self, ends: Array, values: Array) -> None:
        self._ends = ends
        self._values = values  # step, point, unknown
        self.t_min, self.t_max = float(ends[0]), float(ends[-1])

    def __call__(self, t: float | Sequence[float] | Array) -> Array:
        times = np.atleast_1d(np.asarray(t, dtype=float))
        if times.size and not (times.min() >= self.t_min and times.max() <= self.t_max):
            raise InputError(f"the solution is known from t = {self.t_min:g} to {self.t_max:g}")
        k = np.clip(np.searchsorted(self._ends, times, side="right") - 1, 0, len(self._values) - 1)
        begin, end = self._ends[k], self._ends[k + 1]
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


class DaeResult(dict):  # type: ignore[type-arg]
    """What solve_dae found: t, y, yp, sol, t_events, y_events, nfev, nlu, status, message, success, as attributes; unknowns by
    name, `sol["x"]`."""

    def __init__(self, columns: Columns, **fields: Any) -> None:
        super().__init__(fields)
        self._columns = columns

    def __getattr__(self, name: str) -> Any:
        try:
            return dict.__getitem__(self, name)
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Any:
        if dict.__contains__(self, name) and name not in self._columns.place and name not in self._columns.groups:
            return dict.__getitem__(self, name)
        table = dict.__getitem__(self, "y").T
        if name.endswith("'"):
            return self._columns.pick(dict.__getitem__(self, "yp").T, name[:-1])
        return self._columns.pick(table, name)

    def __repr__(self) -> str:
        n, m = dict.__getitem__(self, "y").shape
        return f"<hinge.DaeResult: {n} unknowns at {m} times; {self.message}>"


def solve_dae(
    F: Equations,
    t_span: Sequence[float],
    y0: Any,
    yp0: Any = None,
    method: str = "radau",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Event | Sequence[Event] | None = None,
    *,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    jac: Callable[..., Any] | None = None,
    args: Sequence[Any] = (),
    unknowns: Any = None,
    parameters: Mapping[Any, Any] | None = None,
    index: Sequence[int] | None = None,
    consistent: str = "check",
    first_step: float | None = None,
    max_step: float = np.inf,
) -> DaeResult:
    """Solves F(t, y, y') = 0 from t_span[0] to t_span[1], in the shape of scipy.integrate.solve_ivp.

    F is a list of equations, texts or symbols, of any index: they are differentiated as often as it takes. `y0` is then a
    dict by name, which need not be complete, or a list in the order of `unknowns`:

    >>> import hinge
    >>> sol = hinge.solve_dae(["x' = u", "y' = v", "u' = -x*L", "v' = -y*L - 1", "x^2 + y^2 = 1"], (0, 5),
    ...                       {"x": 1, "y": 0, "u": 0, "v": 0}, unknowns="x y u v L", rtol=1e-8)
    >>> sol.success, sol.index, bool(abs(sol["x"]**2 + sol["y"]**2 - 1).max() < 1e-7)
    (True, 3, True)

    or a function F(t, y, yp) that returns as many numbers as y has. It is not differentiated, and so it is solved as it
    stands: index 0 and 1, and Hessenberg's form of index 2 and 3. Which of them it is, is found at the start by the
    derivatives F_y and F_y'; `sol.index` says it, and what is none of them is refused. With index 3 the velocities and
    multipliers are less accurate than the positions; equations do better there.

    >>> def robertson(t, y, yp):
    ...     a, b = 0.04 * y[0], 1e4 * y[1] * y[2]
    ...     return [yp[0] + a - b, yp[1] - a + b + 3e7 * y[1] ** 2, y.sum() - 1]
    >>> sol = hinge.solve_dae(robertson, (0, 40), [1, 0, 0], rtol=1e-8, atol=1e-12)
    >>> sol.index, float(sol.y[0, -1].round(5))
    (1, 0.71583)

    `method` is 'radau', 'bdf' or 'auto'. `t_eval`, `dense_output` and `events` (functions of t and y, with the attributes
    `terminal` and `direction`) are those of solve_ivp; `jac(t, y, yp)` returns F_y and F_y'. Initial values that do not
    satisfy the equations raise InputError with the nearest ones; `consistent="project"` takes these. An exception in F
    arrives unchanged. Where a step fails, `success` is False, and what was computed before is there.
    """
    t0, t1 = (float(x) for x in t_span)
    if not (np.isfinite(t0) and np.isfinite(t1) and t1 > t0):
        raise InputError(f"t_span: give a start and an end after it, not ({t0:g}, {t1:g})")
    times = None if t_eval is None else np.asarray(t_eval, dtype=float).ravel()
    if times is not None and (np.any(np.diff(times) < 0) or np.any(times < t0) or np.any(times > t1)):
        raise InputError("t_eval: give increasing times within t_span")
    watched = [] if events is None else [events] if callable(events) else list(events)
    notes: list[str] = []
    if callable(F) and not isinstance(F, Symbol):
        steps, columns, found = _of_function(F, t0, y0, yp0, method, rtol, atol, jac, args, unknowns, index, consistent,
                                             first_step, max_step, notes)  # fmt: skip
    else:
        steps, columns, found = _of_equations(F, t0, t1, y0, yp0, method, rtol, atol, unknowns, parameters, consistent,
                                              first_step, max_step)  # fmt: skip
    return _integrate(steps, columns, found, t0, t1, times, watched, dense_output, notes)


# ---- Equations --------------------------------------------------------------------------------------------------------


def _of_equations(
    F: Any, t0: float, t1: float, y0: Any, yp0: Any, method: str, rtol: float, atol: float, unknowns: Any, parameters: Any,
    consistent: str, first_step: float | None, max_step: float,
) -> tuple[_core.DaeSteps, Columns, int | None]:  # fmt: skip
    from ._build import Dae
    from ._toml import _name

    equations = [F] if isinstance(F, (str, Symbol)) else list(F)
    if unknowns is None:
        if not isinstance(y0, Mapping):
            raise InputError('unknowns: say what y0 is called, as in unknowns="x y", or give y0 as {"x": 1, "y": 0}')
        unknowns = [k if isinstance(k, Symbol) or np.ndim(v) == 0 else f"{k}[{len(v)}]" for k, v in y0.items()]
    elif isinstance(unknowns, str):
        unknowns = unknowns.replace(",", " ").split()
    elif isinstance(unknowns, Symbol):
        unknowns = [unknowns]

    def by_name(values: Any, what: str) -> Any:
        if values is None or isinstance(values, Mapping):
            return None if values is None else {_name(k).split("[")[0]: v for k, v in values.items()}
        numbers = np.asarray(values, dtype=float).ravel()
        out, at = {}, 0
        for u in unknowns:
            declared = u if isinstance(u, str) else u._hinge_name()
            shape = u.shape if isinstance(u, Symbol) else tuple(int(n.rstrip("]")) for n in u.split("[")[1:])
            size = int(np.prod(shape)) if shape else 1
            part = numbers[at : at + size]
            if len(part) < size:
                raise InputError(f"{what} has {len(numbers)} numbers; the unknowns have more")
            out[declared.split("[")[0]] = part.reshape(shape) if shape else float(part[0])
            at += size
        if at != len(numbers):
            raise InputError(f"{what} has {len(numbers)} numbers; the unknowns have {at}")
        return out

    options: dict[str, Any] = {"tolerance": {"relative": float(rtol), "absolute": float(atol)}}
    if first_step is not None:
        options["step"] = float(first_step)
    if np.isfinite(max_step):
        options["max_step"] = float(max_step)
    model = Dae(*unknowns, equations=equations, initial=by_name(y0, "y0"), derivatives=by_name(yp0, "yp0"), consistent=consistent,
                parameters=parameters, title="solve_dae", method=method, start=t0, end=t1, **options)  # fmt: skip
    steps = _core.dae_of_model(model._held)
    names = model._held.state_columns
    return steps, Columns(names[: len(names) // 2]), model.check().index


# ---- Functions --------------------------------------------------------------------------------------------------------


def _of_function(
    F: Callable[..., Any], t0: float, y0: Any, yp0: Any, method: str, rtol: float, atol: float, jac: Callable[..., Any] | None,
    args: Sequence[Any], unknowns: Any, index: Sequence[int] | None, consistent: str, first_step: float | None,
    max_step: float, notes: list[str],
) -> tuple[_core.DaeSteps, Columns, int | None]:  # fmt: skip
    names, y = _start_values(y0, unknowns)
    n = len(y)
    yp = np.zeros(n) if yp0 is None else _numbers(yp0, "yp0")
    if len(yp) != n:
        raise InputError(f"yp0 has {len(yp)} numbers; y0 has {n}")

    def f(t: float, y: Array, yp: Array) -> Array:
        value = np.asarray(F(t, y.copy(), yp.copy(), *args), dtype=float).ravel()
        if value.size != n:
            raise InputError(f"F returned {value.size} numbers; there are {n} unknowns")
        return value

    def residual(t: float, y: Array, yp: Array, out: Array) -> None:
        out[:] = f(t, y, yp)

    def jacobian(t: float, y: Array, yp: Array, f_y: Array, f_yp: Array) -> None:
        assert jac is not None
        for out, part in zip((f_y, f_yp), jac(t, y.copy(), yp.copy(), *args)):
            dense = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=float)
            if dense.shape != (n, n):
                raise InputError(f"jac returned a matrix of shape {dense.shape}; it has to be {n} x {n}")
            out[:] = dense.ravel()

    if not np.all(np.isfinite(f(t0, y, yp))):
        raise InputError("F is no finite number at the start; look at y0 and yp0")
    form = Form(f, t0, y, yp, None if index is None else np.asarray(index, dtype=int))
    y, yp = form.start(y, yp, yp0 is not None, consistent, max(1e-9, 0.01 * rtol), atol, notes)
    steps = _core.dae_of_function(residual, jacobian if jac is not None else None, names, [int(i) for i in form.indices], t0, y,
                                  yp, method, float(rtol), float(atol), float(first_step or 0),
                                  float(max_step) if np.isfinite(max_step) else 0.0)  # fmt: skip
    return steps, Columns(names), form.index


def _numbers(values: Any, what: str) -> Array:
    numbers = np.asarray(values, dtype=float).ravel()
    if not np.all(np.isfinite(numbers)):
        raise InputError(f"{what} contains a number that is not finite")
    if not numbers.size:
        raise InputError(f"{what} is empty; a DAE has at least one unknown")
    return numbers.copy()


def _start_values(y0: Any, unknowns: Any) -> tuple[list[str], Array]:
    if isinstance(y0, Mapping):
        names = [str(k) if isinstance(k, str) else k._hinge_name() for k in y0]
        return names, _numbers([float(v) for v in y0.values()], "y0")
    y = _numbers(y0, "y0")
    if unknowns is None:
        return [f"y[{k}]" for k in range(len(y))], y
    names = unknowns.replace(",", " ").split() if isinstance(unknowns, str) else [str(u) for u in unknowns]
    if len(names) != len(y):
        raise InputError(f"there are {len(names)} names for {len(y)} unknowns")
    return names, y


# ---- Steps ------------------------------------------------------------------------------------------------------------


class _Watch:
    """One event: its function, which changes of sign count, after how many of them the run ends."""

    def __init__(self, function: Event, t: float, y: Array) -> None:
        self.function = function
        self.direction = float(getattr(function, "direction", 0))
        terminal = getattr(function, "terminal", False)
        self.limit = (1 if terminal is True else int(terminal)) or None
        self.before = float(function(t, y))
        self.t: list[float] = []
        self.y: list[Array] = []

    def root(self, steps: _core.DaeSteps, t0: float, t1: float, y1: Array) -> float | None:
        """Where within the step it changes its sign, in the direction that counts."""
        g0, g1 = self.before, float(self.function(t1, y1))
        self.before = g1
        if not (g0 <= 0 <= g1 and self.direction >= 0 or g0 >= 0 >= g1 and self.direction <= 0) or g0 == 0:
            return None
        low, high = t0, t1
        for _ in range(200):  # halving, with the secant where it stays inside
            if high - low <= 4e-16 * max(abs(low), abs(high)):
                break
            middle = (low * g1 - high * g0) / (g1 - g0) if g1 != g0 and _ % 3 else 0.5 * (low + high)
            if not low < middle < high:
                middle = 0.5 * (low + high)
                if not low < middle < high:
                    break
            g = float(self.function(middle, steps.at(middle).y))
            if g == 0:
                return middle
            if (g > 0) == (g1 > 0):
                high, g1 = middle, g
            else:
                low, g0 = middle, g
        return high


def _integrate(
    steps: _core.DaeSteps, columns: Columns, index: int | None, t0: float, t1: float, t_eval: Array | None,
    events: Sequence[Event], dense: bool, notes: list[str],
) -> DaeResult:  # fmt: skip
    state = steps.state
    ts, ys, yps = [t0], [state.y], [state.z]
    if t_eval is not None:
        ts, ys, yps = [], [], []
        if len(t_eval) and t_eval[0] == t0:
            ts, ys, yps = [t0], [state.y], [state.z]
    place = len(ts)
    watches = [_Watch(e, t0, state.y) for e in events]
    ends, pieces = [t0], []
    status, message, t = 0, "The solver successfully reached the end of the integration interval.", t0
    while t < t1:
        try:
            steps.advance(t1)
        except NumericalError as failure:
            status, message = -1, str(failure)
            break
        before, state = t, steps.state
        t, y, yp = state.t, state.y, state.z
        ended = None
        hits = [(root, w) for w in watches if (root := w.root(steps, before, t, y)) is not None]
        for root, w in sorted(hits, key=lambda h: h[0]):
            if ended is not None and root > ended:
                break
            w.t.append(root)
            w.y.append(steps.at(root).y)
            if w.limit is not None and len(w.t) >= w.limit:
                ended = root
        if ended is not None:
            there = steps.at(ended)
            t, y, yp = ended, there.y, there.z
        if t_eval is None:
            ts.append(t)
            ys.append(y)
            yps.append(yp)
        else:
            while place < len(t_eval) and t_eval[place] <= t:
                shown = steps.at(float(t_eval[place]))
                ts.append(float(t_eval[place]))
                ys.append(shown.y)
                yps.append(shown.z)
                place += 1
        if dense:
            ends.append(t)
            pieces.append([steps.at(float(x)).y for x in 0.5 * (before + t) + 0.5 * (t - before) * _nodes])
        if ended is not None:
            status, message = 1, "A termination event occurred."
            break
    n = len(columns.names)
    counters = steps.counters
    return DaeResult(
        columns,
        t=np.array(ts),
        y=np.array(ys).reshape(len(ts), n).T,
        yp=np.array(yps).reshape(len(ts), n).T,
        sol=DenseOutput(np.array(ends), np.array(pieces)) if dense and pieces else None,
        t_events=[np.array(w.t) for w in watches] if events else None,
        y_events=[np.array(w.y).reshape(len(w.t), n) for w in watches] if events else None,
        nfev=counters["evaluations"],
        nlu=counters["factorisations"],
        nsteps=counters["steps"],
        index=index,
        status=status,
        message=" ".join([message, *notes]),
        success=status >= 0,
    )
