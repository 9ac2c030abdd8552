"""F(t, y, y') = 0 in the shape of scipy.integrate.solve_ivp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence, Union

import numpy as np

from . import _core
from ._arrays import numbers
from ._dae_form import Form
from ._dae_steps import Event, Way
from ._errors import InputError
from ._row import Columns
from ._symbols import Symbol
from ._toml import _name

if TYPE_CHECKING:
    from ._row import Array

_methods = ("radau", "bdf", "auto")
Equations = Union[str, Symbol, Sequence[Union[str, Symbol]], Callable[..., Any]]


class DaeResult(dict):  # type: ignore[type-arg]
    """What solve_dae found: t, y, yp, sol, t_events, y_events, nfev, nlu, status, message, success, doubts, as attributes;
    unknowns by name, `sol["x"]`, and their derivatives, `sol["x'"]`.

    >>> import hinge
    >>> sol = hinge.solve_dae(["x' = -x"], (0, 1), {"x": 1}, t_eval=[0, 0.5, 1])
    >>> sol["x"].round(3), bool(abs(sol["x'"] + sol["x"]).max() < 1e-6), sol.y.shape
    (array([1.   , 0.607, 0.368]), True, (1, 3))
    """

    def __init__(self, columns: Columns, **fields: Any) -> None:
        super().__init__(fields)
        self._columns = columns

    def __getattr__(self, name: str) -> Any:
        try:
            return dict.__getitem__(self, name)
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Any:
        name = name._hinge_text() if isinstance(name, Symbol) else name
        if dict.__contains__(self, name) and name not in self._columns.place and name not in self._columns.groups:
            return dict.__getitem__(self, name)
        table = dict.__getitem__(self, "y").T
        if isinstance(name, str) and "'" in name:
            return self._columns.pick(dict.__getitem__(self, "yp").T, name.replace("'", "", 1))
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
    rtol: float | Sequence[float] | Array = 1e-6,
    atol: float | Sequence[float] | Array = 1e-8,
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

    `method` is 'radau', 'bdf' or 'auto'. `t_eval`, `dense_output`, `events` (functions of t and y, with the attributes
    `terminal` and `direction`) and `args` are those of solve_ivp, and as there t_span may go backwards. `atol` may have a
    number for each unknown; of several `rtol` the smallest counts. `jac(t, y, yp)` returns F_y and F_y'. Initial values
    that do not satisfy the equations raise InputError with the nearest ones; `consistent="project"` takes these. An
    exception in F arrives unchanged. Where a step fails, `success` is False, and what was computed before is there.

    Steps end where equations have a kink or a jump (if, abs, min, pulse, tables, ...), and begin anew; what makes the solution
    doubtful is in `doubts` and `message`. Of a function nothing is known between the points that a step looks at: give
    `max_step` where something short may happen, as with solve_ivp.
    """
    t0, t1 = _span(t_span)
    for name, value in (("first_step", first_step), ("max_step", max_step)):
        if value is not None and not float(value) > 0:
            raise InputError(f"{name} is a positive time, not {value!r}")
    if first_step is not None and t1 != t0 and float(first_step) > abs(t1 - t0):
        raise InputError(f"first_step, {first_step!r}, is longer than t_span")
    if not isinstance(method, str) or method.lower() not in _methods:
        raise InputError(f"method: {method!r} is none for F(t, y, y') = 0; there are 'radau', 'bdf' and 'auto'")
    how = _How(method.lower(), _positive(rtol, "rtol"), _positive(atol, "atol"), consistent, first_step, max_step,
               -1.0 if t1 < t0 else 1.0)  # fmt: skip
    if not (np.any(how.rtol > 0) or np.any(how.atol > 0)):
        raise InputError("rtol and atol are both 0: there is nothing to choose steps by; give rtol, as in rtol=1e-6")
    if jac is not None and not callable(jac):
        raise InputError("jac: give a function of t, y and yp that returns F_y and F_y'")
    times = None if t_eval is None else _times(t_eval, t0, t1)
    watched = _events(events)
    try:
        args = tuple(args)
    except TypeError:
        raise InputError(f"args: give a tuple of what F takes after t, y and yp, as in args=({args!r},)") from None
    notes: list[str] = []
    if callable(F) and not isinstance(F, Symbol):
        if parameters is not None:
            raise InputError("parameters: these are for equations; a function gets args=(...)")
        steps, columns, found = _of_function(F, t0, y0, yp0, how, jac, args, unknowns, index, notes)
    else:
        for name, given in (("jac", jac), ("args", args or None), ("index", index)):
            if given is not None:
                raise InputError(f"{name}: this is for functions; equations are differentiated, and have parameters={{...}}")
        steps, columns, found = _of_equations(F, t0, abs(t1 - t0), y0, yp0, how, unknowns, parameters)
    way = Way(steps, t0, t1, times, dense_output)
    way.go(watched, args)
    if way.status < 0 and callable(F) and not isinstance(F, Symbol) and (found or 0) >= 2:
        notes.append(f"F has index {found} and is a function, which is solved as it stands: steps bear that badly. Give it as equations, texts or "
                     "symbols, which are differentiated, or differentiate its constraints by hand.")  # fmt: skip
    return _result(way, columns, found, notes)


class _How(NamedTuple):
    """Options of the method. Time that goes backwards and tolerances of each unknown are a matter of measure: time is
    counted, and unknowns are scaled, so that it grows and that one absolute tolerance holds for all."""

    method: str
    rtol: Array
    atol: Array
    consistent: str
    first_step: float | None
    max_step: float
    direction: float

    @property
    def relative(self) -> float:
        return float(self.rtol.min())

    @property
    def absolute(self) -> float:
        return float(self.atol.max())

    def scale(self, n: int) -> list[float]:
        for name, given in (("rtol", self.rtol), ("atol", self.atol)):
            if given.ndim and given.shape != (n,):
                raise InputError(f"{name} has {given.size} numbers; there are {n} unknowns")
        if not self.atol.ndim:
            return [1.0] * n
        if not np.all(self.atol > 0):
            raise InputError("atol: of several numbers each has to be positive")
        return [float(a / self.absolute) for a in self.atol]


def _span(t_span: Any) -> tuple[float, float]:
    try:
        t0, t1 = (float(x) for x in ([] if isinstance(t_span, str) else t_span))
    except (TypeError, ValueError):
        raise InputError(f"t_span: give the time at the start and at the end, as in (0, 10), not {t_span!r}") from None
    if not (np.isfinite(t0) and np.isfinite(t1)):
        raise InputError(f"t_span: give two finite times, not ({t0:g}, {t1:g})")
    return t0, t1


def _positive(tolerance: Any, what: str) -> Array:
    given = numbers(tolerance, what)
    if given.ndim > 1 or not given.size or np.any(given < 0):
        raise InputError(f"{what}: a tolerance is a number that is not negative, or one for each unknown, not {tolerance!r}")
    return given


def _times(t_eval: Any, t0: float, t1: float) -> Array:
    times = numbers(t_eval, "t_eval").ravel()
    sign = -1.0 if t1 < t0 else 1.0
    for limit in (t0, t1):  # sums such as those of arange miss it by rounding
        times = np.where(np.abs(times - limit) <= 1e-12 * max(abs(t0), abs(t1)), limit, times)
    if np.any(np.diff(sign * times) < 0) or np.any(times < min(t0, t1)) or np.any(times > max(t0, t1)):
        raise InputError("t_eval: give times within t_span, in the order of t_span")
    return times


def _events(events: Any) -> list[Event]:
    watched = [] if events is None else [events] if callable(events) else events
    if isinstance(watched, (str, Symbol)) or not all(callable(e) for e in watched):
        raise InputError("events: give functions of t and y, as in events=lambda t, y: y[0]")
    return list(watched)


def _result(way: Way, columns: Columns, index: int | None, notes: list[str]) -> DaeResult:
    from ._dae_steps import DenseOutput

    n, rows, counters, doubts = len(columns.names), len(way.t), way.steps.counters, way.steps.doubts
    return DaeResult(
        columns,
        t=np.array(way.t),
        y=np.array(way.y).reshape(rows, n).T,
        yp=np.array(way.yp).reshape(rows, n).T,
        sol=DenseOutput(np.array(way.ends), np.array(way.pieces)) if way.pieces else None,
        t_events=[np.array(w.t) for w in way.watches] if way.watches else None,
        y_events=[np.array(w.y).reshape(len(w.t), n) for w in way.watches] if way.watches else None,
        nfev=counters["evaluations"],
        nlu=counters["factorisations"],
        nsteps=counters["steps"],
        index=index,
        status=way.status,
        message=" ".join([way.message, *notes, *(f"Doubtful: {doubt}." for doubt in doubts)]),
        doubts=doubts,
        success=way.status >= 0,
    )


# ---- Equations --------------------------------------------------------------------------------------------------------


def _of_equations(
    F: Any, t0: float, length: float, y0: Any, yp0: Any, how: _How, unknowns: Any, parameters: Any
) -> tuple[_core.DaeSteps, Columns, int | None]:
    from ._build import Dae

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
            mark = "'" if what == "yp0" else ""  # yp0 may be by x.dot as well
            return None if values is None else {_name(k).split("[")[0].removesuffix(mark): v for k, v in values.items()}
        given = _vector(values, what)
        out, at = {}, 0
        for u in unknowns:
            declared = u if isinstance(u, str) else u._hinge_name()
            shape = u.shape if isinstance(u, Symbol) else tuple(int(n.rstrip("]")) for n in u.split("[")[1:])
            size = int(np.prod(shape)) if shape else 1
            part = given[at : at + size]
            if len(part) < size:
                raise InputError(f"{what} has {len(given)} numbers; the unknowns have more")
            out[declared.split("[")[0]] = part.reshape(shape) if shape else float(part[0])
            at += size
        if at != len(given):
            raise InputError(f"{what} has {len(given)} numbers; the unknowns have {at}")
        return out

    options: dict[str, Any] = {"tolerance": {"relative": how.relative, "absolute": how.absolute}}
    if how.first_step is not None:
        options["step"] = float(how.first_step)
    if np.isfinite(how.max_step):
        options["max_step"] = float(how.max_step)
    model = Dae(*unknowns, equations=equations, initial=by_name(y0, "y0"), derivatives=by_name(yp0, "yp0"),
                consistent=how.consistent, parameters=parameters, title="solve_dae", method=how.method, start=t0,
                end=t0 + length, **options)  # fmt: skip
    names = model._held.state_columns
    columns = Columns(names[: len(names) // 2])
    steps = _core.dae_of_model(model._held, how.direction, how.scale(len(columns.names)))
    return steps, columns, model.check().index


# ---- Functions --------------------------------------------------------------------------------------------------------


def _of_function(
    F: Callable[..., Any], t0: float, y0: Any, yp0: Any, how: _How, jac: Callable[..., Any] | None, args: Sequence[Any],
    unknowns: Any, index: Sequence[int] | None, notes: list[str],
) -> tuple[_core.DaeSteps, Columns, int | None]:  # fmt: skip
    names, y = _start_values(y0, unknowns)
    n = len(y)
    scale = how.scale(n)
    yp = np.zeros(n) if yp0 is None else _vector(yp0, "yp0")
    if len(yp) != n:
        raise InputError(f"yp0 has {len(yp)} numbers; y0 has {n}")

    def f(t: float, y: Array, yp: Array) -> Array:
        value = _real(F(t, y.copy(), yp.copy(), *args), "F").ravel()
        if value.size != n:
            raise InputError(f"F returned {value.size} numbers; there are {n} unknowns")
        return value

    def residual(t: float, y: Array, yp: Array, out: Array) -> None:
        out[:] = f(t, y, yp)

    def jacobian(t: float, y: Array, yp: Array, f_y: Array, f_yp: Array) -> None:
        assert jac is not None
        for out, part in zip((f_y, f_yp), jac(t, y.copy(), yp.copy(), *args)):
            dense = _real(part.toarray() if hasattr(part, "toarray") else part, "jac")
            if dense.shape != (n, n):
                raise InputError(f"jac returned a matrix of shape {dense.shape}; it has to be {n} x {n}")
            out[:] = dense.ravel()

    if not np.all(np.isfinite(f(t0, y, yp))):
        raise InputError("F is no finite number at the start; look at y0 and yp0")
    form = Form(f, t0, y, yp, None if index is None else np.asarray(index, dtype=int))
    y, yp = form.start(y, yp, yp0 is not None, how.consistent, max(1e-9, 0.01 * how.relative), how.atol, notes)
    steps = _core.dae_of_function(residual, jacobian if jac is not None else None, names, [int(i) for i in form.indices], t0, y,
                                  yp, how.method, how.relative, how.absolute, float(how.first_step or 0),
                                  float(how.max_step) if np.isfinite(how.max_step) else 0.0, how.direction, scale)  # fmt: skip
    columns = Columns(names)
    if unknowns is None and not isinstance(y0, Mapping):
        columns.groups.clear()  # sol["y"] is sol.y, as in SciPy
    return steps, columns, form.index


def _real(value: Any, what: str) -> Array:
    if np.iscomplexobj(value):
        raise InputError(f"{what} returned complex numbers; give real and imaginary parts as unknowns of their own")
    real: Array = np.asarray(value, dtype=float)
    return real


def _vector(values: Any, what: str) -> Array:
    given = numbers(values, what)
    if given.ndim > 1:
        raise InputError(f"{what} has the shape {given.shape}; give a list of numbers, as in {what}.ravel()")
    vector = given.ravel()
    if not vector.size:
        raise InputError(f"{what} is empty; a DAE has at least one unknown")
    return vector.copy()


def _start_values(y0: Any, unknowns: Any) -> tuple[list[str], Array]:
    if isinstance(y0, Mapping):
        names = [_name(k) for k in y0]
        unknowns, y0 = names, list(y0.values())
    y = _vector(y0, "y0")
    if unknowns is None:
        return [f"y[{k}]" for k in range(len(y))], y
    names = unknowns.replace(",", " ").split() if isinstance(unknowns, str) else [str(u) for u in unknowns]
    if len(names) != len(y):
        raise InputError(f"there are {len(names)} names for {len(y)} unknowns")
    return names, y
