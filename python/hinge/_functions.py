"""Functions of symbols, as expressions of the model language have them."""

from __future__ import annotations

import functools
import operator
from typing import Any

from ._errors import InputError
from ._symbols import Operand, Symbol, _function, dot, symbol


def cross(a: Operand, b: Operand) -> Symbol:
    """The vector product; in the plane a number.

    >>> import hinge
    >>> hinge.cross(hinge.coordinates("q", 3), [0, 0, 1])
    <hinge.Symbol cross(q, [0, 0, 1])>
    """
    a, b = symbol(a), symbol(b)
    if a.shape != b.shape or a.shape not in ((2,), (3,)):
        raise InputError(f"cross('{a._text}', '{b._text}'): two vectors of the plane or of space are needed")
    return Symbol(f"cross({a._text}, {b._text})", (3,) if a.shape == (3,) else ())


def norm(a: Operand) -> Symbol:
    """The length of a vector.

    >>> import hinge
    >>> hinge.norm(hinge.coordinates("q", 3))
    <hinge.Symbol norm(q)>
    """
    a = symbol(a)
    if len(a.shape) != 1:
        raise InputError(f"norm({a._text}) is of a vector")
    return Symbol(f"norm({a._text})")


def where(condition: Symbol, a: Operand, b: Operand) -> Symbol:
    """a where the condition holds, else b.

    >>> import hinge
    >>> x = hinge.coordinates("x")
    >>> hinge.where(x > 0, x, 0)
    <hinge.Symbol if(x > 0, x, 0)>
    """
    condition, a, b = symbol(condition), symbol(a), symbol(b)
    return Symbol(f"if({condition._text}, {a._text}, {b._text})", a.shape)


def sin(x: Operand) -> Symbol:
    """The sine.

    >>> import hinge
    >>> hinge.sin(hinge.t)
    <hinge.Symbol sin(t)>
    """
    return _function("sin", x)


def cos(x: Operand) -> Symbol:
    """The cosine.

    >>> import hinge
    >>> hinge.cos(hinge.t)
    <hinge.Symbol cos(t)>
    """
    return _function("cos", x)


def tan(x: Operand) -> Symbol:
    """The tangent.

    >>> import hinge
    >>> hinge.tan(hinge.t)
    <hinge.Symbol tan(t)>
    """
    return _function("tan", x)


def asin(x: Operand) -> Symbol:
    """The inverse of the sine.

    >>> import hinge
    >>> hinge.asin(hinge.t)
    <hinge.Symbol asin(t)>
    """
    return _function("asin", x)


def acos(x: Operand) -> Symbol:
    """The inverse of the cosine.

    >>> import hinge
    >>> hinge.acos(hinge.t)
    <hinge.Symbol acos(t)>
    """
    return _function("acos", x)


def atan(x: Operand) -> Symbol:
    """The inverse of the tangent.

    >>> import hinge
    >>> hinge.atan(hinge.t)
    <hinge.Symbol atan(t)>
    """
    return _function("atan", x)


def atan2(y: Operand, x: Operand) -> Symbol:
    """The angle of the point (x, y).

    >>> import hinge
    >>> hinge.atan2(hinge.t, 1)
    <hinge.Symbol atan2(t, 1)>
    """
    return _function("atan2", y, x)


def sinh(x: Operand) -> Symbol:
    """The hyperbolic sine.

    >>> import hinge
    >>> hinge.sinh(hinge.t)
    <hinge.Symbol sinh(t)>
    """
    return _function("sinh", x)


def cosh(x: Operand) -> Symbol:
    """The hyperbolic cosine.

    >>> import hinge
    >>> hinge.cosh(hinge.t)
    <hinge.Symbol cosh(t)>
    """
    return _function("cosh", x)


def tanh(x: Operand) -> Symbol:
    """The hyperbolic tangent.

    >>> import hinge
    >>> hinge.tanh(hinge.t)
    <hinge.Symbol tanh(t)>
    """
    return _function("tanh", x)


def exp(x: Operand) -> Symbol:
    """The exponential function.

    >>> import hinge
    >>> hinge.exp(hinge.t)
    <hinge.Symbol exp(t)>
    """
    return _function("exp", x)


def log(x: Operand) -> Symbol:
    """The natural logarithm.

    >>> import hinge
    >>> hinge.log(hinge.t)
    <hinge.Symbol log(t)>
    """
    return _function("log", x)


def sqrt(x: Operand) -> Symbol:
    """The square root.

    >>> import hinge
    >>> hinge.sqrt(hinge.t)
    <hinge.Symbol sqrt(t)>
    """
    return _function("sqrt", x)


def sign(x: Operand) -> Symbol:
    """-1, 0 or 1.

    >>> import hinge
    >>> hinge.sign(hinge.t)
    <hinge.Symbol sign(t)>
    """
    return _function("sign", x)


def floor(x: Operand) -> Symbol:
    """The whole number below; also x // 1.

    >>> import hinge
    >>> hinge.floor(hinge.t), hinge.t // 2
    (<hinge.Symbol floor(t)>, <hinge.Symbol floor(t/2)>)
    """
    return _function("floor", x)


def ceil(x: Operand) -> Symbol:
    """The whole number above.

    >>> import hinge
    >>> hinge.ceil(hinge.t)
    <hinge.Symbol ceil(t)>
    """
    return _function("ceil", x)


def mod(x: Operand, y: Operand) -> Symbol:
    """What x has above a multiple of y; also x % y.

    >>> import hinge
    >>> hinge.mod(hinge.t, 2), hinge.t % 2
    (<hinge.Symbol mod(t, 2)>, <hinge.Symbol mod(t, 2)>)
    """
    return _function("mod", x, y)


def pulse(t: Operand, period: Operand, width: Operand) -> Symbol:
    """1 for a time `width` from the beginning of each period on, else 0.

    >>> import hinge
    >>> hinge.pulse(hinge.t, 1, 0.1)
    <hinge.Symbol pulse(t, 1, 0.1)>
    """
    return _function("pulse", t, period, width)


def minimum(*x: Operand) -> Symbol:
    """The smallest of two or more.

    >>> import hinge
    >>> hinge.minimum(hinge.t, 1, 2.5)
    <hinge.Symbol min(t, 1, 2.5)>
    """
    return _function("min", *x)


def maximum(*x: Operand) -> Symbol:
    """The largest of two or more.

    >>> import hinge
    >>> hinge.maximum(hinge.t, 1)
    <hinge.Symbol max(t, 1)>
    """
    return _function("max", *x)


def hypot(x: Operand, y: Operand) -> Symbol:
    """sqrt(x^2 + y^2)

    >>> import hinge
    >>> hinge.hypot(hinge.t, 1)
    <hinge.Symbol hypot(t, 1)>
    """
    return _function("hypot", x, y)


def of_numpy(name: str, *given: Any, **more: Any) -> Any:
    """What a function of NumPy with this name is for symbols; NotImplemented where there is none."""
    if name == "where" and len(given) == 3:
        return where(*given)
    if name == "clip" and len(given) == 3 and not more and given[1] is not None and given[2] is not None:
        return minimum(maximum(given[0], given[1]), given[2])
    if name == "norm" and len(given) == 1 and not more and symbol(given[0]).ndim == 1:
        return norm(given[0])
    if name == "cross" and len(given) == 2 and not more:
        return cross(*given)
    if name == "dot" and len(given) == 2 and not more and all(symbol(x).ndim > 0 for x in given):
        return dot(*given)
    if name == "sum" and len(given) == 1 and not more and symbol(given[0]).ndim == 1:
        return functools.reduce(operator.add, symbol(given[0]))
    return NotImplemented
