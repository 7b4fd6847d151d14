"""The families of models that can be recovered: one row each."""

from discretize.encoders import bert, gpt2
from discretize.encoders.opening import Family

#: Hugging Face families by their ``model_type``; a new one is its file and one row here.
FAMILIES: dict[str, Family] = {family.model_type: family for family in (bert.FAMILY, gpt2.FAMILY)}
