"""Verification: is a Lie splitting step on the unit grid the encoder's layer?

Importing this package loads jax.  :func:`experiments.verification.verify.verify` is the entry.
"""

from experiments.packages import require_ours

require_ours()
