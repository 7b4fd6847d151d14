"""Tests of the command line, of verification, and of what the README promises."""
