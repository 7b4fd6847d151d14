"""Experiments: the command line, verification against discrete encoders, tables, figures, files.

Importing this package loads nothing heavy, so that ``continuum --help`` answers at once.  What
computes lives in :mod:`experiments.verification`; importing that loads jax, and first checks that
the packages below are this project's own (:mod:`experiments.packages`).
"""

#: The distribution this package belongs to.
DISTRIBUTION = "transformer-continuum"
