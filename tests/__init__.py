"""Tests of transformer-continuum; they mirror the four import packages."""
