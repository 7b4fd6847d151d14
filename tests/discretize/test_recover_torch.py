"""torch encoders, recovered and solved, against torch's own output."""

import jax
import numpy as np
import pytest
import torch
from torch import nn

from continuum import Pointwise, Projection
from discretize.encoders import recover
from experiments.reference import random_encoder
from solvers import solve
from tests.helpers import gapped_mask, relative_difference
from tests.references.translate import to_torch

#: Agreement between two libraries that sum in different orders, up to 12 layers.
TOLERANCE = {np.float64: 1e-13, np.float32: 2e-6}

# layers, d_model, heads, d_ff, norm, activation, bias, final norm, eps
TABLE = {
    "post relu": (2, 12, 3, 24, "post", "relu", True, False, 1e-5),
    "post gelu, small eps": (2, 12, 2, 24, "post", "gelu", True, False, 1e-12),
    "post, no bias, narrow, final norm": (3, 12, 4, 5, "post", "relu", False, True, 1e-5),
    "post, one head, d_ff = d, large eps": (1, 12, 1, 12, "post", "relu", True, False, 1e-3),
    "post, 12 layers, a head per feature": (12, 12, 12, 24, "post", "gelu", True, False, 1e-5),
    "pre relu, final norm": (2, 12, 3, 24, "pre", "relu", True, True, 1e-5),
    "pre gelu, no bias, narrow": (3, 12, 12, 5, "pre", "gelu", False, False, 1e-5),
    "pre, 12 layers, one head": (12, 12, 1, 24, "pre", "gelu", True, True, 1e-5),
}

#: Every row in float64 for both equations, and in float32 for one of them in turn.
RUNS = [
    *((case, equation, np.float64) for case in TABLE for equation in ("split", "residual")),
    *((case, ("split", "residual")[k % 2], np.float32) for k, case in enumerate(TABLE)),
]


def torch_output(model, u, mask=None):
    """What the model returns for NumPy states in its own layout; the mask is batch first."""
    padding = None if mask is None else torch.from_numpy(~mask)
    with torch.no_grad():
        return model(torch.from_numpy(u), src_key_padding_mask=padding).numpy()


def drawn(seed, d_model, dtype=np.float64):
    """A batch of sequences with a mask that has gaps and hides nothing of the first sample."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((3, 7, d_model)).astype(dtype)
    mask = gapped_mask(rng, 3, 7)
    mask[0] = True
    return u, mask


def assert_same_arrays(found, expected):
    """The same numbers in the same dtypes, to the last bit."""
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for one, other in pairs:
        if isinstance(one, jax.Array | np.ndarray):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("case", "equation", "dtype"), RUNS, ids=[f"{c}-{e}-{d.__name__}" for c, e, d in RUNS]
)
def test_the_solution_is_the_output_of_the_encoder(case, equation, dtype):
    layers, d_model, heads, d_ff, norm, activation, bias, final_norm, eps = TABLE[case]
    parameters = random_encoder(
        17, layers, d_model, heads, d_ff, norm, activation,
        bias=bias, eps=eps, final_norm=final_norm, dtype=dtype,
    )  # fmt: skip
    model = to_torch(parameters, bias=bias)
    recovered = recover(model, equation=equation)
    u, mask = drawn(18, d_model, dtype)
    solution = solve(recovered, recovered.embed(torch.from_numpy(u)), mask=mask)
    assert solution.final.dtype == dtype
    assert solution.num_steps == layers
    difference = relative_difference(solution.final, torch_output(model, u, mask), mask)
    assert difference <= TOLERANCE[dtype]


def test_without_a_mask_and_without_a_batch():
    model = to_torch(random_encoder(19, 2, 12, 3, 24))
    recovered = recover(model)
    u, _ = drawn(20, 12)
    batch = solve(recovered, u).final
    assert relative_difference(batch, torch_output(model, u)) <= 1e-13
    assert relative_difference(solve(recovered, u[1]).final, torch_output(model, u[1])) <= 1e-13


def test_a_model_with_the_batch_second_gives_states_with_the_batch_first():
    model = to_torch(random_encoder(21, 2, 12, 3, 24), batch_first=False)
    recovered = recover(model)
    u, mask = drawn(22, 12)
    theirs = np.ascontiguousarray(u.swapaxes(0, 1))  # (tokens, batch, features)
    u0 = recovered.embed(torch.from_numpy(theirs))
    np.testing.assert_array_equal(u0, u)
    expected = torch_output(model, theirs, mask).swapaxes(0, 1)
    assert relative_difference(solve(recovered, u0, mask=mask).final, expected, mask) <= 1e-13
    # a single sequence has no batch axis to move
    np.testing.assert_array_equal(recovered.embed(u[0]), u[0])
    # and a batch-first model leaves the order alone
    np.testing.assert_array_equal(recover(to_torch(random_encoder(21))).embed(theirs), theirs)


@pytest.mark.parametrize(("norm", "equation"), [("post", "split"), ("pre", "residual")])
def test_a_bare_layer(norm, equation):
    model = to_torch(random_encoder(23, 1, 12, 3, 20, norm)).layers[0]
    assert type(model) is nn.TransformerEncoderLayer
    u, mask = drawn(24, 12)
    recovered = recover(model, equation=equation)
    found = solve(recovered, u, mask=mask).final
    assert relative_difference(found, torch_output(model, u, mask), mask) <= 1e-13
    assert recovered.problem.num_steps == 1


ACTIVATIONS = {
    "nn.GELU()": (nn.GELU(), "gelu"),
    "nn.GELU('tanh')": (nn.GELU("tanh"), "gelu_tanh"),
    "nn.ReLU()": (nn.ReLU(), "relu"),
    "nn.SiLU()": (nn.SiLU(), "silu"),
    "nn.Tanh()": (nn.Tanh(), "tanh"),
    "F.silu": (nn.functional.silu, "silu"),
    "F.tanh": (nn.functional.tanh, "tanh"),
    "torch.tanh": (torch.tanh, "tanh"),
    "torch.relu": (torch.relu, "relu"),
}


@pytest.mark.parametrize("case", ACTIVATIONS)
def test_activations_given_as_modules_and_functions(case):
    activation, name = ACTIVATIONS[case]
    torch.manual_seed(5)
    layer = nn.TransformerEncoderLayer(
        8, 2, 12, dropout=0.0, activation=activation, batch_first=True, dtype=torch.float64
    ).eval()
    recovered = recover(layer)
    operator = recovered.problem.equation.terms["activation_1"]
    if name == "relu":
        assert isinstance(operator, Projection)
    else:
        assert isinstance(operator, Pointwise) and operator.name == name
    if name in ("relu", "gelu"):
        return  # solved by every test above
    u, _ = drawn(25, 8)
    # With gradients on: torch's fused inference path computes every nn.GELU with erf, also the tanh
    # form, so that a layer with nn.GELU("tanh") differs from itself by 6e-5 (torch 2.13).
    expected = layer(torch.from_numpy(u)).detach().numpy()
    assert relative_difference(solve(recovered, u).final, expected) <= 1e-13


@pytest.mark.parametrize("equation", ["split", "residual"])
def test_every_layer_is_in_the_trajectory(equation):
    """With one saved state per step the trajectory holds the hidden states of all layers."""
    model = to_torch(random_encoder(26, 3, 12, 3, 24, final_norm=True))
    u, _ = drawn(27, 12)
    solution = solve(recover(model, equation=equation), u, save_every=1)
    state = torch.from_numpy(u)
    for k, layer in enumerate(model.layers, start=1):
        with torch.no_grad():
            state = layer(state)
        assert relative_difference(solution.trajectory[k], state.numpy()) <= 1e-13
    assert relative_difference(solution.final, torch_output(model, u)) <= 1e-13
    # the final norm is not part of the states
    assert relative_difference(solution.final, solution.trajectory[-1]) > 1e-2


def test_dropout_is_that_of_evaluation_mode():
    model = nn.TransformerEncoderLayer(8, 2, 12, 0.5, batch_first=True, dtype=torch.float64)
    assert_same_arrays(recover(model.train()), recover(model.eval()))


def test_the_recovered_equation_shares_no_memory_with_the_model():
    model = to_torch(random_encoder(29, 1, 12, 3, 24, final_norm=True))
    recovered = recover(model)
    before = [np.array(leaf) for leaf in jax.tree.leaves(recovered.problem)]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert_same_arrays(recovered.problem, before)


@pytest.mark.parametrize(("stored", "wanted"), [("float64", "float32"), ("float32", "float64")])
def test_the_dtype_can_be_chosen(stored, wanted):
    """Asking for a dtype is converting the model first."""
    model = to_torch(random_encoder(31, 2, 12, 3, 24, dtype=stored))
    recovered = recover(model, dtype=wanted)
    assert recovered.problem.dtype == recovered.embed(np.ones((3, 12))).dtype == wanted
    assert_same_arrays(recovered, recover(model.to(getattr(torch, wanted))))
