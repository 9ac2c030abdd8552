"""Which index a function F(t, y, y') has, and a consistent start of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ._errors import InputError

if TYPE_CHECKING:
    from ._row import Array


class Form:
    """Which index a function has, by F_y and F_y' at the start, and a consistent start of it.

    With Z and Q bases of the left and right null spaces of F_y': index 0 where there are none; index 1 where Z^T F_y Q is
    regular. All of that with equations and unknowns in such units that their derivatives are about 1. Hessenberg's form has equations without y' that do not contain the unknowns w without derivative; index 2
    where G A^-1 B is regular, A = F_x', B = F_w, G the derivative of these equations by x; index 3 where that vanishes and
    G A^-1 F_x A^-1 B is regular.
    """

    def __init__(self, f: Callable[[float, Array, Array], Array], t: float, y: Array, yp: Array, told: Any) -> None:
        self.f, self.t, self.n = f, t, len(y)
        self.indices = np.ones(self.n, dtype=int)
        rng = np.random.default_rng(1)
        scale = np.maximum(np.abs(y), 1e-3)
        near = y + 1e-4 * scale * rng.standard_normal(self.n)  # where nothing vanishes by chance
        near_p = yp + 1e-4 * np.maximum(np.abs(yp), 1) * rng.standard_normal(self.n)
        if not np.all(np.isfinite(f(t, near, near_p))):
            near, near_p = y, yp
        a, b = self._derivatives(near, near_p)
        self.of_row, self.of_column = _equilibrium(np.abs(a) + np.abs(b))
        a, b = self._scaled(a), self._scaled(b)
        self.a, self.b = a, b
        size = max(float(np.abs(a).max()), 1e-300)
        rows = np.abs(a) / np.maximum(np.abs(a).max(axis=1, keepdims=True), 1e-300)
        self.row_is_free = np.abs(a).max(axis=1) <= 1e-7 * size
        rows[self.row_is_free] = 0
        self.column_is_free = rows.max(axis=0) <= 1e-7
        u, s, vt = np.linalg.svd(rows)
        rank = int((s > 1e-7).sum())
        self.null, self.range = vt[rank:].T, vt[:rank].T
        left = u[:, rank:]
        scaled = b / np.maximum(np.maximum(np.abs(a).max(axis=1, keepdims=True), np.abs(b).max(axis=1, keepdims=True)), 1e-300)
        self.index = 0 if rank == self.n else 1 if _regular(left.T @ scaled @ self.null) else self._hessenberg()
        if told is not None:
            if told.shape != (self.n,):
                raise InputError(f"index: give a list of {self.n}, the index of each unknown")
            self.indices, self.index = told, max(int(told.max()), 0 if rank == self.n else 1)

    def _hessenberg(self) -> int:
        w, g = self.column_is_free, self.row_is_free
        if not np.any(self.a) and not np.any(self.b):
            raise InputError("F does not change with y and y'; it has to depend on both")
        refusal = InputError(
            "F has an index that a function does not show: it is neither 1 nor of Hessenberg's form (x' = f(x, w), 0 = g(x)); "
            "give F as equations, texts or symbols, which are differentiated, or say index=[...] of each unknown"
        )
        if w.sum() != g.sum() or not w.any():
            raise refusal
        a, fx, fw = self.a[np.ix_(~g, ~w)], self.b[np.ix_(~g, ~w)], self.b[np.ix_(~g, w)]
        gx, gw = self.b[np.ix_(g, ~w)], self.b[np.ix_(g, w)]
        if a.shape[0] != a.shape[1] or not _regular(a) or np.abs(gw).max() > 1e-7 * max(np.abs(gx).max(), 1e-300):
            raise refusal
        acts = np.linalg.solve(a, fw)
        first = gx @ acts
        if _regular(first):
            self.indices[w] = 2
            return 2
        if np.abs(first).max() > 1e-5 * np.abs(gx).max() * max(np.abs(acts).max(), 1e-300):
            raise refusal
        if not _regular(gx @ np.linalg.solve(a, fx) @ acts):
            raise refusal
        differential = np.flatnonzero(~w)
        self.indices[differential[np.abs(acts).max(axis=1) > 1e-7 * np.abs(acts).max()]] = 2
        self.indices[w] = 3
        return 3

    def _scaled(self, m: Array) -> Array:
        scaled: Array = self.of_row[:, None] * m * self.of_column
        return scaled

    def _derivatives(self, y: Array, yp: Array) -> tuple[Array, Array]:
        def columns(x: Array, at: Callable[[Array], Array]) -> Array:
            out = np.empty((self.n, self.n))
            for j in range(self.n):
                d = 6e-6 * max(1.0, abs(x[j]))
                up, down = x.copy(), x.copy()
                up[j] += d
                down[j] -= d
                out[:, j] = (at(up) - at(down)) / (up[j] - down[j])
            return np.where(np.isfinite(out), out, 0.0)

        return columns(yp, lambda p: self.f(self.t, y, p)), columns(y, lambda x: self.f(self.t, x, yp))

    def start(
        self, y: Array, yp: Array, given: bool, consistent: str, relative: float, absolute: Array, notes: list[str]
    ) -> tuple[Array, Array]:
        """Values with F = 0 and, of index 2, with the derivative of the equations without y'."""
        y_asked, yp_asked = y.copy(), yp.copy()
        hidden = self.index is not None and self.index >= 2
        move = self.null if not hidden else np.eye(self.n)[:, self.column_is_free & (self.indices == 2)]
        rates = self.range if not hidden else np.eye(self.n)[:, ~self.column_is_free]
        for _ in range(50):
            r, j = self._equations(y, yp, move, rates, hidden)
            change = np.linalg.lstsq(j, -r, rcond=None)[0]
            y = y + self.of_column * (move @ change[: move.shape[1]])
            yp = yp + self.of_column * (rates @ change[move.shape[1] :])
            now = np.concatenate([move.T @ (y / self.of_column), rates.T @ (yp / self.of_column)])
            if np.all(np.abs(change) <= 1e-10 * (1 + np.abs(now))):
                break
        r, _ = self._equations(y, yp, move, rates, hidden)
        scale = np.abs(self.a).sum(axis=1) + np.abs(self.b).sum(axis=1) + 1e-300
        worst = np.abs(r[: self.n]) / scale
        if hidden:
            extra = np.abs(r[self.n :]) / scale[self.row_is_free]
            worst = np.concatenate([worst, extra])
        if not np.all(worst <= 1e-6):
            k = int(np.argmax(worst))
            what = f"equation {k}" if k < self.n else f"the derivative of equation {np.flatnonzero(self.row_is_free)[k - self.n]}"
            unit = self.of_row[k] if k < self.n else self.of_row[self.row_is_free][k - self.n]
            raise InputError(
                f"the initial values are not consistent: {what} of F is {abs(r[k]) / unit:.3g} there, and no derivatives y' and "
                "algebraic unknowns change that; give y0 that satisfies the equations without y' (of index 2 and 3 also what "
                "follows from their derivatives)"
            )
        self._say_changes(y_asked, yp_asked, y, yp, given, consistent, relative, absolute, notes)
        return y, yp

    def _equations(self, y: Array, yp: Array, move: Array, rates: Array, hidden: bool) -> tuple[Array, Array]:
        """What is to vanish, and its derivatives: all in the units of equations and unknowns."""
        a, b = (self._scaled(m) for m in self._derivatives(y, yp))
        r = self.of_row * self.f(self.t, y, yp)
        j = np.hstack([b @ move, a @ rates])
        if hidden:  # d/dt g = g_t + g_y y', of the equations without y'
            g, d = self.row_is_free, 1e-6 * max(1.0, abs(self.t))
            slope = self.of_row[g] * (self.f(self.t + d, y, yp)[g] - self.f(self.t - d, y, yp)[g]) / (2 * d)
            r = np.concatenate([r, slope + b[g] @ (yp / self.of_column)])
            j = np.vstack([j, np.hstack([np.zeros((int(g.sum()), move.shape[1])), b[g] @ rates])])
        return r, j

    def _say_changes(
        self, y_asked: Array, yp_asked: Array, y: Array, yp: Array, given: bool, consistent: str, relative: float,
        absolute: Array, notes: list[str],
    ) -> None:  # fmt: skip
        moved = np.abs(y - y_asked) > absolute + relative * np.abs(y)
        if self.index == 2:
            moved &= ~self.column_is_free  # of these y0 is a guess
        wrong_rate = given and np.any(np.abs(yp - yp_asked)[~self.column_is_free] > 1e-4 * (1 + np.abs(yp[~self.column_is_free])))
        if not moved.any() and not wrong_rate:
            return
        nearest = ", ".join(f"{v:.10g}" for v in (y if moved.any() else yp))
        what = "y0" if moved.any() else "yp0"
        if consistent == "check":
            raise InputError(
                f"{what} does not satisfy the equations; values near it that do are [{nearest}]; give these, or "
                'consistent="project"'
            )
        notes.append(f"{what} was changed to [{nearest}]")


def _equilibrium(size: Array) -> tuple[Array, Array]:
    """Factors of rows and columns, powers of 2, with which the largest entry of each is about 1 (Ruiz)."""
    row, column = np.ones(len(size)), np.ones(len(size))
    for _ in range(20):
        for factor, axis in ((row, 1), (column, 0)):
            largest = (row[:, None] * size * column).max(axis=axis)
            factor /= np.sqrt(np.where(largest > 0, largest, 1))
    rounded: Array = np.exp2(np.round(np.log2(row)))
    return rounded, np.exp2(np.round(np.log2(column)))


def _regular(m: Array) -> bool:
    if m.size == 0:
        return True
    if m.shape[0] != m.shape[1] or not np.all(np.isfinite(m)):
        return False
    s = np.linalg.svd(m / max(float(np.abs(m).max()), 1e-300), compute_uv=False)
    return bool(np.abs(m).max() > 1e-12 and s[-1] > 1e-9 * s[0])
