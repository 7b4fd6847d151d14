"""A problem read as the weights of a Transformer encoder: the inverse of ``assemble``."""

import numpy as np

from continuum.constraints import MomentSet, NonnegativeCone
from continuum.equations import RESIDUAL_STRUCTURE, paper_structure, prenorm_structure
from discretize.encoders.blocks import Dense, Norm
from discretize.encoders.recovered import Recovered
from discretize.encoders.weights import EncoderWeights
from discretize.operators import (
    DiscreteAffine,
    DiscreteAttention,
    DiscreteComposition,
    DiscreteLinear,
    DiscreteNormalisation,
    DiscreteOperator,
    DiscretePointwise,
    DiscreteProjection,
    DiscreteSum,
)
from discretize.problem import Problem
from discretize.sampling import At, Table, sample_field


def weights_of(problem: Problem | Recovered) -> EncoderWeights:
    """The encoder whose layers are the problem's time steps, on any grid with equal weights.

    On the unit grid of a recovered model these are the model's own weights, bit for bit.
    Quadrature weights and dt are folded in, so that other uniform grids and step sizes give
    encoders too.

    Raises:
        ValueError: if the problem's step is not a Transformer layer; the message says why.
    """
    plain = problem.problem if isinstance(problem, Recovered) else problem
    reader = _Reader(plain)
    drifting = isinstance(plain.terms.get("attention"), DiscreteSum)
    if plain.observed is not None and not drifting:
        raise ValueError(
            "not a Transformer layer: the problem is observed through an affine map that none of "
            "its terms belongs to"
        )
    structure = plain.equation.structure
    if structure == paper_structure(2):
        weights = reader.split()
    elif structure == RESIDUAL_STRUCTURE:
        weights = reader.residual()
    elif structure in (prenorm_structure(True), prenorm_structure(False)):
        weights = reader.prenorm()
    else:
        raise ValueError(
            "not a Transformer layer: expected the structure of paper_equation with J = 2, "
            "omega = 1/2 and rate 1, of residual_flow or of prenorm_flow, got one with the terms "
            f"{sorted(plain.terms)}: {structure}"
        )
    closing = problem.readout.operator if isinstance(problem, Recovered) else None
    if closing is not None:
        weights = reader.close(weights, closing)
    return weights


class _Reader:
    """The terms of one problem at the start times of its steps."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.dt = problem.equation.horizon / problem.num_steps
        self.tokens = problem.grid.tokens.of(_some_tokens(problem))
        if not (self.tokens.equal_weights and problem.grid.features.equal_weights):
            raise ValueError(
                "an encoder sums over tokens and features with equal weights; this grid's rules "
                "have unequal ones"
            )
        self.at = At(np.arange(problem.num_steps) * self.dt, self.tokens)

    def split(self) -> EncoderWeights:
        terms = self.problem.terms
        first, second = terms["dense_1"], terms["dense_2"]
        return self._build(
            terms["attention"],
            (self._step(first), self._step(second)),
            terms["activation_1"],
            self._norm(terms["norm_attention"]),
            self._norm(terms["norm_output"]),
            norm_first=False,
        )

    def residual(self) -> EncoderWeights:
        terms = self.problem.terms
        attention, before = self._inside(terms["attention"])
        feedforward, between = self._inside(terms["feedforward"])
        norms = self._norm(terms["norm_attention"]), self._norm(terms["norm_output"])
        if (before is None) != (between is None):
            raise ValueError(
                "expected the tendency of an affine normalisation in both branches or in neither"
            )
        if before is not None and between is not None:
            norms = self._affine_norms(before, between, norms)
        first, activation, second = _feedforward(feedforward)
        return self._build(
            attention,
            (self._plain(first, 1.0), self._plain(second, self.dt)),
            activation,
            *norms,
            norm_first=False,
        )

    def _inside(self, operator: DiscreteOperator) -> tuple[DiscreteOperator, DiscreteAffine | None]:
        """G and the affine map before it, of (gamma - 1) z + beta + G(gamma z + beta), or of G."""
        if not isinstance(operator, DiscreteSum):
            return operator, None
        drift, *others = operator.terms
        composed = others[0] if len(others) == 1 else None
        if not (isinstance(drift, DiscreteAffine) and isinstance(composed, DiscreteComposition)):
            raise ValueError("expected the tendency of an affine normalisation")
        affine, *rest = composed.stages
        if not (isinstance(affine, DiscreteAffine) and rest and self._drifts(drift, affine)):
            raise ValueError(
                "expected (gamma - 1) z + beta + G(gamma z + beta), with one gamma and beta"
            )
        return _flatten(tuple(rest)), affine

    def _drifts(self, drift: DiscreteAffine, affine: DiscreteAffine) -> bool:
        """Whether the drift is the affine map minus the identity."""
        if (drift.identity, affine.identity) != (-1.0, 0.0):
            return False
        pairs = ((drift.gamma, affine.gamma), (drift.beta, affine.beta))
        sampled = [[sample_field(f, affine.grid, self.at.times) for f in pair] for pair in pairs]
        return all(np.array_equal(self._rows(a), self._rows(b)) for a, b in sampled)

    def _affine_norms(
        self, before: DiscreteAffine, between: DiscreteAffine, plain: tuple[Norm, Norm]
    ) -> tuple[Norm, Norm]:
        """The norms' affine parts, from the variable z back to the state u = gamma z + beta."""
        if self.dt != 1.0:
            raise ValueError(
                f"the flow of an affine normalisation is an encoder layer at dt = 1 only, got "
                f"dt = {self.dt:g}: set num_steps to the horizon"
            )
        if any(norm.scale is not None or norm.shift is not None for norm in plain):
            raise ValueError("the norms of the flow of z must have no affine part of their own")
        observed = self.problem.observed
        if observed is None:
            raise ValueError("the flow of an affine normalisation needs its map back to u")
        after = observed.coefficients(At(self.at.times + self.dt, self.tokens))
        start = observed.coefficients(self.at)
        into = before.coefficients(self.at)
        for part, neutral in (("factor", 1.0), ("shift", 0.0)):
            entering = self._rows(into[part])
            if not (
                np.array_equal(entering, self._rows(start[part])) and np.all(entering[0] == neutral)
            ):
                raise ValueError(
                    "the affine map before attention must be that of the preceding normalisation, "
                    "and the identity before the first layer"
                )
        inner = between.coefficients(self.at)
        return (
            Norm(self._rows(inner["factor"]), self._rows(inner["shift"]), plain[0].eps),
            Norm(self._rows(after["factor"]), self._rows(after["shift"]), plain[1].eps),
        )

    def prenorm(self) -> EncoderWeights:
        parts = []
        for name in ("attention", "feedforward"):
            term = self.problem.terms[name]
            if not isinstance(term, DiscreteComposition):
                raise ValueError(f"{name}: expected a normalisation followed by the operator")
            parts.append(term.stages)
        if len(parts[0]) != 2:
            raise ValueError(
                f"attention: expected a normalisation and integral attention, got {len(parts[0])} "
                "stages"
            )
        first, activation, second = _feedforward(_flatten(parts[1][1:]))
        return self._build(
            parts[0][1],
            (self._plain(first, 1.0), self._plain(second, self.dt)),
            activation,
            self._norm(parts[0][0]),
            self._norm(parts[1][0]),
            norm_first=True,
        )

    def close(self, weights: EncoderWeights, closing: DiscreteOperator) -> EncoderWeights:
        norm = self._norm(closing, layers=1)
        return EncoderWeights(**{**vars(weights), "closing": norm})

    def _build(
        self,
        attention: DiscreteOperator,
        dense: tuple[Dense, Dense],
        activation: DiscreteOperator,
        norm_attention: Norm,
        norm_output: Norm,
        *,
        norm_first: bool,
    ) -> EncoderWeights:
        if not isinstance(attention, DiscreteAttention):
            raise ValueError(f"expected integral attention, got {type(attention).__name__}")
        heads, inner = attention.query.target.cells
        query = self._plain(attention.query, 1.0)
        factor = np.sqrt(inner) * attention.query.target.spacing[1] / attention.divisor
        if factor != 1.0:
            bias = None if query.bias is None else query.bias * factor
            query = Dense(query.kernel * factor, bias)
        return EncoderWeights(
            query,
            self._plain(attention.key, 1.0),
            self._plain(attention.value, 1.0),
            self._plain(attention.output, self.dt),
            dense[0],
            dense[1],
            norm_attention,
            norm_output,
            heads,
            _activation(activation),
            norm_first,
        )

    def _rows(self, table: Table) -> np.ndarray:
        """One row a step."""
        return np.asarray(table.rows(self.problem.num_steps))

    def _step(self, operator: DiscreteOperator) -> Dense:
        """E + dt W and dt b."""
        linear = _linear(operator)
        bias = linear.shift(self.at).get("bias")
        if bias is not None:
            bias = self._rows(bias)
            bias = bias if self.dt == 1.0 else self.dt * bias
        return Dense(self._rows(linear.step_matrix(self.at, self.dt)), bias)

    def _plain(self, operator: DiscreteOperator, factor: float) -> Dense:
        """The matrix and bias, times ``factor``."""
        if _linear(operator).identity != 0.0:
            raise ValueError("expected a plain dense operator, got one with an identity part")
        tables = {"matrix": _linear(operator).matrix(self.at)} | _linear(operator).shift(self.at)
        found = {name: self._rows(table) for name, table in tables.items()}
        if factor != 1.0:
            found = {name: factor * value for name, value in found.items()}
        return Dense(found["matrix"], found.get("bias"))

    def _norm(self, operator: DiscreteOperator, layers: int | None = None) -> Norm:
        layers = layers or self.problem.num_steps
        shape = layers, self.problem.grid.features.size
        if isinstance(operator, DiscreteProjection) and isinstance(operator.constraint, MomentSet):
            target, dtype = operator.constraint, self.problem.dtype
            return Norm(
                np.full(shape, target.deviation, dtype), np.full(shape, target.mean, dtype), 0.0
            )
        if not isinstance(operator, DiscreteNormalisation):
            raise ValueError(f"expected a normalisation, got {type(operator).__name__}")
        at = At(self.at.times[:layers], self.tokens)
        found = {
            name: np.asarray(table.rows(layers))
            for name, table in operator.coefficients(at).items()
        }
        return Norm(found.get("gamma"), found.get("shift"), operator.eps)


def _some_tokens(problem: Problem) -> int:
    grid = problem.grid.tokens
    return getattr(grid, "size", None) or getattr(grid, "refinement", 1)


def _linear(operator: DiscreteOperator) -> DiscreteLinear:
    if not isinstance(operator, DiscreteLinear):
        raise ValueError(f"expected a linear integral operator, got {type(operator).__name__}")
    return operator


def _flatten(stages: tuple[DiscreteOperator, ...]) -> DiscreteOperator:
    return stages[0] if len(stages) == 1 else DiscreteComposition(stages)


def _feedforward(
    operator: DiscreteOperator,
) -> tuple[DiscreteOperator, DiscreteOperator, DiscreteOperator]:
    """The two dense operators and the activation between them."""
    stages = list(_leaves(operator))
    if len(stages) != 3:
        raise ValueError(
            f"expected a feedforward of two dense operators with an activation, got "
            f"{[type(stage).__name__ for stage in stages]}"
        )
    return stages[0], stages[1], stages[2]


def _leaves(operator: DiscreteOperator) -> list[DiscreteOperator]:
    if not isinstance(operator, DiscreteComposition):
        return [operator]
    return [leaf for stage in operator.stages for leaf in _leaves(stage)]


def _activation(operator: DiscreteOperator) -> str:
    if isinstance(operator, DiscretePointwise):
        return operator.name
    if isinstance(operator, DiscreteProjection) and isinstance(
        operator.constraint, NonnegativeCone
    ):
        return "relu"
    raise ValueError(f"expected an activation, got {type(operator).__name__}")
