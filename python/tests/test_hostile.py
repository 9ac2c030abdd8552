"""Whatever is given, wherever: an exception with a sentence or an answer, no crash; and what is gone is gone harmlessly."""

from __future__ import annotations

import copy
import decimal
import fractions
import gc
import pickle
import random
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import hinge

ALLOWED = (hinge.Error, TypeError, ValueError, KeyError, IndexError, OverflowError, MemoryError, RecursionError)


def endless():
    loop = []
    loop.append(loop)
    return loop


# What users give by mistake: each is made anew, since some are used up.
STRANGE = [
    lambda: None, lambda: True, lambda: -1, lambda: 0, lambda: 2**70, lambda: -(2**63), lambda: 1e400, lambda: -1e400, lambda: float("nan"),
    lambda: 5e-324, lambda: 1j, lambda: "", lambda: "text", lambda: "q[", lambda: "\x00", lambda: "\ud800", lambda: "é" * 1000, lambda: b"bytes",
    lambda: [], lambda: [[]], lambda: [1, [2]], lambda: [None], lambda: ["a", 1], lambda: {}, lambda: {"q": 1}, lambda: {1: 2},
    lambda: {"q": [float("nan"), 0]}, lambda: (), lambda: {1, 2}, lambda: range(3), lambda: (k for k in (1, 2)), lambda: object(), lambda: object,
    lambda: len, lambda: endless(), lambda: fractions.Fraction(1, 3), lambda: decimal.Decimal("0.1"), lambda: np.array([]),
    lambda: np.zeros((0, 3)), lambda: np.zeros((3, 0)), lambda: np.zeros(3, complex), lambda: np.array(["a", "b"]), lambda: np.array(0.5),
    lambda: np.ones((4, 4))[::-1, ::2], lambda: np.asfortranarray(np.ones((3, 2))), lambda: np.arange(3, dtype=">i4"), lambda: np.float16(0.5),
    lambda: np.array([1, None], dtype=object), lambda: np.full(2, np.nan), lambda: np.array([np.inf, 0]), lambda: np.zeros((2, 2, 2)),
    lambda: np.datetime64("2020-01-01"), lambda: np.zeros(2, dtype=[("a", float)]), lambda: np.ma.masked_array([1.0, 2], [True, False]),
    lambda: np.broadcast_to(1.0, (3, 3)), lambda: sp.csr_array(np.eye(3)), lambda: sp.coo_array((0, 0)), lambda: sp.csr_array(np.eye(3) * np.nan),
    lambda: sp.csc_array(np.eye(3, dtype=bool)), lambda: hinge.coordinates("q", 2), lambda: hinge.t, lambda: hinge.loads(hinge.example),
    lambda: np.frombuffer(bytearray(24)), lambda: memoryview(b"abcdefgh"), lambda: np.lib.stride_tricks.as_strided(np.ones(4), (2, 2), (0, 8)),
]  # fmt: skip


def sphere(H=None, M=None, f=None, mu=None):
    return [[0, 0, 1.0], [1, 0, 0], [0, 1, 0]], 2 * np.eye(3), [2.0, 0, -6], [0.5]


def scene():
    return hinge.Multibody(gravity=[0, -9.81]).body("floor", shape={"plane": [0, 1]}, fixed=True)


def stopped(t):
    return False


def dae(**changes):
    given = {"F": ["x' = -x"], "t_span": (0, 0.1), "y0": {"x": 1}, **changes}
    return hinge.solve_dae(**given)


def function_dae(**changes):
    given = {"F": lambda t, y, yp: yp + y, "t_span": (0, 0.1), "y0": [1.0, 2.0], **changes}
    return hinge.solve_dae(**given)


def contact(**changes):
    given = {**dict(zip(("H", "M", "f", "mu"), sphere())), "seconds": 1.0, **changes}
    return hinge.contact.solve(**given)


# Every way in, with one thing of it strange.
WAYS = {
    "loads": lambda x: hinge.loads(x), "load": lambda x: hinge.load(x), "read": lambda x: hinge.read(x),
    "set": lambda x: hinge.loads(hinge.example).set("initial.position.q", x).run(end=0.02),
    "set_key": lambda x: hinge.loads(hinge.example).set(x, 1), "set_dict": lambda x: hinge.loads(hinge.example).set({"integrate.step": x}),
    **{f"run_{name}": lambda x, name=name: hinge.loads(hinge.example).run(**{"end": 0.05, "progress": stopped, name: x})
       for name in ("method", "step", "tolerance", "end", "stages", "every", "interval", "times", "position", "velocity", "parameters",
                    "quantities", "out", "report", "progress", "on_row", "projection", "momentum", "consistent", "start")},
    "start": lambda x: hinge.loads(hinge.example).start(step=x), "session_step": lambda x: hinge.loads(hinge.example).start().step(x if x != 2**70 else 1),
    "until": lambda x: hinge.loads(hinge.example).start().until(min(x, 0.1)), "state": lambda x: hinge.loads(hinge.example).start().state[x],
    "column": lambda x: hinge.loads(hinge.example).run(end=0.02)[x], "save": lambda x: hinge.loads(hinge.example).run(end=0.02).save(x),
    "sweep": lambda x: hinge.sweep(hinge.loads(hinge.example), x, end=0.02),
    "sweep_values": lambda x: hinge.sweep(hinge.loads(hinge.example), {"integrate.step": x}, end=0.02, progress=lambda *n: False),
    "sweep_jobs": lambda x: hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.01]}, end=0.02, jobs=x if x != 2**70 else 2),
    "compare": lambda x: hinge.compare(hinge.loads(hinge.example), x, tolerances=[1e-3], end=0.02, progress=lambda *n: False),
    "tolerances": lambda x: hinge.compare(hinge.loads(hinge.example), "explicit", tolerances=x, end=0.02, progress=lambda *n: False),
    "convergence": lambda x: hinge.convergence(hinge.loads(hinge.example), "rattle", steps=x, end=0.02, progress=lambda *n: False),
    "coordinates": lambda x: hinge.coordinates(x), "shape": lambda x: hinge.coordinates("q", x), "vector": lambda x: hinge.vector(x),
    "sum": lambda x: hinge.coordinates("q", 2) + x, "product": lambda x: x * hinge.coordinates("q", 2), "dot": lambda x: x @ hinge.coordinates("q", 2),
    "power": lambda x: hinge.coordinates("x") ** x, "where": lambda x: hinge.where(x, 1, 2), "sin": lambda x: hinge.sin(x), "norm": lambda x: hinge.norm(x),
    "cross": lambda x: hinge.cross(x, [1, 2]), "index": lambda x: hinge.coordinates("q", 2)[x],
    "potential": lambda x: hinge.Lagrangian("x", kinetic="x'^2/2", potential=x).run(position={"x": 1}, step=0.01, end=0.02),
    "unknown": lambda x: hinge.Lagrangian(x, kinetic="q'^2/2").run(position={"q": 1}, step=0.01, end=0.02),
    "constraints": lambda x: hinge.Lagrangian("x", "y", kinetic="x'^2/2+y'^2/2", constraints=x).run(position={"x": 1}, step=0.01, end=0.02),
    "title": lambda x: hinge.Lagrangian("x", kinetic="x'^2/2", title=x, position={"x": 1}).run(step=0.01, end=0.02),
    "force": lambda x: hinge.Mechanical("x", mass=[1], force=x, position={"x": 1}).run(step=0.01, end=0.02),
    "mass": lambda x: hinge.Mechanical("x", mass=x, force=[0], position={"x": 1}).run(step=0.01, end=0.02),
    "events": lambda x: hinge.Mechanical("x", mass=[1], force=[0], position={"x": 1}, events=x).run(step=0.01, end=0.02),
    "particles": lambda x: scene().particles(x, 0.1, density=1).run(step=0.01, end=0.02),
    "radii": lambda x: scene().particles([[0, 1.0], [3, 1]], x, density=1).run(step=0.01, end=0.02),
    "masses": lambda x: scene().particles([[0, 1.0], [3, 1]], 0.1, masses=x).run(step=0.01, end=0.02),
    "velocities": lambda x: scene().particles([[0, 1.0], [3, 1]], 0.1, density=1, velocities=x).run(step=0.01, end=0.02),
    "body": lambda x: scene().body(x, mass=1, inertia=1, position=[0, 1]).run(step=0.01, end=0.02),
    "body_mass": lambda x: scene().body("a", mass=x, inertia=1, position=[0, 1]).run(step=0.01, end=0.02),
    "body_shape": lambda x: scene().body("a", mass=1, shape=x, position=[0, 1]).run(step=0.01, end=0.02),
    "gravity": lambda x: hinge.Multibody(gravity=x).body("a", mass=1, inertia=1, position=[0, 1]).run(step=0.01, end=0.02),
    **{f"dae_{name}": lambda x, name=name: dae(**{name: x})
       for name in ("F", "t_span", "y0", "yp0", "method", "t_eval", "events", "rtol", "atol", "unknowns", "parameters", "consistent",
                    "first_step", "max_step", "args", "jac")},
    **{f"function_{name}": lambda x, name=name: function_dae(**{name: x})
       for name in ("t_span", "y0", "yp0", "method", "t_eval", "events", "rtol", "atol", "unknowns", "index", "first_step", "max_step", "args", "jac")},
    "function_returns": lambda x: function_dae(F=lambda t, y, yp: x), "jac_returns": lambda x: function_dae(jac=lambda t, y, yp: x),
    "jac_parts": lambda x: function_dae(jac=lambda t, y, yp: (x, x)), "event_returns": lambda x: dae(events=lambda t, y: x),
    **{f"contact_{name}": lambda x, name=name: contact(**{name: x})
       for name in ("H", "M", "f", "mu", "w", "W", "solver", "dimension", "bilateral", "friction", "facets", "tolerance", "scaling", "iterations",
                    "relaxation", "threads", "start", "least_norm")},
    "delassus": lambda x: hinge.contact.solve(W=x, q=[1.0, 0, 0], mu=[0.5]), "contact_read": lambda x: hinge.contact.read(x),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_strange_things_are_answered_or_refused(way, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)  # what is taken for the name of a file
    wrong = []
    for k, make in enumerate(STRANGE):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                WAYS[way](make())
        except ALLOWED as e:
            if not str(e) and not isinstance(e, MemoryError):
                wrong.append(f"number {k}: {type(e).__name__} without a sentence")
        except Exception as e:
            wrong.append(f"number {k}: {type(e).__name__}: {e}")
    assert wrong == [] and "Traceback" not in capfd.readouterr().err


def test_a_run_after_all_of_it_has_the_same_bits():
    rng = random.Random(20)
    before = hinge.loads(hinge.example).run(end=1).values.copy()
    for _ in range(300):
        try:
            WAYS[rng.choice([w for w in WAYS if not w.startswith(("load", "read", "save", "run_out", "run_report"))])](rng.choice(STRANGE)())
        except ALLOWED:
            pass
    gc.collect()
    assert np.array_equal(hinge.loads(hinge.example).run(end=1).values, before)


# ---- What is taken for something else ---------------------------------------------------------------------------------


def test_a_result_is_taken_for_an_array_and_for_a_dict(pendulum):
    pd = pytest.importorskip("pandas")
    r, q = pendulum.run(end=0.5), hinge.coordinates("q", 2)
    assert np.array_equal(np.asarray(r), r.values) and np.shares_memory(np.asarray(r), r.values) and not np.shares_memory(np.array(r, copy=True), r.values)
    assert np.array_equal(pd.DataFrame(r), r.values) and np.array(r, dtype=np.float32).dtype == np.float32
    assert {k: v.shape for k, v in dict(r).items()} == {"t": (51,), "q": (51, 2), "q'": (51, 2), "psi": (51, 1), "energy": (51,)}
    assert np.array_equal(r[q], r["q"]) and np.array_equal(r[q.dot], r["q'"]) and np.array_equal(r[q[1]], r["q[1]"]) and q in r
    for wrong in (0, -1, ("q", 0), slice(3), None, 1.5, np.int64(1)):
        with pytest.raises(KeyError, match="columns have names: r\\['q'\\]"):
            r[wrong]
    with pytest.raises(AttributeError, match="taken by name: r\\['q'\\]"):
        r.q  # noqa: B018
    assert not hasattr(r, "success") and np.array_equal(copy.copy(r)["q"], r["q"])


def test_what_would_change_nothing_is_refused(pendulum):
    rng = random.Random(21)
    for name in ["step", "method", "end", "tolerance", "parameters", "".join(rng.choices("abcdefgh", k=5))]:
        with pytest.raises(AttributeError, match="set its keys, as in m.set"):
            setattr(pendulum, name, 0.1)
    rows = []
    pendulum.run(end=0.05, on_row=rows.append)
    session = pendulum.start()
    for place in (session.state["q"], session.state["q'"], session.state.y, session.state.multipliers, rows[0]["q"], rows[0].values):
        with pytest.raises(ValueError, match="read-only"):
            place[0] = 1


@pytest.mark.parametrize(
    "name, place",
    [("step", "integrate.step"), ("dt", "integrate.step"), ("times", "output.times"), ("q0", "initial.position"), ("tol", "integrate.tolerance")],
)
def test_options_that_are_taken_for_keys_are_found(pendulum, name, place):
    for wrong in (lambda: pendulum.set(name, 0.1), lambda: hinge.sweep(pendulum, {name: [0.1]})):
        with pytest.raises(hinge.InputError, match=f"did you mean '{place}'"):
            wrong()


def test_names_that_people_guess_are_found_in_builders_too(pendulum):
    x = hinge.coordinates("x")
    for guess, meant in (("velocities", "velocity"), ("dt", "step"), ("t_end", "end"), ("solver", "method")):
        with pytest.raises(hinge.InputError, match=f"{guess}: .*did you mean '{meant}'"):
            hinge.Lagrangian(x, kinetic=x.dot**2 / 2, position={x: 1}, **{guess: 0.1}).run(**{"step": 0.1, "end": 1})
    with pytest.raises(hinge.InputError, match="'q' is no parameter of this model; .*initial.position.q"):
        pendulum.set(hinge.coordinates("q", 2), [0, 1])
    with pytest.raises(hinge.InputError, match="hinge.loads"):
        hinge.load(hinge.example)
    for wrong in (lambda m: hinge.sweep(m, {"integrate.step": [0.1]}), hinge.compare, hinge.convergence):
        for given in ("examples/pendulum.toml", None, pendulum.run(end=0.1)):
            with pytest.raises(TypeError, match=r"give a model, as in hinge\.\w+\(hinge.load"):
                wrong(given)
    with pytest.raises(TypeError, match="hinge.load"):
        hinge.Model(hinge.example)
    with pytest.raises(hinge.InputError, match=r'coordinates\("x y"\)'):
        hinge.coordinates("x", "y")
    assert hinge.coordinates("q", (4, 2)).shape == (4, 2) and hinge.coordinates("q", np.int64(2)).shape == (2,)
    for wrong in (lambda: hinge.coordinates("q", 2.5), lambda: hinge.coordinates("q", 2)[0.5]):
        with pytest.raises(TypeError):
            wrong()


def test_the_false_of_numpy_stops_as_well(pendulum):
    for answer, status in ((False, "stopped"), (np.False_, "stopped"), (np.True_, "finished"), (None, "finished"), (0, "finished"), ("", "finished")):
        asked = []
        r = pendulum.run(end=2000, every=10**6, progress=lambda t, answer=answer, asked=asked: (asked.append(t), answer)[1])
        assert asked and r.status.startswith(status), answer


@pytest.mark.parametrize(
    "given, said",
    [({"rtol": 0, "atol": 0}, "both 0"), ({"rtol": [0, 0], "atol": 0}, "both 0"), ({"max_step": 0}, "positive"), ({"max_step": -1}, "positive"),
     ({"max_step": float("nan")}, "positive"), ({"first_step": 0}, "positive"), ({"first_step": -0.1}, "positive"), ({"first_step": 5}, "longer"),
     ({"jac": np.eye(2)}, "give a function"), ({"index": 1}, "give a list"), ({"y0": [[1.0, 2.0]]}, "shape"), ({"t_span": "01"}, "t_span"),
     ({"F": lambda t, y, yp: yp + 1j * y}, "complex"), ({"jac": lambda t, y, yp: (1j * np.eye(2), np.eye(2))}, "complex"),
     ({"F": lambda t, y, yp: np.ones(2)}, "does not change"), ({"F": lambda t, y, yp: 0 * y}, "does not change")],
)  # fmt: skip
def test_what_solve_dae_would_have_to_ignore_is_refused(given, said):
    with pytest.raises(hinge.InputError, match=said):
        function_dae(**given)


@pytest.mark.parametrize("row", [0, 1, 7])
def test_what_was_computed_before_an_exception_is_in_its_result(pendulum, row):
    rows = []

    def throw(given):
        rows.append(given)
        if len(rows) > row:
            raise KeyError("mine")

    with pytest.raises(KeyError) as e:
        pendulum.run(end=0.1, on_row=throw)
    before = e.value.result
    assert len(before) in (row, row + 1) and np.array_equal(before.values, [r.values for r in rows][: len(before)]) and "KeyError" in before.status
    assert before.model.title == "Pendulum" and before.sound is False and not before.status.endswith(":")


def test_names_of_solve_dae_are_those_of_scipy():
    sol = function_dae(t_span=(0, 1), t_eval=np.arange(0, 1.05, 0.1))
    assert sol["y"] is sol.y and sol["t"] is sol.t and np.array_equal(sol["y[1]"], sol.y[1]) and sol.t[-1] == 1
    x = hinge.unknowns("x")
    sol = hinge.solve_dae([x.dot + x], (0, 1), {x: 1})
    assert np.array_equal(sol[x], sol["x"]) and np.array_equal(sol[x.dot], sol["x'"])
    with pytest.raises(KeyError):
        sol[3]


# ---- What is gone -----------------------------------------------------------------------------------------------------


def test_what_outlives_its_maker_stays_right():
    rows = []
    model = hinge.loads(hinge.example)
    session, result = model.start(), model.run(end=0.5, on_row=rows.append)
    state, events, about, analysis = session.state, result.events, result.about, model.check()
    q, y = result["q"], state.y
    wanted = result.values.copy()
    problem = hinge.contact.problem(*sphere())
    reactions = problem.solve()
    steps = hinge.solve_dae(["x' = -x"], (0, 1), {"x": 1}, dense_output=True)
    solution, x = steps.sol, steps["x"]
    del model, result, problem, steps
    gc.collect()
    junk = [np.full(500, np.nan) for _ in range(2000)]
    assert np.array_equal(q, wanted[:, 1:3]) and np.array_equal([r.values for r in rows], wanted) and np.array_equal(y, [1, 0])
    session.until(0.5)
    assert np.array_equal(session.state["q"], q[-1]) and np.array_equal(state["q"], [1, 0])
    assert events == [] and about["title"] == "Pendulum" and analysis.y.shape == (2,) and junk
    assert np.allclose(reactions.r, [6, -2, 0]) and solution(0.5)[0] == pytest.approx(np.exp(-0.5), abs=1e-6) and x[0] == 1
    rest = session.result()
    del session
    gc.collect()
    assert np.array_equal(rest.values, wanted) and rest.constraint.max() < 1e-14


def test_models_may_be_copied_and_sent_to_other_processes():
    m = hinge.loads(hinge.example).set("integrate.stages", 3)
    want = m.run(end=0.5).values
    for twin in (copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m)), m.copy()):
        assert np.array_equal(twin.run(end=0.5).values, want) and twin.settings == m.settings
        twin.set("integrate.stages", 1)
        assert m.settings == {"integrate.stages": "3"}
    arm = hinge.Multibody(gravity=[0, -10]).body("a", mass=2, inertia=1, position=[0, 0])
    twin = pickle.loads(pickle.dumps(arm)).body("b", mass=1, inertia=1, position=[1, 0])
    assert "b" in twin.run(step=0.1, end=0.2) and "b" not in arm.run(step=0.1, end=0.2)
    q = hinge.coordinates("q", 2)
    assert copy.deepcopy(q) == q == pickle.loads(pickle.dumps(q))
    r = m.run(end=0.5)
    again = pickle.loads(pickle.dumps(r))
    assert np.array_equal(again.values, want) and again.columns == r.columns and again.events == r.events and again.status == r.status
    assert again.verdict == r.verdict and again.preserved == r.preserved and again.model.settings == m.settings | {"integrate.end": "0.5"}
    assert np.array_equal(again.constraint, r.constraint)
    with pytest.raises(TypeError):
        pickle.dumps(m.start())


def test_functions_may_run_models_themselves():
    m = hinge.loads(hinge.example)
    inner = []
    m.run(end=0.05, on_row=lambda row: inner.append(m.run(end=0.02).values[-1]))
    assert len(inner) == 6 and all(np.array_equal(v, inner[0]) for v in inner)

    def f(t, y, yp):
        return yp + hinge.solve_dae(["x' = -x"], (0, 0.1), {"x": 1})["x"][0] * y

    assert hinge.solve_dae(f, (0, 0.1), [1.0]).y[0, -1] == pytest.approx(np.exp(-0.1), abs=1e-6)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration, MemoryError, RecursionError])
def test_whatever_is_raised_in_a_function_arrives_unchanged(raised):
    mine = raised("mine")

    def throw(*_):
        raise mine

    m = hinge.loads(hinge.example)
    calls = [
        lambda: m.run(on_row=throw), lambda: m.run(end=1e6, every=10**6, progress=throw), lambda: function_dae(F=throw),
        lambda: dae(events=throw), lambda: function_dae(jac=throw), lambda: hinge.compare(m, "rattle", steps=[1e-5], end=20, progress=throw),
        lambda: hinge.sweep(m, {"integrate.step": [0.01]}, progress=throw),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(raised) as e:
            call()
        assert e.value is mine
