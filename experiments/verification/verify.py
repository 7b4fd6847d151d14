"""From a request to a report."""

import dataclasses
from typing import Any

from continuum import describe
from experiments.packages import versions
from experiments.request import Request
from experiments.verification.bert_case import bert_case
from experiments.verification.case import Case
from experiments.verification.comparison import compare
from experiments.verification.correspondence import REMARKS
from experiments.verification.numpy_case import numpy_case
from experiments.verification.report import Report
from experiments.verification.torch_case import torch_case


def verify(request: Request) -> Report:
    """Compare the equation's splitting steps with an independent encoder.

    In float64, jax must run with x64 (the command line sees to it).

    Raises:
        ValueError, TypeError, FileNotFoundError: for input that is no such encoder.
        ImportError: if a package for this check is not installed.
    """
    case = _case(request)
    layers, final, embedding = compare(case, request.equation)
    remark = REMARKS.get((request.equation, case.norm))
    return Report(
        reference=case.reference,
        dtype=request.dtype.value,
        equation=request.equation.value,
        tolerance=request.limit,
        layers=layers,
        final=final,
        embedding=embedding,
        valid_tokens=int(case.valid.sum()),
        tokens=case.valid.size,
        notes=case.notes if remark is None else (*case.notes, remark),
        description=describe(case.recovered.problem.equation),
        versions=versions(),
        options=_options(request),
    )


def _case(request: Request) -> Case:
    if request.model is not None:
        return bert_case(request)
    return torch_case(request) if request.torch else numpy_case(request)


def _options(request: Request) -> dict[str, Any]:
    """What was asked for, as plain data; for a model without the random encoder's options."""
    data = dataclasses.asdict(request)
    data["given"] = sorted(request.given)
    data["texts"] = list(request.texts)
    if request.model is not None:
        del data["encoder"]
    return data
