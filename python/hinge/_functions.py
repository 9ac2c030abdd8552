"""Functions of symbols, as expressions of the model language have them."""

from __future__ import annotations

from ._errors import InputError
from ._symbols import Operand, Symbol, _function, symbol


def cross(a: Operand, b: Operand) -> Symbol:
    """The vector product; in the plane a number."""
    a, b = symbol(a), symbol(b)
    if a.shape != b.shape or a.shape not in ((2,), (3,)):
        raise InputError(f"cross('{a._text}', '{b._text}'): two vectors of the plane or of space are needed")
    return Symbol(f"cross({a._text}, {b._text})", (3,) if a.shape == (3,) else ())


def norm(a: Operand) -> Symbol:
    """The length of a vector."""
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
    """The sine."""
    return _function("sin", x)


def cos(x: Operand) -> Symbol:
    """The cosine."""
    return _function("cos", x)


def tan(x: Operand) -> Symbol:
    """The tangent."""
    return _function("tan", x)


def asin(x: Operand) -> Symbol:
    """The inverse of the sine."""
    return _function("asin", x)


def acos(x: Operand) -> Symbol:
    """The inverse of the cosine."""
    return _function("acos", x)


def atan(x: Operand) -> Symbol:
    """The inverse of the tangent."""
    return _function("atan", x)


def atan2(y: Operand, x: Operand) -> Symbol:
    """The angle of the point (x, y)."""
    return _function("atan2", y, x)


def sinh(x: Operand) -> Symbol:
    """The hyperbolic sine."""
    return _function("sinh", x)


def cosh(x: Operand) -> Symbol:
    """The hyperbolic cosine."""
    return _function("cosh", x)


def tanh(x: Operand) -> Symbol:
    """The hyperbolic tangent."""
    return _function("tanh", x)


def exp(x: Operand) -> Symbol:
    """The exponential function."""
    return _function("exp", x)


def log(x: Operand) -> Symbol:
    """The natural logarithm."""
    return _function("log", x)


def sqrt(x: Operand) -> Symbol:
    """The square root."""
    return _function("sqrt", x)


def sign(x: Operand) -> Symbol:
    """-1, 0 or 1."""
    return _function("sign", x)


def minimum(*x: Operand) -> Symbol:
    """The smallest of two or more."""
    return _function("min", *x)


def maximum(*x: Operand) -> Symbol:
    """The largest of two or more."""
    return _function("max", *x)


def hypot(x: Operand, y: Operand) -> Symbol:
    """sqrt(x^2 + y^2)"""
    return _function("hypot", x, y)
