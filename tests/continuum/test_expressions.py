"""Formulas: the same values as sympy's, and nothing but formulas."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from continuum import Expression, ExpressionError, parse
from continuum.expressions import FUNCTIONS, MAX_DEPTH, MAX_LENGTH

XYT = ("x", "y", "t")

#: Each function, its argument kept where it is real and moderate.
CALLS = {
    **{name: name + "({})" for name in ("sin", "cos", "erf", "abs", "sign", "arctan", "tanh")},
    **{name: name + "(sin({}))" for name in ("tan", "exp", "sinh", "cosh", "heaviside")},
    **{name: name + "(0.9*cos({}))" for name in ("arcsin", "arccos")},
    **{name: name + "(2 + sin({}))" for name in ("log", "sqrt")},
    **{name: name + "({}, {})" for name in ("minimum", "maximum")},
    "where": "where({} < {}, {}, {})",
}

IN_SYMPY = {
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "abs": sympy.Abs,
    "minimum": sympy.Min,
    "maximum": sympy.Max,
    "heaviside": lambda x: sympy.Heaviside(x, sympy.Rational(1, 2)),
    "where": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
    "e": sympy.E,
    "a": sympy.Float(0.7, 17),
}


def formulas():
    leaves = st.one_of(
        st.sampled_from([*XYT, "x", "y", "pi", "e", "a", "2", "0.25", "1e-1"]),
        st.integers(1, 9).map(str),
    )

    def extend(inner):
        call = st.sampled_from(sorted(CALLS)).flatmap(
            lambda name: st.tuples(*[inner] * CALLS[name].count("{}")).map(
                lambda parts: CALLS[name].format(*parts)
            )
        )
        flat = st.tuples(inner, st.sampled_from(["+", " - ", "*"]), inner).map("".join)
        return st.one_of(
            call,
            flat,
            inner.map(lambda text: f"({text})"),
            inner.map(lambda text: f"-{text}"),
            inner.map(lambda text: f"{text}/(2 + cos(x))"),
            st.tuples(inner, st.sampled_from(["2", "3", "-1", "0.5"])).map(
                lambda pair: f"(2 + sin({pair[0]}))**{pair[1]}**1"
            ),
        )

    return st.recursive(leaves, extend, max_leaves=8)


@given(formulas())
def test_values_are_those_of_sympy(source):
    """Both read the text on their own; the arithmetic of sympy is NumPy's and scipy's."""
    expression = parse(source, XYT, {"a": 0.7})
    symbols = sympy.symbols("x y t", real=True)
    names = {str(s): s for s in symbols} | IN_SYMPY
    theirs = sympy.lambdify(symbols, sympy.sympify(source, names), ["scipy", "numpy"])
    values = np.random.default_rng(0).uniform(-1.5, 1.5, (3, 6))
    expected = np.broadcast_to(theirs(*values), (6,))
    # up to seven factors of size 9 inside a sine multiply round-off, and so do differences
    np.testing.assert_allclose(expression(*values), expected, rtol=1e-9, atol=1e-9)


def test_every_function_is_compared_with_sympy():
    assert set(CALLS) == {*FUNCTIONS, "where"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("-x**2", -0.25),
        ("2**-x**2", 2**-0.25),
        ("2**3**0.5", 2 ** (3**0.5)),
        ("x - y - 1", -1.5),
        ("x/y/2", 0.25),
        ("+x*-y", -0.5),
        (" 1 +\n\tx ", 1.5),
        ("where(0 < x < 1, 10, 20)", 10.0),
        ("where(0 < x <= 0.25, 10, 20)", 20.0),
        ("where(y >= 1, where(x > 0.5, 1, 2), 3)", 2.0),
        ("heaviside(x - 0.5) + sign(0) + heaviside(0)", 1.0),
        ("minimum(3, 2) + abs(-1)", 3.0),
        ("2.5e-1*4.E0*.5", 0.5),
    ],
)
def test_grammar(source, expected):
    assert float(parse(source, ("x", "y"))(0.5, 1.0)) == pytest.approx(expected, rel=1e-15)


def test_shapes_and_dtypes():
    """The common shape of all values, used or not, and their floating dtype."""
    expression = parse("2*y", ("x", "y"))
    x, y = np.zeros((3, 1)), np.arange(4.0)[None, :]
    np.testing.assert_array_equal(expression(x, y), np.broadcast_to(2 * y, (3, 4)))
    assert parse("1", ("x",))(np.zeros(5)).shape == (5,)
    single = parse("pi*x**-1", ("x",))(jnp.float32(2.0))
    assert single.dtype == jnp.float32 and single == np.float32(np.pi / 2)
    assert parse("x/2", ("x",))(3).dtype == jnp.float64


def test_formulas_can_be_traced_and_differentiated():
    expression = parse("x**2*sin(x) + where(x > 0, x, 0)", ("x",))
    for x in (-0.7, 0.0, 0.3):
        expected = 2 * x * np.sin(x) + x**2 * np.cos(x) + (x > 0)
        assert float(jax.jit(jax.grad(expression))(x)) == pytest.approx(expected, abs=1e-15)


def test_names_and_smoothness():
    expression = parse("sin(t) + a*x", XYT, {"a": 2.0, "b": 1.0})
    assert expression.names == ("x", "t") and expression.smooth
    assert parse("sqrt(1 + x**2)*abs(-2)", XYT).smooth  # abs of a number is a number
    for kink in ("abs(x)", "sign(x)", "minimum(x, 0)", "maximum(x, 0)", "where(x < 0, 1, 2)"):
        assert not parse(f"1 + exp({kink})", XYT).smooth
    assert not parse("heaviside(x)", XYT).smooth


def test_equality_is_by_text_variables_and_parameters():
    one = parse("a*x", ("x",), {"a": 1, "b": 2.0})
    assert one == parse("a*x", ("x",), {"b": 2, "a": 1.0})
    assert hash(one) == hash(parse("a*x", ("x",), {"b": 2, "a": 1.0}))
    others = [
        parse("a*x", ("x",), {"a": 1.5, "b": 2.0}),
        parse("a*x", ("x", "y"), {"a": 1.0, "b": 2.0}),
        parse("x*a", ("x",), {"a": 1.0, "b": 2.0}),
    ]
    assert one not in others and isinstance(one, Expression)
    assert str(one) == "a*x"


#: (text, column, a part of the message).
REFUSED = [
    ("", 1, "expected a formula, got nothing"),
    ("x^2", 2, r"for a power use \*\*"),
    ("1 + z", 5, "unknown name 'z'; allowed are x, y, a, pi, e and the functions sin"),
    ("\n 1 + z", 7, "unknown name 'z'"),
    ("sn(x)", 1, r"unknown function 'sn'; did you mean sin\?"),
    ("2 + sin", 5, r"sin is a function: expected sin\(...\)"),
    ("sin(x, y)", 1, "sin takes 1 arguments, got 2"),
    ("where(x, 1, 2)", 7, "where needs a condition such as x < 0.5"),
    ("where(x == 1, 1, 2)", 7, "expected one of the comparisons"),
    ("1 + (x < 1)", 6, "a comparison stands only as where"),
    ("x = 1", 3, "not a formula"),
    ("x +", 3, "not a formula"),
    ("2x", 1, "not a formula"),
    ("sin(x", 4, "not a formula"),
    ("x\u00b2", 2, "unexpected '\u00b2'"),
    # numbers
    ("1/0 + x", 1, "no finite value"),
    ("x + log(0)", 5, "no finite value"),
    ("x*9**9**9", 3, "no finite value"),
    ("9**9**9**9**9", 7, "no finite value"),
    ("x + 1e999", 5, "too large"),
    ("9" * 1900, 1, "too large"),
    ("0x10", 1, "expected a decimal number, got 0x10"),
    ("1_000", 1, "expected a decimal number"),
    ("1j*x", 1, "a complex number"),
    ("True", 1, "expected a number or a name, got True"),
    ("None", 1, "expected a number or a name, got None"),
    # code
    ("__import__('os').system('true')", 12, "unexpected"),
    ("__import__(x)", 1, "unknown function '__import__'"),
    ("__builtins__", 1, "unknown name '__builtins__'"),
    ("x.real", 1, "an attribute"),
    ("x.__class__.__mro__", 1, "an attribute"),
    ("sin.__globals__", 1, "an attribute"),
    ("lambda: 0", 7, "unexpected ':'"),
    ("sin(lambda x: x)", 13, "unexpected ':'"),
    ("[x for x in y]", 1, "unexpected '\\['"),
    ("sin(x for x in y)", 4, "a comprehension"),
    ("{x}", 1, "unexpected '{'"),
    ("'x'", 1, 'unexpected "\'"'),
    ('"""x"""', 1, "unexpected '\"'"),
    ("f'{x}'", 2, "unexpected"),
    ("x[0]", 2, "unexpected '\\['"),
    ("(x := 1)", 4, "unexpected ':'"),
    ("sin(x=1)", 1, "a call with keywords"),
    ("sin(*x)", 5, "a star before an argument"),
    ("sin(x)(y)", 1, "a call with keywords, or of something that is no function"),
    ("x if y else 1", 1, r"if ... else \(use where"),
    ("x and y", 1, "and, or is not allowed"),
    ("not x", 1, "not is not allowed"),
    ("x, y", 1, "a tuple"),
    ("x // y", 1, r"this operator \(use"),
    ("x @ y", 3, "unexpected '@'"),
    ("x % y", 3, "unexpected '%'"),
    ("x; y", 2, "unexpected ';'"),
    ("x # y", 3, "unexpected '#'"),
    ("await x", 1, "not allowed|not a formula"),
    ("yield", 1, "not a formula"),
    ("import os", 1, "not a formula"),
    ("print(x)", 1, "unknown function 'print'"),
    ("eval(x)", 1, "unknown function 'eval'"),
    ("\0x", 1, "unexpected"),
    # size
    ("x" * (MAX_LENGTH + 1), MAX_LENGTH + 1, f"at most {MAX_LENGTH} characters"),
    ("-" * (MAX_LENGTH - 1) + "x", MAX_DEPTH + 2, f"at most {MAX_DEPTH} levels"),
    ("1+" * 900 + "x", 1, f"at most {MAX_DEPTH} levels"),
    ("2**" * 600 + "x", 1 + 3 * MAX_DEPTH, f"at most {MAX_DEPTH} levels"),
    ("(" * 900 + "x" + ")" * 900, None, "not a formula: too many nested|levels"),
    ("sin(" * 190 + "x" + ")" * 190, 1 + 4 * (MAX_DEPTH + 1), f"at most {MAX_DEPTH} levels"),
]


@pytest.mark.parametrize(
    ("source", "column", "message"), REFUSED, ids=[repr(case[0][:24]) for case in REFUSED]
)
def test_what_is_no_formula_is_refused(source, column, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        parse(source, ("x", "y"), {"a": 1.0})
    assert caught.value.column == column or column is None
    assert f"column {caught.value.column}:" in str(caught.value)
    assert len(str(caught.value)) < 400  # also when the text is long


@given(st.text(alphabet="xy.()*+-/<>=,0123456789 e_sincoswhere'\"[]{}:^lambda\n", max_size=40))
def test_any_text_is_a_formula_or_an_error_with_its_column(text):
    try:
        found = parse(text, ("x", "y"))
    except ExpressionError as error:
        assert 1 <= error.column <= max(len(text), 1)
    else:
        assert set(found.names) <= {"x", "y"}
        assert found(0.5, 0.25).shape == ()


@pytest.mark.parametrize(
    ("variables", "parameters", "message"),
    [
        (("x", "x"), {}, "the name 'x' means something else already"),
        (("x",), {"x": 1.0}, "the name 'x' means something else already"),
        (("e",), {}, "the name 'e' means something else already"),
        (("x",), {"sin": 1.0}, "the name 'sin' means something else already"),
        (("x 1",), {}, "expected an identifier as a name, got 'x 1'"),
        (("x",), {"a": float("nan")}, "'a': expected a finite number, got nan"),
        (("x",), {"a": 10**400}, "'a': expected a finite number"),
        (("x",), {"a": True}, "'a': expected a number, got True"),
    ],
)
def test_bad_names_and_parameters_are_refused(variables, parameters, message):
    with pytest.raises(ValueError, match=message):
        parse("1", variables, parameters)


def test_a_formula_takes_one_value_for_each_variable():
    with pytest.raises(TypeError, match=r"'x': expected 2 values \(x, y\), got 1"):
        parse("x", ("x", "y"))(1.0)


def test_errors_travel_between_processes():
    with pytest.raises(ExpressionError) as caught:
        parse("x^2", ("x",))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.source, copy.column, str(copy)) == ("x^2", 2, str(caught.value))
