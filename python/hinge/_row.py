"""What a row has: columns by name, the contacts before it; and where a motion is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from . import _core

    Array = npt.NDArray[np.float64]


class NoSuchColumn(InputError, KeyError):
    """A name that a record does not have."""

    __module__ = "hinge"
    __str__ = Exception.__str__


class Columns:
    """Which columns of a table a name means: "q" means all of "q[0]", "q[1]", ..."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.place = {name: k for k, name in enumerate(self.names)}
        self.groups: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        for k, name in enumerate(self.names):
            if not name.endswith("]"):
                continue
            base, *indices = name[:-1].replace("][", "[").split("[")
            if not base or not all(i.isdigit() for i in indices):
                continue
            shape = tuple(int(i) + 1 for i in indices)
            first = self.groups.get(base, (k, 0, ()))[0]
            self.groups[base] = (first, k + 1, shape)

    def find(self, name: str) -> tuple[int, int, tuple[int, ...]]:
        if hasattr(name, "_hinge_text"):  # the symbol of a coordinate, or of its derivative
            name = name._hinge_text()
        if not isinstance(name, str):
            raise NoSuchColumn(f"columns have names: r[{next(iter(self.groups), self.names[-1])!r}], not r[{name!r}]; rows are in r.values")
        if name in self.place:
            return self.place[name], self.place[name] + 1, ()
        if name in self.groups:
            return self.groups[name]
        if part := self._part(name):
            return part
        known = ", ".join(self.all()[:12]) + (", ..." if len(self.all()) > 12 else "")
        raise NoSuchColumn(f"it has no column '{name}' (it has {known})")

    def _part(self, name: str) -> tuple[int, int, tuple[int, ...]] | None:
        """Of an array of vectors one of them, "q[3]"; and what has its prime at the end, "q[3]'"."""
        base, bracket, rest = name.partition("[")
        inside = rest.rstrip("'")
        if not bracket or not inside.endswith("]"):
            return None
        base += "'" * (len(rest) - len(inside))
        indices = inside[:-1].split("][")
        if base not in self.groups or not all(i.isascii() and i.isdigit() for i in indices):
            return None
        begin, _, shape = self.groups[base]
        if len(indices) > len(shape) or any(int(i) >= n for i, n in zip(indices, shape)):
            return None
        for place, i in enumerate(indices):
            size = 1
            for n in shape[place + 1 :]:
                size *= n
            begin += int(i) * size
        return begin, begin + size, shape[len(indices) :]

    def __contains__(self, name: object) -> bool:
        name = name._hinge_text() if hasattr(name, "_hinge_text") else name
        return isinstance(name, str) and (name in self.place or name in self.groups or self._part(name) is not None)

    def all(self) -> list[str]:
        """Names, with one for each group."""
        first = {begin: base for base, (begin, _, _) in self.groups.items()}
        inside = {k for begin, end, _ in self.groups.values() for k in range(begin + 1, end)}
        return [first.get(k, name) for k, name in enumerate(self.names) if k not in inside]

    def pick(self, table: Array, name: str) -> Array:
        begin, end, shape = self.find(name)
        if not shape:
            return table[..., begin]
        return table[..., begin:end].reshape(*table.shape[:-1], *shape)


class Contacts:
    """The contacts of the last step before a row, one entry each: `gap`, and of bodies with shapes `point`, `normal` and
    `force`, that on the body to which the normal points (its impulse over the step).

    >>> import hinge
    >>> scene = hinge.Multibody(gravity=[0, -10]).body("floor", shape={"plane": [0, 1]}, fixed=True)
    >>> scene = scene.body("disk", mass=2, shape={"disk": 0.5}, position=[3, 0.5])
    >>> rows = []
    >>> r = scene.run(step=0.01, end=0.1, on_row=rows.append)
    >>> contacts = rows[-1].contacts
    >>> len(contacts), contacts.point.round(6), contacts.normal, contacts.force.round(6)
    (1, array([[3., 0.]]), array([[0., 1.]]), array([[ 0., 20.]]))
    """

    def __init__(self, raw: tuple[int, int, float, Array, Array, Array, Array]) -> None:
        import numpy as np

        space, dimension, step, self.gap, impulse, point, frame = raw
        #: what was given within the step, one row each: along the normal, then along tangents
        self.impulse: Array = impulse.reshape(-1, dimension)
        axes = frame.reshape(-1, 3, 3)
        self.point: Array = point.reshape(-1, 3)[:, :space]
        self.normal: Array = axes[:, 0, :space]
        along = axes[:, :dimension] if len(axes) == len(self.impulse) else np.zeros((0, dimension, 3))
        given = self.impulse if len(along) else self.impulse[:0]
        self.force: Array = np.einsum("cd,cdx->cx", given, along)[:, :space] / (step or 1.0)

    def __len__(self) -> int:
        return len(self.gap)

    def __repr__(self) -> str:
        return f"<hinge.Contacts: {len(self)}>"


class Row:
    """One recorded row, as `on_row` gets it.

    >>> import hinge
    >>> m = hinge.loads(hinge.example)
    >>> seen = []
    >>> r = m.run(end=0.02, on_row=lambda row: seen.append((row.t, float(row["q"][0]))))
    >>> seen[0]
    (0.0, 1.0)
    """

    def __init__(self, columns: Columns, values: Array, event: str, contacts: Any = None) -> None:
        self._columns = columns
        self._contacts = contacts
        self.values = values
        #: the event that is recorded with this row; empty: none
        self.event = event

    @property
    def t(self) -> float:
        """The time."""
        return float(self.values[0])

    def __getitem__(self, name: str) -> Any:
        return self._columns.pick(self.values, name)

    @property
    def contacts(self) -> Contacts | None:
        """The contacts of the step that ended here, without entries at the start; None where the method has no contacts."""
        return None if self._contacts is None else Contacts(self._contacts)

    def __repr__(self) -> str:
        return f"<hinge.Row at t = {self.t:g}>"


class State:
    """Where a motion is: `t`, numbers by name, and all of them as `y`, `z` and `multipliers`.

    >>> import hinge
    >>> s = hinge.loads(hinge.example).start().state
    >>> s.t, s["q"], s["q'"]
    (0.0, array([1., 0.]), array([0., 0.]))
    """

    def __init__(self, columns: Columns, core: _core.State) -> None:
        import numpy as np

        self.t: float = core.t
        #: coordinates (the unknowns of a DAE); velocities or momenta (their derivatives); multipliers
        self.y: Array = core.y
        self.z: Array = core.z
        self.multipliers: Array = core.multipliers
        self._columns = columns
        self._values: Array = np.concatenate([self.y, self.z, self.multipliers])
        self._values.flags.writeable = False  # the motion goes on from where it is, whatever is written here

    def __getitem__(self, name: str) -> Array:
        return self._columns.pick(self._values, name)

    @property
    def names(self) -> list[str]:
        """What can be asked for."""
        return self._columns.all()

    def __repr__(self) -> str:
        return f"<hinge.State at t = {self.t:g}: {', '.join(self.names)}>"
