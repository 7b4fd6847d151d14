"""Models that are not covered are refused by name, with what is missing; never approximated."""

import pytest
import transformers as hf

from discretize.encoders import recover
from discretize.encoders.registry import FAMILIES
from discretize.encoders.uncovered import MISSING

SMALL = {
    "vocab_size": 20,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "pad_token_id": 0,
}
BART = hf.BartConfig(
    vocab_size=20,
    d_model=8,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=2,
    decoder_attention_heads=2,
    encoder_ffn_dim=8,
    decoder_ffn_dim=8,
)
T5 = {"vocab_size": 20, "d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
GPT2 = {"vocab_size": 20, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2}

REFUSED = {
    "an encoder and a decoder": (lambda: hf.BartModel(BART), "BartModel.*cross-attention"),
    "T5 with its decoder": (lambda: hf.T5Model(hf.T5Config(**T5)), "cross-attention"),
    "GPT-2 with cross-attention": (
        lambda: hf.GPT2Model(hf.GPT2Config(**GPT2, add_cross_attention=True)),
        "add_cross_attention is not covered",
    ),
    "BERT as a decoder": (
        lambda: hf.BertModel(hf.BertConfig(**SMALL, is_decoder=True)),
        "is_decoder is not covered",
    ),
    "local windows": (
        lambda: hf.LongformerModel(hf.LongformerConfig(**SMALL, attention_window=4)),
        "LongformerModel.*local windows",
    ),
    "a sliding window": (
        lambda: hf.MistralModel(hf.MistralConfig(**SMALL, num_key_value_heads=1, head_dim=4)),
        "MistralModel.*local windows",
    ),
    "experts": (
        lambda: hf.MixtralModel(
            hf.MixtralConfig(**SMALL, num_key_value_heads=1, num_local_experts=2, head_dim=4)
        ),
        "MixtralModel.*mixture of experts",
    ),
    "an unknown activation": (
        lambda: hf.GPT2Model(hf.GPT2Config(**GPT2, activation_function="quick_gelu")),
        "unknown activation 'quick_gelu'; expected one of gelu",
    ),
    "scaled rotations": (
        lambda: hf.LlamaModel(
            hf.LlamaConfig(
                **SMALL,
                rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4},
            )
        ),
        "'linear'.* is not covered",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_model_that_is_not_covered_is_refused_by_name(case):
    build, message = REFUSED[case]
    with pytest.raises(TypeError, match=message):
        recover(build())


@pytest.mark.parametrize("kind", ["mixtral", "bart", "mamba", "resnet"])
def test_folders_say_what_is_missing_too(kind, tmp_path):
    (tmp_path / "config.json").write_text(f'{{"model_type": "{kind}"}}')
    with pytest.raises(TypeError) as found:
        recover(tmp_path)
    assert f"model_type {kind!r} is not covered ({MISSING[kind]}); expected" in str(found.value)


def test_quantised_weights_are_refused():
    model = hf.GPT2Model(hf.GPT2Config(**GPT2)).double()
    model.config.quantization_config = {"bits": 8}
    with pytest.raises(TypeError, match="quantised weights are not covered; expected plain floats"):
        recover(model)


def test_no_family_is_both_covered_and_missing():
    assert not set(FAMILIES) & set(MISSING)
