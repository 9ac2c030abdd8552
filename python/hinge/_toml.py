"""Values of Python as TOML, exactly: numbers are written so that they are read back as they were."""

from __future__ import annotations

import math
from typing import Any

_escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def text(value: str) -> str:
    """A text in quotes."""
    out = []
    for c in value:
        if c in _escapes:
            out.append(_escapes[c])
        elif ord(c) < 0x20 or ord(c) == 0x7F:
            out.append(f"\\u{ord(c):04x}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def key(name: str) -> str:
    """A key, in quotes where it needs them."""
    bare = name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
    return name if bare else text(name)


def number(x: float) -> str:
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return repr(float(x))


def value(x: Any) -> str:
    """A value of Python, of NumPy or a symbol as TOML.

    >>> value([1, 0.1, True, "a", {"b": None}])
    Traceback (most recent call last):
    TypeError: None cannot be part of a model
    >>> value({"q": (1, 0.1), "name": 'a "b"', "on": True})
    '{ q = [1, 0.1], name = "a \\\\"b\\\\"", on = true }'
    """
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, int):
        return str(x)
    if isinstance(x, float):
        return number(x)
    if isinstance(x, str):
        return text(x)
    if isinstance(x, dict):
        return "{ " + ", ".join(f"{key(_name(k))} = {value(v)}" for k, v in x.items()) + " }" if x else "{}"
    if isinstance(x, (list, tuple, range)):
        return "[" + ", ".join(value(v) for v in x) + "]"
    if hasattr(x, "_hinge_text"):
        return text(x._hinge_text())
    if hasattr(x, "tolist"):  # arrays and numbers of NumPy
        kind = getattr(getattr(x, "dtype", None), "kind", "f")
        if kind not in "biufUO":
            raise TypeError(f"an array of {x.dtype} cannot be part of a model; make it one of numbers")
        return value(x.tolist())
    raise TypeError(f"{type(x).__name__ if x is not None else None} cannot be part of a model")


def _name(k: Any) -> str:
    if isinstance(k, str):
        return k
    if not hasattr(k, "_hinge_name"):
        raise TypeError(f"{k!r} is no name; give a text or a coordinate that was declared")
    name: str = k._hinge_name()
    return name
