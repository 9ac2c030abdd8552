"""solve_dae in the shape of solve_ivp."""

from __future__ import annotations

import numpy as np
import pytest

import hinge


def robertson(t, y, yp):
    a, b = 0.04 * y[0], 1e4 * y[1] * y[2]
    return [yp[0] + a - b, yp[1] - a + b + 3e7 * y[1] ** 2, y.sum() - 1]


def test_texts_symbols_and_functions_agree():
    span, rtol = (0, 40), 1e-9
    texts = hinge.solve_dae(
        ["x' + 0.04*x - 1e4*y*z", "y' - 0.04*x + 1e4*y*z + 3e7*y^2", "x + y + z - 1"], span, {"x": 1, "y": 0, "z": 0},
        rtol=rtol, atol=1e-13,
    )  # fmt: skip
    x, y, z = hinge.unknowns("x y z")
    symbols = hinge.solve_dae(
        [x.dot + 0.04 * x - 1e4 * y * z, y.dot - 0.04 * x + 1e4 * y * z + 3e7 * y**2, x + y + z - 1], span, {x: 1, y: 0, z: 0},
        rtol=rtol, atol=1e-13,
    )  # fmt: skip
    function = hinge.solve_dae(robertson, span, [1, 0, 0], rtol=rtol, atol=1e-13)
    exact = [0.7158270687, 9.185534765e-6, 0.2841637458]  # CVODE's published values at t = 40
    for sol in (texts, symbols, function):
        assert sol.success and sol.status == 0 and sol.index == 1 and sol.t[0] == 0 and sol.t[-1] == 40
        assert np.allclose(sol.y[:, -1], exact, rtol=2e-8)
    assert np.array_equal(texts["x"], texts.y[0]) and np.allclose(function["y[0]"], function.y[0])


def test_the_shape_is_that_of_solve_ivp():
    from scipy.integrate import solve_ivp

    t_eval = np.linspace(0, 3, 7)

    def below(t, y):
        return y[0] - 0.5

    below.terminal = False
    below.direction = -1
    theirs = solve_ivp(lambda t, y: [y[1], -y[0]], (0, 3), [1, 0], t_eval=t_eval, events=below, rtol=1e-10, atol=1e-12, dense_output=True)
    ours = hinge.solve_dae(lambda t, y, yp: [yp[0] - y[1], yp[1] + y[0]], (0, 3), [1, 0], t_eval=t_eval, events=below,
                           rtol=1e-10, atol=1e-12, dense_output=True)  # fmt: skip
    assert ours.t.shape == theirs.t.shape and ours.y.shape == theirs.y.shape and np.allclose(ours.y, theirs.y, atol=1e-8)
    assert np.allclose(ours.t_events[0], np.pi / 3, atol=1e-9) and ours.y_events[0].shape == theirs.y_events[0].shape
    some = np.linspace(0, 3, 1000)
    assert np.abs(ours.sol(some)[0] - np.cos(some)).max() < 1e-8 and ours.sol(1.0).shape == theirs.sol(1.0).shape


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_dense_output_is_as_good_as_the_steps(method):
    sol = hinge.solve_dae(["x' = y", "y' = -x", "z = x*y"], (0, 10), {"x": 0, "y": 1}, unknowns="x y z", method=method, rtol=1e-8,
                          atol=1e-8, dense_output=True)  # fmt: skip
    t = np.linspace(0, 10, 2000)
    steps = np.abs(sol["x"] - np.sin(sol.t)).max()
    between = np.abs(sol.sol(t)[0] - np.sin(t)).max()
    assert between < 3 * steps + 1e-7
    assert np.array_equal(sol.sol(sol.t[3]), sol.sol(float(sol.t[3]))) and np.allclose(sol.sol(sol.t), sol.y, atol=1e-12)


def test_a_terminal_event_ends_it():
    def ground(t, y):
        return y[0]

    ground.terminal = True
    sol = hinge.solve_dae(lambda t, y, yp: [yp[0] - y[1], yp[1] + 9.81], (0, 100), [10, 0], events=ground)
    assert sol.status == 1 and sol.success and sol.t[-1] == pytest.approx(np.sqrt(20 / 9.81), abs=1e-7)
    assert abs(sol.y[0, -1]) < 1e-9


def pendulum(t, y, yp):
    x, h, u, v, k = y
    return [yp[0] - u, yp[1] - v, yp[2] + x * k, yp[3] + h * k + 1, x * x + h * h - 1]


def test_the_index_of_a_function_is_found():
    assert hinge.solve_dae(lambda t, y, yp: yp + y, (0, 1), [1.0]).index == 0
    assert hinge.solve_dae(robertson, (0, 1), [1, 0, 0]).index == 1
    # x1' + x2' is what is known; x1 = x2: of index 1, though no column of F_y' vanishes
    mixed = hinge.solve_dae(lambda t, y, yp: [yp[0] + yp[1] + y[0], y[0] - y[1]], (0, 1), [1.0, 1.0], rtol=1e-8)
    assert mixed.index == 1 and mixed.y[0, -1] == pytest.approx(np.exp(-0.5), abs=1e-7)
    # x' = w, 0 = x - sin t
    second = hinge.solve_dae(lambda t, y, yp: [yp[0] - y[1], y[0] - np.sin(t)], (0, 1), [0.0, 0.0], rtol=1e-7)
    assert second.index == 2 and second.y[1, 0] == pytest.approx(1) and second.y[1, -1] == pytest.approx(np.cos(1), abs=1e-4)
    third = hinge.solve_dae(pendulum, (0, 2), [1, 0, 0, 0, 0], rtol=1e-7)
    exact = hinge.solve_dae(
        ["x' = u", "h' = v", "u' = -x*k", "v' = -h*k - 1", "x^2 + h^2 = 1"], (0, 2), {"x": 1, "h": 0, "u": 0, "v": 0},
        unknowns="x h u v k", rtol=1e-10,
    )  # fmt: skip
    assert third.index == exact.index == 3 and np.allclose(third.y[:2, -1], exact.y[:2, -1], atol=1e-5)


def test_an_index_that_a_function_does_not_show_is_refused():
    with pytest.raises(hinge.InputError, match="give F as equations"):  # index 4
        hinge.solve_dae(lambda t, y, yp: [yp[0] - y[1], yp[1] - y[2], yp[2] - y[3], y[0] - np.sin(t)], (0, 1), [0, 1, 0, -1])
    chain = hinge.solve_dae(["a' = b", "b' = c", "c' = d", "a = sin(t)"], (0, 1), {}, unknowns="a b c d")
    assert chain.index == 4 and np.allclose(chain["d"], -np.cos(chain.t), atol=1e-6)


def test_inconsistent_values_are_refused_with_the_nearest_or_projected():
    with pytest.raises(hinge.InputError, match="near it"):
        hinge.solve_dae(robertson, (0, 1), [1, 0, 0.5])
    sol = hinge.solve_dae(robertson, (0, 1), [1, 0, 0.5], consistent="project")
    assert sol.y[2, 0] == pytest.approx(0, abs=1e-9) and "was changed" in sol.message
    with pytest.raises(hinge.InputError, match="not consistent"):
        hinge.solve_dae(pendulum, (0, 1), [2, 0, 0, 0, 0])
    with pytest.raises(hinge.InputError):
        hinge.solve_dae(["x' = y", "x^2 + y^2 = 1"], (0, 1), {"x": 2, "y": 0})


def test_a_jacobian_of_ones_own_saves_evaluations():
    count = [0]

    def f(t, y, yp):
        count[0] += 1
        return robertson(t, y, yp)

    def jac(t, y, yp):
        f_y = [[0.04, -1e4 * y[2], -1e4 * y[1]], [-0.04, 1e4 * y[2] + 6e7 * y[1], 1e4 * y[1]], [1, 1, 1]]
        return np.array(f_y), np.diag([1.0, 1, 0])

    a = hinge.solve_dae(f, (0, 10), [1, 0, 0])
    without = count[0]
    count[0] = 0
    b = hinge.solve_dae(f, (0, 10), [1, 0, 0], jac=jac)
    assert count[0] < without and np.allclose(a.y[:, -1], b.y[:, -1], rtol=1e-5)


def test_an_exception_in_f_arrives_unchanged():
    mine = RuntimeError("mine")

    def f(t, y, yp):
        if t > 0.5:
            raise mine
        return [yp[0] + y[0]]

    with pytest.raises(RuntimeError) as e:
        hinge.solve_dae(f, (0, 1), [1.0])
    assert e.value is mine


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: hinge.solve_dae(robertson, (1, 0), [1, 0, 0]), "t_span"),
        (lambda: hinge.solve_dae(robertson, (0, 1), []), "empty"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, np.nan, 0]), "not finite"),
        (lambda: hinge.solve_dae(lambda t, y, yp: [1.0], (0, 1), [1, 0]), "returned 1 numbers"),
        (lambda: hinge.solve_dae(["x' = 1"], (0, 1), [1]), "unknowns"),
        (lambda: hinge.solve_dae(["x' = 1"], (0, 1), [1, 2], unknowns="x"), "have 1"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], t_eval=[0, 2]), "t_eval"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], method="rattle"), "rattle"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], rtol=-1), "tolerance"),
    ],
)
def test_bad_input_is_told(call, sentence):
    with pytest.raises(hinge.InputError, match=sentence):
        call()


def test_a_solution_that_ends_keeps_what_there_is():
    sol = hinge.solve_dae(lambda t, y, yp: [yp[0] - y[0] ** 2], (0, 2), [1.0])
    assert not sol.success and sol.status == -1 and 0.99 < sol.t[-1] <= 1.01 and sol.message
