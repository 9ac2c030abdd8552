#!/usr/bin/env python3
"""Draws docs/images/disk-pile.png: a thousand disks that fall, and the forces between them at rest.

    apt-get install python3-matplotlib python3-numpy
    make && python3 docs/figures/contacts.py build/hinge

The model is examples/disk-pile.toml. The pictures that `--out pile.pvd` writes are read here without ParaView; with
--show FILE.pvd K TARGET.png the K-th of any run in the plane is drawn.
"""
import base64
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection

root = pathlib.Path(__file__).resolve().parents[2]


def unpacked(text, packed):
    """Bytes of an array. Packed: blocks, size, size of the last, packed size; then the block, as base64 of its own."""
    if not packed:
        return base64.b64decode(text)[8:]
    head = np.frombuffer(base64.b64decode(text[:44]), np.int64)
    return zlib.decompress(base64.b64decode(text[44:])) if head[0] else b""


def arrays(path):
    """The arrays of a .vtp file by their names, those of cells as cell:NAME; Lines and Polys as lists of indices."""
    root = xml.parse(path).getroot()
    piece, packed = root.find("PolyData/Piece"), root.get("compressor") is not None
    out = {}
    for part in piece:
        for item in part:
            kind = np.float64 if item.get("type") == "Float64" else np.int64
            values = np.frombuffer(unpacked(item.text, packed), kind)
            width = int(item.get("NumberOfComponents", 1))
            name = {"CellData": "cell:", "PointData": "", "Points": ""}.get(part.tag, part.tag + ":")
            out[name + item.get("Name")] = values.reshape(-1, width) if width > 1 else values
    for kind in ("Lines", "Polys"):
        ends = out[kind + ":offsets"]
        out[kind] = [out[kind + ":connectivity"][a:b] for a, b in zip(np.r_[0, ends[:-1]], ends)]
    return out


def frames(index):
    """Time and the names of the files, for each picture of a .pvd: points, surfaces, contacts, what is fixed."""
    parts = {}
    for item in xml.parse(index).getroot().iter("DataSet"):
        parts.setdefault(float(item.get("timestep")), []).append(index.parent / item.get("file"))
    return sorted(parts.items())


def draw(axes, files):
    points, surfaces, contacts, fixed = map(arrays, files)
    for part in (surfaces, fixed):
        corners = part["Points"][:, :2]
        axes.add_collection(PolyCollection([corners[p] for p in part["Polys"]], facecolor="#8c8c8c"))
    diameter = 2 * points["radius"]
    axes.add_collection(
        EllipseCollection(diameter, diameter, 0 * diameter, units="xy", offsets=points["Points"][:, :2],
                          offset_transform=axes.transData, facecolor="#d8dee9", edgecolor="#9aa5b8", linewidth=0.3))
    if contacts["Lines"]:
        force = contacts["cell:normal_force"][-len(contacts["Lines"]):]
        chains = [contacts["Points"][line, :2] for line in contacts["Lines"]]
        widths = 3.5 * np.clip(force / np.quantile(force, 0.99), 0, 1.2)
        axes.add_collection(LineCollection(chains, linewidths=widths, color="#c44e52", capstyle="round"))
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.autoscale_view()


if len(sys.argv) > 1 and sys.argv[1] == "--show":
    figure, axes = plt.subplots(figsize=(6, 6), dpi=110)
    draw(axes, frames(pathlib.Path(sys.argv[2]))[int(sys.argv[3])][1])
    figure.savefig(sys.argv[4])
    sys.exit()

program = sys.argv[1] if len(sys.argv) > 1 else root / "build/hinge"
with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder) / "pile.pvd"
    subprocess.run([program, "run", root / "examples/disk-pile.toml", "--set", "output.interval=0.5", "--out", out,
                    "--quiet"], check=True)
    series = frames(out)
    figure, panels = plt.subplots(1, 3, figsize=(9, 4.2), dpi=110, gridspec_kw={"wspace": 0.04})
    for axes, (t, files) in zip(panels, (series[0], series[1], series[-1])):
        draw(axes, files)
        axes.set_xlim(-0.2, 4.2), axes.set_ylim(-0.2, 5.1)
        axes.set_title(f"t = {t:g} s", fontsize=9)
    weight = arrays(series[-1][1][2])
target = root / "docs/images/disk-pile.png"
figure.savefig(target, bbox_inches="tight")
