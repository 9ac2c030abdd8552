"""Figures of results, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ._errors import InputError

if TYPE_CHECKING:
    import matplotlib.axes

    from ._result import Result
    from ._row import Array


def _values(result: Result, name: str) -> Array:
    if name in result:
        return result[name]
    if name in ("energy", "constraint", "hidden_constraint"):
        values: Array = getattr(result, name)
        return values
    if name.endswith("_error"):
        values = _values(result, name[: -len("_error")])
        change: Array = values - values[0]
        return change
    return result[name]  # says which there are


def plot(
    result: Result, wanted: Sequence[str | Sequence[str]], x: str, ax: matplotlib.axes.Axes | None, style: dict[str, Any]
) -> matplotlib.axes.Axes:
    import matplotlib.pyplot as plt

    names = [n for given in wanted for n in ([given] if isinstance(given, str) else given)]
    if not names:
        raise InputError('name what to draw, as in r.plot("energy_error") or r.plot("q")')
    if ax is None:
        _, ax = plt.subplots()
    along = _values(result, x)
    for name in names:
        values = _values(result, name)
        flat = values.reshape(len(values), -1)
        for k in range(flat.shape[1]):
            label = name if flat.shape[1] == 1 else result.columns[result._names().find(name)[0] + k]
            ax.plot(along, flat[:, k], label=label, **style)
    ax.set_xlabel(x)
    if len(ax.lines) > 1 and len(ax.lines) <= 20:
        ax.legend()
    else:
        ax.set_ylabel(names[0])
    title = result.about.get("title")
    if title:
        ax.set_title(title)
    return ax
