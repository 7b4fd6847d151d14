"""GPT-NeoX."""

from collections.abc import Mapping
from typing import Any

from experiments.architectures.rotary import lifted_states, randomised
from experiments.architectures.row import Row
from experiments.architectures.tokens import token_inputs


def _build(settings: Mapping[str, Any]) -> Any:
    from transformers import GPTNeoXConfig, GPTNeoXModel

    common = {"vocab_size": 50, "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2}
    # eager attention would take its softmax in float32; this one keeps the dtype
    config = GPTNeoXConfig(**{**common, **settings, "attn_implementation": "sdpa"})
    return randomised(GPTNeoXModel(config))


ROW = Row(
    name="GPT-NeoX",
    scheme="unsplit Euler, two norms; Lie without use_parallel_residual",
    constraint="normalisation inside",
    kernels="cell-constant in y, causal in x, turned by the cell of x",
    measure="token cells up to the query's",
    reference="transformers GPTNeoXModel",
    configurations=(
        {
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 3,
            "intermediate_size": 17,
        },
        {
            "hidden_size": 10,
            "num_hidden_layers": 2,
            "num_attention_heads": 1,
            "intermediate_size": 7,
            "rotary_pct": 1.0,
            "use_parallel_residual": False,
            "attention_bias": False,
        },
        {
            "hidden_size": 18,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 30,
            "rotary_pct": 0.6,
            "rotary_emb_base": 500,
            "hidden_act": "gelu_new",
        },
    ),
    build=_build,
    inputs=token_inputs,
    forward=lifted_states,
    lifted="the rotary angles; the softmax, by transformers' sdpa attention",
)
