"""Models that several modules recover: made once a session, with no special values in them."""

import pytest
import torch
import transformers

SMALL_BERT = {
    "vocab_size": 30,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 16,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-6,
}


def random_bert(cls=transformers.BertModel, seed=0, **changed):
    """A BERT in float64 and eval mode whose every number, biases and norms too, is random."""
    config = transformers.BertConfig(**(SMALL_BERT | changed), attn_implementation="eager")
    model = cls(config).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(centre + 0.3 * noise)
    return model


@pytest.fixture(scope="session")
def make_bert():
    return random_bert


@pytest.fixture(scope="session")
def bert():
    return random_bert()


@pytest.fixture(scope="session")
def saved_bert(bert, tmp_path_factory):
    """The folder that save_pretrained writes for ``bert``; not to be changed."""
    folder = tmp_path_factory.mktemp("bert")
    bert.save_pretrained(folder)
    return folder
