"""Contact problems from matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import hinge


def pile(count=5):
    """Balls on top of each other, the lowest on the floor, pushed to the side."""
    n = 3 * count
    rows = []
    for k in range(count):
        h = np.zeros((3, n))
        h[:, 3 * k : 3 * k + 3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
        if k > 0:
            h[:, 3 * k - 3 : 3 * k] = -h[:, 3 * k : 3 * k + 3]
        rows.append(h)
    f = np.tile([0.1, 0, -1.0], count)
    return np.vstack(rows), np.eye(n), f, np.full(count, 0.3)


def test_dense_and_sparse_matrices_give_the_same():
    H, M, f, mu = pile()
    a = hinge.contact.solve(H, M, f, mu)
    for make in (sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix):
        b = hinge.contact.solve(make(H), make(M), f, mu)
        assert np.array_equal(a.r, b.r) and b.converged
    W = H @ np.linalg.inv(M) @ H.T
    c = hinge.contact.solve(W=W, q=H @ np.linalg.solve(M, f), mu=mu)
    assert np.allclose(a.r, c.r, atol=1e-6) and a.v is not None and c.v is None
    assert np.allclose(H @ a.v, a.u) and np.allclose(M @ a.v, f + H.T @ a.r)


def test_every_solver_agrees_or_says_why_not():
    H, M, f, mu = pile()
    best = hinge.contact.solve(H, M, f, mu, tolerance=1e-10)
    agreed = 0
    for s in hinge.contact.solvers():
        try:
            r = hinge.contact.solve(H, M, f, mu, solver=s["name"], tolerance=1e-8)
        except hinge.InputError as e:
            assert "cannot solve this problem" in str(e)
            continue
        if r.converged:
            assert np.allclose(r.u, best.u, atol=1e-5), s["name"]
            assert r.residual <= 1e-8
            agreed += 1
        else:
            assert r.message
    assert agreed >= 4


def test_the_history_goes_down_to_the_residual():
    H, M, f, mu = pile(20)
    r = hinge.contact.solve(H, M, f, mu, solver="block-gauss-seidel", tolerance=1e-8)
    assert r.history.shape[1] == 3 and len(r.history) > 1 and r.history[-1, 1] <= r.history[0, 1]
    assert np.all(np.diff(r.history[:, 0]) >= 0)


def test_a_linear_complementarity_problem():
    W, q = np.array([[2.0, 1], [1, 2]]), np.array([-5.0, -6])
    r = hinge.contact.solve(W=W, q=q, mu=[0, 0], dimension=1)
    assert np.allclose(r.r, [4 / 3, 7 / 3]) and np.allclose(r.u, 0, atol=1e-7)


def test_a_problem_goes_through_a_file(tmp_path):
    if not hinge._core.hdf5_available():
        pytest.skip("built without HDF5")
    H, M, f, mu = pile()
    p = hinge.contact.problem(H, M, f, mu)
    p.save(tmp_path / "pile.hdf5")
    again = hinge.contact.read(tmp_path / "pile.hdf5")
    assert again.rows == p.rows and np.allclose(again.solve().u, p.solve().u, atol=1e-7)


@pytest.mark.parametrize(
    "change",
    [
        {"f": [np.nan] * 15},
        {"f": []},
        {"mu": [-1] * 5},
        {"mu": [0.3]},
        {"H": np.zeros((0, 15))},
        {"H": np.zeros((15, 14))},
        {"M": np.zeros((15, 15))},
        {"M": np.eye(15) * 1j},
        {"H": "text"},
        {"M": np.zeros((2, 2, 2))},
        {"H": sp.csr_array(np.eye(15) * 1j)},
        {"mu": None},
    ],
)
def test_bad_arrays_are_refused_with_a_sentence(change):
    H, M, f, mu = pile()
    given = {"H": H, "M": M, "f": f, "mu": mu, **change}
    with pytest.raises((hinge.InputError, TypeError)):
        hinge.contact.solve(**given)


def test_strange_but_good_arrays_are_taken():
    H, M, f, mu = pile()
    a = hinge.contact.solve(H, M, f, mu)
    wide = np.zeros((30, 30))
    wide[::2, ::2] = H
    b = hinge.contact.solve(wide[::2, ::2], np.asfortranarray(M.astype(np.float32)), list(f), mu.astype(object))
    assert np.array_equal(a.r, b.r)


def test_sparse_matrices_whose_indices_lie_are_refused():
    m = sp.csr_array(np.eye(15))
    m.indices[3] = 99
    H, _, f, mu = pile()
    with pytest.raises((hinge.InputError, ValueError)):
        hinge.contact.solve(H, m, f, mu)


@pytest.mark.parametrize("option", [{"solver": "nsg"}, {"scaling": "mine"}, {"friction": "none"}, {"tolerance": -1}, {"relaxation": 3}, {"facets": 3}])
def test_bad_options_are_refused(option):
    with pytest.raises(hinge.InputError):
        hinge.contact.solve(*pile(), **option)
