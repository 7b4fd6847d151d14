"""[model]: a real encoder instead of domains, equation and initial state."""

from typing import Annotated, Literal

from pydantic import Field

from experiments.config.base import PACKAGED, ModelFolder, Part, Text


class Model(Part):
    """An encoder that is read as an equation.

    Args:
        path: a directory, or "minilm", the packaged all-MiniLM-L6-v2.
        texts: the sentences whose embeddings are the initial state; several make a batch.
        equation: "residual", the flow on S1 with the affine norms inside, or "split", the
            paper's equation.
        controls: kernels in t: "constant" on the unit cells of the layers, or "linear" between.
    """

    path: ModelFolder = PACKAGED
    texts: Annotated[tuple[Text, ...], Field(min_length=1)]
    equation: Literal["residual", "split"] = "residual"
    controls: Literal["constant", "linear"] = "constant"
