"""Bodies, joints, springs, particles and contacts, put together in Python."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ._arrays import numbers
from ._build import Built, _expression, _table
from ._errors import InputError


class Multibody(Built):
    """A scene of rigid bodies. Parts are added one by one; it may be run at any time.

    >>> import hinge
    >>> scene = hinge.Multibody(gravity=[0, 0, -9.81])
    >>> scene.body("floor", shape={"plane": [0, 0, 1]}, fixed=True).body("ball", mass=7, shape={"sphere": 0.1},
    ...            position=[0, 0, 0.1], velocity=[5, 0, 0]).contact(friction=0.3)
    <hinge.Multibody of 2 bodies>
    >>> r = scene.run(step=0.001, end=1)
    >>> float(r["ball'"][-1, 0].round(2))      # it rolls with 5/7 of the velocity that it slid with
    3.57
    """

    section = "multibody"

    def __init__(
        self,
        *,
        gravity: Any = None,
        dimension: int | None = None,
        title: str | None = None,
        parameters: Mapping[Any, Any] | None = None,
        quantities: Mapping[str, Any] | None = None,
        events: Sequence[Mapping[str, Any]] | None = None,
        consistent: str | None = None,
        **integrate: Any,
    ) -> None:
        self._system = {"gravity": gravity, "dimension": dimension}
        self._rest: dict[str, Any] = {
            "title": title, "parameters": parameters, "quantities": quantities, "events": events, "exact": None,
            "integrate": integrate,
        }  # fmt: skip
        self._start = {"consistent": consistent}
        self._parts: list[tuple[str, dict[str, Any]]] = []
        self._compose()

    def _compose(self) -> None:
        settings = getattr(self, "_settings", [])
        self._finish(self._system, self._start, **self._rest)
        lines: list[str] = []
        for header, entries in self._parts:
            if not entries:
                lines += ["", header]
            _table(lines, header, {k: _expression(v) for k, v in entries.items()})
        self._begin(self._text + "\n".join(lines[0:]) + "\n", self._path)
        self._settings = settings

    def _add(self, header: str, entries: Mapping[str, Any]) -> Multibody:
        self._parts.append((header, {k: v for k, v in entries.items() if v is not None}))
        self._stale = True
        self._read = None
        return self

    # Written anew when it is needed, not with every part.
    _stale = False

    @property
    def _source(self) -> str:
        if self._stale:
            self._stale = False
            self._compose()
        return self._text

    def body(self, name: str, **keys: Any) -> Multibody:
        """A body, with the keys of [[body]]: mass or density, shape, position, rotation, velocity, fixed, ...

        >>> import hinge
        >>> hinge.Multibody().body("ball", density=1000, shape={"sphere": 0.1}, position=[0, 0, 1], velocity=[1, 0, 0])
        <hinge.Multibody of 1 bodies>
        """
        return self._add("[[body]]", {"name": name, **keys})

    def joint(self, kind: str, a: str, b: str, **keys: Any) -> Multibody:
        """A joint between two bodies, with the keys of [[joint]]: point, axis, motor, name, ...; 'ground' is space.

        >>> import hinge
        >>> arm = hinge.Multibody(gravity=[0, -10]).body("arm", mass=1, inertia=0.1, position=[1, 0])
        >>> r = arm.joint("revolute", "ground", "arm", point=[0, 0], motor={"speed": 2}).run(
        ...     step=0.01, end=1, consistent="project")
        >>> float(r["arm_angle"][-1].round(6))
        2.0
        """
        return self._add("[[joint]]", {"type": kind, "bodies": [a, b], **keys})

    def spring(self, a: str, b: str, **keys: Any) -> Multibody:
        """A spring between two bodies, with the keys of [[spring]]: stiffness, damping, length, points.

        >>> import hinge
        >>> m = hinge.Multibody(dimension=2).body("a", mass=1, inertia=1, position=[1.1, 0])
        >>> r = m.spring("ground", "a", stiffness=100, length=1, points=[[0, 0], [1.1, 0]]).run(step=0.01, end=hinge.pi / 10)
        >>> float(r["a"][-1, 0].round(4))
        0.9
        """
        return self._add("[[spring]]", {"bodies": [a, b], **keys})

    def bushing(self, a: str, b: str, **keys: Any) -> Multibody:
        """An elastic bearing between two bodies, with the keys of [[bushing]]: point, stiffness, damping, ...

        >>> import hinge
        >>> m = hinge.Multibody(dimension=2).body("a", mass=1, inertia=1, position=[0, 0])
        >>> m.bushing("ground", "a", stiffness=[1000, 1000, 10], damping=[40, 40, 1])
        <hinge.Multibody of 1 bodies>
        """
        return self._add("[[bushing]]", {"bodies": [a, b], **keys})

    def force(self, body: str, **keys: Any) -> Multibody:
        """A force at a point of a body, with the keys of [[force]]: force, point, ...

        >>> import hinge
        >>> m = hinge.Multibody(dimension=2).body("a", mass=2, inertia=1, position=[0, 0]).force("a", force=[hinge.t, 0])
        >>> float(m.run(step=0.01, end=1)["a"][-1, 0].round(6))
        0.083333
        """
        return self._add("[[force]]", {"body": body, **keys})

    def constraint(self, equation: Any, **keys: Any) -> Multibody:
        """An equation of bodies and joints, an expression that is zero or "lhs = rhs", with the keys of [[constraint]].

        >>> import hinge
        >>> m = hinge.Multibody(gravity=[0, -10]).body("a", mass=2, inertia=1, position=[0, 0]).constraint("a[1] = 0")
        >>> bool(abs(m.run(step=0.01, end=1)["a"][-1, 1]) < 1e-12)
        True
        """
        return self._add("[[constraint]]", {"equation": equation, **keys})

    def contact(self, **keys: Any) -> Multibody:
        """What holds for all contacts: friction, restitution.

        >>> import hinge
        >>> hinge.Multibody(gravity=[0, -10]).contact(friction=0.3, restitution=0.5)
        <hinge.Multibody of 0 bodies>
        """
        self._parts = [p for p in self._parts if p[0] != "[contact]"]
        return self._add("[contact]", keys)

    def container(self, **keys: Any) -> Multibody:
        """Walls around a box, with the keys of [container].

        >>> import hinge
        >>> hinge.Multibody(gravity=[0, -10]).container(box=[[0, 0], [1, 2]], open=["top"])
        <hinge.Multibody of 0 bodies>
        """
        return self._add("[container]", keys)

    def fill(self, **keys: Any) -> Multibody:
        """Particles in large numbers that the library places, with the keys of [[particles]]: count, radius, box, density.

        >>> import hinge
        >>> m = hinge.Multibody(gravity=[0, -10]).container(box=[[0, 0], [1, 2]], open=["top"])
        >>> m.fill(count=10, radius=0.05, density=1000, box=[[0, 0], [1, 2]])
        <hinge.Multibody of 0 bodies>
        """
        return self._add("[[particles]]", keys)

    def particles(
        self,
        positions: Any,
        radii: Any,
        *,
        density: float | None = None,
        masses: Any = None,
        velocities: Any = None,
        name: str = "particle",
        **keys: Any,
    ) -> Multibody:
        """Spheres (disks in the plane) at the positions of an array, one row each, with these radii.

        Give a density, or masses. They are called particle0, particle1, ...

        >>> import hinge
        >>> import numpy as np
        >>> pile = hinge.Multibody(gravity=[0, -9.81]).body("floor", shape={"plane": [0, 1]}, fixed=True)
        >>> pile.particles(np.array([[0, 0.5], [0, 1.5]]), 0.5, density=1000).contact(friction=0.3)
        <hinge.Multibody of 3 bodies>
        >>> r = pile.run(step=0.001, end=0.1)
        >>> float(r["particle1"][-1, 1].round(6))
        1.5
        """
        x = numbers(positions, "positions")
        if x.ndim != 2 or x.shape[1] not in (2, 3) or not len(x):
            raise InputError(f"positions: give an array of two or three columns, one row each, not one of shape {x.shape}")
        r = np.broadcast_to(numbers(radii, "radii"), len(x)) if np.ndim(radii) == 0 else numbers(radii, "radii")
        if r.shape != (len(x),):
            raise InputError(f"radii: give one number, or one for each of the {len(x)} positions")
        if (density is None) == (masses is None):
            raise InputError("give a density or masses, one of them")
        m = None if masses is None else np.broadcast_to(numbers(masses, "masses"), len(x))
        v = None if velocities is None else np.broadcast_to(numbers(velocities, "velocities"), x.shape)
        shape = "disk" if x.shape[1] == 2 else "sphere"
        for k in range(len(x)):
            self._add(
                "[[body]]",
                {
                    "name": f"{name}{k}",
                    "density": density,
                    "mass": None if m is None else float(m[k]),
                    "shape": {shape: float(r[k])},
                    "position": x[k].tolist(),
                    "velocity": None if v is None else v[k].tolist(),
                    **keys,
                },
            )
        return self

    def __repr__(self) -> str:
        count = sum(header == "[[body]]" for header, _ in self._parts)
        return f"<hinge.Multibody of {count} bodies>"


__all__ = ["Multibody"]
