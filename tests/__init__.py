"""Tests of transformer-continuum; they mirror the four import packages."""

from tests import typechecking as typechecking  # the type checker is looked up as an attribute
