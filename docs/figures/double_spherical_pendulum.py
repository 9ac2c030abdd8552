#!/usr/bin/env python3
"""Draws docs/images/double-spherical-pendulum.png: where the masses go, and what happens to the energy.

    apt-get install python3-matplotlib python3-pandas
    make && python3 docs/figures/double_spherical_pendulum.py build/hinge

The model is examples/double-spherical-pendulum.toml, started out of the plane.
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
model = root / "examples/double-spherical-pendulum.toml"
kick = ["--set", "initial.velocity.q2=[0,0,1]"]


def run(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.csv"
        subprocess.run([program, "run", model, *kick, *arguments, "--out", out, "--quiet"], check=True)
        return pd.read_csv(out, comment="#")


path = run("--step", "0.005", "--end", "6")
curves = [
    ("rattle", run("--end", "200", "--method", "rattle"), "#c44e52"),
    ("gauss-lobatto, 2 stages", run("--end", "200"), "#dd8452"),
    ("gauss-lobatto, 3 stages", run("--end", "200", "--set", "integrate.stages=3"), "#55a868"),
    ("gauss-lobatto, 4 stages", run("--end", "200", "--set", "integrate.stages=4"), "#4c72b0"),
]

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
figure = plt.figure(figsize=(9, 3.9), dpi=110)

space = figure.add_axes([-0.01, 0.0, 0.42, 1.0], projection="3d")
for name, colour, width in [("q1", "#8c8c8c", 0.9), ("q2", "#4c72b0", 1.1)]:
    space.plot(path[f"{name}[0]"], path[f"{name}[2]"], path[f"{name}[1]"], color=colour, linewidth=width)
last = path.iloc[-1]
rods = [[0, last["q1[0]"], last["q2[0]"]], [0, last["q1[2]"], last["q2[2]"]], [0, last["q1[1]"], last["q2[1]"]]]
space.plot(*rods, color="black", linewidth=1.6, marker="o", markersize=4)
space.set_xlim(-1.6, 1.6), space.set_ylim(-1.6, 1.6), space.set_zlim(-2.1, 0.6)
space.set_box_aspect((3.2, 3.2, 2.7), zoom=1.1)
space.view_init(elev=18, azim=-62)
space.set_xticks([-1, 0, 1]), space.set_yticks([-1, 0, 1]), space.set_zticks([-2, -1, 0])
space.tick_params(labelsize=7, pad=-2)
space.text2D(0.5, 0.93, "first 6 s: upper mass grey, lower mass blue", transform=space.transAxes, ha="center")

energy = figure.add_axes([0.54, 0.13, 0.44, 0.76])
for label, data, colour in curves:
    error = (data["energy"] - data["energy"][0]).abs()
    # the largest error so far: bounded means flat
    energy.semilogy(data["t"], error.cummax().clip(lower=1e-17), color=colour, linewidth=1.6)
    energy.text(198, error.max() * 1.5, label, color=colour, ha="right", va="bottom")
energy.set_xlabel("t")
energy.set_ylabel("largest $|H - H_0|$ up to t")
energy.set_xlim(0, 200), energy.set_ylim(1e-12, 10)
energy.set_title("energy error, step 0.01", fontsize=9)

target = root / "docs/images/double-spherical-pendulum.png"
target.parent.mkdir(exist_ok=True)
figure.savefig(target)
for label, data, _ in curves:
    print(f"{label:28s} {(data['energy'] - data['energy'][0]).abs().max():.2e}")
