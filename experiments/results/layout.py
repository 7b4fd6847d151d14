"""What a trajectory on disk consists of, before the first step."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: Names that a trajectory gives to its own variables and dimensions.
RESERVED = frozenset({"u", "t", "x", "x1", "x2", "y", "token", "sample", "step", "step_time"})


@dataclass(frozen=True)
class Observable:
    """A quantity reported after every step.

    Args:
        long_name: what it is, in words, for axes and tables.
        units: "1" for a number without a unit.
        dimensions: of one value: none for a number, ``("sample",)`` for one of each sample, also
            the dimensions of the state.
        initial: its value at step 0; NaN when not given.
    """

    long_name: str
    units: str = "1"
    dimensions: tuple[str, ...] = ()
    initial: Any = None


@dataclass(frozen=True)
class Constant:
    """A quantity that does not depend on t, such as a mask or quadrature weights.

    Args:
        values: an array of numbers or booleans.
        dimensions: its axes, out of those of the state.
        long_name: what it is, in words.
        units: "1" for a number without a unit.
    """

    values: np.ndarray
    dimensions: tuple[str, ...]
    long_name: str
    units: str = "1"


@dataclass(frozen=True, eq=False)
class Layout:
    """The variables of a trajectory, their axes and their pieces.

    Steps are counted, 0 to ``steps``; the saved ones are the multiples of ``save_every``, at
    t = step * (horizon / steps).

    Args:
        initial: the state u at t = 0, shape (x, y) or (samples, x, y); its dtype is the one on
            disk.
        tokens: coordinates of the nodes of Omega_x, shape (x,), (x, 1) or, in two dimensions,
            (x, 2).
        features: coordinates of the nodes of Omega_y, shape (y,).
        horizon: T.
        steps: how many.
        save_every: steps between saved states, a divisor of ``steps``.
        chunk: saved states in one file.
        title: of the experiment.
        observables: reported after every step, by name.
        constants: by name.
        attributes: more attributes of the whole dataset.

    Raises:
        ValueError: for shapes or counts that do not fit, and names that are taken.
        TypeError: for a state that is not of real floating-point numbers.
    """

    initial: np.ndarray
    tokens: np.ndarray
    features: np.ndarray
    horizon: float
    steps: int
    save_every: int = 1
    chunk: int = 16
    title: str = ""
    observables: Mapping[str, Observable] = field(default_factory=dict)
    constants: Mapping[str, Constant] = field(default_factory=dict)
    attributes: Mapping[str, str | int | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what can be checked before there is a file."""
        tokens = np.asarray(self.tokens)
        if tokens.ndim == 2 and tokens.shape[1] == 1:
            object.__setattr__(self, "tokens", tokens[:, 0])
        self._check_state()
        self._check_counts()
        names = [*self.observables, *self.constants]
        for name in names:
            _check_name(name)
        if len({name.lower() for name in names}) < len(names):
            raise ValueError(f"expected names that differ in more than case, got {sorted(names)}")
        for name, entry in (*self.observables.items(), *self.constants.items()):
            unknown = set(entry.dimensions) - set(self.sizes)
            if unknown:
                raise ValueError(
                    f"{name}: expected dimensions out of {', '.join(self.sizes)}, got "
                    f"{', '.join(sorted(unknown))}"
                )

    def _check_state(self) -> None:
        if self.initial.dtype.kind != "f":
            raise TypeError(f"expected a state of real floats, got {self.initial.dtype}")
        nodes = len(self.tokens), len(self.features)
        if self.initial.ndim not in (2, 3) or self.initial.shape[-2:] != nodes:
            raise ValueError(
                f"initial: expected shape (x, y) or (samples, x, y) with (x, y) = {nodes}, the "
                f"number of nodes, got {self.initial.shape}"
            )
        if self.tokens.ndim > 2 or self.tokens.shape[1:] not in ((), (2,)):
            raise ValueError(f"tokens: expected shape (x,) or (x, 2), got {self.tokens.shape}")

    def _check_counts(self) -> None:
        for name in ("steps", "save_every", "chunk"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if self.steps % self.save_every:
            raise ValueError(
                f"save_every: expected a divisor of steps = {self.steps}, got {self.save_every}"
            )

    @property
    def state_dimensions(self) -> tuple[str, ...]:
        """The axes of one state: ``x``, or ``token`` where Omega_x has two coordinates, and y."""
        token = "x" if self.tokens.ndim == 1 else "token"
        return ("sample", token, "y")[-self.initial.ndim :]

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each axis of a state."""
        return dict(zip(self.state_dimensions, self.initial.shape, strict=True))

    @property
    def step_times(self) -> np.ndarray:
        """The depths t after 0, 1, ... steps, 0 and T included."""
        return np.arange(self.steps + 1) * (self.horizon / self.steps)

    @property
    def times(self) -> np.ndarray:
        """The depths t of the saved states."""
        return self.step_times[:: self.save_every]

    def saved(self, step: int) -> int:
        """The number of saved states up to a step, the initial one included."""
        return step // self.save_every + 1

    def shape_of(self, dimensions: tuple[str, ...]) -> tuple[int, ...]:
        """Lengths of some axes of a state."""
        return tuple(self.sizes[name] for name in dimensions)


def _check_name(name: str) -> None:
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or name.lower() in RESERVED:
        raise ValueError(
            f"expected a name of letters, digits and underscores other than "
            f"{', '.join(sorted(RESERVED))}, got {name!r}"
        )
