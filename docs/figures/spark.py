#!/usr/bin/env python3
"""Draws docs/images/spark.png: orders on S1, and the energy error on S2 over 100,000 steps.

    apt-get install python3-matplotlib python3-pandas
    make && python3 docs/figures/spark.py build/hinge

The models are papers/spark/s1.toml and papers/spark/s2.toml. The control is not symplectic and not in Hinge: the classical
Runge-Kutta method of order 4, with a projection onto both constraint levels after each step. It is written out below.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

root = pathlib.Path(__file__).resolve().parents[2]
program = sys.argv[1] if len(sys.argv) > 1 else root / "build/hinge"
models = root / "papers/spark"
step, steps = 0.12, 100_000


def final_error(method, stages, per_unit):
    arguments = ["--method", method, "--set", f"integrate.stages={stages}", "--step", repr(1 / per_unit), "--json"]
    run = subprocess.run([program, "run", models / "s1.toml", *arguments], check=True, capture_output=True)
    return json.loads(run.stdout)["final"]["quantities"]["error_y"]


def energies(stages):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.csv"
        arguments = ["--set", f"integrate.stages={stages}", "--step", str(step), "--end", repr(step * steps)]
        subprocess.run([program, "run", models / "s2.toml", *arguments, "--out", out, "--quiet"], check=True)
        return pd.read_csv(out, comment="#", usecols=["energy"])["energy"]


def control_energies():
    """S2 with m = w = R = eE = 1, as y' = v, v' = f - lambda q with lambda from the second derivative of |q|^2 = 1."""

    def rate(x):
        q1, q2, q3, v1, v2, v3 = x
        f1, f2, f3 = 2 * v2, -2 * v1, 1.0  # p1 = v1 - q2, p2 = v2 + q1
        pull = (v1 * v1 + v2 * v2 + v3 * v3 + q1 * f1 + q2 * f2 + q3 * f3) / (q1 * q1 + q2 * q2 + q3 * q3)
        return v1, v2, v3, f1 - pull * q1, f2 - pull * q2, f3 - pull * q3

    def project(x):
        q, v = x[:3], x[3:]
        length = math.sqrt(sum(a * a for a in q))
        q = [a / length for a in q]
        outwards = sum(a * b for a, b in zip(q, v))
        return q + [b - outwards * a for a, b in zip(q, v)]

    def energy(x):
        return (x[3] ** 2 + x[4] ** 2 + x[5] ** 2) / 2 - x[2]

    x, h, values = [0.2, 0.2, math.sqrt(0.92), 1.2, -1.2, 0.0], step, []
    values.append(energy(x))
    for _ in range(steps):
        k1 = rate(x)
        k2 = rate([a + h / 2 * b for a, b in zip(x, k1)])
        k3 = rate([a + h / 2 * b for a, b in zip(x, k2)])
        k4 = rate([a + h * b for a, b in zip(x, k3)])
        x = project([a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(x, k1, k2, k3, k4)])
        values.append(energy(x))
    return pd.Series(values)


per_unit = [5, 10, 20, 40, 80, 160]
families = [("gauss-lobatto", [1, 2, 3], "-", "o"), ("lobatto-iiia-iiib", [2, 3, 4], "--", "s")]
colours = {2: "#c44e52", 4: "#dd8452", 6: "#4c72b0"}

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
figure, (orders, energy) = plt.subplots(1, 2, figsize=(9, 3.9), dpi=110)

for method, all_stages, line, marker in families:
    for stages in all_stages:
        order = 2 * stages if method == "gauss-lobatto" else 2 * stages - 2
        errors = [final_error(method, stages, n) for n in per_unit]
        orders.loglog([1 / n for n in per_unit], errors, line, marker=marker, color=colours[order], linewidth=1.3,
                      markersize=4, markerfacecolor="white" if marker == "s" else None)
        if method == "gauss-lobatto":
            orders.text(0.24, errors[0], f"slope {order}", color=colours[order], va="center")
        print(f"{method:18s} {stages}  " + "  ".join(f"{e:.2e}" for e in errors))
orders.plot([], [], "-o", color="black", markersize=4, linewidth=1.3, label="gauss-lobatto, s = 1, 2, 3")
orders.plot([], [], "--s", color="black", markersize=4, linewidth=1.3, markerfacecolor="white",
            label="lobatto-iiia-iiib, s = 2, 3, 4")
orders.legend(frameon=False, fontsize=8, loc="lower right")
orders.set_xlim(5e-3, 0.5), orders.set_ylim(1e-16, 5)
orders.set_xlabel("step h")
orders.set_ylabel("error in y at t = 1")
orders.set_title("S1: order 2 s, and 2 s - 2", fontsize=9)

curves = [
    ("Runge-Kutta 4 with projection", control_energies(), "#8c8c8c"),
    ("gauss-lobatto, 1 stage", energies(1), colours[2]),
    ("gauss-lobatto, 2 stages", energies(2), colours[4]),
    ("gauss-lobatto, 3 stages", energies(3), colours[6]),
]
for label, values, colour in curves:
    error = (values - values[0]).abs()
    largest = error.cummax()[1:]  # so far: bounded means flat
    energy.loglog(largest.index, largest, color=colour, linewidth=1.6)
    at = (9e4, error.max() * 1.4) if "gauss" in label else (2e3, 6e-2)
    energy.text(*at, label, color=colour, ha="right", va="bottom")
    print(f"{label:30s} " + "  ".join(f"{error[: n + 1].max():.3e}" for n in [100, 1000, 10_000, 100_000]))
energy.set_xlim(1, 1e5), energy.set_ylim(1e-10, 5)
energy.set_xlabel("number of steps")
energy.set_ylabel("largest $|H - H_0|$ so far")
energy.set_title(f"S2: energy error, step {step}", fontsize=9)

figure.tight_layout(w_pad=3)
target = root / "docs/images/spark.png"
target.parent.mkdir(exist_ok=True)
figure.savefig(target)
