"""How far a run is: a bar on a terminal and in a notebook, none elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Callable, Optional, Union

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
        self.pause = 1.0 if _in_notebook() else 0.1  # a notebook keeps every line until it is shown again

    def __call__(self, t: float) -> None:
        elapsed = time.monotonic() - self.begun
        fraction = (t - self.start) / (self.end - self.start) if self.end > self.start else 0
        if elapsed < self.next or fraction <= 0:
            return
        self.next = elapsed + self.pause
        filled = min(self.width, int(fraction * self.width))
        bar = "#" * filled + "." * (self.width - filled)
        left = elapsed * (1 - fraction) / fraction
        sys.stderr.write(f"\r[{bar}] {100 * fraction:3.0f} %  {self.label(t)} {left:.0f} s left   ")
        sys.stderr.flush()
        self.drawn = True

    def close(self) -> None:
        if self.drawn:
            sys.stderr.write("\r" + " " * (self.width + 45) + "\r")
            sys.stderr.flush()


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
