"""What stands in the way of known model families that are not recovered."""

_CROSS = "cross-attention: queries and keys live on two different sequences"
_EXPERTS = "mixture of experts: the feedforward kernel would depend on the state"
_WINDOW = "local windows: the region of integration is a moving piece of Omega_x"
_STATE = "a recurrence in x instead of an integral"
_STAGES = "stages that coarsen Omega_x and change Omega_y"

#: ``model_type`` -> what the equation here lacks for it.
MISSING: dict[str, str] = {
    **dict.fromkeys(("bart", "mbart", "marian", "pegasus", "whisper", "m2m_100", "mt5"), _CROSS),
    **dict.fromkeys(
        ("mixtral", "qwen2_moe", "qwen3_moe", "switch_transformers", "gpt_oss", "deepseek_v3"),
        _EXPERTS,
    ),
    **dict.fromkeys(
        ("longformer", "led", "big_bird", "mistral", "gpt_neo", "gemma2", "gemma3_text"), _WINDOW
    ),
    **dict.fromkeys(("mamba", "mamba2", "rwkv", "xlstm", "recurrent_gemma"), _STATE),
    **dict.fromkeys(("swin", "swinv2"), f"{_WINDOW}, with {_STAGES}"),
    **dict.fromkeys(("cvt", "resnet", "convnext", "pvt", "segformer"), _STAGES),
    **dict.fromkeys(
        ("deberta", "deberta-v2", "xlnet", "wav2vec2-conformer"),
        "relative positions that multiply the query, not a term b(x - x~) alone",
    ),
    "reformer": "hashing: the region of integration would depend on the state",
    "fnet": "a Fourier transform in x instead of attention",
}


def what_is_missing(model_type: str | None) -> str:
    """Words on what is missing for a family, in brackets after a space, or nothing."""
    found = MISSING.get(model_type or "")
    return f" ({found})" if found else ""
