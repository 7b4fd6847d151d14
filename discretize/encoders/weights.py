"""An encoder's weights in one neutral form, and the equations they stand for."""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from continuum.equations import Equation, paper_equation, prenorm_flow, residual_flow
from continuum.kernels import CellField
from continuum.operators import (
    Affine,
    IntegralAttention,
    LinearIntegral,
    Normalisation,
    Operator,
)
from continuum.precision import require_precision
from discretize.encoders.blocks import Blocks, Dense, Norm
from discretize.encoders.recovered import Recovered
from discretize.grids import Grid, TokenGrid, UniformGrid
from discretize.problem import discretize

EQUATIONS = ("split", "residual")


@dataclasses.dataclass(frozen=True)
class EncoderWeights:
    """A Transformer encoder of L equal layers.

    Args:
        query: d -> d, heads side by side in the output; key, value alike; output d -> d.
        key: see query.
        value: see query.
        output: see query.
        hidden: the first dense layer of the feedforward, d -> d_ff.
        feedforward: the second, d_ff -> d.
        norm_attention: post-norm: after attention; pre-norm: before it.
        norm_output: post-norm: after the feedforward; pre-norm: before it.
        heads: H.
        activation: a name of ``continuum.operators.maps.ACTIVATIONS``.
        norm_first: whether the normalisations stand inside the branches.
        closing: the final normalisation (L = 1), or None.
        shared_by: how many layers share the weights of one row (kernels constant in t), or None
            for layers with weights of their own.
    """

    query: Dense
    key: Dense
    value: Dense
    output: Dense
    hidden: Dense
    feedforward: Dense
    norm_attention: Norm
    norm_output: Norm
    heads: int
    activation: str
    norm_first: bool = False
    closing: Norm | None = None
    shared_by: int | None = None

    def __post_init__(self) -> None:
        """Check every shape, dtype and value."""
        layers, width, _ = self.query.kernel.shape
        if self.shared_by is not None and (layers != 1 or self.shared_by < 1):
            raise ValueError(
                f"expected weights of one layer that at least one shares, got those of {layers} "
                f"shared by {self.shared_by}"
            )
        inner = self.hidden.kernel.shape[-1]
        if self.heads < 1 or width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide the model dimension {width}")
        for name in ("query", "key", "value", "output"):
            _check_dense(name, getattr(self, name), layers, width, width)
        _check_dense("hidden", self.hidden, layers, width, inner)
        _check_dense("feedforward", self.feedforward, layers, inner, width)
        for name in ("norm_attention", "norm_output"):
            _check_norm(name, getattr(self, name), layers, width)
        if self.closing is not None:
            _check_norm("final norm", self.closing, 1, width)
        dtypes = {array.dtype for _, array in self._arrays()}
        if len(dtypes) != 1:
            raise ValueError(f"expected weights of one dtype, found {sorted(map(str, dtypes))}")
        require_precision(dtypes.pop(), "the model")
        for name, array in self._arrays():
            if not np.all(np.isfinite(array)):
                raise ValueError(f"the weights {name!r} hold NaN or infinite values")

    def _arrays(self) -> list[tuple[str, np.ndarray]]:
        found = []
        for field in dataclasses.fields(self):
            part = getattr(self, field.name)
            if isinstance(part, Dense | Norm):
                found += [
                    (f"{field.name}.{k}", v)
                    for k, v in vars(part).items()
                    if isinstance(v, np.ndarray)
                ]
        return found

    @property
    def layers(self) -> int:
        """L."""
        return self.query.kernel.shape[0] if self.shared_by is None else self.shared_by


def check_equation(equation: str) -> None:
    """Refuse the name of an equation that is not one of ``EQUATIONS``.

    Raises:
        ValueError: if it is not.
    """
    if equation not in EQUATIONS:
        raise ValueError(f"equation: expected one of {', '.join(EQUATIONS)}, got {equation!r}")


def assemble(
    weights: EncoderWeights,
    equation: str,
    embed: Callable[..., Array],
    model: str,
    outside: tuple[str, ...] = (),
) -> Recovered:
    """The problem on the unit grid whose Lie splitting with dt = 1 is the encoder.

    Args:
        weights: the encoder.
        equation: ``"split"``, the paper's equation, or ``"residual"``, the residual flow.
        embed: what maps the model's inputs to the initial state.
        model: where the weights come from, in words.
        outside: what stays outside of the equation, in words.

    Raises:
        ValueError: for another name of an equation.
    """
    check_equation(equation)
    parts = _Parts(weights)
    if weights.norm_first:
        found = parts.prenorm(equation)
    else:
        found = parts.split() if equation == "split" else parts.residual()
    grid = Grid(TokenGrid(), UniformGrid(parts.features, (weights.query.kernel.shape[1],)))
    closing = None if weights.closing is None else parts.norm(weights.closing)
    return Recovered(discretize(found, grid), embed, closing, model, outside)


class _Parts:
    """The weights as continuous operators, and the equations made of them."""

    def __init__(self, weights: EncoderWeights) -> None:
        self.weights = weights
        self.horizon = float(weights.layers)
        self.blocks = Blocks(weights.query.kernel.shape[1])
        self.features = self.blocks.features
        self.hidden_domain = self.blocks.hidden(weights.hidden.width)

    def attention(self) -> IntegralAttention:
        w = self.weights
        return self.blocks.attention(w.query, w.key, w.value, w.output, w.heads)

    def activation(self) -> Operator:
        return self.blocks.activation(self.weights.activation, self.hidden_domain)

    def dense(self, identity: float) -> tuple[LinearIntegral, LinearIntegral]:
        w, domain = self.weights, self.hidden_domain
        return (
            self.blocks.linear(w.hidden, target=domain, identity=identity),
            self.blocks.linear(w.feedforward, source=domain, identity=identity),
        )

    def feedforward(self) -> Operator:
        w = self.weights
        return self.blocks.feedforward(w.hidden, w.activation, w.feedforward)

    def norm(self, norm: Norm) -> Normalisation:
        return self.blocks.norm(norm)

    def split(self) -> Equation:
        w = self.weights
        return paper_equation(
            self.attention(),
            self.dense(-1.0),
            (self.activation(),),
            self.norm(w.norm_attention),
            self.norm(w.norm_output),
            horizon=self.horizon,
        )

    def residual(self) -> Equation:
        """The flow of z with u = gamma_p z + beta_p, (gamma_p, beta_p) of the preceding norm."""
        w = self.weights
        before, after = self._affine(w.norm_attention), self._affine(w.norm_output)
        # The first layer has no norm before it; after the last one the state is read out.
        unit = (np.ones_like(after[0][:1]), np.zeros_like(after[1][:1]))
        knots = tuple(np.concatenate(pair) for pair in zip(unit, after, strict=True))
        # Of shared weights two rows say it all: the last one holds at all later times.
        into_attention = (knots[0][: w.layers], knots[1][: w.layers])
        return residual_flow(
            self._inside(self.attention(), into_attention),
            self._inside(self.feedforward(), before),
            Normalisation(self.features, eps=w.norm_attention.eps),
            Normalisation(self.features, eps=w.norm_output.eps),
            horizon=self.horizon,
            observed=self._affine_operator(knots, 0.0),
        )

    def _affine(self, norm: Norm) -> tuple[np.ndarray, np.ndarray]:
        shape = self.weights.query.kernel.shape[:2]
        dtype = self.weights.query.kernel.dtype
        scale = np.ones(shape, dtype) if norm.scale is None else norm.scale
        return scale, np.zeros(shape, dtype) if norm.shift is None else norm.shift

    def _affine_operator(self, pair: tuple[np.ndarray, ...], identity: float) -> Affine:
        gamma, beta = (CellField(jnp.asarray(values), self.features) for values in pair)
        return Affine(gamma, beta, identity)

    def _inside(self, operator: Operator, pair: tuple[np.ndarray, ...]) -> Operator:
        """(gamma - 1) z + beta + G(gamma z + beta)."""
        return self._affine_operator(pair, -1.0) + operator @ self._affine_operator(pair, 0.0)

    def prenorm(self, equation: str) -> Equation:
        w = self.weights
        return prenorm_flow(
            self.attention() @ self.norm(w.norm_attention),
            self.feedforward() @ self.norm(w.norm_output),
            horizon=self.horizon,
            relaxed=equation == "split",
            name=f"prenorm {equation}",
        )


def _check_dense(name: str, dense: Dense, layers: int, width: int, out: int) -> None:
    if dense.kernel.shape != (layers, width, out):
        raise ValueError(
            f"{name}: expected {layers} kernels of shape ({width}, {out}), got {dense.kernel.shape}"
        )
    if dense.bias is not None and dense.bias.shape != (layers, out):
        raise ValueError(
            f"{name}: expected {layers} biases of shape ({out},), got {dense.bias.shape}"
        )


def _check_norm(name: str, norm: Norm, layers: int, width: int) -> None:
    for part, values in (("scale", norm.scale), ("shift", norm.shift)):
        if values is not None and values.shape != (layers, width):
            raise ValueError(
                f"{name}: expected {layers} {part}s of shape ({width},), got {values.shape}"
            )
