"""A random encoder, judged by ``torch.nn.TransformerEncoder``."""

import contextlib
from collections.abc import Iterator
from typing import Any

from discretize.encoders import recover
from experiments.packages import require_extra
from experiments.request import Encoder, Norm, Request
from experiments.verification.batches import lengths_mask, random_states
from experiments.verification.case import Case
from experiments.verification.probes import Probes, recording

#: Where a layer's values stand in torch's ``TransformerEncoderLayer``; "" is the layer itself.
PROBES: dict[Norm, Probes] = {
    Norm.POST: {
        "attention": ("norm1", "input"),
        "normalised": ("norm1", "output"),
        "hidden": ("linear2", "input"),
        "feedforward": ("linear2", "output"),
        "sum": ("norm2", "input"),
        "output": ("", "output"),
    },
    Norm.PRE: {
        "attention": ("norm2", "input"),
        "normalised": ("norm2", "output"),
        "hidden": ("linear2", "input"),
        "feedforward": ("linear2", "output"),
        "output": ("", "output"),
    },
}


def torch_case(request: Request) -> Case:
    """The encoder of the request and what torch computes with it.

    The layers are read with torch's fused path off, which has no intermediate values; the
    encoder's output is that of an ordinary forward pass, fused path and all.
    """
    torch = require_extra("torch", "torch")
    model = random_torch_encoder(torch, request)
    u0 = random_states(request.batch, request.encoder.d_model, request.dtype.value)
    valid = lengths_mask(request.batch)
    inputs, padding = torch.from_numpy(u0), torch.from_numpy(~valid)
    with torch.no_grad():
        with (
            fused_path_off(torch),
            recording(list(model.layers), PROBES[request.encoder.norm]) as states,
        ):
            model(inputs, src_key_padding_mask=padding)
        output = model(inputs, src_key_padding_mask=padding).numpy()
    return Case(
        reference=f"torch.nn.TransformerEncoder (torch {torch.__version__})",
        recovered=recover(model, equation=request.equation.value),
        u0=u0,
        valid=valid,
        layers=tuple(states),
        output=output,
        norm=request.encoder.norm,
        attention_norms=tuple(
            (layer.norm1.weight.detach().numpy(), layer.norm1.bias.detach().numpy())
            for layer in model.layers
        ),
    )


def random_torch_encoder(torch: Any, request: Request) -> Any:
    """A ``TransformerEncoder`` in evaluation mode, none of whose parameters is a special value.

    Matrices are normal with variance 1/in, vectors normal with deviation 0.1, scales of norms
    normal around 1 with deviation 0.2.  Torch's global random state is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        model = _bare(torch, request.encoder, getattr(torch, request.dtype.value))
    generator = torch.Generator().manual_seed(request.batch.seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            if parameter.ndim == 2:
                values = values / parameter.shape[1] ** 0.5
            elif "norm" in name and name.endswith("weight"):
                values = 1 + 0.2 * values
            else:
                values = 0.1 * values
            parameter.copy_(values)
    return model.eval()


def _bare(torch: Any, options: Encoder, dtype: Any) -> Any:
    pre = options.norm is Norm.PRE
    layer = torch.nn.TransformerEncoderLayer(
        options.d_model,
        options.heads,
        options.d_ff,
        dropout=0.0,
        activation=options.activation.value,
        layer_norm_eps=options.eps,
        batch_first=True,
        norm_first=pre,
        dtype=dtype,
    )
    final = torch.nn.LayerNorm(options.d_model, eps=options.eps, dtype=dtype) if pre else None
    return torch.nn.TransformerEncoder(layer, options.layers, final, enable_nested_tensor=False)


@contextlib.contextmanager
def fused_path_off(torch: Any) -> Iterator[None]:
    """Switch the fused attention layer off, and back to what it was."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
