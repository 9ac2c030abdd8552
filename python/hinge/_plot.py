"""Figures of results, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._errors import InputError
from ._symbols import Symbol

if TYPE_CHECKING:
    import matplotlib.axes

    from ._result import Result


def plot(
    result: Result, wanted: Sequence[Any], x: Any, ax: matplotlib.axes.Axes | None, style: dict[str, Any]
) -> matplotlib.axes.Axes:
    import matplotlib.pyplot as plt

    single = (str, Symbol)
    listed = [n for given in wanted for n in ([given] if isinstance(given, single) else given)]
    names = [n._hinge_text() if isinstance(n, Symbol) else n for n in listed]
    if not names:
        raise InputError('name what to draw, as in r.plot("energy_error") or r.plot("q")')
    if ax is None:
        _, ax = plt.subplots()
    x = x._hinge_text() if isinstance(x, Symbol) else x
    along = result[x]
    for name in names:
        values = result[name]
        for entry in np.ndindex(values.shape[1:]):
            label = name + "".join(f"[{i}]" for i in entry)
            ax.plot(along, values[(slice(None), *entry)], **{"label": label, **style})
    ax.set_xlabel(x)
    if len(ax.lines) > 1 and len(ax.lines) <= 20:
        ax.legend()
    else:
        ax.set_ylabel(names[0])
    title = result.about.get("title")
    if title:
        ax.set_title(title)
    return ax
