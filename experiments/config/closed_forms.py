"""Which equations have a closed form, and which one."""

from collections.abc import Callable

from experiments.config.equation import Equation, FlowEquation
from experiments.config.kernels import Separable


def misfit(equation: Equation, name: str) -> str | None:
    """Why the closed form does not belong to the equation, or None if it does.

    Args:
        equation: of a config.
        name: "mean-field", "sphere" or "reflection".
    """
    if not isinstance(equation, FlowEquation):
        return f'the closed form {name} belongs to form = "flow", found form = "{equation.form}"'
    wrong = _CHECKS[name](equation)
    return f"the closed form {name} needs {wrong}" if wrong else None


def _mean_field(equation: FlowEquation) -> str | None:
    attention = equation.attention
    if attention is None or equation.dense or equation.source or _constrained(equation):
        return "attention and no other term or projection"
    if attention.causal is not None:
        return "attention over the whole of Omega_x, not a causal one"
    if not _vanishes(attention.query.kernel) or attention.query.bias not in (None, "0"):
        return 'a query that vanishes: query = { kernel = "0" }'
    if attention.value.bias is not None or attention.output.bias is not None:
        return "value and output without bias"
    kernel = attention.value.kernel
    if not isinstance(kernel, Separable) or len(kernel.separable) != 1:
        return 'a value kernel of rank one: { separable = [["a(xi)", "c(zeta, eta)"]] }'
    return None


def _sphere(equation: FlowEquation) -> str | None:
    if equation.attention or equation.source or equation.nonnegative or len(equation.dense) != 1:
        return "one dense term and no other term"
    if equation.moments is None or equation.moments.mean != 0.0:
        return "moments with mean 0"
    dense = equation.dense[0]
    if dense.bias is not None or not isinstance(dense.kernel, Separable):
        return 'a dense term without bias and with a kernel { separable = [["a(xi)", "c(y)"]] }'
    return None


def _reflection(equation: FlowEquation) -> str | None:
    if equation.attention or equation.dense or equation.source is None:
        return "a source and no other term"
    if equation.moments is not None or not equation.nonnegative:
        return "nonnegative = true and no moments"
    return None


def _constrained(equation: FlowEquation) -> bool:
    return equation.nonnegative or equation.moments is not None


def _vanishes(kernel: object) -> bool:
    return isinstance(kernel, str) and kernel.strip() in ("0", "0.0")


_CHECKS: dict[str, Callable[[FlowEquation], str | None]] = {
    "mean-field": _mean_field,
    "sphere": _sphere,
    "reflection": _reflection,
}
