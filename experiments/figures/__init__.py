"""Figures: numbers in, matplotlib figures and files out.

Nothing here knows xarray, jax or a file format of results: the input is numpy arrays and the small
dataclasses beside each ``render``.  Importing a module of this package loads matplotlib.

:mod:`convergence` and :mod:`depth` draw errors over step sizes, :mod:`state` and :mod:`plane` draw
states, :mod:`attention` kernels, :mod:`series` observables over the depth, :mod:`clusters` cluster
counts, :mod:`spike` profiles of a study that has no limit; :func:`saving.save` writes the files.
"""
