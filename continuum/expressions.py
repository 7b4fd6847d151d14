"""Formulas as text: parsed into a tree of known operations, never evaluated as code.

The grammar (each line binds tighter than the one above)::

    expression = expression ("+" | "-") expression
               | expression ("*" | "/") expression
               | ("+" | "-") expression
               | expression "**" expression              # right associative, as in -x**2 = -(x**2)
               | function "(" expression {"," expression} ")"
               | "where" "(" condition "," expression "," expression ")"
               | "(" expression ")" | number | name
    condition  = expression (("<" | "<=" | ">" | ">=") expression)+     # 0 < x < 1 means both
    number     = 2 | 0.5 | 1e-3
    name       = a variable | a parameter | pi | e

The functions of one argument are sin, cos, tan, arcsin, arccos, arctan, sinh, cosh, tanh, exp, log,
sqrt, abs, sign, erf and heaviside (1/2 at 0); those of two are minimum and maximum.  Spaces and
line breaks mean nothing.  There are no strings, attributes, indices, keywords, assignments or
comprehensions, and no integers: every number is a float, and a part without variables is computed
once, in float64, and must be finite (so 9**9**9 and 1/0 are refused).

Python's own parser serves as tokenizer; its syntax tree is translated node by node and whatever is
not in the grammar is refused with its column.
"""

import ast
import dataclasses
import difflib
import math
import operator
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import Array
from jax.typing import ArrayLike

from continuum.kernels.analytic import on_host

#: The longest text and the deepest nesting that are read.
MAX_LENGTH = 2000
MAX_DEPTH = 100

#: Powers up to this whole number are products; others go through exp and log.
_MAX_PRODUCT = 64

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}


@dataclasses.dataclass(frozen=True)
class _Function:
    """An operation: how many arguments, by jax, by Python on floats, by NumPy, if it is smooth."""

    arity: int
    on_arrays: Callable[..., Array]
    on_floats: Callable[..., float]
    on_host: Callable[..., np.ndarray]
    smooth: bool = True


def _power(base: Array | float, exponent: Array | float) -> Array:
    if isinstance(exponent, float) and exponent.is_integer() and abs(exponent) <= _MAX_PRODUCT:
        return jax.lax.integer_pow(jnp.asarray(base), int(exponent))
    return jnp.power(base, exponent)


def _power_on_host(base: np.ndarray | float, exponent: np.ndarray | float) -> np.ndarray:
    """The same by NumPy, small whole exponents by repeated squaring, too."""
    if isinstance(exponent, float) and exponent.is_integer() and abs(exponent) <= _MAX_PRODUCT:
        found, square, rest = np.ones_like(base), np.asarray(base), abs(int(exponent))
        while rest:
            found = found * square if rest % 2 else found
            square, rest = square * square, rest // 2
        return found if exponent >= 0 else 1.0 / found
    return np.power(base, exponent)


FUNCTIONS: Mapping[str, _Function] = {
    "sin": _Function(1, jnp.sin, math.sin, np.sin),
    "cos": _Function(1, jnp.cos, math.cos, np.cos),
    "tan": _Function(1, jnp.tan, math.tan, np.tan),
    "arcsin": _Function(1, jnp.arcsin, math.asin, np.arcsin),
    "arccos": _Function(1, jnp.arccos, math.acos, np.arccos),
    "arctan": _Function(1, jnp.arctan, math.atan, np.arctan),
    "sinh": _Function(1, jnp.sinh, math.sinh, np.sinh),
    "cosh": _Function(1, jnp.cosh, math.cosh, np.cosh),
    "tanh": _Function(1, jnp.tanh, math.tanh, np.tanh),
    "exp": _Function(1, jnp.exp, math.exp, np.exp),
    "log": _Function(1, jnp.log, math.log, np.log),
    "sqrt": _Function(1, jnp.sqrt, math.sqrt, np.sqrt),
    "erf": _Function(1, jax.scipy.special.erf, math.erf, scipy.special.erf),
    "abs": _Function(1, jnp.abs, math.fabs, np.abs, smooth=False),
    "sign": _Function(
        1, jnp.sign, lambda x: math.copysign(float(x != 0), x), np.sign, smooth=False
    ),
    "heaviside": _Function(
        1,
        lambda x: jnp.heaviside(x, 0.5),
        lambda x: 0.5 * (1 + (x > 0) - (x < 0)),
        lambda x: np.heaviside(x, 0.5),
        smooth=False,
    ),
    "minimum": _Function(2, jnp.minimum, min, np.minimum, smooth=False),
    "maximum": _Function(2, jnp.maximum, max, np.maximum, smooth=False),
}

#: What is written as a symbol, and ``where``, whose first argument is a condition.
_OPERATIONS: Mapping[str, _Function] = {
    "+": _Function(2, operator.add, operator.add, operator.add),
    "-": _Function(2, operator.sub, operator.sub, operator.sub),
    "*": _Function(2, operator.mul, operator.mul, operator.mul),
    "/": _Function(2, operator.truediv, operator.truediv, operator.truediv),
    "**": _Function(2, _power, math.pow, _power_on_host),
    "negative": _Function(1, lambda a: -a, lambda a: -a, lambda a: -a),
    "<": _Function(2, jnp.less, operator.lt, np.less),
    "<=": _Function(2, jnp.less_equal, operator.le, np.less_equal),
    ">": _Function(2, jnp.greater, operator.gt, np.greater),
    ">=": _Function(2, jnp.greater_equal, operator.ge, np.greater_equal),
    "and": _Function(2, jnp.logical_and, operator.and_, np.logical_and),
    "where": _Function(3, jnp.where, lambda c, a, b: a if c else b, np.where, smooth=False),
    **FUNCTIONS,
}

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_ALLOWED = re.compile(r"[A-Za-z0-9_.+\-*/(),<>= \t\r\n]")
_DECIMAL = re.compile(r"[0-9]*\.?[0-9]*([eE][+-]?[0-9]+)?")
_HINTS = {"^": "for a power use **", "!": "the comparisons are <, <=, >, >="}


class ExpressionError(ValueError):
    """A formula that is not one.

    Attributes:
        source: the text.
        column: where, counted from 1 over the whole text.
        reason: what is wrong there, and what is allowed.
    """

    def __init__(self, source: str, column: int, reason: str) -> None:
        """Compose the message."""
        self.source, self.column, self.reason = source, column, reason
        shown = source if len(source) <= 80 else f"{source[:77]}..."
        ValueError.__init__(self, f"{shown!r}, column {column}: {reason}")

    def __reduce__(self) -> tuple[type, tuple[str, int, str]]:
        """Errors travel between processes."""
        return ExpressionError, (self.source, self.column, self.reason)


@dataclasses.dataclass(frozen=True)
class _Variable:
    position: int


@dataclasses.dataclass(frozen=True)
class _Call:
    name: str
    arguments: tuple["_Tree", ...]


#: A number (or, in conditions, a truth value), the variable at a position, or an operation.
_Tree: TypeAlias = "float | bool | _Variable | _Call"


@dataclasses.dataclass(frozen=True)
class Expression:
    """A formula in named variables, a function of arrays; made by :func:`parse`.

    Calling it with one value for each of ``variables``, in that order, gives an array of their
    common (broadcast) shape, in their floating dtype, computed with ``jax.numpy``: it can be traced
    and differentiated.  Two expressions are equal, and hash alike, if source, variables and
    parameters are.

    Attributes:
        source: the text.
        variables: the names of the arguments.
        parameters: (name, value) of the named numbers, sorted.
        names: the variables that really occur, in the order of ``variables``.
        smooth: False where abs, sign, minimum, maximum, heaviside or where occur; singular points
            of sqrt, log, division and powers are not looked for.
    """

    source: str
    variables: tuple[str, ...]
    parameters: tuple[tuple[str, float], ...]
    names: tuple[str, ...] = dataclasses.field(compare=False, repr=False)
    smooth: bool = dataclasses.field(compare=False, repr=False)
    tree: _Tree = dataclasses.field(compare=False, repr=False)

    def __call__(self, *values: ArrayLike) -> Array:
        """The formula's values.

        Raises:
            TypeError: if there is not one value for each variable.
        """
        if len(values) != len(self.variables):
            raise TypeError(
                f"{self.source!r}: expected {len(self.variables)} values "
                f"({', '.join(self.variables)}), got {len(values)}"
            )
        dtype = jnp.result_type(float, *values)
        arrays = [jnp.asarray(value, dtype) for value in values]
        shape = jnp.broadcast_shapes(*(array.shape for array in arrays))
        return jnp.broadcast_to(jnp.asarray(_evaluate(self.tree, arrays), dtype), shape)

    def __str__(self) -> str:
        """The text."""
        return self.source


def parse(
    source: str, variables: Sequence[str], parameters: Mapping[str, float] | None = None
) -> Expression:
    """Read a formula; the grammar is in this module's docstring.

    Args:
        source: the text, at most ``MAX_LENGTH`` characters, nested at most ``MAX_DEPTH`` deep.
        variables: the names of the arguments, in the order in which values will be given.
        parameters: named finite numbers.

    Raises:
        ExpressionError: for anything outside the grammar, with its column and what is allowed.
        ValueError: if names of variables, parameters, constants and functions collide, are no
            identifiers, or a parameter is no finite number.
    """
    variables, given = tuple(variables), dict(parameters or {})
    _check_names(variables, given)
    _check_text(source)
    shift = len(source) - len(source.lstrip())
    text = re.sub(r"\s", " ", source[shift:])
    translate = _Translation(source, shift, variables, given)
    try:
        tree = translate.number(_syntax_tree(source, shift, text), 0)
    except (RecursionError, MemoryError):
        raise ExpressionError(source, shift + 1, _TOO_DEEP) from None
    used = tuple(name for name in variables if name in translate.used)
    numbers = tuple(sorted((name, float(value)) for name, value in given.items()))
    return Expression(source, variables, numbers, used, translate.smooth, tree)


def _check_names(variables: tuple[str, ...], parameters: Mapping[str, float]) -> None:
    names = [*variables, *parameters]
    for name in names:
        if not (name.isascii() and name.isidentifier()):
            raise ValueError(f"expected an identifier as a name, got {name!r}")
        if name in CONSTANTS or name in _OPERATIONS or names.count(name) > 1:
            raise ValueError(
                f"the name {name!r} means something else already (variables: "
                f"{', '.join(variables)}; constants: {', '.join(CONSTANTS)}; or a function): "
                "choose another one"
            )
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"parameter {name!r}: expected a number, got {value!r}")
        if not abs(value) <= sys.float_info.max:
            raise ValueError(f"parameter {name!r}: expected a finite number, got {value!r}")


def _check_text(source: str) -> None:
    if len(source) > MAX_LENGTH:
        raise ExpressionError(
            source, MAX_LENGTH + 1, f"expected at most {MAX_LENGTH} characters, got {len(source)}"
        )
    if not source.strip():
        raise ExpressionError(source, 1, "expected a formula, got nothing")
    for column, character in enumerate(source, start=1):
        if not _ALLOWED.fullmatch(character):
            hint = _HINTS.get(
                character, "allowed are names, numbers and + - * / ** ( ) , < > <= >="
            )
            raise ExpressionError(source, column, f"unexpected {character!r}; {hint}")


def _syntax_tree(source: str, shift: int, text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        # without an offset the text ends too early
        column = min(shift + (error.offset or len(text)), len(source))
        raise ExpressionError(source, column, f"not a formula: {error.msg}") from None


_TOO_DEEP = f"expected at most {MAX_DEPTH} levels of nesting, got more"


class _Translation:
    """From Python's syntax tree to ours, remembering which variables occur and what is smooth."""

    def __init__(
        self,
        source: str,
        shift: int,
        variables: tuple[str, ...],
        parameters: Mapping[str, float],
    ) -> None:
        self.source, self.shift = source, shift
        self.variables, self.parameters = variables, parameters
        self.used: set[str] = set()
        self.smooth = True

    def number(self, node: ast.expr, depth: int) -> _Tree:
        """The tree of an expression."""
        if depth > MAX_DEPTH:
            self._refuse(node, _TOO_DEEP)
        match node:
            case ast.Constant(value=bool() | None):
                self._refuse(node, f"expected a number or a name, got {node.value}")
            case ast.Constant(value=int() | float()):
                return self._literal(node)
            case ast.Name():
                return self._name(node)
            case ast.UnaryOp(op=ast.UAdd()):
                return self.number(node.operand, depth + 1)
            case ast.UnaryOp(op=ast.USub()):
                return self._apply(node, "negative", self.number(node.operand, depth + 1))
            case ast.BinOp() if type(node.op) in _BINARY:
                sides = (self.number(side, depth + 1) for side in (node.left, node.right))
                return self._apply(node, _BINARY[type(node.op)], *sides)
            case ast.Call(func=ast.Name(), keywords=[]):
                return self._call(node, depth)
            case ast.Compare():
                self._refuse(node, "a comparison stands only as where(condition, a, b)")
        self._refuse(node, f"{_PHRASES.get(type(node), type(node).__name__)} is not allowed here")

    def condition(self, node: ast.expr, depth: int) -> _Tree:
        """The tree of a condition."""
        if not isinstance(node, ast.Compare):
            self._refuse(node, "where needs a condition such as x < 0.5 in the first place")
        values = [self.number(side, depth + 1) for side in (node.left, *node.comparators)]
        found: _Tree = True
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            if type(op) not in _COMPARISONS:
                self._refuse(node, "expected one of the comparisons <, <=, >, >=")
            compared = self._apply(node, _COMPARISONS[type(op)], left, right)
            found = compared if found is True else self._apply(node, "and", found, compared)
        return found

    def _call(self, node: ast.Call, depth: int) -> _Tree:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name != "where" and name not in FUNCTIONS:
            self._refuse(node, f"unknown function {name!r}; {self._near(name)}")
        arity = _OPERATIONS[name].arity
        if len(node.args) != arity:
            self._refuse(node, f"{name} takes {arity} arguments, got {len(node.args)}")
        first = self.condition if name == "where" else self.number
        rest = (self.number(argument, depth + 1) for argument in node.args[1:])
        return self._apply(node, name, first(node.args[0], depth + 1), *rest)

    def _literal(self, node: ast.Constant) -> float:
        start = self.shift + node.col_offset
        digits = self.source[start : self.shift + (node.end_col_offset or 0)]
        if not _DECIMAL.fullmatch(digits):
            self._refuse(node, f"expected a decimal number, got {digits}")
        assert isinstance(node.value, int | float)
        try:
            value = float(node.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            self._refuse(node, "the number is too large for a float")
        return value

    def _name(self, node: ast.Name) -> _Tree:
        name = node.id
        if name in self.variables:
            self.used.add(name)
            return _Variable(self.variables.index(name))
        if name in self.parameters:
            return float(self.parameters[name])
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in FUNCTIONS or name == "where":
            self._refuse(node, f"{name} is a function: expected {name}(...)")
        self._refuse(node, f"unknown name {name!r}; {self._near(name)}")

    def _apply(self, node: ast.expr, name: str, *arguments: _Tree) -> _Tree:
        """The operation on trees; on numbers alone its value."""
        if not all(isinstance(argument, float | bool) for argument in arguments):
            self.smooth = self.smooth and _OPERATIONS[name].smooth
            return _Call(name, arguments)
        try:
            value = _OPERATIONS[name].on_floats(*arguments)
        except (ArithmeticError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            self._refuse(node, "this part has no finite value")
        return value

    def _near(self, name: str) -> str:
        named = [*self.variables, *self.parameters, *CONSTANTS]
        close = difflib.get_close_matches(name, [*named, *FUNCTIONS, "where"], n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        return f"{hint}allowed are {', '.join(named)} and the functions {_FUNCTION_NAMES}"

    def _refuse(self, node: ast.expr, reason: str) -> NoReturn:
        raise ExpressionError(self.source, self.shift + node.col_offset + 1, reason)


_FUNCTION_NAMES = ", ".join([*FUNCTIONS, "where"])

#: What an author would call the parts of Python that the grammar leaves out.
_PHRASES: Mapping[type, str] = {
    ast.Attribute: "an attribute (a dot after a name)",
    ast.BinOp: "this operator (use + - * / **)",
    ast.BoolOp: "and, or",
    ast.Call: "a call with keywords, or of something that is no function's name,",
    ast.Constant: "a complex number",
    ast.GeneratorExp: "a comprehension",
    ast.IfExp: "if ... else (use where(condition, a, b))",
    ast.Starred: "a star before an argument",
    ast.Tuple: "a tuple",
    ast.UnaryOp: "not",
}


def _evaluate(tree: _Tree, values: Sequence[Array]) -> Array | float | bool:
    if isinstance(tree, _Variable):
        return values[tree.position]
    if isinstance(tree, _Call):
        arguments = [_evaluate(argument, values) for argument in tree.arguments]
        return _OPERATIONS[tree.name].on_arrays(*arguments)
    return tree


@on_host.register
def _(function: Expression, *points: np.ndarray) -> np.ndarray:
    """By NumPy, in float64; what is undefined is NaN or infinite, as with jax."""
    with np.errstate(all="ignore"):
        found = _evaluate_on_host(function.tree, points)
    return np.broadcast_to(found, np.broadcast_shapes(*map(np.shape, points)))


def _evaluate_on_host(tree: _Tree, values: Sequence[np.ndarray]) -> np.ndarray | float | bool:
    if isinstance(tree, _Variable):
        return np.asarray(values[tree.position], float)
    if isinstance(tree, _Call):
        arguments = [_evaluate_on_host(argument, values) for argument in tree.arguments]
        return _OPERATIONS[tree.name].on_host(*arguments)
    return tree
