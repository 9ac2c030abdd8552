#!/usr/bin/env python3
"""Draws docs/images/symplectic-euler.png: errors on E1 of the symplectic Euler methods and of their compositions.

    apt-get install python3-matplotlib python3-pandas
    make && python3 docs/figures/symplectic_euler.py build/hinge

The model is papers/symplectic-euler/e1.toml, whose reaction is quadratic in the multiplier. The numbers are those that
`hinge convergence` prints.
"""
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
model = root / "papers/symplectic-euler/e1.toml"
limit = 0.425569638119257  # error of the ODE that the natural variant converges to: tests/data/symplectic.json


def errors(method, per_unit):
    """Steps, and errors in y at t = 1."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "errors.csv"
        steps = ",".join(repr(1 / n) for n in per_unit)
        subprocess.run([program, "convergence", model, "--methods", method, "--steps", steps, "--csv", out, "--quiet"],
                       check=True, capture_output=True)
        table = pd.read_csv(out, comment="#")
    print(f"{method:50s} " + "  ".join(f"{e:.2e}" for e in table["error_y"]))
    return table["step"], table["error_y"]


halves = [10 * 2**k for k in range(9)]
single = [
    ("natural", "symplectic-euler(variant=natural)", "#c44e52", "o"),
    ("true", "symplectic-euler", "#4c72b0", "o"),
    ("adjoint of true", "symplectic-euler(adjoint=true)", "#55a868", "s"),
    ("true conjugate", "symplectic-euler(conjugate=true)", "#dd8452", "^"),
]
composed = [
    ("true, order 1", "symplectic-euler", halves[:7], "#4c72b0"),
    ("order 2", "composition(order=2)", halves[:7], "#937860"),
    ("order 4", "composition(order=4)", halves[:7], "#8172b3"),
    ("order 6", "composition(order=6,scheme=optimised)", halves[:5], "#404040"),
]

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), dpi=110)

for label, method, colour, marker in single:
    h, error = errors(method, halves)
    left.loglog(h, error, "-", marker=marker, color=colour, linewidth=1.3, markersize=4, label=label,
                markerfacecolor=colour if marker == "o" else "white")
left.axhline(limit, color="#c44e52", linewidth=0.8, linestyle=":")
left.text(3.6e-4, limit * 0.9, "limit of natural: 0.426", color="#c44e52", va="top")
left.set_xlim(3e-4, 0.15), left.set_ylim(2e-3, 6)
left.legend(frameon=False, fontsize=8, loc="lower right")
left.set_title("E1, r quadratic in psi: natural goes elsewhere", fontsize=9)

for label, method, per_unit, colour in composed:
    h, error = errors(method, per_unit)
    right.loglog(h, error, "-o", color=colour, linewidth=1.3, markersize=4)
    right.text(0.115, error.iloc[0], label, color=colour, va="center")
right.set_xlim(1e-3, 0.7), right.set_ylim(1e-13, 10)
right.set_xticks([1e-3, 1e-2, 1e-1])
right.set_title("E1: compositions of true with its adjoint", fontsize=9)

for axes in (left, right):
    axes.set_xlabel("step h")
    axes.set_ylabel("error in y at t = 1")
figure.tight_layout(w_pad=3)
target = root / "docs/images/symplectic-euler.png"
target.parent.mkdir(exist_ok=True)
figure.savefig(target)
