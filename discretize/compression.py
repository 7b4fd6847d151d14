"""Kernels of a problem replaced by their best approximations of low rank."""

import dataclasses
from typing import Any

import jax
from jax.tree_util import DictKey, GetAttrKey, SequenceKey

from continuum.equations import Equation
from continuum.kernels import CellKernel, Kernel, LowRankKernel
from continuum.operators import LinearIntegral
from discretize.encoders.recovered import Recovered
from discretize.expansion import Expansion, expand
from discretize.problem import Problem, discretize


@dataclasses.dataclass(frozen=True)
class Row:
    """One kernel in one depth cell.  Norms are those of L2, and need no grid.

    Args:
        name: the path of its linear integral: term, then what is inside the term.
        layer: the depth cell, from 0.
        full_rank: min(source cells, target cells).
        rank: the terms kept; ``full_rank`` if the kernel was left as it is.
        stored_before: numbers of the full kernel.
        stored_after: numbers now, with the zeros that pad a layer to the rank that all layers of
            the kernel are stored with.
        operator_norm: the largest singular value, the norm of u -> int k u from L2 to L2.
        operator_error: the first dropped singular value: the norm of the difference of operators.
        hs_norm: the Hilbert-Schmidt norm (int int k^2)^(1/2), the root sum of squares of all.
        bound: the root sum of squares of the dropped ones: the Hilbert-Schmidt norm of the
            difference of kernels, which bounds ``operator_error``.
        kept_full: whether the kernel was left as it is, because two factors of its rank would not
            be smaller.
    """

    name: str
    layer: int
    full_rank: int
    rank: int
    stored_before: int
    stored_after: int
    operator_norm: float
    operator_error: float
    hs_norm: float
    bound: float
    kept_full: bool


@dataclasses.dataclass(frozen=True)
class Compressed:
    """A problem with kernels of low rank.

    Args:
        model: what was given, a problem or a recovered model, with other kernels.
        report: one row for each kernel and layer.
    """

    model: Problem | Recovered
    report: tuple[Row, ...]

    @property
    def problem(self) -> Problem:
        """The compressed problem itself."""
        return problem_of(self.model)

    @property
    def stored_before(self) -> int:
        """Numbers that the kernels of the report had."""
        return sum(row.stored_before for row in self.report)

    @property
    def stored_after(self) -> int:
        """Numbers that they have now."""
        return sum(row.stored_after for row in self.report)


@dataclasses.dataclass(frozen=True)
class Decomposition:
    """A problem with the expansions of its kernels: what several ranks have in common.

    Args:
        model: the problem or recovered model.
        expansions: of every linear integral whose kernel is constant on cells, by its path.
    """

    model: Problem | Recovered
    expansions: dict[str, Expansion]

    def compress(self, rank: int | None = None, tolerance: float | None = None) -> Compressed:
        """See :func:`compress`."""
        check_request(rank, tolerance)
        kernels: dict[str, Kernel] = {}
        rows: list[Row] = []
        for name, expansion in self.expansions.items():
            ranks = expansion.ranks(rank, tolerance)
            kernel = _smaller(expansion, ranks)
            kernels[name] = kernel
            rows += _rows(name, expansion, kernel, ranks)
        return Compressed(with_kernels(self.model, kernels), tuple(rows))


def compress(
    model: Problem | Recovered, rank: int | None = None, tolerance: float | None = None
) -> Compressed:
    """Replace every kernel that is constant on cells by its best one of low rank.

    The singular value expansion of a kernel, weighted by the square roots of the quadrature
    weights, is that of the integral operator from L2 to L2, on every refined grid.  Its first r
    terms are the best kernel of rank r; see :class:`discretize.expansion.Expansion`.  Biases,
    normalisations and kernels of other kinds stay.  A kernel whose two factors would not be smaller
    than itself stays too, and the report says so.  Of a kernel of degree 1 in t the nodes are
    compressed; between them the errors are no larger than at the worse of the two.

    Args:
        model: a problem, or what :func:`discretize.encoders.recover` returns.
        rank: the terms to keep, the same for every kernel and layer; more than there are means all.
        tolerance: in place of ``rank``: keep as few terms as a Hilbert-Schmidt error of at most
            ``tolerance`` times the Hilbert-Schmidt norm allows, for each kernel and layer.

    Returns:
        The same problem or recovered model with other kernels, and a report.

    Raises:
        ValueError: unless exactly one of rank >= 1 and 0 <= tolerance < 1 is given, or if there is
            no kernel to compress, or one is not finite.
        TypeError: for a rank that is not a whole number, or another sort of model.
    """
    check_request(rank, tolerance)
    return decompose(model).compress(rank, tolerance)


def decompose(model: Problem | Recovered) -> Decomposition:
    """The expansions of all kernels that are constant on cells; they serve every rank.

    Raises:
        ValueError: if there is none, or one is not finite.
        TypeError: for another sort of model.
    """
    if not isinstance(model, Problem | Recovered):
        raise TypeError(
            f"compress: expected a Problem or a Recovered, got a {type(model).__name__}; make one "
            "with discretize or recover"
        )
    found = {
        name: expand(operator.kernel)
        for name, operator in linear_integrals(problem_of(model).equation).items()
        if isinstance(operator.kernel, CellKernel)
    }
    if not found:
        raise ValueError(
            "compress: expected an equation with at least one linear integral whose kernel is "
            "constant on cells (a CellKernel), found none; sample its kernels on cells first"
        )
    return Decomposition(model, found)


def check_request(rank: int | None, tolerance: float | None) -> None:
    """Check that exactly one of the two is given, and that it makes sense.

    Raises:
        ValueError: if not.
        TypeError: for a rank that is not a whole number.
    """
    if (rank is None) == (tolerance is None):
        found = "neither" if rank is None else f"rank {rank} and tolerance {tolerance}"
        raise ValueError(
            f"compress: expected exactly one of rank and tolerance, got {found}; give the other "
            "one as None"
        )
    if rank is not None and (isinstance(rank, bool) or not isinstance(rank, int)):
        raise TypeError(f"compress: rank: expected a whole number, got {rank!r}; round it")
    if rank is not None and rank < 1:
        raise ValueError(
            f"compress: rank: expected a whole number >= 1, got {rank}; to leave a term out, "
            "change the equation"
        )
    if tolerance is not None and not 0.0 <= tolerance < 1.0:
        raise ValueError(
            f"compress: tolerance: expected a relative error of at least 0 and less than 1, got "
            f"{tolerance}; 0.1 keeps nine tenths of the norm's size"
        )


def linear_integrals(equation: Equation) -> dict[str, LinearIntegral]:
    """Every linear integral of an equation by its path, also inside attention and compositions."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(equation, is_leaf=_is_linear)
    return {_name(path): leaf for path, leaf in leaves if _is_linear(leaf)}


def with_kernels(model: Problem | Recovered, kernels: dict[str, Kernel]) -> Problem | Recovered:
    """The model with the kernels of some linear integrals replaced.

    Args:
        model: a problem or a recovered model.
        kernels: the new ones by path, see :func:`linear_integrals`, on the old domains.
    """
    old = problem_of(model)
    equation = jax.tree_util.tree_map_with_path(
        lambda path, leaf: _replaced(leaf, kernels.get(_name(path))),
        old.equation,
        is_leaf=_is_linear,
    )
    new = discretize(equation, old.grid, num_steps=old.num_steps)
    return dataclasses.replace(model, problem=new) if isinstance(model, Recovered) else new


def problem_of(model: Problem | Recovered) -> Problem:
    """The problem itself."""
    return model.problem if isinstance(model, Recovered) else model


def _replaced(leaf: Any, kernel: Kernel | None) -> Any:
    return leaf if kernel is None else dataclasses.replace(leaf, kernel=kernel)


def _is_linear(node: Any) -> bool:
    return isinstance(node, LinearIntegral)


def _name(path: tuple[Any, ...]) -> str:
    """The path below ``terms``, with dots: "attention.query", "feedforward.stages.0"."""
    words = [_word(key) for key in path]
    return ".".join(words[1:] if words[:1] == ["terms"] else words)


def _word(key: Any) -> str:
    if isinstance(key, GetAttrKey):
        return key.name
    if isinstance(key, DictKey):
        return str(key.key)
    return str(key.idx) if isinstance(key, SequenceKey) else str(key)


def _smaller(expansion: Expansion, ranks: list[int]) -> Kernel:
    """The kernel of low rank, or the full one where that is not larger."""
    _, n, m = expansion.kernel.values.shape
    return expansion.truncate(ranks) if max(ranks) * (n + m) < n * m else expansion.kernel


def _rows(name: str, expansion: Expansion, kernel: Kernel, ranks: list[int]) -> list[Row]:
    """One row for each layer."""
    _, n, m = expansion.kernel.values.shape
    full = not isinstance(kernel, LowRankKernel)
    tails = expansion.tails
    found = []
    for layer, sigma in enumerate(expansion.values):
        rank = expansion.terms if full else ranks[layer]
        found.append(
            Row(
                name,
                layer,
                expansion.terms,
                rank,
                n * m,
                n * m if full else max(ranks) * (n + m),
                float(sigma[0]),
                float(sigma[rank]) if rank < expansion.terms else 0.0,
                float(tails[layer, 0]),
                float(tails[layer, rank]),
                full,
            )
        )
    return found
