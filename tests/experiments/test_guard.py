"""The guard: what it finds, and that its remedies work."""

import math

import pytest

from experiments.building import build
from experiments.config import load_config, refined
from experiments.options import Options
from experiments.running.guard import declared_order, judge_run, judge_studies
from experiments.running.guard import question_of as ask

BASE = """
title = "guarded"
[domains]
tokens = [[0.0, 1.0]]
features = [0.0, 1.0]
[equation]
form = "{form}"
horizon = 1.0
{more}
[equation.attention]
query = {{ kernel = "cos(2*xi - eta)" }}
key = {{ kernel = "sin(3*xi + eta)" }}
value = {{ kernel = "xi + eta" }}
output = {{ kernel = "1 + cos(eta - y)" }}
[[equation.dense]]
kernel = "cos(2*xi - y)"
[[equation.dense]]
kernel = "sin(xi - 2*y)"
[initial]
expression = "1 + 0.3*sin(3*y + 2*x)"
[grid]
tokens = 6
features = 6
[time]
steps = 8
scheme = "lie"
[[studies]]
name = "only"
axis = "time"
sizes = [8, 16]
reference = {{ kind = "finest", steps = 64 }}
"""

PAPER = 'moments = { mean = 1.0, deviation = 0.3 }\nactivation = "relu"\nrate = "consistent"'
RESIDUAL = 'moments = { mean = 0.0, deviation = 1.0 }\nactivation = "gelu"'


MORE = {"paper": PAPER, "residual": RESIDUAL, "prenorm": 'activation = "gelu"'}


@pytest.fixture
def config(tmp_path):
    def load(form="paper", changes=()):
        path = tmp_path / "guarded.toml"
        path.write_text(BASE.format(form=form, more=MORE[form]))
        return load_config(path, changes)

    return load


def codes(config):
    verdict = judge_studies(config, Options("guarded", progress=False))
    return {(finding.level.value, finding.code) for _, finding in verdict.findings}


@pytest.mark.parametrize(
    ("form", "changes", "finding", "remedy"),
    [
        (
            "paper",
            ["equation.moments.mean=0.0", "equation.moments.deviation=1.0"],
            ("ill-posed", "incompatible-constraints"),
            ["equation.moments.mean=1.0", "equation.moments.deviation=0.3"],
        ),
        (
            "paper",  # on 6 cells a function of mean 1 deviates by at most sqrt(5)
            ["equation.moments.deviation=2.5"],
            ("ill-posed", "incompatible-constraints"),
            ["equation.moments.deviation=2.5", "grid.features=8"],
        ),
        (
            "paper",
            ["equation.activation=gelu"],
            ("ill-posed", "iterated-activation"),
            ["equation.activation=relu"],
        ),
        (
            "paper",
            ["equation.rate=literal"],
            ("warning", "literal-rate"),
            ["equation.rate=literal", "time.scheme=lie-consistent"],
        ),
        ("residual", ["equation.eps=1e-5"], ("note", "eps"), ["equation.eps=0.0"]),
        (
            "residual",
            ["equation.activation=relu", "time.scheme=rk4"],
            ("warning", "kink"),
            ["equation.activation=gelu", "time.scheme=rk4"],
        ),
        (
            "residual",
            [
                "equation.activation=relu",
                "studies.0.axis=features",
                "grid.rule=simpson",
                'studies.0.reference={kind="finest",size=64}',
            ],
            ("warning", "kink"),
            [
                "equation.activation=relu",
                "studies.0.axis=features",
                "grid.rule=midpoint",
                'studies.0.reference={kind="finest",size=48}',
            ],
        ),
        (
            "residual",
            ["equation.attention.scale=1e5"],
            ("warning", "sharp-scores"),
            ["equation.attention.scale=1.0"],
        ),
        (
            "residual",
            ['equation.dense.0.kernel="900*cos(2*xi - y)"'],
            ("warning", "large-steps"),
            ['equation.dense.0.kernel="0.1*cos(2*xi - y)"'],
        ),
    ],
)
def test_a_finding_goes_when_its_remedy_is_taken(config, form, changes, finding, remedy):
    assert finding in codes(config(form, changes=changes))
    assert finding not in codes(config(form, changes=remedy))


def test_a_question_in_order_has_no_findings(config):
    assert codes(config("paper")) == set()
    assert codes(config("residual")) == set()
    assert codes(config("prenorm")) == set()


def test_messages_say_what_to_do(config):
    broken = ["equation.moments.mean=0.0", "equation.moments.deviation=1.0"]
    verdict = judge_run(config("paper", changes=broken), Options("guarded"))
    assert "disjoint" in verdict.ill_posed[0] and "choose a mean > 0" in verdict.ill_posed[0]


def order(config, **changes):
    study = config.studies[0]
    return declared_order(build(refined(config, study, 1)), study)


@pytest.mark.parametrize(
    ("form", "changes", "expected"),
    [
        ("residual", [], 1.0),
        ("residual", ["time.scheme=strang"], 2.0),
        ("residual", ["time.scheme=order4"], 4.0),
        ("residual", ["time.scheme=order4", "equation.activation=relu"], None),
        ("residual", ["time.scheme=strang", "equation.activation=relu"], 2.0),
        ("paper", [], 1.0),
        ("paper", ["initial.expression=sin(6*y)", "initial.project=false"], None),
    ],
)
def test_declared_orders_in_time(config, form, changes, expected):
    assert order(config(form, changes=changes))[0] == expected


SPACE = ["studies.0.axis=tokens", 'studies.0.reference={kind="finest",size=48}']


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], 2.0),
        (["grid.rule=left"], 1.0),
        (["grid.rule=simpson"], 4.0),
        (["grid.rule=periodic"], math.inf),
        (["equation.attention.causal={diagonal=1.0}"], 1.0),
        (["equation.attention.causal={diagonal=0.5}"], 1.5),
        (["equation.attention.causal={diagonal=0.5}", "studies.0.norm=max"], 1.0),
    ],
)
def test_declared_orders_in_x(config, changes, expected):
    assert order(config("residual", changes=[*SPACE, *changes]))[0] == expected


def test_a_joint_study_has_the_smaller_order(config):
    joint = [
        "studies.0.axis=joint",
        "studies.0.steps=[8,16]",
        'studies.0.reference={kind="finest",size=48,steps=64}',
    ]
    assert order(config("residual", changes=[*joint, "time.scheme=strang"]))[0] == 2.0
    assert order(config("residual", changes=joint))[0] == 1.0


def test_the_question_knows_what_is_refined(config):
    experiment = build(config("residual"))
    assert ask(experiment, frozenset({"time"})).dt == 1 / 8


def test_one_cell_in_y_has_no_deviation(config):
    one = judge_run(config("residual", ["grid.features=1"]), Options("x"))
    assert "one node in y is constant" in one.ill_posed[0]
    two = judge_run(config("residual", ["grid.features=2"]), Options("x"))
    flat = ["grid.features=1", "equation.moments.deviation=0.0"]
    assert not two.ill_posed and not judge_run(config("residual", flat), Options("x")).ill_posed
