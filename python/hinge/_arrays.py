"""Arrays as users give them, as numbers, or refused with a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import InputError

if TYPE_CHECKING:
    from ._row import Array


def numbers(values: Any, what: str) -> Array:
    """Finite numbers, of any shape."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"they are of type {given.dtype}")
        x: Array = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as e:
        raise InputError(f"{what}: these are no numbers ({e})") from None
    if not np.all(np.isfinite(x)):
        raise InputError(f"{what}: there is a number that is not finite")
    return x
