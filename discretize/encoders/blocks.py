"""Stacked weights of layers as continuous operators with kernels constant on unit cells."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from continuum.constraints import NonnegativeCone
from continuum.domains import Domain, interval
from continuum.kernels import CellField, CellKernel
from continuum.operators import (
    Causal,
    IntegralAttention,
    LinearIntegral,
    Normalisation,
    Operator,
    Pointwise,
    Product,
    Projection,
    Rotary,
    ScoreBias,
)


@dataclasses.dataclass(frozen=True)
class Dense:
    """A dense layer y = x @ kernel + bias, one a layer: kernel (L, in, out), bias (L, out)."""

    kernel: np.ndarray
    bias: np.ndarray | None = None

    @property
    def width(self) -> int:
        """The number of features it returns."""
        return self.kernel.shape[2]

    def split(self, parts: int, groups: int = 1) -> "tuple[Dense, ...]":
        """The layers that stand side by side in the output, in equal parts.

        Args:
            parts: how many layers there are.
            groups: into how many equal groups (heads, say) the output is cut first; every layer
                then takes its part of each group.
        """
        kernel = self.kernel.reshape(*self.kernel.shape[:2], groups, parts, -1)
        bias = None if self.bias is None else self.bias.reshape(-1, groups, parts, kernel.shape[-1])

        def part(index: int) -> Dense:
            of_kernel = np.ascontiguousarray(kernel[..., index, :])
            of_bias = None if bias is None else np.ascontiguousarray(bias[..., index, :])
            return Dense(
                of_kernel.reshape(*self.kernel.shape[:2], -1),
                None if of_bias is None else of_bias.reshape(len(of_bias), -1),
            )

        return tuple(part(index) for index in range(parts))


@dataclasses.dataclass(frozen=True)
class Norm:
    """A layer normalisation, one a layer: scale and shift (L, features), one eps."""

    scale: np.ndarray | None
    shift: np.ndarray | None
    eps: float


@dataclasses.dataclass(frozen=True)
class Positions:
    """What of an attention depends on token positions, and its scale."""

    scale: float | None = None
    causal: Causal | None = None
    rotary: Rotary | None = None
    bias: ScoreBias | None = None


#: Attention over all tokens, wherever they stand, at the usual scale.
ANYWHERE = Positions()


@dataclasses.dataclass(frozen=True)
class Blocks:
    """Operators on Omega_y = [0, width] made of a model's weights.

    A row of a stacked array is the kernel on one unit of depth; a stack of one row is constant in
    t.

    Args:
        width: the model's number of features.
    """

    width: int

    @property
    def features(self) -> Domain:
        """Omega_y."""
        return interval(self.width, "Omega_y")

    def hidden(self, width: int) -> Domain:
        """Omega_v, where the hidden features of a feedforward live."""
        return interval(width, "Omega_v")

    def heads(self, count: int, width: int, symbol: str = "Omega_h") -> Domain:
        """Omega_h x Omega_eta for ``width`` features in ``count`` heads."""
        return interval(count, symbol) * interval(width // count, "Omega_eta")

    def linear(
        self,
        dense: Dense,
        source: Domain | None = None,
        target: Domain | None = None,
        identity: float = 0.0,
    ) -> LinearIntegral:
        """A dense layer between two domains; by default from and to Omega_y."""
        source, target = source or self.features, target or self.features
        kernel = CellKernel(
            jnp.asarray(dense.kernel), source, target, _unit_cells(source), _unit_cells(target)
        )
        bias = None
        if dense.bias is not None:
            bias = CellField(jnp.asarray(dense.bias), target, _unit_cells(target))
        return LinearIntegral(kernel, bias, identity)

    def attention(
        self,
        query: Dense,
        key: Dense,
        value: Dense,
        output: Dense,
        heads: int,
        positions: Positions = ANYWHERE,
        groups: int | None = None,
    ) -> IntegralAttention:
        """Multi-head attention.

        Args:
            query: width -> heads x head features, heads one after the other.
            key: likewise, for ``groups`` heads.
            value: likewise, for ``groups`` heads.
            output: heads x head features -> width.
            heads: H.
            positions: what depends on positions.
            groups: heads of key and value; by default H.
        """
        of_query = self.heads(heads, query.width)
        of_key = of_query
        if groups not in (None, heads):
            assert groups is not None
            of_key = self.heads(groups, key.width, "Omega_g")
        return IntegralAttention(
            self.linear(query, target=of_query),
            self.linear(key, target=of_key),
            self.linear(value, target=of_key),
            self.linear(output, source=of_query),
            positions.scale,
            positions.causal,
            positions.rotary,
            positions.bias,
        )

    def activation(self, name: str, domain: Domain) -> Operator:
        """The projection onto the nonnegative cone for ``relu``, else a pointwise map."""
        if name == "relu":
            return Projection(NonnegativeCone(), domain)
        return Pointwise(name, domain)

    def feedforward(
        self, first: Dense, activation: str, second: Dense, gated: Dense | None = None
    ) -> Operator:
        """W_2 phi(W_1 u + b_1) + b_2, or W_2 [phi(W_1 u + b_1) (W_g u + b_g)] + b_2."""
        domain = self.hidden(first.width)
        inner = self.activation(activation, domain) @ self.linear(first, target=domain)
        if gated is not None:
            inner = Product((inner, self.linear(gated, target=domain)))
        return self.linear(second, source=domain) @ inner

    def norm(self, norm: Norm, *, centred: bool = True) -> Normalisation:
        """Layer normalisation over Omega_y, or RMS normalisation without centring."""
        return Normalisation(
            self.features, self.field(norm.scale), self.field(norm.shift), norm.eps, centred
        )

    def field(self, values: np.ndarray | None) -> CellField | None:
        """Rows (L, width) as a function on Omega_y and depth."""
        return None if values is None else CellField(jnp.asarray(values), self.features)


def _unit_cells(domain: Domain) -> tuple[int, ...]:
    return tuple(round(extent) for extent in domain.extents)
