"""Settings for the whole suite: float64, two test budgets, and no test that is quietly left out."""

import jax

jax.config.update("jax_enable_x64", True)

import os  # noqa: E402  (float64 comes before anything that might make an array)
from dataclasses import dataclass  # noqa: E402

import hypothesis  # noqa: E402
import pytest  # noqa: E402


@dataclass(frozen=True)
class Budget:
    """How much a test may spend: ``examples`` is the number of random cases of each property."""

    name: str
    examples: int


BUDGETS = {"quick": Budget("quick", examples=8), "soak": Budget("soak", examples=200)}
BUDGET_NAME = os.environ.get("TEST_BUDGET", "quick")
if BUDGET_NAME not in BUDGETS:
    raise pytest.UsageError(
        f"expected TEST_BUDGET to be one of {', '.join(BUDGETS)}, got {BUDGET_NAME!r}"
    )

for _budget in BUDGETS.values():
    hypothesis.settings.register_profile(
        _budget.name, max_examples=_budget.examples, deadline=None, derandomize=True, database=None
    )
hypothesis.settings.load_profile(BUDGET_NAME)


@pytest.fixture(scope="session")
def budget() -> Budget:
    return BUDGETS[BUDGET_NAME]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _never_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _never_skipped((yield))


def _never_skipped(report):
    """A skipped test or module counts as failed: a missing package or model must be noticed."""
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped; tests of this project never skip"
    return report
