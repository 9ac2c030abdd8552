"""What came of a run: rows as NumPy arrays, without a copy, and what was preserved."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from . import _core
from ._errors import InputError
from ._row import Columns, NoSuchColumn

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

    from ._model import Model
    from ._row import Array


class Result:
    """The rows of a run and what was preserved. Arrays are views of the rows: read-only, and never copied.

    >>> import hinge
    >>> r = hinge.loads(hinge.example).run(end=1)
    >>> r["q"].shape, r["q'"].shape, r["q[1]"].shape
    ((101, 2), (101, 2), (101,))
    >>> r.preserved["constraint"] < 1e-14
    True
    >>> r.cost["steps"]
    100
    """

    def __init__(self, core: _core.Result, model: Model | None) -> None:
        self._core = core
        self._model = model
        self._values: Array | None = None
        self._columns: Columns | None = None
        self._report: dict[str, Any] | None = None
        self._levels: tuple[Array, Array] | None = None

    # ---- Rows ----

    @property
    def values(self) -> Array:
        """All rows, one column for each number."""
        if self._values is None:
            self._values = self._core.values
        return self._values

    @property
    def columns(self) -> list[str]:
        """The name of each column."""
        return self._names().names

    @property
    def names(self) -> list[str]:
        """What can be asked for: r[name]."""
        return self._names().all()

    def _names(self) -> Columns:
        if self._columns is None:
            self._columns = Columns(self._core.columns)
        return self._columns

    def __getitem__(self, name: str) -> Array:
        """A column or a group of them; and what is computed from them: "constraint", "hidden_constraint", and NAME_error, the
        change since the start."""
        if isinstance(name, str) and name not in self:
            if name in ("constraint", "hidden_constraint") or (name == "energy" and "total_energy" in self):
                computed: Array = getattr(self, name)
                return computed
            if name.endswith("_error"):
                values = self[name[: -len("_error")]]
                change: Array = values - values[:1]
                return change
        return self._names().pick(self.values, name)

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.values)

    def keys(self) -> list[str]:
        """The names, as a dict has them: dict(r) is one of arrays.

        >>> import hinge
        >>> sorted(dict(hinge.loads(hinge.example).run(end=1)))
        ['energy', 'psi', 'q', "q'", 't']
        """
        return self.names

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        import numpy as np

        table: Array = np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)
        return table

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            column = not name.startswith("_") and "_core" in vars(self) and name in self
            hint = f"; columns are taken by name: r['{name}']" if column else ""
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}")

    @property
    def t(self) -> Array:
        """The times of the rows."""
        return self.values[:, 0]

    @property
    def energy(self) -> Array:
        """The energy in every row; of a system that has one."""
        if "total_energy" not in self and "energy" not in self:
            raise NoSuchColumn("these rows have no energy: forces have no potential that would be known; record one of your own as "
                               'quantities={"energy": ...}')  # fmt: skip
        return self["total_energy" if "total_energy" in self else "energy"]

    def _both_levels(self) -> tuple[Array, Array]:
        if self._levels is None:
            self._levels = (self._core if self._model is None else self._core.with_model(self._model._held)).levels()
        return self._levels

    @property
    def constraint(self) -> Array:
        """The largest |g| in every row; of a DAE that of its algebraic equations."""
        return self._both_levels()[0]

    @property
    def hidden_constraint(self) -> Array:
        """The largest |g_t + G v| in every row; of a DAE that of its hidden constraints."""
        return self._both_levels()[1]

    @property
    def events(self) -> list[tuple[str, float]]:
        """Names and times of what happened on the way."""
        return [(name, float(self.t[row])) for name, row in self._core.events]

    # ---- What is said of them ----

    @property
    def model(self) -> Model | None:
        """The model that was run; none for a record without it."""
        return self._model

    @property
    def report(self) -> dict[str, Any]:
        """Everything that `hinge run --json` prints; empty for a record that was read."""
        if self._report is None:
            self._report = json.loads(self._core.json) if self._core.json else {}
        return self._report

    @property
    def preserved(self) -> dict[str, Any]:
        """How well: the largest constraint, hidden constraint, energy error and momenta over all steps."""
        d = self.report.get("diagnostics", {})
        kept = ("constraint", "hidden_constraint", "energy_error", "discrete_energy_error", "momentum", "exact_error", "contacts")
        return {k: d[k] for k in kept if k in d}

    @property
    def cost(self) -> dict[str, Any]:
        """Steps, Newton iterations, evaluations, factorisations, seconds."""
        if not self.report:
            return {}
        d, time = self.report["diagnostics"], self.report["time"]
        counted = ("newton_iterations", "evaluations", "factorisations", "augmentations")
        cost = {"steps": time["steps"], "rejected": time["rejected"]}
        cost.update({k: d[k] for k in counted if k in d})
        cost["seconds"] = self.report["wall_seconds"]
        return cost

    @property
    def warnings(self) -> list[str]:
        """What a user should know before this method is applied to this system."""
        return list(self.report.get("warnings", []))

    @property
    def verdict(self) -> str:
        """'sound', or what makes the result doubtful, with its number and its remedy; empty for a record that was read."""
        return self._core.verdict.strip()

    @property
    def sound(self) -> bool | None:
        """Nothing failed, and nothing is doubtful; None for a record that was read, which does not say."""
        return bool(self.report["verdict"]["sound"]) if self.report else None

    @property
    def status(self) -> str:
        """'finished', 'stopped: ...' or 'failed: ...'; empty for a run that was killed."""
        return self._core.status.rstrip().rstrip(":")

    @property
    def about(self) -> dict[str, str]:
        """What the record says about itself: title, method, step, program."""
        return dict(self._core.about)

    def __str__(self) -> str:
        return self._core.text or repr(self)

    def __repr__(self) -> str:
        title = self.about.get("title", "")
        return f"<hinge.Result '{title}': {len(self)} rows of {', '.join(self.names[:8])}{', ...' if len(self.names) > 8 else ''}>"

    # ---- Where it goes ----

    def dataframe(self) -> pd.DataFrame:
        """A pandas.DataFrame, indexed by t; takes pandas.

        >>> import hinge
        >>> list(hinge.loads(hinge.example).run(end=1).dataframe().columns)[:3]
        ['q[0]', 'q[1]', "q'[0]"]
        """
        import pandas as pd

        return pd.DataFrame(self.values[:, 1:], index=pd.Index(self.t, name="t"), columns=self.columns[1:])

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Writes the rows to a .csv, .h5 or .hdf5 file, as `hinge run --out` does; `hinge.read` gives them back.

        A file that is no record of Hinge is not overwritten, unless `force` says so.

        >>> import hinge, tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hinge.loads(hinge.example).run(end=1).save(os.path.join(folder, "pendulum.csv"))
        ...     os.listdir(folder)
        ['pendulum.csv']
        """
        name = os.fspath(path)
        if str(name).endswith(".pvd"):
            raise InputError(f"save: pictures of bodies are made while a run goes on, as in m.run(out={name!r})")
        self._core.save(name, force)

    def plot(self, *names: str | Sequence[str], x: str = "t", ax: matplotlib.axes.Axes | None = None, **style: Any) -> matplotlib.axes.Axes:
        """Draws columns over another one; takes matplotlib.

        Names are those of columns and groups of them, and "energy", "constraint", "hidden_constraint"; NAME_error is the
        change since the start. Returns the axes.

        >>> import hinge
        >>> axes = hinge.loads(hinge.example).run(end=1).plot("q", color="k")
        >>> len(axes.lines)
        2
        """
        from ._plot import plot

        return plot(self, names, x, ax, style)

    def view(self, path: str | os.PathLike[str] | None = None, height: int = 720) -> Any:
        """The report page, with a moving picture: in a notebook inline, else in the browser.

        The page is the one that `hinge run --report` writes, and so the model is run once more to fill it; with
        `run(report="page.html")` it is written at once. `path` is where to put it; else it is a temporary file.

        >>> import hinge
        >>> hinge.loads(hinge.example).run(end=1).view("pendulum.html")  # doctest: +SKIP
        <hinge report page pendulum.html>
        """
        from ._view import view

        return view(self, path, height)


def read(path: str | os.PathLike[str]) -> Result:
    """What a run has recorded to a .csv, .h5 or .hdf5 file, also one that has failed, still goes on or was killed.

    >>> import hinge, tempfile, os
    >>> r = hinge.loads(hinge.example).run(end=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     r.save(os.path.join(folder, "pendulum.csv"))
    ...     again = hinge.read(os.path.join(folder, "pendulum.csv"))
    >>> bool((again.values == r.values).all()), again.status
    (True, 'finished')
    """
    from ._model import Model

    core = _core.read(os.fspath(path))
    model = None
    if core.model_text:
        try:
            model = Model._recorded(core.model_text, os.fspath(path), dict(core.about).get("set", ""))
        except InputError:
            model = None  # of another version, or with settings that are not here
    return Result(core, model)
