"""``python -m benchmarks [forward|streaming] [--json] [--rounds N] [--threads N]``.

``forward`` (the default) is one table of forward passes in float32; ``streaming`` writes a
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
        "which", nargs="?", choices=("forward", "streaming"), default="forward", help="(forward)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=20, help="timed calls of either side")
    parser.add_argument("--threads", type=int, default=2, help="threads of both sides")
    options = parser.parse_args()
    {"forward": run_forward, "streaming": run_streaming}[options.which](options)


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
