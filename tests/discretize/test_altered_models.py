"""Live models that compute something else than their parameters say are refused, not misread."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file, save_file
from transformers import BertConfig, BertModel

from continuum import CellField, interval
from continuum.kernels.cells import cell_index
from discretize import UniformGrid, save_problem
from discretize.encoders import recover
from discretize.quadrature import LEFT
from discretize.sampling import sample_field


class Doubled(torch.nn.Linear):
    def forward(self, values):
        return 2 * super().forward(values)


def encoder():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, dtype=torch.float64)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def bert():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=12,
        max_position_embeddings=16,
    )
    return BertModel(config).double()


def subclassed(model):
    model.layers[0].linear1 = Doubled(8, 12, dtype=torch.float64)


def hooked(model):
    model.layers[1].linear2.register_forward_hook(lambda *_: None)


def overridden(model):
    model.layers[1]._ff_block = lambda x: x


def no_dropout(model):
    model.layers[0].dropout2 = torch.nn.Tanhshrink()


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (subclassed, r"linear1: expected one of .*Linear.* got .*Doubled"),
        (hooked, r"linear2 has forward hooks"),
        (overridden, r"replaced methods \['_ff_block'\]"),
        (no_dropout, r"dropout2: expected one of .*Dropout.* got .*Tanhshrink"),
    ],
)
def test_an_altered_torch_encoder_is_refused(alter, message):
    model = encoder()
    recover(model)
    alter(model)
    with pytest.raises(TypeError, match=message):
        recover(model)


def other_eps(model):
    model.encoder.layer[0].output.LayerNorm.eps = 0.5


def other_activation(model):
    model.encoder.layer[1].intermediate.intermediate_act_fn = torch.nn.Dropout()


def other_heads(model):
    model.config.num_attention_heads = 4


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (other_eps, r"encoder\.layer\.0\.output\.LayerNorm: eps 1e-12 by the config, 0\.5"),
        (other_activation, r"intermediate_act_fn: the class .*GELU.* by the config, .*Dropout"),
        (other_heads, r"num_attention_heads 4 by the config, 2 in the model"),
    ],
)
def test_a_bert_that_contradicts_its_config_is_refused(alter, message):
    model = bert()
    recover(model)
    alter(model)
    with pytest.raises(ValueError, match=message):
        recover(model)


def test_legacy_names_of_norms_are_the_current_ones(tmp_path):
    bert().save_pretrained(tmp_path)
    expected = recover(tmp_path).embed(np.arange(5))
    path = tmp_path / "model.safetensors"
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): values
        for name, values in load_file(path).items()
    }
    assert any(name.endswith("gamma") for name in renamed)
    save_file(renamed, path)
    assert_array_equal(recover(tmp_path).embed(np.arange(5)), expected)


def test_a_recovered_encoder_is_not_saved_without_its_surroundings(tmp_path):
    with pytest.raises(Exception, match=r"expected a Problem, got a Recovered|parameter 'problem'"):
        save_problem(recover(encoder()), tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_nodes_on_cell_boundaries_belong_to_the_cell_they_begin():
    domain = interval(0.3, "Omega_y")
    field = CellField(jnp.array([[1.0, 2.0, 3.0]]), domain)
    table = sample_field(field, UniformGrid(domain, (3,), LEFT), np.zeros(1))
    assert_array_equal(table.values, [[1.0, 2.0, 3.0]])
    for count in range(1, 40):
        for length in (0.1, 0.3, 0.7, 1.1, 3.3):
            nodes = UniformGrid(interval(length, "Omega_y"), (count,), LEFT).nodes
            found = cell_index(interval(length, "Omega_y"), (count,), nodes)
            assert_array_equal(found, np.arange(count))
