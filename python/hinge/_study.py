"""Many runs: work against precision, observed orders, sweeps over settings."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence, Union

from . import _core, _options, _progress, _toml
from ._errors import InputError
from ._model import Model, _failed
from ._result import Result

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from ._row import Array

Methods = Union[None, str, Sequence[str]]
Numbers = Union[None, float, Sequence[float]]


def _list(values: Any) -> str | None:
    if values is None or isinstance(values, str):
        return values
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (int, float)):
        values = [values]
    return ",".join(v if isinstance(v, str) else repr(float(v)) for v in values)


class Study:
    """A table of runs: a list of dicts, `print` shows it as the program does.

    `rows` has one dict for each run, `reference` says what errors are measured against, `notes` what to keep in mind.

    >>> import hinge
    >>> study = hinge.convergence(hinge.loads(hinge.example), "rattle", steps=[0.1, 0.05], end=1)
    >>> [row["step"] for row in study], study["step"], study[0]["method"]
    ([0.1, 0.05], array([0.1 , 0.05]), 'rattle')
    """

    def __init__(self, answer: tuple[str, str, str], orders: bool) -> None:
        data = json.loads(answer[0])
        self._text = answer[1]
        self.title: str = data["title"]
        self.reference: str = data["reference"]["description"]
        self.notes: list[str] = data.get("notes", [])
        self.warnings: list[str] = [line.split(": ", 2)[-1] for line in answer[2].splitlines()]
        self.rows: list[dict[str, Any]] = []
        #: of each method the order that was fitted, by part: y, z, multiplier
        self.orders: dict[str, dict[str, float]] = {}
        for m in data["methods"]:
            if orders:
                self.orders[m["name"]] = m["fitted_order"]
            for p in m["points"]:
                row = {"method": m["name"], **{k: v for k, v in p.items() if not isinstance(v, (dict, list))}}
                for what in ("error", "observed_order"):
                    row.update({f"{what}_{part}": v for part, v in p.get(what, {}).items()})
                self.rows.append(row)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, key: int | str) -> Any:
        if isinstance(key, str):
            import numpy as np

            return np.array([row.get(key, np.nan) for row in self.rows])
        return self.rows[key]

    def dataframe(self) -> pd.DataFrame:
        """A pandas.DataFrame; takes pandas.

        >>> import hinge
        >>> len(hinge.convergence(hinge.loads(hinge.example), "rattle", steps=[0.1, 0.05], end=1).dataframe())
        2
        """
        import pandas as pd

        return pd.DataFrame(self.rows)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<hinge.Study '{self.title}': {len(self)} runs against {self.reference}>"


def _is_model(given: Any, what: str) -> Model:
    if not isinstance(given, Model):
        raise TypeError(f"{what}: give a model, as in hinge.{what}(hinge.load('model.toml'), ...), not {type(given).__name__}")
    return given


def _end(model: Model, end: float | None, what: str) -> _core.Model:
    return _is_model(model, what)._with({} if end is None else {"end": end})._held


def compare(
    model: Model,
    methods: Methods = None,
    *,
    tolerances: Numbers = None,
    steps: Numbers = None,
    reference: str | os.PathLike[str] | None = None,
    end: float | None = None,
    progress: Callable[[str, float, float], Any] | None = None,
) -> Study:
    """Work against precision: error, time and cost of several methods, as `hinge compare`.

    `progress` is a function of the method, its tolerance or step, and the time, of "reference" first; returning False stops.

    >>> import hinge
    >>> work = hinge.compare(hinge.loads(hinge.example), ["explicit", "radau"], tolerances=[1e-4, 1e-6], end=1)
    >>> len(work), bool((work["error_y"] < 1e-3).all())
    (4, True)
    """
    where = None if reference is None else os.fspath(reference)
    answer = _core.compare(_end(model, end, "compare"), _list(methods), _list(tolerances), _list(steps), where, progress)
    return Study(answer, False)


def convergence(
    model: Model,
    methods: Methods = None,
    *,
    steps: Numbers = None,
    reference: str | os.PathLike[str] | None = None,
    reference_step: float | None = None,
    end: float | None = None,
    progress: Callable[[str, float, float], Any] | None = None,
) -> Study:
    """Errors for several steps and the orders that are observed, as `hinge convergence`.

    `progress` is a function of the method, its step, and the time, of "reference" first; returning False stops.

    >>> import hinge
    >>> study = hinge.convergence(hinge.loads(hinge.example), "gauss-lobatto(stages=1), rattle", steps=[0.1, 0.05, 0.025], end=1)
    >>> {name: round(order["y"]) for name, order in study.orders.items()}
    {'gauss-lobatto(stages=1)': 2, 'rattle': 2}
    """
    where = None if reference is None else os.fspath(reference)
    small = None if reference_step is None else repr(float(reference_step))
    return Study(_core.convergence(_end(model, end, "convergence"), _list(methods), _list(steps), where, small, progress), True)


def _numbers(value: Any) -> Any:
    """An array of numbers; None of what is none."""
    import numpy as np

    try:
        made = np.asarray(value)
    except ValueError:  # rows of several lengths
        return None
    return made if made.dtype.kind in "biufc" else None


class Sweep:
    """What a sweep found. `sweep["q"]` has the values at the end, one axis for each key that was swept.

    `results` has the results in the same order, None where a run failed; `failures` says why, and `doubtful` which of the
    others are not sound.

    >>> import hinge
    >>> s = hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.02, 0.01], "integrate.stages": [1, 2, 3]}, end=1)
    >>> s.shape, s["q"].shape, len(s.results)
    ((2, 3), (2, 3, 2), 6)
    """

    def __init__(self, keys: dict[str, list[Any]], results: list[Result | None], failures: dict[int, str]) -> None:
        self.keys = keys
        self.results = results
        self.failures = failures

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each key has."""
        return tuple(len(v) for v in self.keys.values())

    def settings(self, k: int) -> dict[str, Any]:
        """What was set in run k.

        >>> import hinge
        >>> hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.02, 0.01]}, end=1).settings(1)
        {'integrate.step': 0.01}
        """
        return dict(zip(self.keys, list(itertools.product(*self.keys.values()))[k]))

    def __len__(self) -> int:
        return len(self.results)

    @property
    def doubtful(self) -> dict[int, str]:
        """The verdicts of the runs that are not sound.

        >>> import hinge
        >>> hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.02, 0.01]}, end=1).doubtful
        {}
        """
        return {k: r.verdict for k, r in enumerate(self.results) if r is not None and r.verdict != "sound"}

    def _named(self, k: int, error: Any) -> Any:
        """The same complaint, with which run it is about."""
        if not str(error).startswith("--set "):  # says itself what
            told = ", ".join(f"{name}={value}" for name, value in self.settings(k).items())
            error.args = (f"run {k} ({told}): {error}",)
        return error

    def _gather(self, value: Callable[[Result], Any]) -> Any:
        import numpy as np

        given = [None if r is None else value(r) for r in self.results]
        found = [None if v is None else _numbers(v) for v in given]
        known = [a for a in found if a is not None]
        like = known[0] if known else np.array(np.nan)
        if len(known) < sum(v is not None for v in given) or any(a.shape != like.shape for a in known):
            objects = np.empty(len(given), dtype=object)
            for k, v in enumerate(given):
                objects[k] = v
            return objects.reshape(self.shape)
        filled = [np.full(like.shape, np.nan) if a is None else a for a in found]
        return np.array(filled, dtype=np.result_type(float, like)).reshape(*self.shape, *like.shape)

    def __iter__(self) -> Iterator[Result | None]:
        return iter(self.results)

    def __getitem__(self, name: str) -> Array:
        last: Array = self._gather(lambda r: r[name][-1])
        return last

    def each(self, function: Callable[[Result], Any]) -> Any:
        """A function of every result, as an array; nan where a run failed. What is no number, or has another size in every
        run, comes as an array of objects, None where a run failed.

        >>> import hinge
        >>> s = hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.02, 0.01]}, end=1)
        >>> s.each(lambda r: r.cost["steps"])
        array([ 50., 100.])
        """
        return self._gather(function)

    def dataframe(self) -> pd.DataFrame:
        """One row for each run: what was set, and the numbers at the end; takes pandas.

        >>> import hinge
        >>> list(hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.02, 0.01]}, end=1).dataframe().columns)[:3]
        ['integrate.step', 't', 'q[0]']
        """
        import pandas as pd

        rows = []
        for k, r in enumerate(self.results):
            row = self.settings(k)
            if r is not None:
                row.update(zip(r.columns, r.values[-1]))
            row["failure"] = self.failures.get(k, "")
            rows.append(row)
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        runs = " x ".join(map(str, self.shape))
        return f"<hinge.Sweep of {runs} runs over {', '.join(self.keys)}; {len(self.failures)} failed, {len(self.doubtful)} doubtful>"


def _bar(wanted: bool | None, runs: int) -> tuple[Callable[[int, int], Any] | None, _progress.Bar | None]:
    if not _progress.shown(wanted):
        return None, None
    bar = _progress.Bar(0, runs, lambda done: f"{done:.0f} of {runs} runs")
    return lambda done, of: bar(done), bar


def sweep(
    model: Model,
    keys: Mapping[str, Any],
    *,
    jobs: int | None = None,
    strict: bool = True,
    rows: bool = True,
    progress: bool | Callable[[int, int], Any] | None = None,
    **options: Any,
) -> Sweep:
    """Runs a model with every combination of settings, in threads of this process.

    >>> import hinge
    >>> import numpy as np
    >>> m = hinge.loads(hinge.example).set({"parameters.l": 1.0, "lagrangian.constraints": ["(dot(q,q) - l^2)/2"],
    ...                                     "initial.position.q": ["l", 0]})
    >>> s = hinge.sweep(m, {"parameters.l": np.linspace(0.5, 1.5, 5)}, jobs=2, end=1)
    >>> s["q"].shape, bool(np.allclose(np.linalg.norm(s["q"], axis=1), np.linspace(0.5, 1.5, 5)))
    ((5, 2), True)

    Options are those of `run` that say how a run goes: `method`, `step`, `end`, `every` and so on. Results do not depend on
    `jobs`, the number of threads; without it there is one for each core. A run whose numerics fail raises NumericalError, and
    one that cannot be started InputError, with its number and settings; where `strict` is False they are noted in `failures`. With `rows=False` only the first and the last row of every run are kept.
    `progress` is True, False, or a function that is called now and then with the number of finished runs and of all;
    returning False stops, and what is finished is there. Where nothing is said there is a bar on a terminal and in a notebook.
    """
    import numpy as np

    _is_model(model, "sweep")
    if not isinstance(keys, Mapping):
        raise InputError('sweep: give keys with values in a dict, as in {"parameters.l": [1, 2, 3]}')
    for name, v in keys.items():
        if isinstance(v, str) or not hasattr(v, "__iter__") or getattr(v, "ndim", 1) == 0:
            raise InputError(f"sweep: {_options.key(name)} has one value, {v!r}; give a list of values, or set it with m.set")
    values = {_options.key(k): list(np.asarray(v).tolist() if hasattr(v, "tolist") else v) for k, v in keys.items()}
    if not values or not all(values.values()):
        raise InputError('sweep: give keys with values, as in {"parameters.l": [1, 2, 3]}')
    for name in ("on_row", "out", "report", "condition", "force"):
        if name in options:
            raise InputError(f"sweep: {name} is for a single run; look at the results with each(), or save one of them")
    count = (os.cpu_count() or 1) if jobs is None else int(jobs)
    if count < 1:
        raise InputError("sweep: jobs is the number of threads, at least 1")
    written = {k: [_toml.value(v) for v in values[k]] for k in values}
    common = [s for s in model._settings_with(options) if s[0] not in values]
    points = [[(k, v, "") for k, v in zip(values, point)] for point in itertools.product(*written.values())]
    told, bar = (progress, None) if callable(progress) else _bar(progress, len(points))
    try:
        found = _core.sweep(model._source, model.path, common, points, rows, strict, count, told)
    finally:
        if bar is not None:
            bar.close()
    results: list[Result | None] = []
    failures: dict[int, str] = {}
    swept = Sweep(values, results, failures)
    for k, core in enumerate(found):
        if core is None:  # stopped before
            results.append(None)
            continue
        if isinstance(core, str):  # refused
            refusal = _options.placed(_options.explained(InputError(core), options), values)
            if strict or all(isinstance(c, str) for c in found):
                raise swept._named(k, refusal)
            failures[k] = str(refusal)
            results.append(None)
            continue
        result = Result(core, model._unread(common + points[k]))
        if core.failure and strict:
            raise swept._named(k, _failed(result, core))
        if core.failure:
            failures[k] = core.failure
        results.append(None if core.failure else result)
    return swept
