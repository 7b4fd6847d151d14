"""A fixed-step solve compiles to the loop that one would write by hand."""

from benchmarks.stepping import loop_bodies


def test_the_compiled_program_is_that_of_a_hand_written_scan():
    """The same products, fusions, reductions and transposes; copies may differ outside the loop."""
    found = loop_bodies()
    kinds = ("dot", "fusion", "reduce", "transpose")
    ours, theirs = ({kind: found[name].get(kind, 0) for kind in kinds} for name in found)
    assert ours == theirs
    assert ours["dot"] == 7  # query, key, value, scores, mixing, output, dense
