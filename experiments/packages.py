"""The packages that experiments stand on: are they ours, are the optional ones there?"""

import importlib
import importlib.metadata
import sys
from types import ModuleType

from experiments import DISTRIBUTION

#: Packages whose versions a result depends on.
RELEVANT = (
    "numpy",
    "scipy",
    "jax",
    "jaxlib",
    "equinox",
    "diffrax",
    "torch",
    "transformers",
    "tokenizers",
    "zarr",
    "xarray",
)


def require_ours() -> None:
    """Import ``solvers``, and with it ``discretize`` and ``continuum``, and check whose they are.

    Raises:
        ImportError: if one of the three is a foreign package of the same name.
    """
    solvers = importlib.import_module("solvers")
    if getattr(solvers, "DISTRIBUTION", None) != DISTRIBUTION:
        raise ImportError(
            "a foreign package named 'solvers' was imported from "
            f"{getattr(solvers, '__file__', None) or list(solvers.__path__)}; expected the one of "
            f"the distribution {DISTRIBUTION}. Uninstall the other one, or use an environment of "
            "its own for this project."
        )


def require_extra(module: str, extra: str) -> ModuleType:
    """Import an optional module.

    Args:
        module: its import name.
        extra: the extra of this distribution that installs it.

    Raises:
        ImportError: if it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this check needs the package {module}, which cannot be imported ({error}); install "
            f"it with: pip install '{DISTRIBUTION}[{extra}]'"
        ) from error


def versions() -> dict[str, str]:
    """Versions of Python, of this distribution and of the relevant packages in use."""
    found = {"python": sys.version.split()[0], DISTRIBUTION: own_version()}
    for name in RELEVANT:
        if sys.modules.get(name) is not None:
            found[name] = importlib.metadata.version(name)
    return found


def own_version() -> str:
    """The installed version of this distribution; of a bare checkout, words that say so."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return "unknown (a checkout that is not installed)"
