"""Times of the package: import, first result, many runs beside the program, threads, memory.

    build/venv/bin/python benchmarks/python_package.py [PROGRAM]      PROGRAM: build/hinge

Prints medians of 20 processes, and for many runs the median of five ratios, measured by turns. On a machine that does
other things, look at the processor's time, or go before them: as root, chrt -f 1 build/venv/bin/python ...
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

START = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import hinge
{more}
print(1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu))
"""


def fresh_processes(more: str, count: int = 20) -> tuple[float, float, float, float]:
    """Medians and minima, wall and processor, in ms."""
    pairs = []
    for _ in range(count):
        said = subprocess.run([sys.executable, "-c", START.format(more=more)], check=True, capture_output=True, text=True).stdout
        pairs.append([float(x) for x in said.split()])
    wall, cpu = zip(*pairs)
    return statistics.median(wall), min(wall), statistics.median(cpu), min(cpu)


def clock() -> tuple[float, float]:
    """Wall, and the processor's time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(u.ru_utime + u.ru_stime for u in used)


def timed(work) -> tuple[float, float]:
    before = clock()
    work()
    after = clock()
    return after[0] - before[0], after[1] - before[1]


def many_runs(program: str) -> None:
    import numpy as np

    import hinge

    # without quantities, of which the program would keep the extremes of every run
    text = hinge.example.replace("9.81*q[1]", "g*q[1]") + "\n[parameters]\ng = 9.81\n"
    model, runs, jobs = hinge.loads(text), 1000, 2
    folder = tempfile.mkdtemp()
    file = os.path.join(folder, "model.toml")
    Path(file).write_text(text)

    def by_program() -> None:
        out = os.path.join(folder, "sweep.csv")
        subprocess.run(
            [program, "sweep", file, "--vary", f"parameters.g=1:20:{runs}", "--jobs", str(jobs), "--quiet", "--out", out],
            check=True,
        )
        os.remove(out)

    def by_python() -> None:
        s = hinge.sweep(model, {"parameters.g": np.linspace(1, 20, runs)}, jobs=jobs, rows=False)
        assert not s.failures and s["q"].shape == (runs, 2)

    walls, cpus, last = [], [], ""
    for _ in range(5):
        p, q = timed(by_program), timed(by_python)
        walls.append(p[0] / q[0])
        cpus.append(p[1] / q[1])
        last = f"{1e3 * p[1] / runs:.3f} and {1e3 * q[1] / runs:.3f} ms of the processor per run"
    print(f"{runs} runs in {jobs} threads, throughput over the program's: {statistics.median(walls):.3f} by the wall clock,")
    print(f"  {statistics.median(cpus):.3f} by the processor's ({last})")


def threads() -> None:
    import hinge

    model = hinge.load(ROOT / "examples" / "double-spherical-pendulum.toml")

    def one(_: int = 0) -> None:
        model.run(step=0.001, end=40, every=100)

    one()
    walls, cpus, given_up, taken = [], [], [], []
    for _ in range(5):
        after = timed(lambda: (one(), one()))
        before = resource.getrusage(resource.RUSAGE_SELF)
        with ThreadPoolExecutor(2) as pool:
            together = timed(lambda: list(pool.map(one, range(2))))
        used = resource.getrusage(resource.RUSAGE_SELF)
        walls.append(after[0] / together[0])
        cpus.append(together[1] / after[1])
        given_up.append(used.ru_nvcsw - before.ru_nvcsw)
        taken.append(used.ru_nivcsw - before.ru_nivcsw)
    print(f"two runs in threads at once: {statistics.median(walls):.2f} times as fast as one after the other (on {os.cpu_count()} cores),")
    print(f"  {statistics.median(cpus):.3f} of the processor's time; a core was waited for {max(taken)} times (the load of the machine),")
    print(f"  something else {max(given_up)} times (locks, the end of a thread)")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * (resource.getpagesize() // 1024)


def memory(runs: int = 10_000) -> None:
    import hinge

    model = hinge.loads(hinge.example)
    for _ in range(500):
        model.run(end=0.1)
    before = resident()
    for _ in range(runs):
        model.run(end=0.1)
    print(f"memory after {runs} runs more: {resident() - before:+d} kB")


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "hinge")
    first = "r = hinge.loads(hinge.example).run(); r.verdict"
    measured = (
        ("import", "", "; at most 60 wanted"),
        ("import and first result", first, "; at most 100 wanted"),
        ("and its array, for which NumPy is imported", first + "; r['q']", ""),
        ("NumPy alone", "import numpy", ", import of hinge included"),
    )
    for name, more, wanted in measured:
        wall, least, cpu, least_cpu = fresh_processes(more)
        print(f"{name}: {wall:.1f} ms (least {least:.1f}); of the processor {cpu:.1f} (least {least_cpu:.1f}){wanted}")
    if os.access(program, os.X_OK):
        many_runs(program)
    else:
        print(f"no program at {program}: nothing to compare many runs with")
    threads()
    memory()


if __name__ == "__main__":
    main()
