"""Models: read, changed, looked at, run."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping

from . import _core, _options, _progress, _toml
from ._analysis import Analysis
from ._errors import InputError, NumericalError
from ._options import Setting
from ._result import Result
from ._row import Columns, Row
from ._session import Session

#: A pendulum to begin with: hinge.loads(hinge.example)
example = """title = "Pendulum"

[lagrangian]
coordinates = ["q[2]"]
kinetic     = "dot(q',q')/2"
potential   = "9.81*q[1]"
constraints = ["(dot(q,q) - 1)/2"]

[initial]
position = { q = [1, 0] }

[integrate]
method = "gauss-lobatto"
step   = 0.01
end    = 10
"""

def _told_apart(settings: str) -> list[tuple[str, str]]:
    """What was set, of a record: key=value, with spaces between them and within brackets and quotes."""
    words: list[str] = []
    depth, quoted = 0, False
    for word in settings.split(" "):
        key = word.split("=")[0]
        if depth == 0 and not quoted and "=" in word and "." in key and key.replace(".", "").replace("_", "").isalnum():
            words.append(word)
        elif words:
            words[-1] += " " + word
        quoted ^= word.count('"') % 2 == 1
        if not quoted:
            depth += sum(word.count(c) for c in "[{(") - sum(word.count(c) for c in "]})")
    return [(w.split("=", 1)[0], w.split("=", 1)[1]) for w in words]


class Model:
    """A model: `hinge.load`, `hinge.loads`, or one of the builders such as `hinge.Lagrangian`.

    >>> import hinge
    >>> m = hinge.loads(hinge.example)
    >>> m.title, m.method, m.step
    ('Pendulum', 'gauss-lobatto', 0.01)
    >>> m.set("integrate.stages", 3).run(end=1).sound
    True
    """

    _named: tuple[str, ...] = ()  # options of a builder, for complaints about them

    def __init__(self, core: _core.Model, settings: list[Setting] | None = None) -> None:
        if not isinstance(core, _core.Model):
            raise TypeError("a model is read by hinge.load(path) or hinge.loads(text), or made by hinge.Lagrangian and the like")
        self._read: _core.Model | None = core
        self._text, self._path = core.text, core.path
        self._settings: list[Setting] = settings or []

    def _begin(self, text: str, name: str) -> None:
        """A model that was written here; it may lack what is needed to read it until that is set."""
        self._text, self._path = text, name
        self._settings = []
        self._read = None

    @property
    def _held(self) -> _core.Model:
        if self._read is None:
            try:
                self._read = _core.parse(self._source, self._path, self._settings)
            except InputError as e:
                raise _options.explained(e, self._named) from None
        return self._read

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"a model has no '{name}' to assign to; set its keys, as in m.set('integrate.step', 0.02), or run it with "
                                 "others, as in m.run(step=0.02)")  # fmt: skip
        super().__setattr__(name, value)

    @property
    def _source(self) -> str:
        """The text without what was set."""
        return self._text

    def __getstate__(self) -> dict[str, Any]:
        """Text and settings: what was read of them is read again elsewhere."""
        return {k: list(v) if isinstance(v, list) else v for k, v in vars(self).items()} | {"_read": None}

    @classmethod
    def _recorded(cls, text: str, path: str, settings: str) -> Model:
        given = [(key, value, "") for key, value in _told_apart(settings)]
        return cls(_core.parse(text, path, given), given)

    def _unread(self, settings: list[Setting]) -> Model:
        """The same text with other settings, read when something is asked of it."""
        twin = Model.__new__(Model)
        twin._begin(self._source, self._path)
        twin._settings = settings
        return twin

    # ---- What it is ----

    @property
    def title(self) -> str:
        """The title."""
        return self._held.title

    @property
    def path(self) -> str:
        """The file it was read from, or what stands for it in messages."""
        return self._path

    @property
    def kind(self) -> str:
        """The section that describes the system: 'lagrangian', 'multibody', ..."""
        return self._held.section

    @property
    def method(self) -> str:
        """The name of the method."""
        return self._held.method

    @property
    def step(self) -> float:
        """The length of steps; 0 where the method chooses them."""
        return self._held.step

    @property
    def tolerance(self) -> float:
        """The relative tolerance; 0 where steps have a given length."""
        return self._held.tolerance

    @property
    def end(self) -> float:
        """The time at the end; nan where none is given."""
        return self._held.end

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as they are written and set: numbers, lists, texts of the model language.

        >>> import hinge
        >>> x, k = hinge.coordinates("x"), hinge.parameter("k")
        >>> m = hinge.Lagrangian(x, kinetic=x.dot**2 / 2, potential=k * x**2 / 2, parameters={k: 4.0}, position={x: 1})
        >>> m.parameters, m.set(k, 5.0).parameters
        ({'k': 4.0}, {'k': 5.0})
        """
        return _core.parameters(self._source, self._path, self._settings)

    @property
    def settings(self) -> dict[str, str]:
        """What was set on top of the text."""
        return {s[0]: s[1] for s in self._settings}

    def toml(self) -> str:
        """The text of the model file, with what was set; as it was read, where nothing was.

        >>> import hinge
        >>> m = hinge.loads(hinge.example)
        >>> m.toml() == hinge.example, "stages = 3" in m.set("integrate.stages", 3).toml()
        (True, True)
        """
        if not self._settings:
            return self._source
        self._held  # noqa: B018  refuses what cannot be read
        return _core.merged(self._source, self._path, self._settings)

    def __repr__(self) -> str:
        try:
            return f"<hinge.Model '{self.title}': {self.kind}, {self.method}>"
        except InputError:
            return f"<hinge.Model '{self._path}', not complete>"

    # ---- Settings ----

    def set(self, key: str | Mapping[str, Any], value: Any = None) -> Model:
        """Sets a key of the model, or several in a dict, as `--set` does; a parameter may be given as its symbol. Returns the model.

        A key that the model does not know is refused, and nothing is changed then.

        >>> import hinge
        >>> hinge.loads(hinge.example).set("integrate.step", 0.02).set({"integrate.end": 3, "initial.position.q": [0, 1]}).end
        3.0
        """
        if value is None and not isinstance(key, Mapping):
            raise InputError(f"set: give a value, as in m.set({key!r}, 2.0), or several keys in a dict")
        given = {_options.key(k): v for k, v in (key.items() if isinstance(key, Mapping) else [(key, value)])}
        replaced = [s for s in self._settings if s[0] not in given]
        settings = replaced + [(k, _toml.value(v), "") for k, v in given.items()]
        try:
            self._read = _core.parse(self._source, self._path, settings)
        except InputError as e:
            for k in given:
                if k in self.parameters:
                    raise InputError(f"{e}; did you mean 'parameters.{k}'?") from None
            for k in key if isinstance(key, Mapping) else [key]:
                if hasattr(k, "_hinge_name") and k._hinge_name() not in self.parameters:
                    name = k._hinge_name()
                    raise InputError(f"'{name}' is no parameter of this model; where a coordinate starts is set by initial.position.{name}") from e
            e = _options.placed(e, given)
            if self._is_complete():
                raise e from None
            self._read = None  # more is to come
        self._settings = settings
        return self

    def _is_complete(self) -> bool:
        try:
            return self._held is not None
        except InputError:
            return False

    def copy(self) -> Model:
        """Another one of the same text and settings; setting one does not change the other.

        >>> import hinge
        >>> m = hinge.loads(hinge.example)
        >>> m.copy().set("integrate.step", 0.02).step, m.step
        (0.02, 0.01)
        """
        twin = type(self).__new__(type(self))
        vars(twin).update({k: list(v) if isinstance(v, list) else v for k, v in vars(self).items()})
        return twin

    def _with(self, options: Mapping[str, Any]) -> Model:
        """The same with other options, as `run` takes them."""
        if not options:
            return self
        settings = self._settings_with(options)
        try:
            return Model(_core.parse(self._source, self._path, settings), settings)
        except InputError as e:
            raise _options.explained(e, (*options, *self._named)) from None

    def _settings_with(self, options: Mapping[str, Any]) -> list[Setting]:
        extra = _options.settings_of(options)
        given = {s[0] for s in extra}
        return [s for s in self._settings if s[0] not in given] + extra

    # ---- What it does ----

    def check(self) -> Analysis:
        """What the model is: equations, degrees of freedom, index, whether its start is consistent.

        >>> import hinge
        >>> hinge.loads(hinge.example).check()
        <hinge.Analysis: lagrangian, 2 coordinates, 1 constraints>
        """
        return Analysis(_core.check(self._held))

    def start(self, *, keep_rows: bool = True, **options: Any) -> Session:
        """A run step by step. Options are those of `run`; `keep_rows=False` records nothing.

        >>> import hinge
        >>> s = hinge.loads(hinge.example).start(step=0.02)
        >>> s.step()
        >>> s.t
        0.02
        """
        model = self._with(options)
        return Session(model, _core.Session(model._held, bool(keep_rows)))

    def run(
        self,
        *,
        method: str | None = None,
        step: float | None = None,
        tolerance: float | Mapping[str, float] | None = None,
        end: float | None = None,
        progress: _progress.Progress = None,
        on_row: Callable[[Row], Any] | None = None,
        out: str | os.PathLike[str] | None = None,
        report: str | os.PathLike[str] | None = None,
        force: bool = False,
        condition: bool = False,
        **options: Any,
    ) -> Result:
        """Runs the model and returns its rows. Other threads go on meanwhile; Ctrl-C stops it.

        `method`, `step`, `tolerance`, `end` and all other options take the place of the model's, as in
        `m.run(method="gauss-lobatto", stages=3, step=0.01, end=10)`; `every`, `interval` and `times` say what is recorded,
        `position` and `velocity` where the motion starts, and `parameters={"l": 2}` are others than the model's.
        `progress` is True, False, or a function of the time that returns False to stop; where nothing is said there is a bar
        on a terminal and in a notebook. `on_row` is called with every recorded row. `out` also records to a file, `report`
        also writes the report page, `condition` also computes the condition number of the first step.

        Raises InputError, and NumericalError with what was computed before in its `result`. An exception in one of your
        functions arrives unchanged.

        >>> import hinge
        >>> r = hinge.loads(hinge.example).run(method="rattle", step=0.001, end=2, every=10)
        >>> len(r), r.sound
        (201, True)
        """
        given = {"method": method, "step": step, "tolerance": tolerance, "end": end, **options}
        ran = self._with({k: v for k, v in given.items() if v is not None})
        core = ran._held
        told, bar = _progress.bar(progress, core.start, core.end)
        columns: list[Columns] = []

        def tell(values: Any, event: str, names: list[str] | None, contacts: Any) -> None:
            if names is not None:  # with the first row
                columns.append(Columns(names))
            if on_row is not None:
                on_row(Row(columns[0], values, event, contacts))

        try:
            done = _core.run(
                core, told, tell if on_row is not None else None, os.fspath(out or ""), os.fspath(report or ""), force, condition
            )
        except BaseException as e:
            if hasattr(e, "_hinge_result"):
                e.result = Result(e._hinge_result, ran)  # type: ignore[attr-defined]
                del e._hinge_result
            raise
        finally:
            if bar is not None:
                bar.close()
        result = Result(done, ran)
        if done.failure:
            raise _failed(result, done)
        return result


def _failed(result: Result, core: _core.Result) -> NumericalError:
    failed = NumericalError(core.failure)
    failed.result = result
    failed.time = core.failed_at
    return failed


def load(path: str | os.PathLike[str]) -> Model:
    """The model in a file.

    >>> import hinge
    >>> hinge.load("nothing.toml")
    Traceback (most recent call last):
    hinge.InputError: cannot read 'nothing.toml': No such file or directory; check the name of the model file
    """
    if isinstance(path, str) and "\n" in path:
        raise InputError("load: this is a text, not the name of a file; read it with hinge.loads(text)")
    return Model(_core.load(os.fspath(path), []))


def loads(text: str, name: str = "model") -> Model:
    """The model in a text; `name` stands for the file in messages.

    >>> import hinge
    >>> hinge.loads("[lagrangian]").title
    Traceback (most recent call last):
    hinge.InputError: model:...
    """
    if not isinstance(text, str):
        raise TypeError(f"loads: a model is a text, not {type(text).__name__}; read a file with hinge.load(path)")
    if "\n" not in text and text.endswith(".toml"):
        raise InputError(f"loads: this is the name of a file, not a text; read it with hinge.load({text!r})")
    return Model(_core.parse(text, name, []))
