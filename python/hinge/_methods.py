"""The methods that there are."""

from __future__ import annotations

import json
from typing import Any

from . import _core


class MethodTable(list):  # type: ignore[type-arg]
    """Methods; prints as a table."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for m in self:
                if m["name"] == key:
                    return m
            raise KeyError(f"there is no method {key!r}; there are {', '.join(m['name'] for m in self)}")
        return super().__getitem__(key)

    def __str__(self) -> str:
        return "\n".join(f"{m['name']:<18} {m['summary']} (order {m['order']})" for m in self)

    __repr__ = __str__


def methods() -> MethodTable:
    """Every method: order, what it preserves, options, reference.

    >>> import hinge
    >>> hinge.methods()["gauss-lobatto"]["preserves"]["symplectic"]
    True
    """
    return MethodTable(json.loads(_core.methods_json()))
