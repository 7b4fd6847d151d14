"""Carrying out experiments: one run, the refinement studies of a config, and their figures."""
