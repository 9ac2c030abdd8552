"""Models that are read and run: names, arrays, errors, callbacks, threads."""

from __future__ import annotations

import concurrent.futures
import gc
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import hinge


def test_the_interface_of_the_first_page(examples):
    m = hinge.load(examples / "double-spherical-pendulum.toml")
    m.set("parameters.m1", 2.0)
    r = m.run(method="gauss-lobatto", stages=3, step=0.01, end=1)
    assert r.t.shape == (101,) and r["q1"].shape == (101, 3) and r["q1'"].shape == (101, 3) and r["height"].shape == (101,)
    assert np.array_equal(r["height"], r["q1"][:, 1])
    assert r.constraint.shape == r.hidden_constraint.shape == r.energy.shape == (101,)
    assert r.constraint.max() < 1e-14 and r.preserved["constraint"] < 1e-14  # measured 4e-16
    assert np.abs(r.energy - r.energy[0]).max() < 1e-6  # measured 7e-9
    assert r.cost["steps"] == 100 and r.cost["newton_iterations"] > 0 and r.cost["seconds"] > 0
    assert r.warnings == [] and r.verdict == "sound" and r.sound and r.status == "finished"
    assert r.about["title"] == "Double spherical pendulum" and "parameters.m1=2.0" in r.about["set"]


def test_settings_change_the_energy_as_they_should(pendulum):
    twice = pendulum.copy().set("lagrangian.kinetic", "dot(q',q')").set("lagrangian.potential", "2*9.81*q[1]")
    a, b = pendulum.run(end=1), twice.run(end=1)
    assert np.allclose(b.energy, 2 * a.energy, atol=1e-12) and np.allclose(a["q"], b["q"], atol=1e-12)
    assert pendulum.settings == {} and len(twice.settings) == 2


def test_arrays_are_views_of_the_rows_and_outlive_everything(pendulum):
    r = pendulum.run(end=1)
    base = r.values.__array_interface__["data"][0]
    width = r.values.shape[1] * 8
    for name in ("t", "q", "q'", "energy", "q[1]", "psi"):
        a = r[name]
        assert np.shares_memory(a, r.values)
        place = r.columns.index(name if name in r.columns else name + "[0]")
        assert a.__array_interface__["data"][0] == base + 8 * place and a.strides[0] == width
    assert not r.values.flags.writeable and not r["q"].flags.owndata
    q, copy = r["q"], r["q"].copy()
    del r, pendulum
    gc.collect()
    junk = [np.full(1000, np.nan) for _ in range(1000)]
    assert np.array_equal(q, copy) and junk


def test_a_million_rows_come_without_a_copy():
    m = hinge.loads(
        '[hamiltonian]\ncoordinates=["x"]\nmomenta=["p"]\nhamiltonian="(p^2+x^2)/2"\n[initial]\nposition={x=1}\n'
        '[integrate]\nmethod="symplectic-euler"\nstep=1e-3\nend=1000'
    )
    r = m.run()
    assert len(r) == 1_000_001
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    views = [r.values, r.t, r["x"], r["p"], r.energy]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert all(np.shares_memory(v, r.values) for v in views) and grown < 1000  # kB; a column alone is 8000
    assert r._core.values.__array_interface__["data"][0] == r.values.__array_interface__["data"][0]


def test_a_record_comes_back_bit_for_bit(pendulum, tmp_path):
    r = pendulum.run(end=1)
    for name in ("a.csv", "a.h5"):
        if name.endswith("h5") and "HDF5" not in hinge.build_features():
            continue
        r.save(tmp_path / name)
        again = hinge.read(tmp_path / name)
        assert np.array_equal(again.values, r.values) and again.columns == r.columns and again.status == "finished"
        assert np.array_equal(again.constraint, r.constraint)  # from the model in the record
        assert again.sound is None and again.verdict == "" and again.cost == {} and r.sound is True
    (tmp_path / "mine.csv").write_text("precious")
    with pytest.raises(hinge.InputError, match="mine.csv"):
        r.save(tmp_path / "mine.csv")
    with pytest.raises(hinge.InputError, match="known endings"):
        r.save(tmp_path / "a.txt")


def test_events_are_told_with_their_times(pendulum):
    m = hinge.loads(hinge.example + '\n[[event]]\nname = "bottom"\nroot = "q[0]"\n')
    r = m.run(end=3)
    assert [name for name, _ in r.events] == ["bottom"] * 3
    assert all(abs(np.interp(t, r.t, r["q"][:, 0])) < 1e-12 for _, t in r.events)


def test_stepping_by_hand_is_the_same_run(pendulum):
    s = pendulum.start()
    assert s.t == 0 and np.array_equal(s.state["q"], [1, 0])
    for _ in range(100):
        s.step(0.01)
    r = pendulum.run(end=1)
    assert np.array_equal(s.state.y, r["q"][-1]) and np.array_equal(s.result().values, r.values)
    s.step()
    assert s.t == pytest.approx(1.01) and len(s.result()) == 102
    for bad in (0, -1, float("nan"), float("inf")):
        with pytest.raises(hinge.InputError, match="positive"):
            s.step(bad)


def test_check_says_what_a_model_is(pendulum, examples):
    c = pendulum.check()
    assert (c.kind, c.coordinates, c.constraints, c.rank, c.degrees_of_freedom, c.index) == ("lagrangian", 2, 1, 1, 1, 3)
    assert c.multipliers.shape == (1,) and "gauss-lobatto" in str(c)
    d = hinge.load(examples / "pendulum-dae.toml").check()
    assert d.kind == "dae" and d.index == 3 and d.degrees_of_freedom == 2


def test_methods_are_those_of_the_program():
    names = [m["name"] for m in hinge.methods()]
    with pytest.raises(KeyError, match="rattle"):
        hinge.methods()["ratle"]
    assert repr(hinge.methods()).splitlines()[2].startswith("rattle  ")
    assert "gauss-lobatto" in names and "moreau-jean" in names and hinge.methods()["rattle"]["preserves"]["symplectic"]


# ---- Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lambda m: hinge.load("no/such.toml"), "cannot read 'no/such.toml': No such file or directory"),
        (lambda m: hinge.loads("this is no model"), "this is not TOML"),
        (lambda m: m.set("parameters.m7", 1), "no parameter 'm7'"),
        (lambda m: m.set("integrate.stepp", 1), "did you mean 'step'"),
        (lambda m: m.run(method="gaus-lobatto"), "did you mean"),
        (lambda m: m.run(step=-1), "step"),
        (lambda m: m.run(stages=99), "stages"),
        (lambda m: m.run(step=float("nan")), "step"),
        (lambda m: m.run(position={"q": [2, 0]}), "initial: "),
        (lambda m: m.run(method="explicit", nonsense=1), "nonsense: .* run itself takes"),
        (lambda m: m.run(dt=0.1), "did you mean 'step'"),
        (lambda m: m.run(t_end=3), "did you mean 'end'"),
        (lambda m: m.start(h=3), "did you mean 'step'"),
        (lambda m: m.run(parameters=3), "names and values"),
        (lambda m: m.set("integrate.step"), "give a value"),
        (lambda m: hinge.loads("examples/pendulum.toml"), r"hinge\.load\("),
    ],
)
def test_bad_input_raises_the_sentence_of_the_program(pendulum, action, sentence):
    with pytest.raises(hinge.InputError, match=sentence) as e:
        action(pendulum)
    assert isinstance(e.value, ValueError) and isinstance(e.value, hinge.Error)
    assert pendulum.settings == {}  # nothing was changed


def test_a_failed_run_keeps_what_was_computed():
    m = hinge.loads(
        '[mechanical]\ncoordinates=["x"]\nmass=[1]\nforce=["x^3"]\n[initial]\nposition={x=1}\nvelocity={x=1}\n'
        '[integrate]\nmethod="explicit"\ntolerance=1e-6\nend=10'
    )
    with pytest.raises(hinge.NumericalError) as e:
        m.run()
    assert e.value.result["x"][-1] > 100 and e.value.result.status.startswith("failed") and 0 < e.value.time < 10
    assert isinstance(e.value, ArithmeticError)


def test_an_unknown_column_is_a_key_error_with_the_names(pendulum):
    r = pendulum.run(end=0.1)
    with pytest.raises(KeyError, match="it has no column 'p'"):
        r["p"]
    assert "q" in r and "p" not in r and list(r)[0] == "t"


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(1), np.array([0.5])[0], 1])
def test_numbers_of_numpy_are_numbers(pendulum, value):
    assert pendulum.run(end=value).t[-1] == float(value)


def test_values_that_are_none_are_refused(pendulum):
    with pytest.raises(TypeError, match="cannot be part of a model"):
        pendulum.set("initial.position.q", object())
    with pytest.raises(TypeError, match="complex"):
        pendulum.set("initial.position.q", np.array([1j, 0]))
    reversed_view = np.array([0.0, 7.0, 1.0, 7.0])[::-2][::-1][::-1]  # not contiguous: [7, 7]
    with pytest.raises(hinge.InputError):
        pendulum.set("initial.position.q", np.array([])).run(end=1)
    m = hinge.loads(hinge.example).set("initial.position.q", np.array([0.0, 9.0, 1.0])[::-2])
    assert np.array_equal(m.run(end=0.1)["q"][0], [1, 0]) and reversed_view.strides[0] < 0


# ---- Callbacks and threads --------------------------------------------------------------------------------------------


class MyError(Exception):
    pass


def test_an_exception_in_a_callback_arrives_unchanged(pendulum):
    def on_row(row):
        if row.t > 0.5:
            raise MyError(row.t)

    with pytest.raises(MyError) as e:
        pendulum.run(on_row=on_row)
    assert 0.5 < e.value.args[0] < 0.52 and e.value.result.t[-1] == e.value.args[0]
    mine = MyError("progress")

    def progress(t):
        raise mine

    with pytest.raises(MyError) as e:
        pendulum.run(progress=progress, end=2000)
    assert e.value is mine


def test_progress_may_stop_a_run(pendulum):
    r = pendulum.run(progress=lambda t: False, end=5000, every=1000)
    assert r.t[-1] < 5000 and r.status.startswith("stopped")


def test_rows_are_told_one_by_one(pendulum):
    seen = []
    r = pendulum.run(end=0.1, on_row=seen.append)
    assert len(seen) == len(r) and all(np.array_equal(a.values, b) for a, b in zip(seen, r.values))
    assert np.array_equal(seen[3]["q"], r["q"][3]) and seen[0].event == ""


def test_two_threads_run_at_the_same_time_and_correctly(examples):
    m = hinge.load(examples / "double-spherical-pendulum.toml")
    lengths = [0.9, 1.0]
    models = [m.copy().set({"parameters.l1": l, "initial.position.q1": [l, 0, 0], "initial.position.q2": [l + 1, 0, 0]}) for l in lengths]
    alone = [x.run(end=20, every=10) for x in models]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda x: x.run(end=20, every=10), models))
    for a, b in zip(alone, together):
        assert np.array_equal(a.values, b.values)


def test_python_goes_on_while_a_run_does(pendulum):
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    pendulum.run(end=200, every=1000)
    stop.set()
    other.join()
    assert counted[0] > 3


def test_a_session_in_two_threads_is_refused_not_crashed(pendulum):
    s = pendulum.start(keep_rows=False)
    said = []

    def go():
        try:
            s.step(300)
        except hinge.InputError as e:
            said.append(str(e))

    threads = [threading.Thread(target=go) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all("another thread" in text for text in said)


LONG = {  # what goes on for much longer than a test
    "run": "m.run(end=1e6, every=100000)",
    "explicit": "m.run(method='explicit', tolerance=1e-10, end=1e6, every=100000)",
    "until": "m.start(keep_rows=False).until(1e6)",
    "step": "m.start(keep_rows=False).step(1e6)",
    "sweep": "hinge.sweep(m, {'integrate.step': [1e-5] * 4}, end=1e4, rows=False, jobs=2)",
    "compare": "hinge.compare(m, 'rattle', steps=[1e-5], end=1e4)",
    "convergence": "hinge.convergence(m, 'rattle', steps=[1e-5], end=1e4)",
    "equations": "hinge.solve_dae(['x\\'=v', 'v\\'=-x'], (0, 1e6), {'x': 1, 'v': 0}, rtol=1e-10, t_eval=[1e6])",
    "function": "hinge.solve_dae(lambda t, y, yp: yp - [y[1], -y[0]], (0, 1e6), [1.0, 0], t_eval=[1e6])",
    "contact": "hinge.contact.solve(rng.standard_normal((6000, 600)), np.eye(600), 10 * rng.standard_normal(600), np.full(2000, 0.8), "
    "solver='block-gauss-seidel', tolerance=1e-14, iterations=10**6, seconds=600)",
}
BEGIN = "import hinge, threading, time\nimport numpy as np\nm = hinge.loads(hinge.example)\nrng = np.random.default_rng(1)\n"


@pytest.mark.parametrize("kind", LONG)
def test_ctrl_c_stops_it_soon(kind):
    code = (
        BEGIN + f"print('ready', flush=True)\ntry:\n    {LONG[kind]}\nexcept KeyboardInterrupt as e:\n"
        "    print('stopped', getattr(e, 'result', m.run(end=0)).t[-1] >= 0)\n"
    )
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert p.stdout is not None and p.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=60)
    assert out == "stopped True\n" and p.returncode == 0 and time.monotonic() - sent < 10  # measured 0.1 to 0.3


@pytest.mark.parametrize("kind", ["short", "rows", *LONG])
def test_python_ends_while_daemon_threads_compute(kind):
    again = {"short": "m.run(end=0.05)", "rows": "m.run(end=10, on_row=lambda row: None)"}.get(kind) or LONG[kind]
    code = BEGIN + (
        f"def go():\n    while True:\n        {again}\nfor k in range(2):\n    threading.Thread(target=go, daemon=True).start()\n"
        f"time.sleep({random.Random(kind).uniform(0.1, 0.4)})\nprint('end')\n"
    )
    p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (p.returncode, p.stdout, p.stderr) == (0, "end\n", "")


def test_many_runs_leak_nothing():
    m = hinge.loads(hinge.example)
    m2 = m.copy()

    def some(n):
        for k in range(n):
            r = m.run(end=0.05)
            r["q"], r.energy, r.report
            if k % 10 == 0:
                m2.set("integrate.stages", 1 + k % 3)
                with pytest.raises(hinge.InputError):
                    m.run(step=-1)

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    some(300)
    before = resident()
    some(int(os.environ.get("HINGE_LEAK_RUNS", "1000")))
    assert resident() - before < 4e6  # measured below 1e6 over 10^4 runs


def test_import_is_light():
    code = "import sys, hinge; print([m for m in ('numpy', 'matplotlib', 'pandas', 'IPython') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_the_report_is_the_programs_json(pendulum):
    r = pendulum.run(end=1)
    assert r.report == json.loads(r._core.json) and r.report["time"]["steps"] == 100
    assert str(r).startswith("sound\nPendulum")


def test_a_record_made_with_settings_has_its_model(examples, tmp_path):
    m = hinge.load(examples / "double-spherical-pendulum.toml").set({"parameters.m1": 2.0, "output.quantities.sum": "q1[0] + q2[0]"})
    r = m.run(stages=3, end=0.5)
    r.save(tmp_path / "r.csv")
    again = hinge.read(tmp_path / "r.csv")
    assert again.model is not None and float(again.model.settings["parameters.m1"]) == 2
    assert np.array_equal(again.constraint, r.constraint) and np.array_equal(again["sum"], r["sum"])


def test_times_after_the_end_are_refused_or_said(pendulum):
    for options in ({"times": [1, 20]}, {"times": [1, 2, 6], "end": 5}, {"times": np.array([5.1]), "end": 5}, {"times": [-1, 2]}, {"times": []}):
        with pytest.raises(hinge.InputError, match="lies (after the end|before the start), |no time in this list"):
            pendulum.run(**options)
    assert np.array_equal(pendulum.run(times=np.cumsum(np.full(100, 0.1)), step=0.1).t, pendulum.run(step=0.1).t)  # the last is 9.99999999999998
    r = pendulum.copy().set("output.times", [1, 2]).run(method="explicit", tolerance=1e-6, end=3)
    assert r.warnings == [] and r.t.tolist() == [0, 1, 2, 3]
    r = hinge.loads(hinge.example + "\n[output]\ntimes = [1, 4, 9]\n").run(end=3)
    assert r.t.tolist() == [0, 1, 3] and len(r.warnings) == 1 and "2 of 3 times lie after the end, 3" in r.warnings[0]


def test_a_step_beside_a_tolerance_is_said_to_be_the_first(pendulum):
    bare = hinge.loads(hinge.example.replace('method = "gauss-lobatto"', ""))
    r = bare.run(step=0.01, tolerance=1e-6, end=1)
    assert len(r.warnings) == 1 and "the first step only: with a tolerance the method (here auto, since none is named)" in r.warnings[0]
    assert bare.run(step=0.01, end=1).warnings == [] == bare.run(tolerance=1e-6, end=1).warnings
    with pytest.raises(hinge.InputError, match="gauss-lobatto takes steps of given length"):
        pendulum.run(step=0.01, tolerance=1e-6)
