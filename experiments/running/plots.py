"""``continuum plot``: the figures of a result on disk."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure

from experiments.config import Config, load_config
from experiments.config.overrides import parse_override
from experiments.convergence.result import StudyResult
from experiments.figures import attention as attention_figure
from experiments.figures import clusters as clusters_figure
from experiments.figures import convergence as convergence_figure
from experiments.figures import depth as depth_figure
from experiments.figures import plane as plane_figure
from experiments.figures import series as series_figure
from experiments.figures import spike as spike_figure
from experiments.figures import state as state_figure
from experiments.figures.coordinate import Coordinate, features, tokens
from experiments.figures.maps import spread
from experiments.figures.saving import save
from experiments.results import Run, open_run, read_convergence
from experiments.running import clusters as clusters_result
from experiments.running.attention import kernels_of
from experiments.running.finals import kept

#: Pairs of a file's stem and a figure.
_Figures: TypeAlias = Iterator[tuple[str, Figure]]

#: The folder of figures in the directory of a result.
FOLDER = "figures"

#: At most this many pictures of a state, and of attention kernels, side by side.
_STATES, _KERNELS = 6, 4

_STEPS = {
    "time": "time step dt",
    "heads": "cell size of the head coordinate h",
    "joint": "cell size h (dt in proportion)",
}

_NORMS = {"l2": "relative error, discrete L2 norm", "max": "relative error, maximum norm"}


#: Keys of a config that a figure shows but that no number of a result depends on.
_WORDS = ("title", "description")


def plot(result: Path, output: Path | None = None, changes: Sequence[str] = ()) -> tuple[Path, ...]:
    """Draw the figures of a result.

    Args:
        result: its directory.
        output: where to; by default its folder ``figures``.
        changes: ``title=text``, as ``--set`` takes them.

    Returns:
        The files, PNG and SVG of each figure.

    Raises:
        FileNotFoundError: if there is no result, or nothing in it to draw yet.
        ValueError: for a change of what the result was computed from.
    """
    for override in map(parse_override, changes):
        if override.keys[0] not in _WORDS:
            raise ValueError(
                f"{override.words}: expected title=..., found {override.keys[0]}, which the result "
                "was computed with; run the config again with it"
            )
    run = open_run(result)
    config = load_config(run.path / "config.toml", changes, library=False)
    folder = output or run.path / FOLDER
    found: list[Path] = []
    for name, figure in _KINDS[run.manifest.identity.kind](run, config):
        found += save(figure, folder / name)
    return tuple(found)


def _of_run(run: Run, config: Config) -> _Figures:
    data, marks = run.dataset, _marks(run)
    states = data["u"].isel(sample=0) if "sample" in data["u"].dims else data["u"]
    chosen = spread(states.sizes["t"], _STATES)
    values, times = states.isel(t=chosen).to_numpy(), list(data["t"].to_numpy()[chosen])
    y = features(data["y"].to_numpy(), _interval(config, "features", data["y"].to_numpy()))
    title = config.title
    if "x" in data.coords and data["x"].dims == ("x",):
        x = tokens(data["x"].to_numpy(), _interval(config, "tokens", data["x"].to_numpy()))
        if states.sizes["x"] > 1:
            yield "state", state_figure.render(values, times, x, y, title=title, ill_posed=marks)
        few = spread(states.sizes["t"], _KERNELS)
        gamma, heads = kernels_of(config, run, few)
        if gamma is not None and states.sizes["x"] > 1:
            at = list(data["t"].to_numpy()[few])
            yield (
                "attention",
                attention_figure.render(
                    gamma, at, heads, x, x, title=title, unit="per unit of x", ill_posed=marks
                ),
            )
    else:
        axes = [
            Coordinate(np.unique(data[name].to_numpy()), _interval(config, index, None), label)
            for index, (name, label) in enumerate((("x1", "x1"), ("x2", "x2")))
        ]
        shape = (len(axes[0].nodes), len(axes[1].nodes))
        grid = values.reshape(len(values), *shape, -1)
        yield (
            "state",
            plane_figure.render(grid, times, (axes[0], axes[1]), y, title=title, ill_posed=marks),
        )
    yield "series", _series(run, config)
    path = run.path / clusters_result.NAME
    if path.is_file():
        yield "clusters", _clusters(json.loads(path.read_bytes()), title)


def _marks(run: Run) -> tuple[str, ...]:
    """Why the question has no answer, the first sentence of each reason."""
    return tuple(reason.split(". ")[0] for reason in run.manifest.identity.ill_posed)


def _series(run: Run, config: Config) -> Figure:
    data = run.dataset
    found = {
        str(name): np.abs(variable.to_numpy())
        if str(name).startswith("violation_")
        else variable.to_numpy()
        for name, variable in data.data_vars.items()
        if variable.dims[:1] == ("step",)
    }
    found = {
        name: values.max(axis=1) if values.ndim == 2 else values for name, values in found.items()
    }
    short = {"violation_s1": "S1 (moments)", "violation_s2": "S2 (nonnegative)"}
    violated = {short[name]: found.pop(name) for name in list(found) if name in short}
    groups = [("energy",), ("mean", "norm"), ("minimum", "maximum")]
    panels = [series_figure.violations(violated)] if violated else []
    for group in groups:
        values = {name: found.pop(name) for name in group}
        label = "energy ½ ∫∫ u²" if group == ("energy",) else ", ".join(group) + " of u"
        panels.append(series_figure.Panel(label, values))
    own = [
        series_figure.Panel(f"mean of {config.observables[n]}", {n: v}) for n, v in found.items()
    ]
    times = list(data["step_time"].to_numpy())
    return series_figure.render(times, [*panels, *own], title=config.title, ill_posed=_marks(run))


def _clusters(data: dict[str, Any], title: str) -> Figure:
    ends = None if data["angles"] is None else np.array(data["angles"])
    return clusters_figure.render(
        data["times"], data["scales"], np.array(data["counts"]), ends, title=title
    )


def _of_convergence(run: Run, config: Config) -> _Figures:
    data = read_convergence(run.path)
    results = [StudyResult.from_data(study) for study in data["studies"]]
    marks = _marks(run)
    if not all(result.ill_posed for result in results):
        marks = tuple(
            f"{result.name}: {' and '.join(r.split('. ')[0] for r in result.ill_posed)}"
            for result in results
            if result.ill_posed
        )
    for key in dict.fromkeys((result.axis in ("time",), result.norm) for result in results):
        chosen = [r for r in results if (r.axis in ("time",), r.norm) == key]
        name = "convergence" if len({(r.axis == "time", r.norm) for r in results}) == 1 else None
        name = name or f"convergence-{'time' if key[0] else 'space'}-{key[1]}"
        yield name, _convergence(chosen, config, marks)
    spikes = [r for r in results if r.ill_posed and r.axis == "time"]
    if spikes and config.equation is not None:
        yield "spike", _spike(run, config, spikes)


def _convergence(results: list[StudyResult], config: Config, marks: tuple[str, ...]) -> Figure:
    curves = [
        convergence_figure.Curve(
            result.name,
            result.steps,
            result.errors,
            result.declared_order,
            result.fitted_order if result.declared_order is not None else None,
            result.used if result.declared_order is not None else None,
        )
        for result in results
    ]
    first = results[0]
    draw: Callable[..., Figure] = convergence_figure.render
    if config.model is not None:
        draw = depth_figure.render
    return draw(
        curves,
        axis=_STEPS.get(first.axis, "cell size h"),
        norm=_NORMS[first.norm],
        title=config.title,
        round_off=max(result.floor for result in results),
        ill_posed=marks,
    )


def _spike(run: Run, config: Config, results: list[StudyResult]) -> Figure:
    """The first token's profile for a few steps, and at the smallest step on every grid."""
    profiles = [
        [(size, *kept(run.path, config, result.name, size)) for size in result.sizes]
        for result in results
    ]
    chosen = [profiles[0][k] for k in spread(len(profiles[0]), 4)]
    dt = [results[0].steps[results[0].sizes.index(size)] for size, _, _ in chosen]
    by_step = [
        spike_figure.Profile(f"dt = {step:.3g}", _along_y(config, nodes), state[0])
        for step, (_, nodes, state) in zip(dt, chosen, strict=True)
    ]
    by_grid = [
        spike_figure.Profile(f"N_y = {len(last[1])}", _along_y(config, last[1]), last[2][0])
        for last in (column[-1] for column in profiles)
    ]
    equation = config.equation
    moments = getattr(equation, "moments", None)
    mean, deviation = (moments.mean, moments.deviation) if moments is not None else (0.0, 1.0)
    return spike_figure.render(
        by_step,
        by_grid,
        mean=mean,
        deviation=deviation,
        title=config.title,
        ill_posed=_marks(run),
    )


def _along_y(config: Config, nodes: np.ndarray) -> Coordinate:
    return features(nodes, _interval(config, "features", nodes))


def _interval(config: Config, which: str | int, nodes: np.ndarray | None) -> tuple[float, float]:
    """The interval of a coordinate: of the config, or of a model's cells of width one."""
    domains = config.domains
    if domains is None:
        assert nodes is not None
        return 0.0, float(round(nodes[-1] + nodes[0]))
    if which == "features":
        low, high = domains.features
    else:
        low, high = domains.tokens[which if isinstance(which, int) else 0]
    return float(low), float(high)


_KINDS: dict[str, Callable[[Run, Config], _Figures]] = {
    "run": _of_run,
    "convergence": _of_convergence,
}
