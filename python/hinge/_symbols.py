"""Symbols: expressions of the model language, made with Python's operators.

A symbol knows its shape and how it is written; what it means, its derivatives included, the library works out from that
text, as it does for a model file. Numbers are written so that they are read back as they were.
"""

from __future__ import annotations

import numbers
from typing import Any, Iterator, Sequence, Union

from . import _toml
from ._errors import InputError

Shape = tuple[int, ...]
Operand = Union["Symbol", float, int, Sequence[Any]]

_ATOM, _POWER, _UNARY, _PRODUCT, _SUM, _COMPARE = 5, 4, 3, 2, 1, 0


class Symbol:
    """A number, a vector or an array of vectors that depends on the motion.

    >>> import hinge
    >>> q = hinge.coordinates("q", 3)
    >>> 0.5 * q.dot @ q.dot + 9.81 * q[2]
    <hinge.Symbol dot(0.5*q', q') + 9.81*q[2]>
    >>> (q @ q - 1).shape, q.shape
    ((), (3,))
    """

    __slots__ = ("_declared", "_rank", "_text", "shape")
    __array_ufunc__ = None  # arrays of NumPy leave operators to this class

    def __init__(self, text: str, shape: Shape = (), rank: int = _ATOM, declared: str | None = None) -> None:
        self._text = text
        self._rank = rank
        self._declared = declared
        #: (): a number, (n,): a vector, (N, n): N vectors
        self.shape: Shape = shape

    # ---- Text ----

    def _hinge_text(self) -> str:
        return self._text

    def _hinge_name(self) -> str:
        if self._declared is None:
            raise InputError(f"'{self._text}' is no coordinate; give one that was declared")
        return self._declared

    def _within(self, rank: int) -> str:
        return self._text if self._rank >= rank else f"({self._text})"

    def __repr__(self) -> str:
        return f"<hinge.Symbol {self._text}>"

    def __hash__(self) -> int:
        return hash((self._text, self.shape))

    def __bool__(self) -> bool:
        raise TypeError("whether a symbol is true is not known before a run; use hinge.where(condition, a, b)")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a symbol that is a number has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Symbol]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: Any) -> Symbol:
        if isinstance(k, tuple):
            entry = self
            for one in k:
                entry = entry[one]
            return entry
        if isinstance(k, slice):
            return vector([self[i] for i in range(*k.indices(len(self)))])
        n, k = len(self), int(k)
        if not -n <= k < n:
            raise IndexError(f"'{self._text}' has {n} entries; there is none with index {k}")
        k += n if k < 0 else 0
        return Symbol(f"{self._within(_ATOM)}[{k}]", self.shape[1:])

    @property
    def dot(self) -> Symbol:
        """The time derivative: q' in a model file."""
        return Symbol(f"{self._within(_ATOM)}'", self.shape)

    # ---- Operators ----

    def __neg__(self) -> Symbol:
        return Symbol(f"-{self._within(_UNARY)}", self.shape, _UNARY)

    def __pos__(self) -> Symbol:
        return self

    def __add__(self, other: Operand) -> Symbol:
        return _sum(self, "+", other)

    def __radd__(self, other: Operand) -> Symbol:
        return _sum(other, "+", self)

    def __sub__(self, other: Operand) -> Symbol:
        return _sum(self, "-", other)

    def __rsub__(self, other: Operand) -> Symbol:
        return _sum(other, "-", self)

    def __mul__(self, other: Operand) -> Symbol:
        return _product(self, other)

    def __rmul__(self, other: Operand) -> Symbol:
        return _product(other, self)

    def __truediv__(self, other: Operand) -> Symbol:
        return _quotient(self, other)

    def __rtruediv__(self, other: Operand) -> Symbol:
        return _quotient(other, self)

    def __pow__(self, other: Operand) -> Symbol:
        return _power(self, other)

    def __rpow__(self, other: Operand) -> Symbol:
        return _power(other, self)

    def __matmul__(self, other: Operand) -> Symbol:
        return dot(self, other)

    def __rmatmul__(self, other: Operand) -> Symbol:
        return dot(other, self)

    def __abs__(self) -> Symbol:
        return _function("abs", self)

    def __lt__(self, other: Operand) -> Symbol:
        return _comparison(self, "<", other)

    def __le__(self, other: Operand) -> Symbol:
        return _comparison(self, "<=", other)

    def __gt__(self, other: Operand) -> Symbol:
        return _comparison(self, ">", other)

    def __ge__(self, other: Operand) -> Symbol:
        return _comparison(self, ">=", other)

    def __eq__(self, other: object) -> bool:
        """The same text; a condition of a model is `<=` or `>=`."""
        return isinstance(other, Symbol) and other._text == self._text and other.shape == self.shape


def symbol(x: Any) -> Symbol:
    """A symbol; of a number, a text of the model language, a list or an array the one that it stands for."""
    if isinstance(x, Symbol):
        return x
    if isinstance(x, str):
        return Symbol(x, (), _COMPARE - 1)
    if isinstance(x, numbers.Real):
        value = float(x)
        if value != value or value in (float("inf"), float("-inf")):
            raise InputError(f"{value} cannot be part of an expression; give a finite number")
        text = str(int(x)) if isinstance(x, numbers.Integral) else _toml.number(value)
        return Symbol(text, (), _UNARY if text.startswith("-") else _ATOM)
    if hasattr(x, "tolist"):
        return symbol(x.tolist())
    if isinstance(x, (list, tuple)):
        return vector(x)
    raise TypeError(f"{type(x).__name__} cannot be part of an expression")


def vector(entries: Sequence[Any]) -> Symbol:
    """A vector of numbers or symbols; of vectors an array of them.

    >>> import hinge
    >>> x = hinge.coordinates("x")
    >>> hinge.vector([x, 2 * x, 1])
    <hinge.Symbol [x, 2*x, 1]>
    """
    parts = [symbol(x) for x in entries]
    shapes = {p.shape for p in parts}
    if not parts or len(shapes) > 1:
        raise InputError("a vector needs at least one entry, and entries of one shape")
    return Symbol("[" + ", ".join(p._text for p in parts) + "]", (len(parts), *shapes.pop()))


def _sum(a: Any, sign: str, b: Any) -> Symbol:
    a, b = symbol(a), symbol(b)
    if a.shape != b.shape:
        raise InputError(f"'{a._text}' {sign} '{b._text}': shapes {a.shape} and {b.shape} do not go together")
    right = f"({b._text})" if b._rank == _UNARY else b._within(_PRODUCT)
    return Symbol(f"{a._within(_SUM)} {sign} {right}", a.shape, _SUM)


def _product(a: Any, b: Any) -> Symbol:
    a, b = symbol(a), symbol(b)
    if a.shape and b.shape:
        raise InputError(f"'{a._text}' * '{b._text}': the product of vectors is a @ b, or hinge.cross(a, b)")
    return Symbol(f"{a._within(_PRODUCT)}*{b._within(_POWER)}", a.shape or b.shape, _PRODUCT)


def _quotient(a: Any, b: Any) -> Symbol:
    a, b = symbol(a), symbol(b)
    if b.shape:
        raise InputError(f"'{a._text}' / '{b._text}': nothing can be divided by a vector")
    return Symbol(f"{a._within(_PRODUCT)}/{b._within(_POWER)}", a.shape, _PRODUCT)


def _power(a: Any, b: Any) -> Symbol:
    a, b = symbol(a), symbol(b)
    if a.shape or b.shape:
        raise InputError(f"'{a._text}' ^ '{b._text}': powers are of numbers; of a vector q write q @ q")
    return Symbol(f"{a._within(_ATOM)}^{b._within(_ATOM)}", (), _POWER)


def _comparison(a: Any, sign: str, b: Any) -> Symbol:
    a, b = symbol(a), symbol(b)
    return Symbol(f"{a._within(_SUM)} {sign} {b._within(_SUM)}", (), _COMPARE)


def _function(name: str, *arguments: Any) -> Symbol:
    parts = [symbol(x) for x in arguments]
    for p in parts:
        if p.shape:
            raise InputError(f"{name}({p._text}) is of numbers; take the entries of the vector one by one")
    return Symbol(f"{name}({', '.join(p._text for p in parts)})")


def dot(a: Operand, b: Operand) -> Symbol:
    """The product of two vectors, also written a @ b.

    >>> import hinge
    >>> hinge.dot(hinge.coordinates("q", 2), [1, 0])
    <hinge.Symbol dot(q, [1, 0])>
    """
    a, b = symbol(a), symbol(b)
    if len(a.shape) != 1 or a.shape != b.shape:
        raise InputError(f"'{a._text}' @ '{b._text}': two vectors of one length are needed, not {a.shape} and {b.shape}")
    return Symbol(f"dot({a._text}, {b._text})")


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
    a, b = symbol(a), symbol(b)
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


def _declare(names: str, shape: Sequence[int]) -> Any:
    words = names.replace(",", " ").split()
    if not words:
        raise InputError('give a name, as in hinge.coordinates("q", 3)')
    sizes = tuple(int(n) for n in shape)
    if len(sizes) > 2 or any(n < 1 for n in sizes):
        raise InputError(f"{words[0]}: a shape is (), (n,) or (N, n) with positive sizes, not {sizes}")
    made = tuple(Symbol(w, sizes, _ATOM, w) for w in words)
    return made[0] if len(made) == 1 else made


def coordinates(names: str, *shape: int) -> Any:
    """Coordinates: a number, a vector of n, or N vectors of n. Several names give several.

    >>> import hinge
    >>> q = hinge.coordinates("q", 3)
    >>> x, y = hinge.coordinates("x y")
    >>> chain = hinge.coordinates("q", 20, 2)
    >>> chain[3].shape
    (2,)
    """
    return _declare(names, shape)


momenta = unknowns = coordinates


def parameter(name: str, *shape: int) -> Any:
    """A parameter: a symbol with a value that can be set later, `m.set("parameters.l", 2)`.

    >>> import hinge
    >>> l = hinge.parameter("l")
    >>> q = hinge.coordinates("q", 2)
    >>> m = hinge.Lagrangian(q, kinetic=q.dot @ q.dot / 2, potential=9.81 * q[1], constraints=[(q @ q - l**2) / 2],
    ...                      position={q: [l, 0]}, parameters={l: 1.0})
    >>> float(m.set("parameters.l", 2.0).run(step=0.01, end=1)["q"][0, 0])
    2.0
    """
    return _declare(name, shape)


#: the time
t = Symbol("t")
#: the number pi
pi = Symbol("pi")
