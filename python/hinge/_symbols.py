"""Symbols: expressions of the model language, made with Python's operators.

A symbol knows its shape and how it is written; what it means, its derivatives included, the library works out from that
text, as it does for a model file. Numbers are written so that they are read back as they were.
"""

from __future__ import annotations

import numbers
import operator
from typing import Any, Iterator, Sequence, Union

from . import _toml
from ._errors import InputError

Shape = tuple[int, ...]
Operand = Union["Symbol", float, int, Sequence[Any]]

# What NumPy calls them, and what they are here.
_operators = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow", "matmul": "matmul",
    "negative": "neg", "positive": "pos", "absolute": "abs", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "remainder": "mod", "floor_divide": "floordiv", "logical_and": "and_", "bitwise_and": "and_",
    "logical_or": "or_", "bitwise_or": "or_", "logical_not": "invert", "invert": "invert",
}  # fmt: skip
_functions = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "minimum": "min", "maximum": "max",
    **{n: n for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign", "hypot", "floor", "ceil")},
}  # fmt: skip

_ATOM, _POWER, _UNARY, _PRODUCT, _SUM, _COMPARE, _LOGIC = 5, 4, 3, 2, 1, 0, -1


class Symbol:
    """A number, a vector or an array of vectors that depends on the motion.

    >>> import hinge
    >>> q = hinge.coordinates("q", 3)
    >>> 0.5 * q.dot @ q.dot + 9.81 * q[2]
    <hinge.Symbol dot(0.5*q', q') + 9.81*q[2]>
    >>> (q @ q - 1).shape, q.shape
    ((), (3,))
    """

    __slots__ = ("_declared", "_parts", "_rank", "_text", "shape")

    def __init__(self, text: str, shape: Shape = (), rank: int = _ATOM, declared: str | None = None) -> None:
        self._text = text
        self._rank = rank
        self._declared = declared
        self._parts: list[Symbol] | None = None  # of a vector that was written entry by entry
        #: (): a number, (n,): a vector, (N, n): N vectors
        self.shape: Shape = shape

    @property
    def ndim(self) -> int:
        """0: a number, 1: a vector, 2: an array of vectors."""
        return len(self.shape)

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
        n, k = len(self), operator.index(k)
        if not -n <= k < n:
            raise IndexError(f"'{self._text}' has {n} entries; there is none with index {k}")
        k += n if k < 0 else 0
        return self._parts[k] if self._parts else Symbol(f"{self._within(_ATOM)}[{k}]", self.shape[1:])

    @property
    def dot(self) -> Symbol:
        """The time derivative: q' in a model file."""
        name = None if self._declared is None else self._declared + "'"  # velocities are given by it
        return Symbol(f"{self._within(_ATOM)}'", self.shape, declared=name)

    def __float__(self) -> float:
        raise TypeError(f"'{self._text}' has no value before a run; functions of symbols are hinge.sin, hinge.sqrt and so on")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Operators and functions of NumPy: np.sin(q[0]), and arrays on the left of an operator."""
        name = ufunc.__name__
        if method == "__call__" and not kwargs:
            if name in _operators:
                return getattr(operator, _operators[name])(*map(symbol, inputs))
            if name in _functions:
                return _function(_functions[name], *inputs)
            if name == "square":
                return _power(inputs[0], 2)
        raise TypeError(f"np.{name} is no function of symbols; hinge.sin, hinge.norm and so on are")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """np.where, np.clip and the like; others of NumPy see arrays of symbols."""
        from ._functions import of_numpy

        made = of_numpy(function.__name__, *args, **kwargs)
        return function._implementation(*args, **kwargs) if made is NotImplemented else made

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

    def __mod__(self, other: Operand) -> Symbol:
        return _function("mod", self, other)

    def __rmod__(self, other: Operand) -> Symbol:
        return _function("mod", other, self)

    def __floordiv__(self, other: Operand) -> Symbol:
        return _function("floor", _quotient(self, other))

    def __rfloordiv__(self, other: Operand) -> Symbol:
        return _function("floor", _quotient(other, self))

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

    def __and__(self, other: Operand) -> Symbol:
        return _joined(self, "and", other)

    def __rand__(self, other: Operand) -> Symbol:
        return _joined(other, "and", self)

    def __or__(self, other: Operand) -> Symbol:
        return _joined(self, "or", other)

    def __ror__(self, other: Operand) -> Symbol:
        return _joined(other, "or", self)

    def __invert__(self) -> Symbol:
        if self._rank > _COMPARE:
            raise InputError(f"~{self._text}: what is turned round is a condition, as in ~(x < 1)")
        return Symbol(f"not ({self._text})", (), _LOGIC)

    def __eq__(self, other: object) -> bool:
        """The same text; a condition of a model is `<=` or `>=`."""
        return isinstance(other, Symbol) and other._text == self._text and other.shape == self.shape


def symbol(x: Any) -> Symbol:
    """A symbol; of a number, a text of the model language, a list or an array the one that it stands for."""
    if isinstance(x, Symbol):
        return x
    if isinstance(x, str):
        return Symbol(x, (), _LOGIC)
    if isinstance(x, bool) or type(x).__name__ == "bool_":
        raise InputError("True or False cannot be part of an expression; a constraint a == b is written a - b")
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
    made = Symbol("[" + ", ".join(p._text for p in parts) + "]", (len(parts), *shapes.pop()))
    made._parts = parts
    return made


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


def _joined(a: Any, word: str, b: Any) -> Symbol:
    a, b = symbol(a), symbol(b)
    for part in (a, b):
        if part._rank > _COMPARE:
            sign = "&" if word == "and" else "|"
            raise InputError(f"'{a._text}' {sign} '{b._text}': conditions are joined so, in brackets: (x < 1) {sign} (y > 2)")
    return Symbol(f"{a._within(_COMPARE)} {word} {b._within(_COMPARE)}", (), _LOGIC)


def _function(name: str, *arguments: Any) -> Symbol:
    parts = [symbol(x) for x in arguments]
    for p in parts:
        if p.shape:
            raise InputError(f"{name}({p._text}) is of numbers; take the entries of the vector one by one")
    return Symbol(f"{name}({', '.join(p._text for p in parts)})")


def dot(a: Operand, b: Operand) -> Symbol:
    """The product of two vectors, or of a matrix and a vector, also written a @ b.

    >>> import hinge
    >>> q = hinge.coordinates("q", 2)
    >>> hinge.dot(q, [1, 0])
    <hinge.Symbol dot(q, [1, 0])>
    >>> [[2, 1], [1, 2]] @ q
    <hinge.Symbol [dot([2, 1], q), dot([1, 2], q)]>
    """
    a, b = symbol(a), symbol(b)
    if not a.shape or not b.shape or a.shape[-1] != b.shape[0] or len(a.shape) + len(b.shape) > 3:
        raise InputError(f"'{a._text}' @ '{b._text}': two vectors, or a matrix and a vector, whose sizes go together are needed, not "
                         f"{a.shape} and {b.shape}")  # fmt: skip
    if len(a.shape) == 2:
        return vector([dot(row, b) for row in a])
    if len(b.shape) == 2:
        return vector([dot(a, vector([row[k] for row in b])) for k in range(b.shape[1])])
    return Symbol(f"dot({a._text}, {b._text})")


def _declare(names: str, shape: Sequence[int]) -> Any:
    words = names.replace(",", " ").split() if isinstance(names, str) else []
    if not words:
        raise InputError('give a name, as in hinge.coordinates("q", 3)')
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):  # as NumPy has shapes
        shape = shape[0]
    if any(isinstance(n, str) for n in shape):
        raise InputError(f'several names are one text, as in hinge.coordinates("{names} {" ".join(map(str, shape))}")')
    made = tuple(_declared(w, tuple(operator.index(n) for n in shape)) for w in words)
    return made[0] if len(made) == 1 else made


def _declared(word: str, sizes: Shape) -> Symbol:
    name, bracket, rest = word.partition("[")  # "q[3]" as in a model file
    if bracket and not sizes and rest.endswith("]") and all(n.isdigit() for n in rest[:-1].split("][")):
        sizes = tuple(int(n) for n in rest[:-1].split("]["))
        word = name
    if len(sizes) > 2 or any(n < 1 for n in sizes):
        raise InputError(f"{word}: a shape is (), (n,) or (N, n) with positive sizes, not {sizes}")
    return Symbol(word, sizes, _ATOM, word)


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
    if any(isinstance(n, float) for n in shape):
        raise InputError(f"parameter: the value is given with the model, as in parameters={{{name}: {shape[-1]!r}}}; numbers after the name "
                         "are the sizes of a vector")  # fmt: skip
    return _declare(name, shape)


#: the time
t = Symbol("t")
#: the number pi
pi = Symbol("pi")
