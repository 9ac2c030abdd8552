"""Many runs: studies and sweeps."""

from __future__ import annotations

import gc
import itertools
import pickle

import numpy as np
import pytest

import hinge


def test_convergence_finds_the_orders(pendulum):
    s = hinge.convergence(pendulum, ["gauss-lobatto(stages=1)", "gauss-lobatto(stages=2)"], steps=[0.1, 0.05, 0.025], end=1)
    assert s.orders["gauss-lobatto(stages=1)"]["y"] == pytest.approx(2, abs=0.1)
    assert s.orders["gauss-lobatto(stages=2)"]["y"] == pytest.approx(4, abs=0.2)
    assert len(s) == 6 and s["error_y"].shape == (6,) and "order" in str(s)


def test_compare_gives_work_and_precision(pendulum):
    w = hinge.compare(pendulum, "explicit,radau", tolerances=[1e-4, 1e-8], end=1)
    assert [row["method"] for row in w] == ["explicit", "explicit", "radau", "radau"]
    assert w["error_y"][1] < w["error_y"][0] and np.all(w["wall_seconds"] > 0)
    with pytest.raises(hinge.InputError, match="--methods"):
        hinge.compare(pendulum, "no-such")
    with pytest.raises(hinge.InputError, match="--tolerances"):
        hinge.compare(pendulum, tolerances=[-1])
    with pytest.raises(RuntimeError, match="mine"):
        hinge.compare(pendulum, "gauss-lobatto", steps=[1e-4], end=20, progress=lambda *a: (_ for _ in ()).throw(RuntimeError("mine")))


def test_studies_stop_while_their_reference_is_computed(pendulum):
    class Mine(Exception):
        pass

    def throw(method, setting, t):
        raise Mine(method)

    for call in (lambda p: hinge.compare(pendulum, "rattle", steps=[1e-5], end=500, progress=p),
                 lambda p: hinge.convergence(pendulum, "rattle", steps=[1e-5, 2e-5], end=500, progress=p)):  # fmt: skip
        with pytest.raises(Mine, match="reference"):
            call(throw)
        with pytest.raises(hinge.Error, match="before the reference was known"):
            call(lambda *_: False)


def test_a_sweep_does_not_depend_on_its_threads(examples):
    m = hinge.load(examples / "double-spherical-pendulum.toml")
    keys = {"parameters.m2": np.linspace(0.5, 2, 4), "parameters.gravity": [9.81, 1.62]}
    one, two = (hinge.sweep(m, keys, jobs=j, end=0.5) for j in (1, 2))
    assert one["q2"].shape == (4, 2, 3) and one.shape == (4, 2)
    assert all(np.array_equal(a.values, b.values) for a, b in zip(one.results, two.results))
    alone = m.copy().set({"parameters.m2": one.settings(5)["parameters.m2"], "parameters.gravity": 1.62}).run(end=0.5)
    assert np.array_equal(alone.values, one.results[5].values)
    assert len(hinge.sweep(m, keys, end=0.5, rows=False).results[0]) == 2
    assert len(one.dataframe()) == 8


def test_failures_of_a_sweep_are_told_or_noted():
    m = hinge.loads(
        '[parameters]\na=1\n[mechanical]\ncoordinates=["x"]\nmass=[1]\nforce=["a*x^3"]\n[initial]\nposition={x=1}\n'
        'velocity={x=1}\n[integrate]\nmethod="explicit"\ntolerance=1e-6\nend=3'
    )
    with pytest.raises(hinge.NumericalError):
        hinge.sweep(m, {"parameters.a": [-1, 1]})
    s = hinge.sweep(m, {"parameters.a": [-1, 1]}, strict=False)
    assert s.results[1] is None and s.failures[1] and np.isnan(s["x"][1]) and np.isfinite(s["x"][0])
    with pytest.raises(hinge.InputError, match="did you mean|no parameter"):
        hinge.sweep(m, {"parameters.b": [1]})
    with pytest.raises(hinge.InputError, match="give keys"):
        hinge.sweep(m, {"parameters.a": []})


def test_a_sweep_stops_when_it_is_told(pendulum):
    seen = []
    s = hinge.sweep(pendulum, {"integrate.step": [1e-4, 2e-4, 3e-4]}, jobs=2, end=1e9, rows=False, progress=lambda *n: bool(seen.append(n)))
    assert s.results == [None] * 3 and seen[0] == (0, 3)
    hinge.sweep(pendulum, {"integrate.step": [0.1, 0.05]}, end=1, progress=lambda *n: seen.append(n))
    assert seen[-1] == (2, 2)  # however short it was
    with pytest.raises(ZeroDivisionError):
        hinge.sweep(pendulum, {"integrate.step": [1e-4]}, end=1e9, rows=False, progress=lambda done, of: 1 // 0)


def test_a_sweep_may_give_what_the_model_lacks():
    q = hinge.coordinates("q", 2)
    m = hinge.Lagrangian(q, kinetic=0.5 * q.dot @ q.dot, potential=9.81 * q[1], constraints=[(q @ q - 1) / 2])
    s = hinge.sweep(m, {"initial.position.q": [[1, 0], [0, -1], [0.6, 0.8]]}, step=0.01, end=0.5)
    assert s["q"].shape == (3, 2) and np.allclose(s["q"][1], [0, -1]) and s.results[2].model.settings["initial.position.q"]


def test_keys_of_a_sweep_have_lists_of_values(pendulum):
    for keys, sentence in (({"integrate.step": 0.1}, "one value"), ({"integrate.method": "rattle"}, "one value"), ([1], "in a dict"),
                           ({"integrate.step": np.float64(0.1)}, "one value"), ({"integrate.step": []}, "give keys")):  # fmt: skip
        with pytest.raises(hinge.InputError, match=sentence):
            hinge.sweep(pendulum, keys, end=0.1)
    with pytest.raises(hinge.InputError, match="did you mean 'end'"):
        hinge.sweep(pendulum, {"integrate.step": [0.1]}, t_end=1)
    s = hinge.sweep(pendulum, {"integrate.method": ["rattle", "gauss-lobatto"], "integrate.step": (x for x in (0.1, 0.05))}, end=0.1)
    assert s.shape == (2, 2)


def test_a_sweep_draws_a_bar_where_it_is_asked_to(pendulum, capsys, monkeypatch):
    seconds = itertools.count()
    monkeypatch.setattr("hinge._progress.time.monotonic", lambda: next(seconds))  # every look at the clock is a second later
    hinge.sweep(pendulum, {"integrate.step": [0.01] * 4}, end=1, progress=True)
    drawn = capsys.readouterr().err
    assert "100 %  4 of 4 runs 0 s left" in drawn and drawn.endswith(" \r")  # and wiped away
    hinge.sweep(pendulum, {"integrate.step": [0.01]}, end=1)
    assert capsys.readouterr().err == ""


def test_a_sweep_refuses_what_is_for_one_run(pendulum):
    for name in ("on_row", "out", "report"):
        with pytest.raises(hinge.InputError, match="single run"):
            hinge.sweep(pendulum, {"integrate.step": [0.1]}, **{name: "x.h5"})
    with pytest.raises(hinge.InputError, match="jobs"):
        hinge.sweep(pendulum, {"integrate.step": [0.1]}, jobs=0)


def test_plots_have_a_line_for_each_column(pendulum):
    import matplotlib

    matplotlib.use("Agg")
    r = pendulum.run(end=1)
    assert len(r.plot("q").lines) == 2 and len(r.plot(["energy_error", "constraint"]).lines) == 2
    assert len(r.plot("q[1]", x="q[0]").lines) == 1
    with pytest.raises(KeyError):
        r.plot("nothing")


def test_the_page_of_a_result_is_the_report(pendulum, tmp_path, monkeypatch):
    if not hinge._core.has_page():
        pytest.skip("built without the report page")
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = pendulum.run(end=1).view(tmp_path / "page.html")
    assert opened and (tmp_path / "page.html").stat().st_size > 10000 and page._repr_html_().startswith("<iframe srcdoc=")
    pendulum.run(end=1, report=tmp_path / "other.html")
    assert (tmp_path / "other.html").exists()


def test_results_of_a_sweep_know_their_model(pendulum):
    s = hinge.sweep(pendulum, {"initial.velocity": [{"q": [0, v]} for v in (0.0, 1.0)]}, end=0.5, jobs=2)
    for v, r in zip((0, 1), s.results):
        again = pickle.loads(pickle.dumps(r))
        assert r["q'"][0, 1] == v and r.report["method"]["name"] == "gauss-lobatto" == again.report["method"]["name"]
        assert r.constraint.max() < 1e-14 and np.array_equal(r.constraint, again.constraint)
        assert np.array_equal(r.model.run().values, r.values) and r.model.title == "Pendulum"
    wanted = s["q"]
    q = s.results[1]["q"]
    del s
    gc.collect()
    assert np.array_equal(q[-1], wanted[1])


@pytest.mark.parametrize("seed", range(4))
def test_members_of_a_sweep_that_cannot_be_started_are_told(seed):
    rng = np.random.default_rng(seed)
    m = hinge.loads(hinge.example)
    angles = rng.uniform(0, 2 * np.pi, 7)
    wrong = sorted(rng.choice(7, size=int(rng.integers(1, 6)), replace=False).tolist())
    starts = np.column_stack([np.cos(angles), np.sin(angles)])
    starts[wrong] *= 1.5
    s = hinge.sweep(m, {"initial.position.q": starts}, jobs=2, strict=False, end=0.1)
    assert sorted(s.failures) == wrong and all("inconsistent" in why for why in s.failures.values())
    assert [r is None for r in s] == [k in wrong for k in range(7)] and np.isnan(s["q"][wrong]).all() and np.isfinite(s["t"]).sum() == 7 - len(wrong)
    assert f"{len(wrong)} failed" in repr(s)
    with pytest.raises(hinge.InputError, match=rf"^run {wrong[0]} \(initial.position.q=.*inconsistent"):
        hinge.sweep(m, {"initial.position.q": starts}, jobs=1, end=0.1)
    with pytest.raises(hinge.InputError, match="inconsistent"):  # no run at all
        hinge.sweep(m, {"initial.position.q": 2 * starts[wrong]}, strict=False, end=0.1)
    with pytest.raises(hinge.NumericalError, match=r"^run 1 \(integrate.step=3\): in the step") as e:
        hinge.sweep(m, {"integrate.step": [0.01, 3]}, jobs=1, end=6)
    assert len(e.value.result) >= 1


def test_each_takes_texts_and_rows_of_several_lengths():
    s = hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.01, 0.05, 3]}, end=6, strict=False)
    assert list(s.failures) == [2] and s.each(lambda r: r.verdict).tolist()[2] is None and s.each(len)[:2].tolist() == [601, 121]
    assert [None if q is None else q.shape for q in s.each(lambda r: r["q"])] == [(601, 2), (121, 2), None]
    assert s.each(lambda r: [[1], [1, 2]])[0] == [[1], [1, 2]] and np.isnan(s.each(lambda r: r["q"][-1])[2]).all()
    assert np.isnan(s.each(lambda r: None)).all() and s.each(lambda r: 1j)[0] == 1j
    rough = hinge.sweep(hinge.loads(hinge.example), {"integrate.step": [0.01, 0.4]}, method="symplectic-euler", end=20, strict=False)
    assert list(rough.doubtful) == [k for k, r in enumerate(rough) if r is not None and not r.sound]
