"""The configs that come with the package."""

import dataclasses
import importlib.resources
import tomllib
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class ShippedConfig:
    """A config of the package.

    Args:
        name: the word that the command line takes.
        title: its title.
        path: the file.
    """

    name: str
    title: str
    path: Path


def shipped() -> list[ShippedConfig]:
    """The configs of the package, by name."""
    folder = Path(str(importlib.resources.files("experiments").joinpath("shipped")))
    paths = sorted(folder.glob("*.toml"))
    return [ShippedConfig(path.stem, _title(path), path) for path in paths]


def _title(path: Path) -> str:
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
