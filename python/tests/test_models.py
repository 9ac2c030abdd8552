"""Models in Python are the models of files: the same numbers, bit for bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hinge


def test_a_lagrangian_of_symbols_is_the_example_bit_for_bit(examples):
    file = hinge.load(examples / "double-spherical-pendulum.toml").run(end=1)
    m1, m2, l1, l2, gravity = (hinge.parameter(n) for n in ("m1", "m2", "l1", "l2", "gravity"))
    q1, q2 = hinge.coordinates("q1 q2", 3)
    m = hinge.Lagrangian(
        q1, q2,
        kinetic=m1 / 2 * (q1.dot @ q1.dot) + m2 / 2 * (q2.dot @ q2.dot),
        potential=gravity * (m1 * q1[1] + m2 * q2[1]),
        constraints=[(q1 @ q1 - l1**2) / 2, ((q2 - q1) @ (q2 - q1) - l2**2) / 2],
        parameters={m1: 1.0, m2: 1.0, l1: 1.0, l2: 1.0, gravity: 9.81},
        position={q1: [1, 0, 0], q2: [2, 0, 0]},
        quantities={"height": q1[1], "reach": hinge.norm(q2)},
        method="gauss-lobatto", stages=2, step=0.01,
    )  # fmt: skip
    mine = m.run(end=1)
    assert mine.columns == file.columns and np.array_equal(mine.values, file.values)


def built_models():
    q, p = hinge.coordinates("q", 2), hinge.momenta("p", 2)
    y, z, psi = hinge.unknowns("y", 2), hinge.unknowns("z", 2), hinge.unknowns("psi")
    u, v = hinge.unknowns("u v")
    l = hinge.parameter("l")
    how = {"parameters": {l: 0.1 + 0.2, "unused": [1, 2.5]}, "step": 1 / 30, "end": 0.5, "quantities": {"far": hinge.norm(q)}}
    start = {"position": {q: [l, 0]}}
    scene = hinge.Multibody(gravity=[0, -9.81], title='with "quotes" and \\', step=1 / 300, end=0.1).contact(friction=1 / 3)
    scene.body("floor", shape={"plane": [0, 1]}, fixed=True).particles(np.random.default_rng(1).uniform(1, 9, (3, 2)), [0.1, 0.2, 0.3], density=7)
    scene.body("arm", mass=1, inertia=0.1, position=[20, 5]).joint("revolute", "ground", "arm", point=[20, 6], name="axle").spring(
        "ground", "arm", stiffness=100.0, length=0.5, points=[[21, 6], [20, 5]])  # fmt: skip
    return {
        "lagrangian": hinge.Lagrangian(q, kinetic=0.5 * q.dot @ q.dot, potential=9.81 * q[1], constraints=[q @ q - l**2], **start, **how,
                                       events=[{"name": "bottom", "root": q[0]}]),
        "hamiltonian": hinge.Hamiltonian(q, momenta=[p], hamiltonian=p @ p / 2 - 1 / hinge.norm(q), momentum={p: [0, 1]}, **start, **how),
        "mechanical": hinge.Mechanical(q, mass=[1, 2], force=[-q[0], -l * q[1]], velocity={q: [0, 1e-300]}, **start, **how),
        "odae": hinge.Odae(y=[y], z=[z], psi=[psi], v=list(z), f=[0, -9.81], r=list(-y * psi), g=[(y @ y - 1) / 2], y0={y: [1, 0]},
                           z0={z: [0, 0]}, step=1 / 30, end=0.5),
        "dae": hinge.Dae(u, v, equations=[u.dot + v, u - v - v**3], initial={v: 1 / 3}, tolerance=1e-7, end=0.5),
        "scene": scene,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["lagrangian", "hamiltonian", "mechanical", "odae", "dae", "scene"])
def test_the_model_file_of_what_was_built_is_the_same_model(kind):
    m = built_models()[kind]
    want = m.run()
    again = hinge.loads(m.toml())
    assert again.title == m.title and again.step == m.step  # every digit
    r = again.run()
    assert r.columns == want.columns and np.array_equal(r.values, want.values) and r.events == want.events
    for k in range(20):  # and with what was set, of any number of digits
        step = float(np.random.default_rng(k).uniform(0.01, 0.02)) * 10.0 ** -(k % 3)
        m.set({"integrate.end": 10 * step, "integrate.max_step" if kind == "dae" else "integrate.step": step})
        assert float(m.settings["integrate.end"]) == hinge.loads(m.toml()).end == 10 * step
    assert np.array_equal(hinge.loads(m.toml()).run().values, m.run().values)


def test_a_copy_of_a_scene_is_a_scene():
    scene = hinge.Multibody(gravity=[0, -10]).body("a", mass=2, inertia=1, position=[0, 0])
    twin = scene.copy().body("b", mass=1, inertia=1, position=[1, 0]).set("body.0.mass", 3)
    assert "b" in twin.toml() and "mass = 3" in twin.toml() and '"b"' not in scene.toml() and scene.settings == {}


def test_a_model_may_be_completed_later():
    q = hinge.coordinates("q", 2)
    m = hinge.Lagrangian(q, kinetic=q.dot @ q.dot / 2, potential=9.81 * q[1], constraints=[(q @ q - 1) / 2])
    with pytest.raises(hinge.InputError, match="position"):
        m.run(step=0.01, end=1)
    a = m.run(position={q: [1, 0]}, step=0.01, end=1)
    m.set("initial.position", {q: [1, 0]}).set("integrate", {"step": 0.01, "end": 1})
    assert np.array_equal(a.values, m.run().values)


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda x, y: x - (y - 1), 1.25),
        (lambda x, y: x - (-y), 2.75),
        (lambda x, y: -x**2, -2.25),
        (lambda x, y: (-x) ** 2, 2.25),
        (lambda x, y: x ** -1, 1 / 1.5),
        (lambda x, y: (x**2) ** 3, 1.5**6),
        (lambda x, y: x ** (y ** 2), 1.5 ** (1.25**2)),
        (lambda x, y: x / (y / 2), 1.5 / 0.625),
        (lambda x, y: x / y / 2, 1.5 / 1.25 / 2),
        (lambda x, y: x / (y * 2), 1.5 / 2.5),
        (lambda x, y: 2 * (x + y), 5.5),
        (lambda x, y: -(x + y) * -2, 5.5),
        (lambda x, y: x * -y, -1.875),
        (lambda x, y: 3 - x, 1.5),
        (lambda x, y: 3 / x, 2.0),
        (lambda x, y: 2**x, 2**1.5),
        (lambda x, y: abs(-x) + hinge.sin(y), 1.5 + math.sin(1.25)),
        (lambda x, y: hinge.where(x > y, x, y) + hinge.minimum(x, y), 2.75),
        (lambda x, y: hinge.vector([x, y]) @ [1, 2] + hinge.norm([x, y]), 4 + math.hypot(1.5, 1.25)),
        (lambda x, y: hinge.cross([x, y, 0], [0, 0, 1])[0], 1.25),
        (lambda x, y: np.float64(0.1) * x + np.int64(2) * y, 0.15000000000000002 + 2.5),
        (lambda x, y: 1e-300 * x * 1e300 + 1e22, 1.5 + 1e22),
        (lambda x, y: hinge.atan2(x, y) + hinge.pi, math.atan2(1.5, 1.25) + math.pi),
        (lambda x, y: np.sin(x) * np.sqrt(y) + np.arctan2(x, y), math.sin(1.5) * math.sqrt(1.25) + math.atan2(1.5, 1.25)),
        (lambda x, y: np.maximum(x, 2.0) - np.absolute(-y) + np.linalg.norm(hinge.vector([x, y])), 0.75 + math.hypot(1.5, 1.25)),
        (lambda x, y: hinge.vector([x, y]) @ np.array([[2.0, 1], [0, 3]]) @ hinge.vector([x, y]), 2 * 2.25 + 1.875 + 3 * 1.5625),
        (lambda x, y: (np.array([[2.0, 1], [0, 3]]) @ hinge.vector([x, y]))[1], 3.75),
        (lambda x, y: (-7 * x) % y + 10 * (7 * x // y) + 3 % x, (-10.5) % 1.25 + 10 * (10.5 // 1.25)),
        (lambda x, y: hinge.mod(x, y) + np.mod(x, 0.4) + hinge.floor(x) * hinge.ceil(x) - np.floor(-x), 0.25 + 0.3 + 2 + 2),
        (lambda x, y: hinge.pulse(x, 1, 0.6) + hinge.pulse(y, 1, 0.2), 1.0),
        (lambda x, y: hinge.where((x > 1) & (y > 1), 1, 0) + 2 * hinge.where((x > 2) | (y > 2), 1, 0) + 4 * hinge.where(~(x > 2), 1, 0), 5.0),
        (lambda x, y: np.where((x < 1) | ~(y < 1) & (x > y), x, y), 1.5),
        (lambda x, y: np.clip(x, 0, 1) + np.clip(y, 2.0, 3.0) + np.square(x), 3 + 2.25),
        (lambda x, y: np.sum(hinge.vector([x, y, 2])) + np.dot([x, y], [1.0, 2]) + np.cross(hinge.vector([x, y]), [0, 1.0]), 4.75 + 4 + 1.5),
        (lambda x, y: np.stack([hinge.vector([x, y]), hinge.vector([y, x])]).sum() + np.outer([x], [y])[0, 0], 5.5 + 1.875),
    ],
)
def test_operators_mean_what_they_mean_in_python(make, value):
    x, y = hinge.coordinates("x y")
    m = hinge.Mechanical(x, y, mass=[1, 1], force=[0, 0], position={x: 1.5, y: 1.25}, quantities={"value": make(x, y)}, step=1)
    assert m.run(end=0)["value"][0] == pytest.approx(value, rel=4e-16)


def test_arrays_times_symbols_stay_symbols():
    q = hinge.coordinates("q", 2)
    s = np.array([1.0, 2.0]) @ q
    assert isinstance(s, hinge.Symbol) and s.shape == ()
    assert isinstance(np.array([1.0, 2.0]) + q, hinge.Symbol) and isinstance(np.float64(2) * q, hinge.Symbol)


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lambda q: q * q, "a @ b"),
        (lambda q: q + 1, "shapes"),
        (lambda q: q @ [1, 2, 3], "sizes go together"),
        (lambda q: q @ np.zeros((3, 2)), "sizes go together"),
        (lambda q: hinge.Lagrangian(q, kinetic=q.dot @ q.dot / 2, constraints=[q @ q == 1]), "a - b"),
        (lambda q: q[0] + True, "True or False"),
        (lambda q: hinge.coordinates(3), "give a name"),
        (lambda q: q**2, "powers are of numbers"),
        (lambda q: 1 / q, "divided by a vector"),
        (lambda q: q[0] + float("nan"), "finite"),
        (lambda q: q[0] * np.inf, "finite"),
        (lambda q: hinge.sin(q), "numbers"),
        (lambda q: hinge.vector([]), "at least one entry"),
        (lambda q: hinge.coordinates("x", 0), "positive sizes"),
        (lambda q: hinge.coordinates("x[0]"), "positive sizes"),
        (lambda q: hinge.parameter("l", 2.5), r"parameters=\{l: 2.5\}"),
        (lambda q: q[0] & (q[1] > 0), "in brackets"),
        (lambda q: ~q[0], "condition"),
    ],
)
def test_expressions_that_mean_nothing_are_refused(action, sentence):
    with pytest.raises(hinge.InputError, match=sentence):
        action(hinge.coordinates("q", 2))


def test_functions_that_symbols_do_not_have_say_which_do():
    x = hinge.coordinates("x")
    for action in (lambda: math.sin(x), lambda: np.cbrt(x), lambda: np.add.reduce(x), lambda: float(x)):
        with pytest.raises(TypeError, match="hinge.sin"):
            action()


def test_sections_of_the_file_are_given_by_their_names():
    x = hinge.coordinates("x")
    m = hinge.Mechanical(
        [x], mass=[1], force=["-stiff(x) - c"], position={x: 1}, functions={"stiff": "(x) -> k*x"}, parameters={"k": 4.0},
        define={"twice": "2*x"}, states={"c": {"rate": "x' - c", "initial": 0}}, quantities={"twice_x": "twice"},
        method="explicit", tolerance=1e-8, end=1,
    )  # fmt: skip
    r = m.run()
    assert np.allclose(r["twice_x"], 2 * r["x"]) and np.array_equal(hinge.loads(m.toml()).run().values, r.values)


def test_forces_of_contacts_carry_the_weight(examples):
    x = np.array([[0, 0.5], [1, 0.5], [0.5, 0.5 + np.sqrt(0.75)]]) + 1e-9 * np.array([[0, 0], [1, 0], [0, 2]])
    scene = hinge.Multibody(gravity=[0, -10]).body("floor", shape={"plane": [0, 1]}, fixed=True).particles(x, 0.5, masses=[1, 2, 3])
    rows = []
    scene.contact(friction=0.5).run(step=1e-3, end=0.3, on_row=rows.append)
    last = rows[-1].contacts
    assert last.point.shape == last.normal.shape == last.force.shape == (len(last), 2) and last.gap.shape == (len(last),)
    on_floor = np.abs(last.point[:, 1]) < 1e-6
    assert last.force[on_floor].sum(axis=0) == pytest.approx([0, 60], abs=1e-3) and np.allclose(last.normal[on_floor], [0, 1])
    assert np.allclose(np.linalg.norm(last.normal, axis=1), 1) and len(rows[0].contacts) == 0
    ball = hinge.Multibody(gravity=[0, 0, -10]).body("floor", shape={"plane": [0, 0, 1]}, fixed=True)
    ball.body("ball", mass=2, shape={"sphere": 0.5}, position=[1, 2, 0.5]).contact(friction=0.3).run(step=1e-2, end=0.1, on_row=rows.append)
    assert np.allclose(rows[-1].contacts.force, [[0, 0, 20]]) and np.allclose(rows[-1].contacts.point, [[1, 2, 0]])
    free = hinge.loads(hinge.example).run(end=0.02, on_row=rows.append)
    assert rows[-1].contacts is None and len(free) == 3
    gap = hinge.load(examples / "bouncing-ball.toml")
    gap.run(end=0.1, on_row=rows.append)  # contacts that are expressions have no place
    assert rows[-1].contacts is None or rows[-1].contacts.point.shape[0] in (0, len(rows[-1].contacts))


def test_forces_bushings_and_equations_of_bodies():
    scene = hinge.Multibody(dimension=2).body("a", mass=2, inertia=1, position=[0, 0]).force("a", force=["t", 0])
    assert np.allclose(scene.run(step=0.01, end=1, stages=3)["a"][-1], [1 / 12, 0], atol=1e-12)
    held = hinge.Multibody(gravity=[0, -10]).body("a", mass=2, inertia=1, position=[0, 0])
    held.bushing("ground", "a", stiffness=[1000, 1000, 10], damping=[40, 40, 1])
    assert held.run(step=0.01, end=3, stages=2)["a"][-1, 1] == pytest.approx(-0.02, abs=1e-5)
    led = hinge.Multibody(gravity=[0, -10]).body("a", mass=2, inertia=1, position=[0, 0]).constraint("a[1] = 0")
    assert abs(led.run(step=0.01, end=1)["a"][-1, 1]) < 1e-13


def test_parameters_are_seen_and_set_by_symbol_by_name_and_for_one_run():
    x, k = hinge.coordinates("x"), hinge.parameter("k")
    m = hinge.Lagrangian(x, kinetic=x.dot**2 / 2, potential=k * x**2 / 2, parameters={k: 4, "l": [1.0, 2], "twice": "2*k"},
                         position={x: 1}, method="explicit", tolerance=1e-8, end=1)  # fmt: skip
    assert m.parameters == {"k": 4, "l": [1.0, 2], "twice": "2*k"}
    assert m.run(parameters={k: 9}).energy[0] == m.run(parameters={"k": 9.0}).energy[0] == 4.5 and m.parameters["k"] == 4
    assert m.copy().set(k, 3.0).parameters["k"] == m.copy().set({k: 3.0}).parameters["k"] == 3
    assert np.array_equal(hinge.sweep(m, {k: [1, 2]})["x"], hinge.sweep(m, {"parameters.k": [1, 2]})["x"])
    with pytest.raises(hinge.InputError, match="did you mean 'parameters.k'"):
        m.set("k", 3)
    with pytest.raises(hinge.InputError, match="has no parameter 'z'"):
        m.run(parameters={"z": 3})


def test_an_index_beyond_the_end_is_an_index_error_and_loops_end():
    q = hinge.coordinates("q", 2)
    assert len(list(q)) == 2 and q[-1]._hinge_text() == "q[1]"
    with pytest.raises(IndexError):
        q[2]
    with pytest.raises(TypeError, match="where"):
        bool(q[0] > 0)


def test_a_hamiltonian_an_odae_and_a_dae_agree_with_the_lagrangian():
    q = hinge.coordinates("q", 2)
    p = hinge.momenta("p", 2)
    lagrangian = hinge.Lagrangian(q, kinetic=q.dot @ q.dot / 2, potential=9.81 * q[1], constraints=[(q @ q - 1) / 2],
                                  position={q: [1, 0]})  # fmt: skip
    hamiltonian = hinge.Hamiltonian(q, momenta=[p], hamiltonian=p @ p / 2 + 9.81 * q[1], constraints=[(q @ q - 1) / 2],
                                    position={q: [1, 0]}, momentum={p: [0, 0]})  # fmt: skip
    a = lagrangian.run(step=0.01, end=1, stages=3)["q"][-1]
    b = hamiltonian.run(step=0.01, end=1, stages=3)["q"][-1]
    x, y, u, v, k = hinge.unknowns("x y u v k")
    dae = hinge.Dae(x, y, u, v, k, equations=[x.dot - u, y.dot - v, u.dot + x * k, v.dot + y * k + 9.81, x**2 + y**2 - 1],
                    initial={x: 1, y: 0, u: 0, v: 0}, tolerance=1e-10)  # fmt: skip
    r = dae.run(end=1)
    assert np.allclose(a, b, atol=1e-13) and np.allclose([r["x"][-1], r["y"][-1]], a, atol=1e-7)


def test_a_scene_of_bodies_and_joints():
    arm = hinge.Multibody(gravity=[0, 0, -9.81]).body("arm", mass=1, inertia=[0.1, 0.1, 0.1], position=[1, 0, 0])
    arm.joint("revolute", "ground", "arm", point=[0, 0, 0], axis=[0, 1, 0], name="axle")
    r = arm.run(step=0.01, end=1, stages=3)
    assert np.allclose(np.linalg.norm(r["arm"], axis=1), 1, atol=1e-12)
    period = 9.81 * 1 / 1.1  # m g l / (J + m l^2): the first acceleration
    assert (r["arm'"][1, 2]) == pytest.approx(-period * 0.01, rel=1e-3)


@pytest.mark.parametrize("bad", [np.zeros((0, 2)), np.zeros(3), np.full((2, 2), np.nan), np.zeros((2, 2), dtype=complex) * 1j, "text"])
def test_bad_arrays_of_particles_are_refused(bad):
    scene = hinge.Multibody(gravity=[0, -9.81])
    with pytest.raises((hinge.InputError, TypeError)):
        scene.particles(bad, 0.5, density=1)
    with pytest.raises(hinge.InputError, match="one of them"):
        scene.particles(np.zeros((2, 2)), 0.5)


def test_particles_may_come_from_any_array():
    x = np.asfortranarray(np.array([[0, 0.5, 9], [0, 1.5, 9]], dtype=np.float32))[:, :2]  # not contiguous, other numbers
    scene = hinge.Multibody(gravity=[0, -9.81]).body("floor", shape={"plane": [0, 1]}, fixed=True)
    r = scene.particles(x, np.array([0.5, 0.5]), masses=[1, 2]).run(step=0.001, end=0.05)
    assert np.allclose(r["particle1"][-1], [0, 1.5], atol=1e-9)


def test_every_key_of_a_system_and_its_start_has_a_name_in_its_builder():
    import inspect
    import re

    q, p, y, z = hinge.coordinates("q"), hinge.momenta("p"), hinge.unknowns("y"), hinge.unknowns("z")
    built = {
        "lagrangian": hinge.Lagrangian(q, kinetic=q.dot**2 / 2, position={q: 1}), "mechanical": hinge.Mechanical(q, mass=[1], force=[0], position={q: 1}),
        "hamiltonian": hinge.Hamiltonian(q, momenta=p, hamiltonian=p**2, position={q: 1}, momentum={p: 0}),
        "odae": hinge.Odae(y=y, z=z, v=[z], f=[0], y0={y: 0}, z0={z: 0}), "dae": hinge.Dae(y, equations=[y.dot], initial={y: 1}),
    }  # fmt: skip
    otherwise = {"coordinates": "coordinates", "unknowns": "unknowns", "y": "y0", "z": "z0", "psi": "psi0", "bodies": "bodies"}
    for section, model in built.items():
        have = set(inspect.signature(type(model)).parameters)
        for place in (section, "initial"):
            with pytest.raises(hinge.InputError, match="known here") as e:
                model.set({f"{place}.nonsense_": 1, "integrate.step": 0.1, "integrate.end": 1})
            keys = re.search(r"known here: ([\w, ]+)", str(e.value)).group(1).split(", ")
            assert len(keys) >= 2
            for key in keys:
                if place == "initial" and key in ("unknowns", "derivatives", "guess") and section == "dae":
                    continue  # initial, derivatives, guess
                if place == "initial" and key in ("multiplier", "fixed"):
                    continue  # among the options
                assert otherwise.get(key, key) in have or key in have, (section, key)


@pytest.mark.parametrize("seed", range(4))
def test_blades_dampers_and_bodies_in_python(seed):
    rng = np.random.default_rng(seed)
    x, y, a = hinge.coordinates("x y a")
    v, w = rng.uniform(0.5, 2, 2)
    blade = [x.dot * hinge.sin(a) - y.dot * hinge.cos(a)]
    start = {"position": {x: 0, y: 0, a: 0}, "velocity": {x: v, y: 0, a: w}, "method": "radau", "tolerance": 1e-10, "end": 1}
    by_energy = hinge.Lagrangian(x, y, a, kinetic=(x.dot**2 + y.dot**2 + a.dot**2) / 2, velocity_constraints=blade, **start).run()
    by_forces = hinge.Mechanical(x, y, a, mass=[1, 1, 1], force=[0, 0, 0], velocity_constraints=blade, **start).run()
    exact = [v / w * np.sin(w), v / w * (1 - np.cos(w)), w]  # a circle
    for r in (by_energy, by_forces):
        assert r.sound and np.allclose([r["x"][-1], r["y"][-1], r["a"][-1]], exact, atol=1e-9)  # measured 2.6e-11
    c = rng.uniform(0.1, 1)
    damped = hinge.Lagrangian(x, kinetic=x.dot**2 / 2, dissipation=c * x.dot**2 / 2, position={x: 0}, velocity={x: v})
    assert damped.run(method="explicit", tolerance=1e-10, end=1)["x'"][-1] == pytest.approx(v * np.exp(-c), rel=1e-8)
    top = hinge.Lagrangian(bodies={"top": {"mass": 1.0, "inertia": [0.2, 0.2, 0.1]}})
    r = top.run(bodies={"top": {"position": [0, 0, 0], "velocity": [v, 0, 0], "angular_velocity": [0, 0, w]}}, step=0.01, end=1)
    assert r.sound and r["top_x"][-1, 0] == pytest.approx(v, rel=1e-12)


def test_what_a_projection_must_not_change_and_guesses_of_multipliers():
    q = hinge.coordinates("q[2]")
    assert q.shape == (2,)
    m = hinge.Lagrangian(q, kinetic=q.dot @ q.dot / 2, constraints=[q @ q - 1], position={q: [0.6, 0.9]}, fixed=[q[0]], multiplier=[0.0],
                         consistent="project", step=0.01, end=0)  # fmt: skip
    assert np.allclose(m.run()["q"][0], [0.6, 0.8], atol=1e-12)
    assert np.allclose(m.run(fixed=["q[1]"])["q"][0], [np.sqrt(1 - 0.81), 0.9], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_columns_are_found_by_whatever_part_of_a_symbol(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 13)), int(rng.integers(1, 4))
    q, x = hinge.coordinates("q", n, k), hinge.coordinates("x", 3)
    m = hinge.Mechanical(q, x, mass=[1] * (n * k + 3), force=[0] * (n * k + 3), position={q: rng.normal(size=(n, k)), x: [1, 2, 3]},
                         velocity={q: rng.normal(size=(n, k)), x: [0, 0, 1]}, step=0.1)  # fmt: skip
    r = m.run(end=0.3)
    i, j = int(rng.integers(n)), int(rng.integers(k))
    for part, want in (
        (q, r["q"]), (q[i], r["q"][:, i]), (q[i, j], r["q"][:, i, j]), (q.dot[i], r["q'"][:, i]), (q[i].dot, r["q'"][:, i]),
        (q[i][j].dot, r["q'"][:, i, j]), (q.dot[i][j], r["q'"][:, i, j]), (x[1].dot, r["x'"][:, 1]), (x.dot[2], r["x'"][:, 2]),
        (f"q[{i}]", r["q"][:, i]), (f"q[{i}]'", r["q'"][:, i]),
    ):  # fmt: skip
        assert part in r and np.array_equal(r[part], want) and np.shares_memory(r[part], r.values)
    for wrong in (f"q[{n}]", "q[-1]", "q[]", "q[0", "q[0][0][0]", "q[0]''", "x[0]x", "x[²]", "q]", "[0]", "'"):
        assert wrong not in r
        with pytest.raises(KeyError):
            r[wrong]
    s = m.start().state
    assert np.array_equal(s[q[i]], r["q"][0, i]) and np.array_equal(s[q[i].dot], r["q'"][0, i])


def test_what_is_computed_from_columns_has_names_too(pendulum):
    r = pendulum.run(end=0.5)
    assert np.array_equal(r["constraint"], r.constraint) and np.array_equal(r["hidden_constraint"], r.hidden_constraint)
    assert np.array_equal(r["energy_error"], r.energy - r.energy[0]) and np.array_equal(r["q_error"], r["q"] - r["q"][0])
    with pytest.raises(KeyError, match="no column 'mass'"):
        r["mass_error"]
    x = hinge.coordinates("x")
    with pytest.raises(KeyError, match="no energy"):
        hinge.Mechanical(x, mass=[1], force=[-x], position={x: 1}).run(step=0.1, end=1).energy  # noqa: B018
    pytest.importorskip("matplotlib").use("agg")
    q = hinge.coordinates("q", 2)
    drawn = r.plot("q_error", q[1], "energy", label="mine", x=q[0])
    assert len(drawn.lines) == 4 and drawn.get_xlabel() == "q[0]" and r.plot(q).lines[1].get_label() == "q[1]"


@pytest.mark.parametrize("seed", range(3))
def test_velocities_and_derivatives_may_be_given_by_the_symbols_of_derivatives(seed):
    rng = np.random.default_rng(seed)
    q, x, n = hinge.coordinates("q", 2), hinge.coordinates("x"), hinge.coordinates("n", 3, 2)
    v, w, z = rng.normal(size=2), float(rng.normal()), rng.normal(size=(3, 2))
    m = hinge.Mechanical(q, x, n, mass=[1] * 9, force=[0] * 9, position={q: [0, 0], x: 0, n: np.zeros((3, 2))}, velocity={q.dot: v, x.dot: w, n.dot: z},
                         step=0.1)  # fmt: skip
    r = m.run(end=0.2)
    assert np.array_equal(r[q.dot][0], v) and r[x.dot][0] == w and np.array_equal(r[n.dot][0], z)
    assert m.run(end=0.2, velocity={q: [0, 0], x.dot: 2 * w, n.dot: z})[x.dot][0] == 2 * w
    sol = hinge.solve_dae([x.dot**2 - 1], (0, 1), {x: 0}, yp0={x.dot: -1.0})
    assert sol[x][-1] == pytest.approx(-1, abs=1e-12)
    with pytest.raises(hinge.InputError, match="coordinate alone"):
        hinge.Mechanical(x.dot, mass=[1], force=[0])
    with pytest.raises(hinge.InputError, match="initial="):
        hinge.Dae(x, equations=[x.dot + x], position={x: 1})
    exact = hinge.Mechanical(x, mass=[1], force=[-x], position={x: 1}, exact={"position": {x: hinge.cos(hinge.t)}}, step=0.01)
    assert exact.run(end=1).preserved["exact_error"]["y"] < 1e-6  # measured 7e-11
    with pytest.raises(hinge.InputError, match="exact.x: unknown key"):
        hinge.Mechanical(x, mass=[1], force=[-x], position={x: 1}, exact={x: 1}, step=0.01).run(end=1)
