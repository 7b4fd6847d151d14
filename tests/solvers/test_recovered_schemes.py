"""A real kind of model under other schemes: nothing changes but the splitting."""

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2Model

from discretize.encoders import recover
from solvers import solve
from tests.helpers import relative_difference, slope

LAYERS = 2


@pytest.fixture(scope="module")
def gpt2():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=30, n_positions=8, n_embd=6, n_layer=LAYERS, n_head=2)
    model = GPT2Model(config).double().eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(0.1 * torch.randn_like(weights))
    return recover(model, equation="residual"), np.array([[3, 7, 1, 9, 4]])


def finals(gpt2, scheme, steps):
    recovered, ids = gpt2
    u0 = recovered.embed(ids)
    return [
        np.asarray(solve(recovered, u0, scheme=scheme, num_steps=LAYERS * n).final) for n in steps
    ]


def test_all_schemes_tend_to_one_limit_at_their_orders(gpt2):
    """The kernels jump between layers, and every layer is cut into whole numbers of steps."""
    (limit,) = finals(gpt2, "rk4", [128])
    for scheme, order, steps in (("lie", 1, [16, 32, 64]), ("strang", 2, [16, 32, 64])):
        errors = [relative_difference(final, limit) for final in finals(gpt2, scheme, steps)]
        assert slope(steps, errors) == pytest.approx(order, abs=0.05), scheme
    (unsplit,) = finals(gpt2, "euler", [1])
    (split,) = finals(gpt2, "lie", [1])
    # at dt = 1 the schemes are two networks: parallel attention and feedforward, and GPT-2
    assert relative_difference(unsplit, split) > 1e-2
