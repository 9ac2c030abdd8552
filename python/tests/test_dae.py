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


def random_linear(rng, n, algebraic):
    """y' = A y + b sin t and unknowns w = C y: as a right-hand side for SciPy, as a function F and as texts."""
    A = rng.standard_normal((n, n)) - 2 * np.eye(n)
    b, C = rng.standard_normal(n), rng.standard_normal((algebraic, n))

    def right(t, y):
        return A @ y + b * np.sin(t)

    def residual(t, y, yp):
        return np.concatenate([yp[:n] - right(t, y[:n]), y[n:] - C @ y[:n]])

    def combination(row):
        return " + ".join(f"({float(a)!r})*x{k}" for k, a in enumerate(row))

    texts = [f"x{k}' = {combination(A[k])} + ({float(b[k])!r})*sin(t)" for k in range(n)]
    texts += [f"w{k} = {combination(C[k])}" for k in range(algebraic)]
    names = " ".join([f"x{k}" for k in range(n)] + [f"w{k}" for k in range(algebraic)])
    x = rng.standard_normal(n)
    return right, residual, texts, names, x, np.concatenate([x, C @ x]), C


@pytest.mark.parametrize("seed", range(8))
def test_random_problems_are_solved_as_by_scipy_forwards_and_backwards(seed):
    from scipy.integrate import solve_ivp

    rng = np.random.default_rng(seed)
    right, residual, texts, names, x, y, C = random_linear(rng, int(rng.integers(1, 4)), int(rng.integers(0, 3)))
    t0 = float(rng.uniform(-3, 3))
    for t1 in (t0 + 1.5, t0 - 1.5):
        t_eval = np.linspace(t0, t1, 9)

        def crossing(t, y):
            return y[0] - 0.3 * x[0]

        def stop(t, y):
            return y[0] + 2 * x[0]

        crossing.direction, stop.terminal = float(rng.choice([-1, 0, 1])), True
        theirs = solve_ivp(right, (t0, t1), x, "Radau", t_eval, events=[crossing, stop], rtol=1e-10, atol=1e-12, dense_output=True)
        atol = np.exp(rng.uniform(-30, -26, len(y)))  # of each unknown
        for F, unknowns in ((residual, None), (texts, names)):
            ours = hinge.solve_dae(F, (t0, t1), y, None, "Radau", t_eval, True, [crossing, stop], rtol=1e-10, atol=atol, unknowns=unknowns)
            assert ours.success and ours.status == theirs.status and np.array_equal(ours.t, theirs.t) and ours.index == (len(y) > len(x))
            size = 1 + np.abs(theirs.y).max()
            assert np.allclose(ours.y[: len(x)], theirs.y, atol=2e-8 * size) and np.allclose(ours.y[len(x) :], C @ theirs.y, atol=1e-7 * size)
            assert np.allclose(ours.yp[0], [right(t, v)[0] for t, v in zip(ours.t, theirs.y.T)], atol=1e-5 * size)
            for mine, his in zip(ours.t_events, theirs.t_events):
                assert mine.shape == his.shape and np.allclose(mine, his, atol=1e-7)
            some = np.linspace(t0, ours.sol.ts[-1], 30)
            assert np.allclose(ours.sol(some)[: len(x)], theirs.sol(some), atol=1e-7 * size)


def test_there_and_back_again_is_where_it_began():
    texts = ["x' = u", "y' = v", "u' = -x*L", "v' = -y*L - 1 - sin(t)", "x^2 + y^2 = 1"]
    there = hinge.solve_dae(texts, (0, 3), {"x": 1, "y": 0, "u": 0, "v": 0}, unknowns="x y u v L", rtol=1e-10, atol=1e-12)
    back = hinge.solve_dae(texts, (3, 0), dict(zip("xyuvL", there.y[:, -1])), unknowns="x y u v L", rtol=1e-10, atol=1e-12,
                           consistent="project")  # fmt: skip
    assert back.index == 3 and back.t[0] == 3 and back.t[-1] == 0 and np.all(np.diff(back.t) < 0)
    assert np.allclose(back.y[:4, -1], [1, 0, 0, 0], atol=1e-7) and np.allclose(back["y'"], back["v"], atol=1e-8)


def test_times_of_a_start_that_is_the_end():
    sol = hinge.solve_dae(lambda t, y, yp: [yp[0] + y[0]], (2, 2), [1.0])
    assert sol.success and sol.t.tolist() == [2] and sol.y.tolist() == [[1]]
    assert hinge.solve_dae(["x' = -x"], (2, 2), {"x": 1}).t.tolist() == [2]


def test_tolerances_of_each_unknown_count():
    # the second unknown is small: with one absolute tolerance for both it may be anything
    def f(t, y, yp):
        return [yp[0] + y[0], yp[1] + y[1]]

    def jac(t, y, yp):
        return np.eye(2), np.eye(2)

    loose = hinge.solve_dae(f, (0, 5), [1, 1e-9], rtol=1e-3, atol=1e-3)
    fine = hinge.solve_dae(f, (0, 5), [1, 1e-9], rtol=[1e-3, 1e-9], atol=[1e-3, 1e-18], jac=jac)
    texts = hinge.solve_dae(["x' = -x", "y' = -y"], (0, 5), [1, 1e-9], unknowns="x y", rtol=1e-9, atol=[1e-3, 1e-18])
    exact = 1e-9 * np.exp(-5)
    assert abs(loose.y[1, -1] / exact - 1) > 1e-6
    assert abs(fine.y[1, -1] / exact - 1) < 1e-7 and abs(texts["y"][-1] / exact - 1) < 1e-7


def test_arguments_go_to_everything_as_in_scipy():
    def level(t, y, rate, at):
        return y[0] - at

    level.terminal = 2
    sol = hinge.solve_dae(lambda t, y, yp, rate, at: [yp[0] - y[1], yp[1] + rate**2 * y[0]], (0, 50), [1, 0], events=level,
                          args=(2.0, 0.5), rtol=1e-9, jac=lambda t, y, yp, rate, at: ([[0, -1], [rate**2, 0]], np.eye(2)))  # fmt: skip
    assert sol.status == 1 and np.allclose(sol.t_events[0], [np.pi / 6, 5 * np.pi / 6], atol=1e-6)


def test_an_exception_in_an_event_arrives_unchanged():
    mine = KeyError("mine")

    def event(t, y):
        if t > 0.1:
            raise mine
        return 1.0

    with pytest.raises(KeyError) as e:
        hinge.solve_dae(["x' = -x"], (0, 1), {"x": 1}, events=event)
    assert e.value is mine


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
        (lambda: hinge.solve_dae(robertson, (0, np.inf), [1, 0, 0]), "t_span"),
        (lambda: hinge.solve_dae(robertson, 3, [1, 0, 0]), "t_span"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], t_eval=[0.5, 0.2]), "order of t_span"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], t_eval=[np.nan]), "not finite"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], atol=[1e-8, 1e-8]), "atol has 2 numbers"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], atol=[1e-8, 0, 1e-8]), "positive"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], rtol="small"), "rtol"),
        (lambda: hinge.solve_dae(robertson, (0, 1), ["a", "b", "c"]), "no numbers"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1j, 0, 0]), "complex"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], events="x"), "events"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], args=3), r"args=\(3,\)"),
        (lambda: hinge.solve_dae(robertson, (0, 1), [1, 0, 0], parameters={"a": 1}), "for equations"),
        (lambda: hinge.solve_dae(["x' = 1"], (0, 1), {"x": 1}, args=(1,)), "parameters="),
        (lambda: hinge.solve_dae(["x' = 1"], (0, 1), {"x": 1}, jac=robertson), "for functions"),
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
    back = hinge.solve_dae(["x' = -x^2"], (0, -2), {"x": 1})
    assert not back.success and -1.01 <= back.t[-1] < -0.99 and "backwards" in back.message


def decaying_pulses(t, period, width, height):
    """x' = height*pulse(t, period, width) - x from x(0) = 0, at a time t."""
    x, k = 0.0, 0
    while k * period < t:
        on, off = k * period, min(t, k * period + width)
        x += height * (1 - np.exp(-(off - on))) * np.exp(-(t - off))
        k += 1
    return x


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", ["radau", "bdf", "auto"])
def test_pulses_jumps_and_kinks_of_equations_are_met(seed, method):
    rng = np.random.default_rng(seed)
    period, width, height = rng.uniform(1, 4), 10 ** rng.uniform(-4, -1), 10 ** rng.uniform(0, 3)
    text = f"x' = {height!r}*pulse(t, {period!r}, {width!r}) - x"
    times = np.linspace(0, 10, 23)
    exact = np.array([decaying_pulses(t, period, width, height) for t in times])
    there = hinge.solve_dae([text], (0, 10), {"x": 0}, method=method, t_eval=times, rtol=1e-9, atol=1e-11, dense_output=True)
    assert there.success and there.doubts == []
    assert np.allclose(there["x"], exact, rtol=0, atol=1e-6 * exact.max())  # measured 2.4e-8; without the pulses the size itself
    assert np.allclose(there.sol(times)[0], exact, rtol=0, atol=1e-6 * exact.max())
    back = hinge.solve_dae([text], (10, 0), {"x": exact[-1]}, method=method, rtol=1e-9, atol=1e-11 * np.ones(1))
    assert back["x"][-1] == pytest.approx(0, abs=1e-6 * exact.max() * np.exp(10))  # errors grow by e^10 on the way
    a, b = rng.uniform(0.3, 0.7), rng.uniform(0.1, 3)
    kink = hinge.solve_dae([f"x' = if(x < {a!r}, 1, {b!r})", "y = abs(x - 0.5)"], (0, 2), {"x": 0}, unknowns="x y", method=method, rtol=1e-10)
    end = a + b * (2 - a)
    assert np.allclose(kink.y[:, -1], [end, abs(end - 0.5)], rtol=1e-12)  # measured 4.5e-16


@pytest.mark.parametrize("seed", range(5))
def test_events_are_numbers_of_any_kind_but_not_conditions(seed):
    rng = np.random.default_rng(seed)
    level = float(rng.uniform(-0.9, 0.9))
    for wrap in (float, np.float64, np.array, lambda v: np.array([v]), lambda v: np.array([[v]]), np.longdouble):
        sol = hinge.solve_dae(["x' = v", "v' = -x"], (0, 6), {"x": 1, "v": 0}, events=lambda t, y, w=wrap: w(y[0] - level), rtol=1e-9)
        assert np.allclose(sol.t_events[0], [np.arccos(level), 2 * np.pi - np.arccos(level)][: len(sol.t_events[0])], atol=1e-7)
        assert len(sol.t_events[0]) == 1 + (2 * np.pi - np.arccos(level) < 6)
    for condition in (lambda t, y: y[0] > level, lambda t, y: bool(y[0] > level), lambda t, y: np.bool_(True)):
        with pytest.raises(hinge.InputError, match="changes its sign"):
            hinge.solve_dae(["x' = v", "v' = -x"], (0, 6), {"x": 1, "v": 0}, events=condition)


def test_the_solution_between_is_asked_for_as_in_scipy():
    rng = np.random.default_rng(1)
    for _ in range(10):
        a, b = rng.uniform(-3, 3, 2)
        sol = hinge.solve_dae(["x' = -x"], (a, b), {"x": 1}, dense_output=True)
        assert np.isclose(sol.sol(np.nextafter(b, b + (b - a)))[0], np.exp(a - b), rtol=1e-5) and abs(sol.sol(np.nextafter(a, 2 * a - b))[0] - 1) < 1e-14
        for wrong in (b + 1e-6 * (b - a), a - 1e-6 * (b - a), np.nan):
            with pytest.raises(hinge.InputError, match="is known from"):
                sol.sol(wrong)
        with pytest.raises(hinge.InputError, match="shape"):
            sol.sol([[a, b]])


@pytest.mark.parametrize("method", ["RK45", "LSODA", "rattle", "", "nonsense", None, 3])
def test_methods_of_others_are_refused_with_those_that_there_are(method):
    with pytest.raises(hinge.InputError, match="'radau', 'bdf' and 'auto'"):
        hinge.solve_dae(["x' = -x"], (0, 1), {"x": 1}, method=method)


@pytest.mark.parametrize("seed", range(4))
def test_a_smaller_relative_tolerance_makes_nothing_worse(seed):
    rng = np.random.default_rng(seed)
    size, w = 10.0 ** rng.uniform(0, 3), rng.uniform(0.5, 3)
    for method in ("radau", "bdf"):
        for rtol in (1e-9, 1e-12, 1e-15, 0):
            sol = hinge.solve_dae(["x' = v", f"v' = -({w!r})^2*x"], (0, 5), {"x": size, "v": 0}, method=method, rtol=rtol, atol=1e-8 * size)
            # measured 1.2e-9 and 5.5e-7 in 300 draws; radau at 1e-15 was off by 1.1e-6 with w = 1
            assert abs(sol["x"][-1] - size * np.cos(5 * w)) < (1e-8 if method == "radau" else 2e-6) * size


@pytest.mark.parametrize("index", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_units_of_functions_do_not_matter(seed, index):
    rng = np.random.default_rng(seed)
    right, _, _, _, x0, start, C = random_linear(rng, 4, 2)

    def with_unknowns(t, y, yp):  # index 1: w = C x; a pendulum with its constraint on velocities and on positions
        if index == 1:
            return np.concatenate([yp[:4] - right(t, y[:4]), y[4:] - C @ y[:4]])
        last = y[0] * y[2] + y[1] * y[3] if index == 2 else y[0] ** 2 + y[1] ** 2 - 1
        return np.array([yp[0] - y[2], yp[1] - y[3], yp[2] + y[0] * y[4], yp[3] + y[1] * y[4] + 9.81, last])

    y0 = start if index == 1 else np.array([1.0, 0, 0, 0, 0])
    n = len(y0)
    of_row, of_unknown = 10.0 ** rng.uniform(-4, 4, n), 10.0 ** rng.uniform(-4, 4, n)
    order, places = rng.permutation(n), rng.permutation(n)

    def in_units(t, y, yp):
        z, zp = np.empty(n), np.empty(n)
        z[order], zp[order] = of_unknown * y, of_unknown * yp
        return (of_row * with_unknowns(t, z, zp))[places]

    plain = hinge.solve_dae(with_unknowns, (0, 1), y0, rtol=1e-9, atol=1e-10)
    sol = hinge.solve_dae(in_units, (0, 1), y0[order] / of_unknown, rtol=1e-9, atol=1e-10 / of_unknown)
    z = np.empty(n)
    z[order] = of_unknown * sol.y[:, -1]
    assert sol.success and sol.index == plain.index == index
    shown = slice(4 if index == 3 else n)  # multipliers of index 3 depend on the length of the last step
    assert np.allclose(z[shown], plain.y[shown, -1], atol=1e-5 if index == 3 else 1e-8)  # measured 9e-7; 3e-11 in 40 draws


@pytest.mark.parametrize("rtol", [1e-3, 1e-4, 1e-5, 1e-6, 1e-8])
@pytest.mark.parametrize("end", [1, 5])
def test_functions_of_index_3_are_right_or_say_what_to_do(rtol, end):
    def pendulum(t, y, yp):
        return [yp[0] - y[2], yp[1] - y[3], yp[2] + y[0] * y[4], yp[3] + y[1] * y[4] + 9.81, y[0] ** 2 + y[1] ** 2 - 1]

    texts = ["x' = u", "y' = v", "u' = -x*L", "v' = -y*L - 9.81", "x^2 + y^2 = 1"]
    sol = hinge.solve_dae(pendulum, (0, end), [1, 0, 0, 0, 0], rtol=rtol, atol=rtol / 10)
    exact = hinge.solve_dae(texts, (0, end), [1, 0, 0, 0, 0], unknowns="x y u v L", rtol=1e-11, atol=1e-12, dense_output=True)
    assert exact.success and np.allclose(sol.y[:2], exact.sol(sol.t)[:2], atol=200 * rtol)  # measured 18 rtol
    assert sol.success or "Give it as equations" in sol.message
