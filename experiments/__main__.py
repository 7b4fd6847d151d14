"""``python -m experiments`` is the console script ``continuum``."""

from experiments.cli import main

if __name__ == "__main__":
    main()
