"""What ``continuum verify`` is asked to do, as checked data; loads nothing heavy."""

import math
from dataclasses import dataclass, field
from enum import StrEnum


class Equation(StrEnum):
    """The continuous equation an encoder is read as."""

    SPLIT = "split"
    RESIDUAL = "residual"


class Dtype(StrEnum):
    """The precision in which both sides compute."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"


class Norm(StrEnum):
    """Where an encoder normalises: after each residual sum, or inside each branch."""

    POST = "post"
    PRE = "pre"


class Activation(StrEnum):
    """The activation between the two layers of the feedforward network."""

    RELU = "relu"
    GELU = "gelu"


#: The largest relative difference that counts as equal, by precision.
TOLERANCES = {Dtype.FLOAT64: 1e-13, Dtype.FLOAT32: 2e-6}


@dataclass(frozen=True)
class Encoder:
    """The architecture of a random encoder.

    Args:
        layers: number of layers.
        d_model: features of a token.
        heads: attention heads; divides d_model.
        d_ff: features between the two feedforward layers.
        norm: post- or pre-norm; pre-norm encoders get a final norm, as is usual.
        activation: relu or gelu (the exact form).
        eps: added to the variance in every norm.
    """

    layers: int = 3
    d_model: int = 32
    heads: int = 4
    d_ff: int = 64
    norm: Norm = Norm.POST
    activation: Activation = Activation.RELU
    eps: float = 1e-5

    def __post_init__(self) -> None:
        """Check every number."""
        _check_counts(self, ("layers", "d_model", "heads", "d_ff"))
        if self.d_model % self.heads:
            raise ValueError(
                f"--heads: expected a divisor of --d-model {self.d_model}, got {self.heads}; every "
                "head takes an equal share of the features"
            )
        if not (math.isfinite(self.eps) and self.eps >= 0):
            raise ValueError(f"--eps: expected a finite number >= 0, got {self.eps}")


@dataclass(frozen=True)
class Batch:
    """A random batch.

    Args:
        tokens: length of the longest sequence.
        batch: number of sequences.
        mask: whether sequences end early, the rest being padding.
        seed: of everything random, weights included.
    """

    tokens: int = 12
    batch: int = 3
    mask: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every number."""
        _check_counts(self, ("tokens", "batch"))
        if self.seed < 0:
            raise ValueError(f"--seed: expected a whole number >= 0, got {self.seed}")


@dataclass(frozen=True)
class Request:
    """One verification.

    Args:
        model: a directory, or "minilm"; None for a random encoder.
        torch: judge the random encoder by torch instead of the NumPy reference.
        equation: what the encoder is read as.
        dtype: the precision of both sides.
        tolerance: the largest relative difference that passes; by default that of the dtype.
        texts: sentences for a model; by default a few of different lengths.
        encoder: the random encoder.
        batch: the random batch.
        given: the names of those options of ``encoder`` and ``batch`` that the user set.
    """

    model: str | None = None
    torch: bool = False
    equation: Equation = Equation.SPLIT
    dtype: Dtype = Dtype.FLOAT64
    tolerance: float | None = None
    texts: tuple[str, ...] = ()
    encoder: Encoder = field(default_factory=Encoder)
    batch: Batch = field(default_factory=Batch)
    given: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse contradictions: an option that would be ignored is an error."""
        if self.tolerance is not None and not 0 <= self.tolerance < math.inf:
            raise ValueError(f"--tolerance: expected a finite number >= 0, got {self.tolerance}")
        if self.model is None:
            if self.texts:
                raise ValueError(
                    "--text: expected a model directory or 'minilm' to read sentences, got none; "
                    "random encoders take random states"
                )
            return
        if self.torch:
            raise ValueError(
                f"--torch makes a random encoder, but the model {self.model!r} was given too; "
                "leave out one of them"
            )
        self.refuse(Encoder.__dataclass_fields__, f"the model {self.model!r} fixes its own")

    @property
    def limit(self) -> float:
        """The largest relative difference that passes."""
        return TOLERANCES[self.dtype] if self.tolerance is None else self.tolerance

    def refuse(self, names, why: str) -> None:
        """Raise ValueError if the user set one of these options.

        Args:
            names: fields of ``Encoder`` or ``Batch``.
            why: why it would be ignored.
        """
        wrong = [f"--{name.replace('_', '-')}" for name in names if name in self.given]
        if wrong:
            raise ValueError(f"{', '.join(wrong)}: {why}; leave the option out")


def _check_counts(options: Encoder | Batch, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(options, name)
        if value < 1:
            option = name.replace("_", "-")
            raise ValueError(f"--{option}: expected a whole number >= 1, got {value}")
