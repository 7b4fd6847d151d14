"""The families of models that can be recovered: one row each."""

from discretize.encoders import (
    albert,
    bert,
    bloom,
    distilbert,
    gpt2,
    gpt_neox,
    gptj,
    llama,
    roberta,
    t5,
    vit,
)
from discretize.encoders.opening import Family

#: Hugging Face families by their ``model_type``; a new one is its file and one row here.
FAMILIES: dict[str, Family] = {
    family.model_type: family
    for family in (
        bert.FAMILY,
        roberta.FAMILY,
        distilbert.FAMILY,
        albert.FAMILY,
        gpt2.FAMILY,
        gptj.FAMILY,
        gpt_neox.FAMILY,
        llama.FAMILY,
        t5.FAMILY,
        bloom.FAMILY,
        vit.FAMILY,
    )
}
