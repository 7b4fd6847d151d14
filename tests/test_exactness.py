"""The exactness proof: the split step is the textbook encoder, bit for bit, for dyadic weights.

Operation by operation outside jit; inside jit the compiler fuses and reorders, so that there the
agreement is to round-off only.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import solvers
from discretize.encoders import recover
from experiments.reference import EncoderParameters, encode, random_encoder
from solvers.substeps import reading
from tests.helpers import relative_difference
from tests.references.jax_encoder import encoder
from tests.references.translate import to_jax, to_torch

#: (d_model, heads, d_ff, layers, batch, tokens): few, so that every shape compiles once.  The inner
#: dimensions of a head, 4, 3 and 1, make sqrt(d_k) a power of two and not; d_ff is larger, smaller
#: and equal.
SHAPES = [(8, 2, 16, 2, 2, 5), (9, 3, 5, 1, 1, 4), (2, 2, 2, 1, 3, 1)]


def dyadic(draw, shape):
    """Multiples of 1/64 of modest size: sums of few products of such numbers are exact."""
    seed = draw(st.integers(0, 2**32 - 1))
    width = draw(st.sampled_from([8, 64, 256]))
    return np.random.default_rng(seed).integers(-width, width + 1, shape) / 64.0


@st.composite
def encoders(draw, eps):
    """A post-norm encoder with dyadic weights, and a dyadic initial state."""
    width, heads, inner, layers, batch, tokens = draw(st.sampled_from(SHAPES))
    template = random_encoder(0, layers, width, heads, inner, "post", draw_activation(draw))
    drawn = tuple(
        dataclasses.replace(
            layer,
            **{
                field.name: dyadic(draw, getattr(layer, field.name).shape)
                for field in dataclasses.fields(layer)
            },
        )
        for layer in template.layers
    )
    parameters = dataclasses.replace(template, layers=drawn, eps=eps)
    state = dyadic(draw, (batch, tokens, width))
    if eps == 0.0:
        # a row constant in y has no layer norm when eps = 0; make that impossible at the start
        state = state + np.arange(width)
    return parameters, state


def draw_activation(draw):
    return draw(st.sampled_from(["relu", "gelu"]))


def both(parameters: EncoderParameters, state: np.ndarray):
    """The split step through ``solve``, and the textbook encoder, both outside jit."""
    recovered = recover(to_torch(parameters))
    layers, options = to_jax(parameters)
    with jax.disable_jit():
        ours = solvers.solve(recovered, state).final
        textbook = encoder(layers, jnp.asarray(state), **options)
    return np.asarray(ours), np.asarray(textbook)


@given(st.data())
@pytest.mark.parametrize("eps", [0.0, 1e-5, 2.0**-10])
def test_the_split_step_is_the_textbook_encoder_bit_for_bit(eps, data):
    ours, textbook = both(*data.draw(encoders(eps)))
    finite = np.isfinite(textbook).all(axis=-1)
    assume(finite.any())
    # eps = 0 and a row that became constant: 0 / 0 in the textbook, the fixed rule here
    assert eps == 0.0 or finite.all()
    assert_array_equal(ours[finite], textbook[finite])


def test_without_the_factor_on_eps_the_proof_fails(monkeypatch):
    """The test of the test: fact 5.b is what makes eps > 0 exact."""
    parameters = random_encoder(1, 2, 8, 2, 16, eps=1e-5)
    state = np.random.default_rng(1).integers(-64, 65, (2, 5, 8)) / 64.0
    ours, textbook = both(parameters, state)
    assert relative_difference(ours, textbook) <= 1e-14
    monkeypatch.setattr(reading, "closing_scale", lambda node: 1.0)
    ours, textbook = both(parameters, state)
    with pytest.raises(AssertionError):
        assert_array_equal(ours, textbook)
    # eps / 4 instead of eps: a relative change of the order of eps, far above round-off
    assert relative_difference(ours, textbook) > 1e-7


@given(st.data())
def test_the_numpy_reference_agrees_to_round_off(data):
    parameters, state = data.draw(encoders(1e-5))
    ours = solvers.solve(recover(to_torch(parameters)), state).final
    # sums of up to 16 terms over two layers; layer norm divides by deviations that dyadic rows
    # of modest size keep well above zero
    assert relative_difference(ours, encode(parameters, state).output) <= 1e-11
