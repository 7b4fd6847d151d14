"""``continuum compress``: how small kernels become, and what that does to a model's output."""
