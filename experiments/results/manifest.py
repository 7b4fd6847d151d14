"""What a result directory says about itself: ``manifest.json``, replaced in one step."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

#: The file, what tells it from other people's files of that name, and the version of its format.
NAME, FORMAT, VERSION = "manifest.json", "transformer-continuum result", 1

#: ``running`` also stands in the manifest of a run that was killed: nobody is left to change it.
Status: TypeAlias = Literal["running", "complete", "failed"]

Setting: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Identity:
    """What a result is of; only a run of the same identity may continue it.

    Args:
        kind: ``"run"``, ``"convergence"``, ...
        precision: such as ``"float64"``.
        seed: of everything random.
        versions: of the packages that computed it.
        settings: whatever else the bits of the result depend on, such as the number of threads.
        ill_posed: why the question has no answer, one sentence for each reason; usually none.
    """

    kind: str
    precision: str | None = None
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    ill_posed: tuple[str, ...] = ()

    def differences(self, other: "Identity") -> list[str]:
        """What ``other`` has differently, in words.

        Of the versions only packages that both name count: what is imported when varies.
        """
        common = sorted(self.versions.keys() & other.versions.keys())
        settings = sorted(self.settings.keys() | other.settings.keys())
        pairs = [
            ("kind", self.kind, other.kind),
            ("precision", self.precision, other.precision),
            ("seed", self.seed, other.seed),
            ("ill_posed", list(self.ill_posed), list(other.ill_posed)),
            *((f"version of {key}", self.versions[key], other.versions[key]) for key in common),
            *((key, self.settings.get(key), other.settings.get(key)) for key in settings),
        ]
        return [f"{name}: {old} -> {new}" for name, old, new in pairs if old != new]


@dataclass(frozen=True)
class Checkpoint:
    """Where to find the state to go on from.

    Args:
        file: its name in the directory.
        step: the number of steps it has behind it.
        checksum: CRC-32 of the file.
    """

    file: str
    step: int
    checksum: int


@dataclass(frozen=True)
class Progress:
    """What of a trajectory is published: on the disk for good.

    Args:
        steps: how many there will be.
        steps_done: how many there are.
        saved: published states along t, the initial one included.
        observed: published values of each observable along ``step``, step 0 included.
        checkpoint: the state after ``steps_done`` steps; None before the first.
    """

    steps: int
    steps_done: int
    saved: int
    observed: int
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True)
class Manifest:
    """The content of ``manifest.json``.

    Args:
        identity: what it is a result of.
        status: ``"running"``, ``"complete"`` or ``"failed"``.
        reason: why it failed.
        trajectory: how far it has got; None for results without one.
    """

    identity: Identity
    status: Status = "running"
    reason: str | None = None
    trajectory: Progress | None = None

    def to_bytes(self) -> bytes:
        """As JSON."""
        data = {"format": FORMAT, "version": VERSION, **dataclasses.asdict(self)}
        return (json.dumps(data, indent=2, allow_nan=False) + "\n").encode()

    @staticmethod
    def read(folder: Path) -> "Manifest":
        """The manifest of a result directory.

        Raises:
            FileNotFoundError: if there is none.
            ValueError: if it is not ours, damaged, or of a later version.
        """
        path = folder / NAME
        data = _ours(path)
        if data is None:
            raise ValueError(f"expected the manifest of a result in {path}, found something else")
        if data["version"] != VERSION:
            raise ValueError(
                f"{path}: expected version {VERSION} of the format, found {data['version']}; open "
                "it with the release that wrote it"
            )
        try:
            return _from_data(data)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is damaged: {error!r}; begin with --overwrite") from error


def is_result(folder: Path) -> bool:
    """Whether a directory is a result of ours, of whatever version, and not somebody's files."""
    try:
        return _ours(folder / NAME) is not None
    except OSError:
        return False


def _ours(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file, if it calls itself ours."""
    try:
        data = json.loads(path.read_bytes())
    except ValueError:
        return None
    known = isinstance(data, dict) and data.get("format") == FORMAT and "version" in data
    return data if known else None


def _from_data(data: dict[str, Any]) -> Manifest:
    identity = Identity(**data["identity"] | {"ill_posed": tuple(data["identity"]["ill_posed"])})
    progress = data["trajectory"]
    if progress is not None:
        found = progress["checkpoint"]
        checkpoint = None if found is None else Checkpoint(**found)
        progress = Progress(**progress | {"checkpoint": checkpoint})
    return Manifest(identity, data["status"], data["reason"], progress)
