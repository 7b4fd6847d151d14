"""Settings that must precede the first array: precision, threads, no hub, no chatter."""

import os


def prepare_libraries(precision: str = "float64", threads: int | None = None) -> None:
    """Set up jax for a command; call it before anything imports jax.

    Args:
        precision: "float64" switches x64 on.
        threads: how many processors to use.

    Raises:
        ValueError: for more threads than the machine has, or where the system cannot limit them.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if threads is not None:
        _limit_threads(threads)
    import jax

    jax.config.update("jax_enable_x64", precision == "float64")


def _limit_threads(threads: int) -> None:
    """Bind the process to the first processors: the one limit that every library respects."""
    affinity = getattr(os, "sched_getaffinity", None)
    if affinity is None:
        raise ValueError(
            "--threads: this system cannot bind a process to processors; leave the option out"
        )
    processors = sorted(affinity(0))
    if threads > len(processors):
        raise ValueError(
            f"--threads: expected at most {len(processors)}, the processors this process may use, "
            f"got {threads}"
        )
    os.sched_setaffinity(0, processors[:threads])


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
