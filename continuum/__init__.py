"""The continuous side: domains, kernels, operators, constraint sets and equations.

Nothing in this package knows a grid, a step size or a file.  It states the integro-differential
equation of Tai, Liu, Li and Chan, *A Mathematical Explanation of Transformers* (arXiv 2510.03989),

    u_t = A(u; t) + sum_j (W_j u + b_j) - dI_{S1}(u) - dI_{S2}(u),    u(., ., 0) = f,

for a state u(x, y, t): x is the token position, y the feature coordinate, t the depth.
"""

#: The distribution this package belongs to; the other packages refuse a foreign namesake.
DISTRIBUTION = "transformer-continuum"

from continuum.constraints import Compatibility, MomentSet, NonnegativeCone, compatible
from continuum.description import describe
from continuum.domains import Domain, interval, token_axis
from continuum.equations import (
    Equation,
    paper_equation,
    prenorm_flow,
    residual_flow,
    unsplit_flow,
)
from continuum.expressions import Expression, ExpressionError, parse
from continuum.kernels import (
    AnalyticField,
    AnalyticKernel,
    BasisField,
    BasisKernel,
    CellField,
    CellKernel,
    Field,
    Kernel,
    LayeredField,
    LayeredKernel,
    SeparableKernel,
)
from continuum.operators import (
    Affine,
    BucketBias,
    Causal,
    Composition,
    IntegralAttention,
    LinearBias,
    LinearIntegral,
    Normalisation,
    Operator,
    Pointwise,
    Product,
    Projection,
    Rotary,
    ScoreBias,
    Source,
    Sum,
    rotary_frequencies,
)
from continuum.structure import Apply, Average, Flow, Sequence

__all__ = [
    "DISTRIBUTION",
    "Affine",
    "AnalyticField",
    "AnalyticKernel",
    "Apply",
    "Average",
    "BasisField",
    "BasisKernel",
    "BucketBias",
    "Causal",
    "CellField",
    "CellKernel",
    "Compatibility",
    "Composition",
    "Domain",
    "Equation",
    "Expression",
    "ExpressionError",
    "Field",
    "Flow",
    "IntegralAttention",
    "Kernel",
    "LayeredField",
    "LayeredKernel",
    "LinearBias",
    "LinearIntegral",
    "MomentSet",
    "NonnegativeCone",
    "Normalisation",
    "Operator",
    "Pointwise",
    "Product",
    "Projection",
    "Rotary",
    "ScoreBias",
    "SeparableKernel",
    "Sequence",
    "Source",
    "Sum",
    "compatible",
    "describe",
    "interval",
    "paper_equation",
    "parse",
    "prenorm_flow",
    "residual_flow",
    "rotary_frequencies",
    "token_axis",
    "unsplit_flow",
]
