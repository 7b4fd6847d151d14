"""Configs as text, and how to load them."""

from experiments.config import ConfigError, load_config

SMALL = """\
title = "small"

[domains]
tokens = [[0.0, 1.0]]
features = [0, 1.0]

[equation]
form = "flow"
horizon = 1.0

[[equation.dense]]
kernel = "xi*y"

[initial]
expression = "x + y"

[grid]
tokens = 4
features = 6

[time]
steps = 8
scheme = "euler"
"""

STUDY = """
[[studies]]
name = "halves"
axis = "time"
sizes = [4, 8, 16]
reference = { kind = "lines" }
"""

ON_SPHERE = SMALL.replace("horizon = 1.0", "horizon = 1.0\nmoments = { mean = 0, deviation = 1 }")

SPHERE = ON_SPHERE.replace('"xi*y"', '{ separable = [["xi", "sin(2*pi*y)"]] }') + STUDY.replace(
    '"lines"', '"closed-form", name = "sphere"'
)

MANUFACTURED = ON_SPHERE + STUDY.replace(
    '"lines"', '"manufactured", solution = "sqrt(2)*sin(2*pi*y + x + t)"'
)

PAPER = """\
title = "paper"
seed = 3

[parameters]
a = 0.7

[domains]
tokens = [[0.0, 1], [0.0, 2.0]]
features = [0.0, 1.0]
hidden = [0.0, 2.0]
heads = 2.0

[equation]
form = "paper"
horizon = 1.0
moments = { mean = 1, deviation = 0.3 }
rate = "consistent"

[equation.attention]
query = { kernel = { basis = "fourier", size = 4 }, bias = { basis = "legendre", coefficients = [1, 2, 3] } }
key = { kernel = { identity = 1.0, cells = 8 } }
value = { kernel = { layers = ["xi", "eta*zeta"], in_time = "linear" } }
output = { kernel = { separable = [["zeta", "y*t"], ["eta", "a"]] }, bias = "y" }
scale = 2

[[equation.dense]]
kernel = { basis = "chebyshev", coefficients = [[1, 2], [3.5, 4]] }
identity = -1.0

[[equation.dense]]
kernel = "xi*y"

[initial]
random = "normal"

[grid]
tokens = [8, 4]
features = 8
rule = { tokens = ["midpoint", "left"], features = "periodic" }

[time]
steps = 16
save_every = 4

[observables]
second = "u**2"

[[studies]]
name = "space"
axis = "tokens"
sizes = [4, 8, 16]
order = false
reason = "positivity is active"
set = { "grid.rule" = "left", "time.steps" = 32 }
reference = { kind = "finest", size = 64, rule = "midpoint", steps = 64 }

[[studies]]
name = "h and dt"
axis = "joint"
sizes = [4, 8]
steps = [8, 16]
reference = { kind = "lines" }
"""  # noqa: E501


def write(folder, text, name="config.toml"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path, overrides=(), *, library=False):
    """The error of a config that must not load."""
    try:
        load_config(path, overrides, library=library)
    except ConfigError as error:
        return error
    raise AssertionError(f"{path} with {overrides} was accepted")


def line_of(text, part):
    """The only line, from 1, that holds ``part``."""
    found = [n for n, line in enumerate(text.split("\n"), start=1) if part in line]
    assert len(found) == 1, (part, found)
    return found[0]
