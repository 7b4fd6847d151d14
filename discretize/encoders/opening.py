"""Opening a Hugging Face model, live or in a local directory: configuration and tensors."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discretize.encoders.config import Config
from discretize.encoders.live import cast, check_unaltered, state_arrays, torch_module
from discretize.encoders.recovered import Recovered
from discretize.encoders.stacking import Tensors
from discretize.tensors import read_tensors

#: Attributes of live modules that say nothing about what they compute in evaluation mode.
_IRRELEVANT = {"training", "gradient_checkpointing", "p", "layerdrop", "name_or_path"}


@dataclasses.dataclass(frozen=True)
class Opened:
    """A model that was opened.

    Args:
        name: the model in words.
        config: its configuration.
        tensors: its tensors, named without the prefix of a model with a head.
        module: the live module, or None for a directory.
    """

    name: str
    config: Config
    tensors: Tensors
    module: Any = None


@dataclasses.dataclass(frozen=True)
class Family:
    """One row of the table of Hugging Face models that can be recovered.

    Args:
        model_type: the configuration's word for the family.
        read: an opened model and the name of an equation -> what is recovered.
        prefix: what a model with a head puts before the names of the tensors.
        outside: prefixes of tensors that the equation does not contain, and what they are.
        ignored: prefixes of buffers that hold no weights.
        renamed: parts of stored or old names and what stands for them today, replaced in order.
    """

    model_type: str
    read: Callable[[Opened, str], Recovered]
    prefix: str
    outside: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def model_type_of(model: Any) -> str | None:
    """The ``model_type`` of a directory or of a live transformers model; None for anything else.

    Raises:
        FileNotFoundError: for a directory without configuration.
        ValueError: if the configuration is not a JSON object.
    """
    if isinstance(model, str | Path):
        return _read_config(Path(model)).get("model_type")
    torch = torch_module()
    if torch is None or not isinstance(model, torch.nn.Module):
        return None
    if not type(model).__module__.startswith("transformers."):
        return None
    return getattr(getattr(model, "config", None), "model_type", None)


def open_model(model: Any, family: Family, dtype: str | None) -> Opened:
    """Open a model of a family.

    Args:
        model: a live module or a directory with ``config.json`` and ``model.safetensors``.
        family: its family.
        dtype: what to convert the weights to, or None.

    Raises:
        TypeError: for a live module that was altered.
        ValueError: for damaged files, or names that stand for one tensor twice.
    """
    if isinstance(model, str | Path):
        name, module = str(model), None
        entries = _read_config(Path(model))
        arrays = read_tensors(Path(model) / "model.safetensors")
    else:
        name, module = f"{type(model).__module__}.{type(model).__qualname__}", model
        entries, arrays = model.config.to_dict(), state_arrays(model)
    config = Config(entries, name)
    if module is not None:
        _check_live(module, name)
    plain = {_current_name(key, family): value for key, value in arrays.items()}
    if len(plain) != len(arrays):
        raise ValueError(
            f"{name}: two tensors stand for one: expected names with the prefix "
            f"{family.prefix!r} or without it, got both"
        )
    return Opened(name, config, Tensors(cast(plain, dtype), name), module)


def finish(opened: Opened, family: Family) -> tuple[str, ...]:
    """Report tensors that nobody read; say what of the model stays outside of the equation.

    Raises:
        ValueError: for missing tensors and for tensors that are not part of the architecture.
    """
    opened.tensors.finish((*family.ignored, *family.outside))
    names = opened.tensors.names
    found = [
        words
        for prefix, words in family.outside.items()
        if any(name.startswith(prefix) for name in names)
    ]
    return ("the embeddings (see embed)", *dict.fromkeys(found))


def _current_name(key: str, family: Family) -> str:
    """A tensor's name without the prefix of a model with a head, as it is called today."""
    key = key.removeprefix(family.prefix)
    for old, new in family.renamed:
        key = key.replace(old, new)
    return key


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is not a directory: expected one with config.json and model.safetensors "
            "(names on a hub are not downloaded; of a file, give the directory)"
        )
    path = folder / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: expected the model's configuration there")
    try:
        config = json.loads(path.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(config, dict):
        raise ValueError(f"{path}: expected a JSON object, got {type(config).__name__}")
    return config


def _check_live(model: Any, name: str) -> None:
    """Hold the modules against those that the configuration would build today."""
    torch = torch_module()
    with torch.device("meta"):
        fresh = type(model)(model.config)
    expected = dict(fresh.named_modules())
    check_unaltered(model, tuple({type(module): None for module in expected.values()}))
    for part, module in model.named_modules():
        wrong = _contradiction(expected.get(part), module)
        if wrong:
            raise ValueError(f"{name}: the config contradicts the module {part}: {wrong}")


def _contradiction(fresh: Any, module: Any) -> str | None:
    """What a module states otherwise than the one built from the configuration."""
    if type(module) is not type(fresh):
        return f"the class {type(fresh)} by the config, {type(module)} in the model"
    for key, value in vars(fresh).items():
        plain = isinstance(value, bool | int | float | str | tuple | None)
        if key.startswith("_") or key in _IRRELEVANT or not plain:
            continue
        found = vars(module).get(key)
        if found != value:
            return f"{key} {value} by the config, {found} in the model"
    return None
