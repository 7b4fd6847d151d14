"""convergence.json and convergence.csv, read by json, csv and pandas."""

import csv
import json
import math

import numpy as np
import pandas
from hypothesis import given
from hypothesis import strategies as st

from experiments.results import read_convergence, write_convergence


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def test_both_files(tmp_path):
    data = {
        "studies": [
            {
                "name": "midpoint",
                "sizes": np.array([8, 16]),
                "errors": np.array([0.1, np.nan]),
                "local_orders": (np.float64(2.0), None),
                "declared_order": math.inf,
                "exact": np.bool_(True),
            }
        ]
    }
    rows = [
        {"study": "midpoint", "size": np.int64(8), "error": np.float64(0.1)},
        {"study": "a, b", "size": 16, "error": math.nan, "order": math.inf},
    ]
    write_convergence(tmp_path, data, rows)
    text = (tmp_path / "convergence.json").read_text()
    assert json.loads(text, parse_constant=refuse) == read_convergence(tmp_path)
    assert read_convergence(tmp_path) == {
        "studies": [
            {
                "name": "midpoint",
                "sizes": [8, 16],
                "errors": [0.1, None],
                "local_orders": [2.0, None],
                "declared_order": "Infinity",
                "exact": True,
            }
        ]
    }
    table = pandas.read_csv(tmp_path / "convergence.csv")
    assert list(table.columns) == ["study", "size", "error", "order"]
    assert list(table["study"]) == ["midpoint", "a, b"]
    assert list(table["size"]) == [8, 16]
    assert table["error"][0] == 0.1
    assert math.isnan(table["error"][1])
    assert math.isnan(table["order"][0])
    assert table["order"][1] == math.inf


@given(values=st.lists(st.floats(), min_size=1))
def test_numbers_keep_all_their_digits(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("tables")
    write_convergence(folder, {"errors": values}, [{"error": value} for value in values])
    found = read_convergence(folder)["errors"]
    with open(folder / "convergence.csv", newline="") as file:
        table = [float(row["error"]) for row in csv.DictReader(file)]
    for value, read, shown in zip(values, found, table, strict=True):
        assert shown == value or (math.isnan(shown) and math.isnan(value))
        assert math.isnan(value) if read is None else float(read) == value
