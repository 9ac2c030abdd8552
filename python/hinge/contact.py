"""Contact problems of one time step: one problem, one residual, many solvers.

    u = W r + q,   W = H M^-1 H^T

r holds the reactions, u the relative velocities, contact after contact, each with its rows (N, T1, T2); bilateral rows follow
at the end. Every contact demands r in its friction cone, and of u what Coulomb's law says.

>>> import hinge
>>> hinge.contact.solvers()[0]["name"]
'auto'
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import numbers
from ._errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["ContactResult", "Problem", "problem", "read", "solve", "solvers"]

_scalings = ("ours", "siconos", "fclib", "absolute")
_frictions = {"exact": 0, "coulomb": 0, "convexified": 1, "polyhedral": 2}


class ContactResult:
    """What a solver found; `r`, `u` and, with masses, `v`.

    `converged`, `status` and `message` say how it went; `residual` is by the scaling asked for, `residuals` by all of them,
    `violations` law by law; `history` has a row (iteration, residual, seconds) for each point that was looked at.

    >>> import hinge
    >>> hinge.contact.solve(W=[[2.0, 1], [1, 2]], q=[-5.0, -6], mu=[0, 0], dimension=1).r.round(3)
    array([1.333, 2.333])
    """

    r: Array
    u: Array
    v: Array | None
    converged: bool
    status: str
    message: str
    solver: str
    iterations: int
    factorisations: int
    contact_updates: int
    seconds: float
    residual: float
    residuals: dict[str, float]
    violations: dict[str, float]
    history: Array

    def __init__(self, facts: dict[str, Any]) -> None:
        self.v = None
        for name, value in facts.items():
            setattr(self, name, value)
        self.history = np.asarray(facts["history"]).reshape(-1, 3)

    def __repr__(self) -> str:
        return f"<hinge.contact.ContactResult: {self.status} by {self.solver}, residual {self.residual:.3g}>"


class Problem:
    """A contact problem: `hinge.contact.problem`, or one that was read from a file.

    >>> import hinge
    >>> hinge.contact.problem(W=[[2.0, 1], [1, 2]], q=[-5.0, -6], mu=[0, 0], dimension=1)
    <hinge.contact.Problem: 2 contacts, 2 rows>
    """

    def __init__(self, core: _core.ContactProblem) -> None:
        self._core = core

    @property
    def contacts(self) -> int:
        """How many contacts there are."""
        return self._core.contacts

    @property
    def rows(self) -> int:
        """How many numbers r has."""
        return self._core.rows

    def solve(
        self,
        solver: str = "auto",
        *,
        tolerance: float = 1e-8,
        scaling: str = "ours",
        iterations: int = 0,
        seconds: float = 0,
        relaxation: float = 1,
        threads: int = 1,
        least_norm: bool = False,
        start: Any = None,
    ) -> ContactResult:
        """Solves it. That a solver did not converge is no exception: look at `converged`. Ctrl-C stops it.

        >>> import hinge
        >>> p = hinge.contact.problem(W=[[2.0, 1], [1, 2]], q=[-5.0, -6], mu=[0, 0], dimension=1)
        >>> p.solve("block-gauss-seidel", tolerance=1e-10).converged
        True
        """
        if scaling not in _scalings:
            raise InputError(f"--scaling {scaling}: there are {', '.join(_scalings)}")
        guess = _vector(start if start is not None else [], "start")
        return ContactResult(
            self._core.solve(solver, float(tolerance), _scalings.index(scaling), int(iterations), float(seconds),
                             float(relaxation), int(threads), bool(least_norm), guess)
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str], r: Any = None) -> None:
        """Writes it in FCLIB's HDF5 layout, with r as its solution where it is given.

        >>> import hinge
        >>> hinge.contact.problem(W=[[2.0, 1], [1, 2]], q=[-5.0, -6], mu=[0, 0], dimension=1).save("two.hdf5")  # doctest: +SKIP
        """
        self._core.write(os.fspath(path), _vector(r if r is not None else [], "r"))

    def __repr__(self) -> str:
        return f"<hinge.contact.Problem: {self.contacts} contacts, {self.rows} rows>"


def _vector(x: Any, what: str) -> Array:
    return np.ascontiguousarray(numbers(x.toarray() if hasattr(x, "toarray") else x, what).ravel())


def _sparse(m: Any, what: str) -> _core.Csr:
    if hasattr(m, "tocsr"):
        m = m.tocsr().copy()
        if m.dtype.kind not in "biuf":
            raise InputError(f"{what}: a matrix of {m.dtype}; give one of real numbers")
        m.sum_duplicates()
        start, column, value, shape = m.indptr, m.indices, m.data, m.shape
    else:
        dense = np.atleast_2d(numbers(m, what))
        if dense.ndim != 2:
            raise InputError(f"{what}: a matrix has two dimensions, not {dense.ndim}")
        row, column = np.nonzero(dense)
        value, shape = dense[row, column], dense.shape
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    if max(shape[0], shape[1], len(value)) >= 2**31:
        raise InputError(f"{what}: this matrix is too large")
    return _core.Csr(
        int(shape[0]), int(shape[1]), np.ascontiguousarray(start, dtype=np.int32), np.ascontiguousarray(column, dtype=np.int32),
        np.ascontiguousarray(value, dtype=np.float64),
    )  # fmt: skip


def problem(
    H: Any = None,
    M: Any = None,
    f: Any = None,
    mu: Any = None,
    *,
    w: Any = None,
    W: Any = None,
    q: Any = None,
    dimension: int = 3,
    bilateral: int = 0,
    friction: str = "exact",
    facets: int = 8,
) -> Problem:
    """A problem from H, M, f (and w), or from W and q: matrices of SciPy or NumPy.

    M v = f + H^T r, u = H v + w. `mu` has one number for each contact, `dimension` is the number of rows of one: 3, 2, or 1
    without friction; `bilateral` counts the rows after those of the contacts whose velocity must vanish. `friction` is
    'exact', 'convexified', or 'polyhedral' with so many `facets`.

    >>> import hinge
    >>> import numpy as np
    >>> H = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    >>> hinge.contact.problem(H, 2 * np.eye(3), 2 * np.array([1.0, 0, -3]), [0.5])
    <hinge.contact.Problem: 1 contacts, 3 rows>
    """
    if friction not in _frictions:
        raise InputError(f"--friction {friction}: there are {', '.join(_frictions)}")
    if mu is None:
        raise InputError("mu: give the friction coefficient of every contact, zeros where there is none")
    coefficients = _vector(mu, "mu")
    if W is not None:
        if H is not None or M is not None or q is None:
            raise InputError("give W and q, or H, M and f")
        core = _core.ContactProblem.delassus(dimension, _sparse(W, "W"), _vector(q, "q"), coefficients)
    else:
        if H is None or M is None or f is None:
            raise InputError("give H, M and f, or W and q")
        h = _sparse(H, "H")
        free = _vector(w, "w") if w is not None else np.zeros(h.rows)
        core = _core.ContactProblem.masses(dimension, _sparse(M, "M"), h, _vector(f, "f"), free, coefficients)
    core.set(int(bilateral), _frictions[friction], int(facets))
    return Problem(core)


def solve(H: Any = None, M: Any = None, f: Any = None, mu: Any = None, *, solver: str = "auto", w: Any = None, W: Any = None,
          q: Any = None, dimension: int = 3, bilateral: int = 0, friction: str = "exact", facets: int = 8,
          **options: Any) -> ContactResult:  # fmt: skip
    """Solves a contact problem: `problem(...)` and then `solve(solver, ...)` of it.

    A ball of mass 2 that falls on a floor with the velocity (1, 0, -3), rows (N, T1, T2), friction 0.5:

    >>> import hinge
    >>> import numpy as np
    >>> H = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    >>> s = hinge.contact.solve(H, 2 * np.eye(3), 2 * np.array([1.0, 0, -3]), [0.5])
    >>> s.converged, bool(np.allclose(s.r, [6, -2, 0])), bool(np.allclose(s.u, 0, atol=1e-7))
    (True, True, True)
    """
    made = problem(H, M, f, mu, w=w, W=W, q=q, dimension=dimension, bilateral=bilateral, friction=friction, facets=facets)
    return made.solve(solver, **options)


def read(path: str | os.PathLike[str]) -> Problem:
    """A problem from FCLIB's HDF5 layout.

    >>> import hinge
    >>> hinge.contact.read("two.hdf5").contacts  # doctest: +SKIP
    2
    """
    return Problem(_core.read_contact(os.fspath(path)))


def solvers() -> list[dict[str, str]]:
    """Every solver: name, what it is, what it solves, its source.

    >>> import hinge
    >>> len(hinge.contact.solvers()) > 5
    True
    """
    return [dict(zip(("name", "what", "solves", "reference"), s)) for s in _core.contact_solvers()]
