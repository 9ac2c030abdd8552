"""Models in Python: symbols in, a model file out, read as every other one."""

from __future__ import annotations

import numbers
from typing import Any, Iterable, Mapping, Sequence

from . import _toml
from ._errors import InputError
from ._model import Model
from ._symbols import Symbol, symbol


_sections = ("functions", "tables", "define", "states", "view")  # of any model, by their names in the file


def _table(lines: list[str], header: str, entries: Mapping[str, Any]) -> None:
    given = {k: v for k, v in entries.items() if v is not None}
    if not given:
        return
    lines += ["", header]
    for name, value in given.items():
        lines.append(f"{_toml.key(_toml._name(name))} = {_toml.value(value)}")


def _declarations(symbols: Iterable[Any]) -> list[str]:
    found = []
    for s in symbols:
        if isinstance(s, str):
            found.append(s)
            continue
        if isinstance(s, (list, tuple)):
            found += _declarations(s)
            continue
        if isinstance(s, Symbol) and s._hinge_name().endswith("'"):
            raise InputError(f"{s._hinge_name()}: the derivative is there with its coordinate; give the coordinate alone")
        if not isinstance(s, Symbol):
            raise TypeError(f'{type(s).__name__} is no coordinate; make one with hinge.coordinates("q", 3)')
        found.append(s._hinge_name() + "".join(f"[{n}]" for n in s.shape))
    return found


def _expression(x: Any) -> Any:
    """Expressions stay text, numbers numbers; lists and tables entry by entry."""
    if x is None or isinstance(x, (str, dict)):
        return {k: _expression(v) for k, v in x.items()} if isinstance(x, dict) else x
    if isinstance(x, numbers.Real):
        return x
    if isinstance(x, (list, tuple)):
        return [_expression(v) for v in x]
    if hasattr(x, "tolist") and not isinstance(x, Symbol):
        return _expression(x.tolist())
    return symbol(x)


class Built(Model):
    """A model that was written in Python. It may be run as soon as it has initial values, a step or tolerance, and an end:
    given here, with `set`, or with `run`. Sections `functions`, `tables`, `define`, `states` and `view` of the model file are
    given by these names, as dicts, `multiplier` and `fixed` are keys of [initial]; other names are options of [integrate]."""

    section = ""

    def _finish(
        self,
        system: Mapping[str, Any],
        initial: Mapping[str, Any],
        *,
        title: str | None,
        parameters: Mapping[Any, Any] | None,
        quantities: Mapping[str, Any] | None,
        events: Sequence[Mapping[str, Any]] | None,
        exact: Mapping[str, Any] | None,
        integrate: Mapping[str, Any],
    ) -> None:
        for name, value in system.items():
            if isinstance(value, (list, tuple)) and any(isinstance(v, bool) for v in value):
                raise InputError(f"{name}: True or False is no expression; what a == b means for symbols is written a - b")
        lines = [f"title = {_toml.text(title or type(self).__name__)}"]
        for name, given in (("parameters", parameters), ("quantities", quantities), ("exact", exact)):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"{name}: give names and what they are in a dict, not {type(given).__name__}")
        if parameters:
            _table(lines, "[parameters]", {_toml._name(k): _expression(v) for k, v in parameters.items()})
        for name in _sections:
            _table(lines, f"[{name}]", {_toml._name(k): _expression(v) for k, v in (integrate.get(name) or {}).items()})
        lines += ["", f"[{self.section}]"]
        for name, value in system.items():
            if value is not None:
                lines.append(f"{_toml.key(name)} = {_toml.value(_expression(value))}")
        of_start = {k: integrate[k] for k in ("multiplier", "fixed") if k in integrate}
        _table(lines, "[initial]", {k: _expression(v) for k, v in {**initial, **of_start}.items()})
        _table(lines, "[exact]", {k: _expression(v) for k, v in (exact or {}).items()})
        output = {k: integrate[k] for k in ("every", "interval", "times", "momentum") if k in integrate}
        rest = {k: v for k, v in integrate.items() if k not in output and k not in of_start and k not in _sections}
        _table(lines, "[integrate]", rest)
        self._named = tuple(str(name) for name in rest)
        if quantities:
            output["quantities"] = {k: _expression(v) for k, v in quantities.items()}
        _table(lines, "[output]", output)
        for event in [events] if isinstance(events, Mapping) else _listed(events or []):
            if not isinstance(event, Mapping):
                raise TypeError('events: give a list of dicts, as in events=[{"name": "floor", "root": x}]')
            _table(lines, "[[event]]", {k: _expression(v) for k, v in event.items()})
        self._begin("\n".join(lines) + "\n", title or type(self).__name__)


class Lagrangian(Built):
    """Kinetic and potential energy, forces, constraints, contacts.

    >>> import hinge
    >>> q = hinge.coordinates("q", 3)
    >>> m = hinge.Lagrangian(q, kinetic=0.5*q.dot @ q.dot, potential=9.81*q[2], constraints=[q @ q - 1])
    >>> r = m.run(position={q: [1, 0, 0]}, velocity={q: [0, 1, 0]}, step=0.01, end=1)
    >>> bool(r.constraint.max() < 1e-13)
    True
    >>> print(m.toml())
    title = "Lagrangian"
    <BLANKLINE>
    [lagrangian]
    coordinates = ["q[3]"]
    kinetic = "dot(0.5*q', q')"
    potential = "9.81*q[2]"
    constraints = ["dot(q, q) - 1"]
    <BLANKLINE>
    """

    section = "lagrangian"

    def __init__(
        self,
        *coordinates: Any,
        kinetic: Any = None,
        potential: Any = None,
        lagrangian: Any = None,
        bodies: Mapping[str, Any] | None = None,
        force: Any = None,
        dissipation: Any = None,
        constraints: Sequence[Any] | None = None,
        velocity_constraints: Sequence[Any] | None = None,
        unilateral: Sequence[Any] | None = None,
        multipliers: Sequence[Any] | None = None,
        reaction: Any = None,
        invariants: Sequence[Any] | None = None,
        position: Any = None,
        velocity: Any = None,
        momentum: Any = None,
        consistent: str | None = None,
        title: str | None = None,
        parameters: Mapping[Any, Any] | None = None,
        quantities: Mapping[str, Any] | None = None,
        events: Sequence[Mapping[str, Any]] | None = None,
        exact: Mapping[str, Any] | None = None,
        **integrate: Any,
    ) -> None:
        system = {
            "coordinates": _declarations(coordinates) or None, "bodies": bodies, "kinetic": kinetic, "potential": potential,
            "lagrangian": lagrangian, "force": force, "dissipation": dissipation, "constraints": constraints,
            "velocity_constraints": velocity_constraints, "unilateral": unilateral,
            "multipliers": _declarations(multipliers) if multipliers else None, "reaction": reaction, "invariants": invariants,
        }  # fmt: skip
        initial = {"position": position, "velocity": velocity, "momentum": momentum, "consistent": consistent}
        self._finish(system, initial, title=title, parameters=parameters, quantities=quantities, events=events, exact=exact,
                     integrate=integrate)  # fmt: skip


class Hamiltonian(Built):
    """H(t, q, p), and constraints.

    >>> import hinge
    >>> q = hinge.coordinates("q", 2)
    >>> p = hinge.momenta("p", 2)
    >>> kepler = hinge.Hamiltonian(q, momenta=[p], hamiltonian=p @ p / 2 - 1 / hinge.norm(q), position={q: [1, 0]},
    ...                            momentum={p: [0, 1]})
    >>> r = kepler.run(step=0.01, end=6)
    >>> bool(abs(r.energy - r.energy[0]).max() < 1e-8)
    True
    """

    section = "hamiltonian"

    def __init__(
        self,
        *coordinates: Any,
        momenta: Sequence[Any],
        hamiltonian: Any,
        constraints: Sequence[Any] | None = None,
        invariants: Sequence[Any] | None = None,
        position: Any = None,
        velocity: Any = None,
        momentum: Any = None,
        consistent: str | None = None,
        title: str | None = None,
        parameters: Mapping[Any, Any] | None = None,
        quantities: Mapping[str, Any] | None = None,
        events: Sequence[Mapping[str, Any]] | None = None,
        exact: Mapping[str, Any] | None = None,
        **integrate: Any,
    ) -> None:
        system = {
            "coordinates": _declarations(coordinates), "momenta": _declarations(_listed(momenta)), "hamiltonian": hamiltonian,
            "constraints": constraints, "invariants": invariants,
        }  # fmt: skip
        initial = {"position": position, "velocity": velocity, "momentum": momentum, "consistent": consistent}
        self._finish(system, initial, title=title, parameters=parameters, quantities=quantities, events=events, exact=exact,
                     integrate=integrate)  # fmt: skip


class Mechanical(Built):
    """M(t, q) q'' = F(t, q, q') - G^T psi.

    >>> import hinge
    >>> x = hinge.coordinates("x")
    >>> m = hinge.Mechanical(x, mass=[2.0], force=[-8 * x], position={x: 1})
    >>> float(m.run(step=0.01, end=hinge.pi / 2)["x"][-1].round(6))
    -1.0
    """

    section = "mechanical"

    def __init__(
        self,
        *coordinates: Any,
        mass: Any,
        force: Any,
        constraints: Sequence[Any] | None = None,
        velocity_constraints: Sequence[Any] | None = None,
        unilateral: Sequence[Any] | None = None,
        position: Any = None,
        velocity: Any = None,
        momentum: Any = None,
        consistent: str | None = None,
        title: str | None = None,
        parameters: Mapping[Any, Any] | None = None,
        quantities: Mapping[str, Any] | None = None,
        events: Sequence[Mapping[str, Any]] | None = None,
        exact: Mapping[str, Any] | None = None,
        **integrate: Any,
    ) -> None:
        system = {
            "coordinates": _declarations(coordinates), "mass": mass, "force": force, "constraints": constraints,
            "velocity_constraints": velocity_constraints, "unilateral": unilateral,
        }  # fmt: skip
        initial = {"position": position, "velocity": velocity, "momentum": momentum, "consistent": consistent}
        self._finish(system, initial, title=title, parameters=parameters, quantities=quantities, events=events, exact=exact,
                     integrate=integrate)  # fmt: skip


class Odae(Built):
    """The problem class itself: y' = v, d/dt p = f + r, 0 = g.

    >>> import hinge
    >>> y, z = hinge.unknowns("y z", 2)
    >>> psi = hinge.unknowns("psi")
    >>> m = hinge.Odae(y=[y], z=[z], psi=[psi], v=list(z), f=[0, -9.81], r=list(-y * psi), g=[(y @ y - 1) / 2],
    ...                y0={y: [1, 0]}, z0={z: [0, 0]})
    >>> bool(m.run(step=0.01, end=1).constraint.max() < 1e-13)
    True
    """

    section = "odae"

    def __init__(
        self,
        *,
        y: Sequence[Any],
        z: Sequence[Any],
        v: Sequence[Any],
        f: Sequence[Any],
        psi: Sequence[Any] | None = None,
        p: Sequence[Any] | None = None,
        r: Sequence[Any] | None = None,
        g: Sequence[Any] | None = None,
        y0: Any = None,
        z0: Any = None,
        psi0: Any = None,
        consistent: str | None = None,
        title: str | None = None,
        parameters: Mapping[Any, Any] | None = None,
        quantities: Mapping[str, Any] | None = None,
        events: Sequence[Mapping[str, Any]] | None = None,
        exact: Mapping[str, Any] | None = None,
        **integrate: Any,
    ) -> None:
        system = {
            "y": _declarations(_listed(y)), "z": _declarations(_listed(z)),
            "psi": _declarations(_listed(psi)) if psi is not None else None, "v": v, "p": p, "f": f, "r": r, "g": g,
        }  # fmt: skip
        initial = {"y": y0, "z": z0, "psi": psi0, "consistent": consistent}
        self._finish(system, initial, title=title, parameters=parameters, quantities=quantities, events=events, exact=exact,
                     integrate=integrate)  # fmt: skip


class Dae(Built):
    """Equations F(t, x, x') = 0, each an expression that is zero or a text "lhs = rhs".

    >>> import hinge
    >>> x, y = hinge.unknowns("x y")
    >>> m = hinge.Dae(x, y, equations=[x.dot + y, x - y**3], initial={y: 1})
    >>> m.check().index
    1
    """

    section = "dae"

    def __init__(
        self,
        *unknowns: Any,
        equations: Sequence[Any],
        complementarity: Sequence[Any] | None = None,
        noise: Any = None,
        initial: Any = None,
        derivatives: Any = None,
        guess: Any = None,
        fixed: Sequence[Any] | None = None,
        consistent: str | None = None,
        title: str | None = None,
        parameters: Mapping[Any, Any] | None = None,
        quantities: Mapping[str, Any] | None = None,
        events: Sequence[Mapping[str, Any]] | None = None,
        exact: Mapping[str, Any] | None = None,
        **integrate: Any,
    ) -> None:
        system = {
            "unknowns": _declarations(unknowns), "equations": equations, "complementarity": complementarity, "noise": noise,
        }  # fmt: skip
        for name in ("position", "velocity", "y0", "yp0"):
            if name in integrate:
                raise InputError(f"{name}: the unknowns of a DAE start at initial={{...}}, their derivatives at derivatives={{...}}")
        given = {
            "unknowns": initial, "derivatives": derivatives, "guess": guess,
            "fixed": [_toml._name(f) for f in fixed] if fixed is not None else None, "consistent": consistent,
        }  # fmt: skip
        self._finish(system, given, title=title, parameters=parameters, quantities=quantities, events=events, exact=exact,
                     integrate=integrate)  # fmt: skip


def _listed(x: Any) -> list[Any]:
    return [x] if isinstance(x, (str, Symbol)) else list(x)


__all__ = ["Dae", "Hamiltonian", "Lagrangian", "Mechanical", "Odae"]
