"""How far a run is: a bar on a terminal and in a notebook, none elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Union

Progress = Union[None, bool, Callable[[float], Optional[bool]]]


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython  # type: ignore[import-not-found, unused-ignore]

    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """A line that is drawn over and over; nothing for runs of less than half a second."""

    width = 40

    def __init__(self, start: float, end: float, label: Callable[[float], str] = "t = {:<10.4g}".format) -> None:
        self.start, self.end, self.label = start, end, label
        self.begun = time.monotonic()
        self.drawn = False
        self.next = 0.5
        self.handle: Any = None  # of what a notebook shows, and changes in its place

    def __call__(self, t: float) -> None:
        elapsed = time.monotonic() - self.begun
        fraction = (t - self.start) / (self.end - self.start) if self.end > self.start else 0
        if elapsed < self.next or fraction <= 0:
            return
        self.next = elapsed + 0.1
        filled = min(self.width, int(fraction * self.width))
        bar = "#" * filled + "." * (self.width - filled)
        left = elapsed * (1 - fraction) / fraction
        self._write(f"[{bar}] {100 * fraction:3.0f} %  {self.label(t)} {left:.0f} s left   ")
        self.drawn = True

    def _write(self, line: str) -> None:
        if not _in_notebook():
            sys.stderr.write("\r" + line)
            sys.stderr.flush()
        elif self.handle is None:
            from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

            self.handle = display({"text/plain": line}, raw=True, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        else:
            self.handle.update({"text/plain": line}, raw=True)

    def close(self) -> None:
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)
        elif self.drawn:
            self._write(" " * (self.width + 45) + "\r")


def bar(wanted: Progress, start: float, end: float) -> tuple[Callable[[float], Optional[bool]] | None, Bar | None]:
    """What is called on the way, and the bar to close at the end."""
    if callable(wanted):
        return wanted, None
    if not shown(wanted):
        return None, None
    drawn = Bar(start, end)
    return drawn, drawn


def shown(wanted: bool | None) -> bool:
    """Is there a bar? Where nothing is said, on a terminal and in a notebook."""
    return (sys.stderr is not None and sys.stderr.isatty()) or _in_notebook() if wanted is None else bool(wanted)
