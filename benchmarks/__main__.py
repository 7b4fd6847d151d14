"""``python -m benchmarks [forward|stepping|streaming] [--json] [--rounds N] [--threads N]``.

``forward`` (the default) is one table of forward passes in float32; ``stepping`` compares fixed
steps with a hand-written scan and with diffrax's Euler in float64; ``streaming`` writes a
trajectory of 4 GiB into a temporary directory and reports the peak of memory.
"""

import argparse
import json
import os
import platform
import sys
from importlib.metadata import version


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "which",
        nargs="?",
        choices=("forward", "stepping", "streaming"),
        default="forward",
        help="(forward)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=20, help="timed calls of either side")
    parser.add_argument("--threads", type=int, default=2, help="threads of both sides")
    options = parser.parse_args()
    runs = {"forward": run_forward, "stepping": run_stepping, "streaming": run_streaming}
    runs[options.which](options)


def run_stepping(options: argparse.Namespace) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax

    jax.config.update("jax_enable_x64", True)
    from benchmarks import stepping

    report = {
        "threads": options.threads,
        "versions": {name: version(name) for name in ("jax", "diffrax", "numpy")},
        "sizes": dict(zip(("tokens", "features", "steps"), stepping.SIZES, strict=True)),
        "rows": [run(options.rounds).summary() for run in (stepping.scan, stepping.euler)],
        "first_call_s": stepping.with_compilation(),
        "loop_bodies": stepping.loop_bodies(),
    }
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for row in report["rows"]:
        print(
            f"{row['name']:20}{row['ours_ms']:9.1f} ms{row['theirs_ms']:9.1f} ms"
            f"{row['ratio']:7.3f}  [{row['ratio_low']:.3f}, {row['ratio_high']:.3f}]"
        )
    for name, taken in report["first_call_s"].items():
        print(f"{name:20}{taken:9.2f} s with compilation")
    for name, counts in report["loop_bodies"].items():
        print(f"{name:20}{counts}")


def run_streaming(options: argparse.Namespace) -> None:
    from benchmarks.streaming import show, streaming

    report = streaming()
    print(json.dumps(report, indent=1) if options.json else show(report))


def run_forward(options: argparse.Namespace) -> None:
    # The XLA CPU client takes as many threads as the process may use processors.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")

    import torch
    from transformers.utils import logging

    from benchmarks import forward

    logging.disable_progress_bar()
    torch.set_num_threads(options.threads)
    rows = [run(options.rounds).summary() for run in (forward.encoder, forward.minilm)]
    report = {
        "machine": platform.processor() or platform.machine(),
        "threads": options.threads,
        "versions": {name: version(name) for name in ("jax", "torch", "transformers", "numpy")},
        "product_gflops": forward.product_rate(options.rounds),
        "rows": rows,
    }
    if options.json:
        json.dump(report, sys.stdout, indent=1)
        print()
        return
    print(
        f"{options.threads} threads, float32, matrix product {report['product_gflops']:.0f} GFLOP/s"
    )
    print(f"{'':24}{'ours ms':>9}{'theirs ms':>11}{'ratio':>7}  [quartiles]   compile s  GFLOP/s")
    for row in rows:
        print(
            f"{row['name']:24}{row['ours_ms']:9.1f}{row['theirs_ms']:11.1f}{row['ratio']:7.2f}"
            f"  [{row['ratio_low']:.2f}, {row['ratio_high']:.2f}]{row['compile_s']:11.2f}"
            f"  {row['ours_gflops']:.0f} / {row['theirs_gflops']:.0f}"
        )


if __name__ == "__main__":
    main()
