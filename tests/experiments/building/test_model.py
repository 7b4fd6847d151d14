"""An encoder as an experiment: its layers, its padding, and controls linear in t."""

import jax
import numpy as np
import pytest
import torch
import transformers

import solvers
from continuum import CellField, CellKernel
from experiments.building import build
from experiments.config import load_config

TEXTS = ("heat spreads", "a long text is not padded heat")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS += ["a", "heat", "is", "long", "not", "padded", "spreads", "text"]
WIDTH = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT of three layers with a tokenizer of a few words."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=WIDTH,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=12,
        max_position_embeddings=16,
        initializer_range=0.5,
    )
    transformers.BertModel(config, add_pooling_layer=False).double().save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    return folder


@pytest.fixture(scope="module")
def reference(folder):
    """What transformers computes: hidden states and the mask."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = transformers.BertModel.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager", add_pooling_layer=False
    ).eval()
    batch = tokenizer(list(TEXTS), padding=True, return_tensors="pt")
    with torch.no_grad():
        states = model(**batch, output_hidden_states=True).hidden_states
    return [state.numpy() for state in states], batch["attention_mask"].numpy() == 1


def config(tmp_path, folder, *overrides, texts=TEXTS):
    path = tmp_path / "config.toml"
    path.write_text(
        f"title = 'encoder'\n[model]\npath = '{folder}'\ntexts = {list(texts)!r}\n"
        "[time]\nsteps = 3\n[observables]\nmean = 'u'\n"
    )
    return load_config(path, overrides)


def kernels(experiment):
    kinds = CellKernel | CellField
    leaves = jax.tree.leaves(experiment.equation, is_leaf=lambda node: isinstance(node, kinds))
    return [leaf for leaf in leaves if isinstance(leaf, kinds)]


@pytest.mark.parametrize("equation", ["residual", "split"])
def test_as_many_steps_as_layers_are_the_encoder(tmp_path, folder, reference, equation):
    states, valid = reference
    experiment = build(config(tmp_path, folder, f"model.equation={equation}"))
    np.testing.assert_array_equal(experiment.mask, valid)
    # round-off of float64 on values of a few units
    np.testing.assert_allclose(experiment.u0, states[0], rtol=0, atol=1e-13)
    found = solvers.solve(
        experiment.recovered, experiment.u0, mask=experiment.mask, num_steps=experiment.steps
    ).final
    np.testing.assert_allclose(np.asarray(found)[valid], states[-1][valid], rtol=0, atol=1e-12)
    assert {kernel.degree for kernel in kernels(experiment)} == {0}
    expected = [u[ok].mean() for u, ok in zip(states[0], valid, strict=True)]
    observed = experiment.observables["mean"](experiment.u0, 0.0)
    np.testing.assert_allclose(observed, expected, rtol=0, atol=1e-13)


def test_linear_controls_lie_between_the_layers_and_grids_are_refined(tmp_path, folder, reference):
    states, valid = reference
    overrides = ("model.controls=linear", "grid.tokens=3")
    experiment = build(config(tmp_path, folder, *overrides, texts=TEXTS[:1]))
    assert {kernel.degree for kernel in kernels(experiment)} == {1}
    kernel = next(k for k in kernels(experiment) if isinstance(k, CellKernel))
    low, high = np.asarray(kernel.values[1]), np.asarray(kernel.values[2])
    found = kernel(0.5, np.array([0.5, 0.5]), 1.25)
    np.testing.assert_allclose(found, 0.75 * low[0, 0] + 0.25 * high[0, 0], rtol=1e-14)
    assert experiment.mask is None and experiment.jumps == (1.0, 2.0)
    alone = states[0][0][valid[0]]
    np.testing.assert_allclose(experiment.u0, np.repeat(alone, 3, axis=0), rtol=0, atol=1e-13)
    assert experiment.tokens.size == 3 * valid[0].sum()
    assert experiment.problem.num_steps == 3


def test_a_sentence_as_an_initial_state(tmp_path, folder, reference):
    """Each token is a cell of Omega_x, each feature one of Omega_y."""
    states, valid = reference
    alone = states[0][0][valid[0]]
    path = tmp_path / "config.toml"
    path.write_text(
        f"title = 'sentence'\n[domains]\ntokens = [[0, 1]]\nfeatures = [0, 1]\n"
        f"[equation]\nform = 'flow'\nhorizon = 1\nsource = {{ expression = 'x' }}\n"
        f"[initial]\nminilm = '{TEXTS[0]}'\npath = '{folder}'\n"
        f"[grid]\ntokens = {2 * len(alone)}\nfeatures = {WIDTH}\n[time]\nsteps = 1\n"
    )
    found = build(load_config(path)).u0
    np.testing.assert_allclose(found, np.repeat(alone, 2, axis=0), rtol=0, atol=1e-13)
