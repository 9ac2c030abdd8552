"""Constrained mechanical systems, smooth and nonsmooth.

A model is equations: energies, constraints, bodies, contacts. Read one from a file, or write it in Python, run it, and look
at what was preserved and how well:

>>> import hinge
>>> q = hinge.coordinates("q", 2)
>>> pendulum = hinge.Lagrangian(q, kinetic=0.5 * q.dot @ q.dot, potential=9.81 * q[1], constraints=[(q @ q - 1) / 2],
...                             position={q: [1, 0]})
>>> r = pendulum.run(method="gauss-lobatto", stages=2, step=0.01, end=10)
>>> r.t.shape, r["q"].shape, r.verdict
((1001,), (1001, 2), 'sound')
>>> bool(abs(r.energy - r.energy[0]).max() < 1e-5)
True

Reading and running
    load, loads, read        a model from a file, from text; what an earlier run recorded
    Model                    set, parameters, run, start, check, toml, copy
    Result                   t, r["q"], energy, constraint, preserved, cost, verdict, plot, view, save, dataframe
    methods                  every method, with what it preserves

Many runs
    compare, convergence     work against precision; errors and observed orders
    sweep                    the same model with many settings, in threads

Models in Python
    coordinates, unknowns, parameter, and functions such as sin, dot, norm
    Lagrangian, Hamiltonian, Mechanical, Odae, Dae, Multibody

Solvers
    solve_dae                F(t, y, y') = 0 in the shape of scipy.integrate.solve_ivp
    contact.solve            one contact problem with friction, by any of the solvers

Wrong input raises hinge.InputError, and numerics that fail hinge.NumericalError, with the sentences that the program prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._analysis import Analysis
from ._core import build_features, version
from ._errors import Error, InputError, NumericalError
from ._model import Model, example, load, loads
from ._result import Result, read
from ._row import Contacts, Row, State
from ._session import Session

__version__ = version()

# What is not needed for a first run is imported when it is asked for.
_later = {
    "methods": "_methods",
    "compare": "_study", "convergence": "_study", "sweep": "_study", "Study": "_study", "Sweep": "_study",
    "coordinates": "_symbols", "momenta": "_symbols", "unknowns": "_symbols", "parameter": "_symbols", "Symbol": "_symbols",
    "t": "_symbols", "pi": "_symbols", "sin": "_functions", "cos": "_functions", "tan": "_functions", "asin": "_functions",
    "acos": "_functions", "atan": "_functions", "atan2": "_functions", "sinh": "_functions", "cosh": "_functions", "tanh": "_functions",
    "exp": "_functions", "log": "_functions", "sqrt": "_functions", "sign": "_functions", "minimum": "_functions",
    "maximum": "_functions", "hypot": "_functions", "dot": "_symbols", "cross": "_functions", "norm": "_functions",
    "where": "_functions", "floor": "_functions", "ceil": "_functions", "mod": "_functions", "pulse": "_functions", "vector": "_symbols",
    "Lagrangian": "_build", "Hamiltonian": "_build", "Mechanical": "_build", "Odae": "_build", "Dae": "_build",
    "Multibody": "_multibody",
    "solve_dae": "_dae", "DaeResult": "_dae",
}  # fmt: skip

if TYPE_CHECKING:
    from . import contact
    from ._build import Dae, Hamiltonian, Lagrangian, Mechanical, Odae
    from ._dae import DaeResult, solve_dae
    from ._functions import (
        acos, asin, atan, atan2, ceil, cos, cosh, cross, exp, floor, hypot, log, maximum, minimum, mod, norm, pulse, sign, sin, sinh,
        sqrt, tan, tanh, where,
    )  # fmt: skip
    from ._methods import methods
    from ._multibody import Multibody
    from ._study import Study, Sweep, compare, convergence, sweep
    from ._symbols import Symbol, coordinates, dot, momenta, parameter, pi, t, unknowns, vector

# Name by name: mypy does not see others.
__all__ = [
    "Analysis", "Contacts", "Error", "InputError", "Model", "NumericalError", "Result", "Row", "Session", "State",
    "build_features", "contact", "example", "load", "loads", "read", "version", "methods", "compare", "convergence", "sweep",
    "Study", "Sweep", "coordinates", "momenta", "unknowns", "parameter", "Symbol", "t", "pi", "sin", "cos", "tan", "asin",
    "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign", "minimum", "maximum", "hypot", "dot",
    "cross", "norm", "where", "floor", "ceil", "mod", "pulse", "vector", "Lagrangian", "Hamiltonian", "Mechanical", "Odae",
    "Dae", "Multibody", "solve_dae", "DaeResult",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    import importlib

    if name == "contact":
        return importlib.import_module(".contact", __name__)
    if name not in _later:
        raise AttributeError(f"module 'hinge' has no attribute '{name}'")
    value = getattr(importlib.import_module("." + _later[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
