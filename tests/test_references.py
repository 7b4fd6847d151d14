"""The two reference encoders against torch, each other, and numbers worked by hand."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from experiments.reference import EncoderParameters, LayerParameters, encode, random_encoder
from tests.references import jax_encoder
from tests.references.translate import to_jax, to_torch

POST_NAMES = ["attention", "normalised", "hidden", "feedforward", "sum", "output"]

# layers, d_model, heads, d_ff, norm, activation, bias, final_norm, eps
OPTIONS = {
    "post relu": (2, 16, 4, 32, "post", "relu", True, False, 1e-5),
    "post gelu": (2, 16, 2, 32, "post", "gelu", True, False, 1e-12),
    "pre relu": (2, 16, 4, 32, "pre", "relu", True, False, 1e-5),
    "pre gelu final": (2, 16, 2, 32, "pre", "gelu", True, True, 1e-5),
    "post final no bias": (2, 16, 4, 32, "post", "relu", False, True, 1e-5),
    "pre no bias": (2, 16, 4, 32, "pre", "gelu", False, False, 1e-5),
    "narrow feedforward": (3, 16, 4, 5, "post", "relu", True, False, 1e-3),
    "one head": (1, 16, 1, 32, "post", "relu", True, False, 1e-5),
    "a head per feature": (1, 6, 6, 32, "pre", "relu", True, True, 1e-5),
    "twelve layers": (12, 16, 4, 32, "post", "gelu", True, False, 1e-5),
}


@pytest.fixture(params=OPTIONS.values(), ids=OPTIONS.keys())
def case(request):
    """Parameters, whether torch has biases, a batch of sequences and a mask with padding."""
    layers, d_model, heads, d_ff, norm, activation, bias, final_norm, eps = request.param
    parameters = random_encoder(
        3, layers, d_model, heads, d_ff, norm, activation, bias=bias, eps=eps, final_norm=final_norm
    )
    u = np.random.default_rng(4).standard_normal((3, 7, d_model))
    mask = np.arange(7) < np.array([7, 4, 1])[:, None]
    return parameters, bias, u, mask


def relative(a, b, mask=slice(None)):
    a, b = np.asarray(a)[mask], np.asarray(b)[mask]
    return np.abs(a - b).max() / np.abs(b).max()


def run_jax(parameters, u, mask=None):
    layers, options = to_jax(parameters)
    mask = None if mask is None else jnp.asarray(mask)
    return np.asarray(jax_encoder.encoder(layers, jnp.asarray(u), mask=mask, **options))


def run_torch(parameters, bias, u, mask=None):
    padding = None if mask is None else torch.from_numpy(~mask)
    with torch.no_grad():
        return to_torch(parameters, bias=bias)(torch.from_numpy(u), src_key_padding_mask=padding)


@pytest.mark.parametrize("masked", [False, True], ids=["all valid", "padded"])
def test_references_agree_with_torch_and_each_other(case, masked):
    parameters, bias, u, mask = case
    mask = mask if masked else None
    valid = mask if masked else slice(None)
    by_numpy = encode(parameters, u, mask).output
    by_jax = run_jax(parameters, u, mask)
    by_torch = run_torch(parameters, bias, u, mask)
    assert by_numpy.dtype == by_jax.dtype == np.float64
    assert relative(by_numpy, by_torch, valid) <= 1e-13
    assert relative(by_jax, by_torch, valid) <= 1e-13
    assert relative(by_numpy, by_jax, valid) <= 1e-13


def test_float32_stays_float32(case):
    parameters, _, u, mask = case
    u = u.astype(np.float32)
    in_single = encode(parameters, u, mask)
    assert in_single.output.dtype == np.float32
    assert all(a.dtype == np.float32 for states in in_single.layers for a in states.values())
    in_double = encode(parameters, u.astype(np.float64), mask)
    assert 1e-9 < relative(in_single.output, in_double.output, mask) <= 1e-5


@pytest.mark.parametrize(
    "run", [lambda p, u, m: encode(p, u, m).output, run_jax], ids=["np", "jax"]
)
def test_padded_tokens_do_not_matter(case, run):
    parameters, _, u, mask = case
    other = np.where(mask[..., None], u, 1e3)
    np.testing.assert_array_equal(
        run(parameters, u, mask)[mask], run(parameters, other, mask)[mask]
    )
    shorter = run(parameters, u[1:2, :4], None)
    assert relative(run(parameters, u, mask)[1:2, :4], shorter) <= 1e-13


def test_unmasked_padding_does_matter(case):
    parameters, _, u, mask = case
    padded_wrongly = encode(parameters, u, np.ones_like(mask)).output
    assert relative(padded_wrongly, encode(parameters, u, mask).output, mask) > 1e-3


def test_batch_is_sample_by_sample(case):
    parameters, _, u, mask = case
    batched = encode(parameters, u, mask)
    alone = encode(parameters, u[1], mask[1])
    np.testing.assert_array_equal(batched.output[1], alone.output)
    assert len(batched.layers) == len(parameters.layers)
    for together, single in zip(batched.layers, alone.layers, strict=True):
        for name, states in single.items():
            np.testing.assert_array_equal(together[name][1], states)


def by_hand(norm, activation="relu", eps=0.0):
    """Two tokens, two features, one head: Q = K = 0, so attention averages V over the tokens."""
    zero, identity = np.zeros((2, 2)), np.eye(2)
    layer = LayerParameters(
        query_weight=zero, query_bias=np.zeros(2), key_weight=zero, key_bias=np.zeros(2),
        value_weight=identity, value_bias=np.array([0.0, 1.0]),
        output_weight=identity, output_bias=np.zeros(2),
        first_weight=np.array([[1.0], [0.0]]), first_bias=np.array([0.5]),
        second_weight=np.array([[2.0, 4.0]]), second_bias=np.array([0.0, 1.0]),
        attention_gamma=np.array([1.0, 2.0]), attention_beta=np.array([0.0, 1.0]),
        feedforward_gamma=np.array([3.0, 1.0]), feedforward_beta=np.array([0.0, 0.0]),
    )  # fmt: skip
    return EncoderParameters((layer,), heads=1, norm=norm, activation=activation, eps=eps)


def test_post_norm_by_hand():
    u = np.array([[1.0, 0.0], [3.0, 2.0]])
    states = encode(by_hand("post"), u).layers[0]
    # Attn adds mean(u) + (0, 1) = (2, 2); with two features LN is (1, -1) or (-1, 1), then affine.
    expected = {
        "attention": [[3.0, 2.0], [5.0, 4.0]],
        "normalised": [[1.0, -1.0], [1.0, -1.0]],
        "hidden": [[1.5], [1.5]],
        "feedforward": [[3.0, 7.0], [3.0, 7.0]],
        "sum": [[4.0, 6.0], [4.0, 6.0]],
        "output": [[-3.0, 1.0], [-3.0, 1.0]],
    }
    assert list(states) == POST_NAMES
    for name, values in expected.items():
        np.testing.assert_array_equal(states[name], values, err_msg=name)
    np.testing.assert_array_equal(run_jax(by_hand("post"), u), expected["output"])


def test_pre_norm_by_hand():
    u = np.array([[1.0, 0.0], [2.0, 4.0]])
    states = encode(by_hand("pre"), u).layers[0]
    expected = {
        "normalised_input": [[1.0, -1.0], [-1.0, 3.0]],
        "attention": [[1.0, 2.0], [2.0, 6.0]],  # Attn adds (0, 1) + (0, 1)
        "normalised": [[-3.0, 1.0], [-3.0, 1.0]],
        "hidden": [[0.0], [0.0]],
        "feedforward": [[0.0, 1.0], [0.0, 1.0]],
        "sum": [[1.0, 3.0], [2.0, 7.0]],
        "output": [[1.0, 3.0], [2.0, 7.0]],
    }
    assert list(states) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(states[name], values, err_msg=name)
    np.testing.assert_array_equal(run_jax(by_hand("pre"), u), expected["output"])


def test_gelu_and_eps_by_hand():
    states = encode(by_hand("post", "gelu", eps=0.75), np.array([[1.0, 0.0]])).layers[0]
    # attention (2, 1): mean 1.5, variance 1/4, so eps = 3/4 halves the normalised values.
    np.testing.assert_array_equal(states["normalised"], [[0.5, 0.0]])
    gelu_of_one = 0.5 * (1 + math.erf(1 / math.sqrt(2)))
    np.testing.assert_allclose(states["hidden"], [[gelu_of_one]], rtol=1e-15)


def test_random_encoder_is_reproducible_and_has_no_special_values():
    first, again, other = random_encoder(7), random_encoder(7), random_encoder(8)
    for name, weights in vars(first.layers[0]).items():
        np.testing.assert_array_equal(weights, getattr(again.layers[0], name))
        assert not np.array_equal(weights, getattr(other.layers[0], name))
        assert np.unique(weights).size == weights.size


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm": "middle"}, "expected norm to be one of post, pre, got 'middle'"),
        ({"activation": "tanh"}, "expected activation to be one of relu, gelu, got 'tanh'"),
        ({"heads": 3}, "expected heads to divide d_model = 16, got 3"),
    ],
)
def test_unknown_options_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        random_encoder(0, **change)


@pytest.mark.parametrize(
    ("u", "mask", "message"),
    [
        (np.ones((5, 16), np.int64), None, "expected u in float64 or float32, got int64"),
        (np.ones(16), None, "expected u .tokens, features."),
        (np.ones((5, 15)), None, "expected 16 features per token"),
        (np.ones((5, 16)), np.ones(4, bool), "expected a bool mask of shape .5,."),
        (np.ones((5, 16)), np.ones(5), "got float64 of shape"),
        (np.ones((2, 5, 16)), np.array([[True] * 5, [False] * 5]), "at least one valid token"),
    ],
)
def test_bad_input_is_refused(u, mask, message):
    with pytest.raises(ValueError, match=message):
        encode(random_encoder(0), u, mask)
