"""The constraint sets: their projections against what defines a projection.

The claims hold for constant targets and eps = 0.  Members of a set are made here by other formulas
than the library's, and distances are measured in the weighted norm of the same quadrature.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from continuum import MomentSet, NonnegativeCone, compatible
from tests.helpers import WeightedMean, slope

#: Sums of at most nine numbers of size up to 10, squared: a few dozen units of round-off.
ROUND_OFF = 1e-13

seeds = st.integers(0, 2**32 - 1)
means = st.sampled_from([0.0, 1.0, -0.75, 3.0])
deviations = st.sampled_from([1.0, 0.3, 2.5])


def draw(seed, rows=3):
    """Random rows, a weighted mean functional and the generator."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice([2, 7]))  # a small pool: every new shape is compiled
    weights = rng.uniform(0.2, 3.0, size) if rng.random() < 0.7 else np.ones(size)
    return 3.0 * rng.standard_normal((rows, size)), WeightedMean(tuple(weights)), rng


def asked(method, *arrays, **options):
    """A method of a set, with jax arrays in and a NumPy array out."""
    return np.asarray(method(*map(jnp.asarray, arrays), **options))


def dot(mean, a, b):
    """The weighted inner product of rows, divided by the measure."""
    return mean(np.asarray(a) * np.asarray(b))[..., 0]


def member(moments, mean, values):
    """A member of S1 made from ``values``: standardised by hand."""
    deviation = values - mean(values)
    return moments.mean + moments.deviation * deviation / np.sqrt(mean(deviation**2))


@given(seeds, means, deviations)
def test_projection_onto_s1_lands_in_s1_and_stays(seed, sigma1, sigma2):
    v, mean, _ = draw(seed)
    s1 = MomentSet(sigma1, sigma2)
    p = asked(s1.project, v, mean=mean)
    np.testing.assert_allclose(mean(p)[:, 0], sigma1, atol=ROUND_OFF)
    np.testing.assert_allclose(np.sqrt(mean((p - sigma1) ** 2))[:, 0], sigma2, atol=ROUND_OFF)
    assert bool(np.all(asked(s1.contains, p, mean=mean)))
    # random rows lie elsewhere: contains can say no
    assert not np.any(asked(s1.contains, v, mean=mean))
    np.testing.assert_allclose(asked(s1.project, p, mean=mean), p, atol=ROUND_OFF)


@given(seeds, means, deviations)
def test_no_member_of_s1_is_closer_than_the_projection(seed, sigma1, sigma2):
    v, mean, rng = draw(seed)
    s1 = MomentSet(sigma1, sigma2)
    p = asked(s1.project, v, mean=mean)
    far = rng.standard_normal((400, *v.shape))
    near = p + np.logspace(-6, 0, 400)[:, None, None] * rng.standard_normal((400, *v.shape))
    raw = np.concatenate([far, near])
    members = member(s1, mean, raw)
    # a nearly constant row is standardised with much round-off: not a member to compare with
    clear = np.sqrt(mean((raw - mean(raw)) ** 2))[..., 0] > 1e-2
    shortest = dot(mean, v - p, v - p)
    # distances up to about 100, squared: round-off of the comparison
    farther = dot(mean, v - members, v - members) >= shortest - 1e-12
    assert np.all(farther[clear]) and clear.mean() > 0.9
    # and the antipodal point, where the distance is stationary too, is farther by 4 sigma2 |v|
    antipode = 2.0 * sigma1 - p
    gap = dot(mean, v - antipode, v - antipode) - shortest
    radius = np.sqrt(dot(mean, v - mean(v), v - mean(v)))
    np.testing.assert_allclose(gap, 4.0 * sigma2 * radius, atol=1e-12)


def test_plain_means_land_in_another_set_when_weights_differ():
    mean = WeightedMean((0.1, 1.0, 3.0))
    v = np.array([[4.0, -1.0, 0.5]])
    plain, weighted = asked(MomentSet().project, v), asked(MomentSet().project, v, mean=mean)
    assert asked(MomentSet().violation, plain, mean=mean)[0] > 0.1
    assert asked(MomentSet().violation, weighted, mean=mean)[0] < ROUND_OFF


def test_violation_is_the_larger_of_the_two_moments():
    s1 = MomentSet(1.0, 0.5)
    rows = np.array([[1.0, 3.0], [1.5, 0.5], [1.0, 1.0]])
    # means 2, 1, 1; deviations about 1: sqrt 2, 1/2, 0
    np.testing.assert_allclose(asked(s1.violation, rows), [1.0, 0.0, 0.5], atol=1e-15)  # round-off
    np.testing.assert_array_equal(asked(s1.contains, rows), [False, True, False])
    assert bool(asked(s1.contains, rows[0], tolerance=1.0))


@given(seeds, means, deviations)
def test_tangent_projection_is_an_orthogonal_projection(seed, sigma1, sigma2):
    v, mean, rng = draw(seed)
    s1 = MomentSet(sigma1, sigma2)
    u = member(s1, mean, v)
    f, g = rng.standard_normal((2, *v.shape))
    tf, tg = (asked(s1.tangent, u, w, mean=mean) for w in (f, g))
    again = asked(s1.tangent, u, tf, mean=mean)
    np.testing.assert_allclose(again, tf, atol=ROUND_OFF)  # idempotent
    np.testing.assert_allclose(dot(mean, tf, g), dot(mean, f, tg), atol=ROUND_OFF)  # symmetric
    # tangent: both moments are stationary along it
    np.testing.assert_allclose(mean(tf), 0.0, atol=ROUND_OFF)
    np.testing.assert_allclose(dot(mean, tf, u - sigma1), 0.0, atol=ROUND_OFF)
    # and what it removes is normal: a combination of the two gradients 1 and u - sigma1
    assert np.all(dot(mean, f - tf, tg) < ROUND_OFF)


@given(seeds, means, deviations)
def test_tangent_projection_is_the_derivative_of_the_projection(seed, sigma1, sigma2):
    v, mean, rng = draw(seed)
    s1 = MomentSet(sigma1, sigma2)
    u, f = member(s1, mean, v), rng.standard_normal(v.shape)
    _, derivative = jax.jvp(lambda w: s1.project(w, mean), (jnp.asarray(u),), (jnp.asarray(f),))
    np.testing.assert_allclose(asked(s1.tangent, u, f, mean=mean), derivative, atol=10 * ROUND_OFF)


def test_tangent_steps_leave_s1_to_second_order():
    v, mean, rng = draw(5)
    s1 = MomentSet(1.0, 0.3)
    u, f = member(s1, mean, v), rng.standard_normal(v.shape)
    sizes = 2.0 ** np.arange(4, 12)
    direction = asked(s1.tangent, u, f, mean=mean)
    gaps = [
        np.abs(asked(s1.project, u + direction / n, mean=mean) - u - direction / n).max()
        for n in sizes
    ]
    assert slope(sizes, gaps) == pytest.approx(2.0, abs=0.05)
    other = [np.abs(asked(s1.project, u + f / n, mean=mean) - u - f / n).max() for n in sizes]
    assert slope(sizes, other) == pytest.approx(1.0, abs=0.05)  # without it, only the first


def test_a_single_point_has_no_tangent():
    s1 = MomentSet(2.0, 0.0)
    np.testing.assert_array_equal(asked(s1.project, np.array([1.0, 5.0, -3.0])), 2.0)
    np.testing.assert_array_equal(asked(s1.tangent, np.full(3, 2.0), np.ones(3)), 0.0)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -1e5, 3e-7, 1e-170, 1e150])
@pytest.mark.parametrize("targets", [(0.0, 1.0), (1.0, 0.3)])
@pytest.mark.parametrize("weights", [(1.0,) * 7, (0.3, 1.0, 2.0, 0.7)], ids=["equal", "unequal"])
def test_constant_rows_follow_the_stated_rule(value, targets, weights):
    mean, s1 = WeightedMean(weights), MomentSet(*targets)
    v = np.full((1, len(weights)), value)
    p = asked(s1.project, v, mean=mean)
    assert bool(asked(s1.degenerate, v, mean=mean)[0])
    assert bool(asked(s1.contains, p, mean=mean, tolerance=ROUND_OFF)[0])
    steps = np.diff(p[0])
    assert np.all(steps > 0)  # along the ramp y -> index(y)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-13)  # which is straight, up to round-off


def test_nearly_constant_rows_are_not_degenerate():
    """A deviation of 1e-10 of the mean is far above round-off and decides the direction."""
    shape = np.array([[3.0, -1.0, 2.0, -4.0]])
    v = 1.0 + 1e-10 * shape
    assert not bool(asked(MomentSet().degenerate, v)[0])
    expected = member(MomentSet(), WeightedMean((1.0,) * 4), shape)
    # the shape is held to 1e-16 / 1e-10
    np.testing.assert_allclose(asked(MomentSet().project, v), expected, atol=1e-5)


def test_one_feature_cell_returns_the_mean_and_reports_the_rest():
    s1 = MomentSet(0.5, 2.0)
    p = asked(s1.project, np.array([[7.0], [-1.0]]))
    np.testing.assert_array_equal(p, 0.5)
    np.testing.assert_array_equal(asked(s1.violation, p), 2.0)


def test_gradients_are_finite_on_constant_rows_and_do_not_leak():
    constant, other = np.full((1, 4), 2.0), np.array([[1.0, -2.0, 0.5, 3.0]])
    weights = jnp.asarray([1.0, 2.0, -1.0, 0.5])

    def loss(rows):
        return jnp.sum(weights * MomentSet().project(rows) ** 3)

    gradient = jax.jit(jax.grad(loss))
    both = gradient(jnp.concatenate([constant, other]))
    np.testing.assert_array_equal(both[0], 0.0)  # the rule is locally constant
    np.testing.assert_allclose(both[1:], gradient(jnp.asarray(other)), rtol=1e-14)
    assert float(jnp.abs(both[1]).max()) > 0.1


@given(seeds)
def test_projection_onto_s2_is_the_nearest_point(seed):
    v, mean, rng = draw(seed)
    s2 = NonnegativeCone()
    p = asked(s2.project, v, mean=mean)
    np.testing.assert_array_equal(asked(s2.project, p, mean=mean), p)
    assert np.all(asked(s2.contains, p, mean=mean))
    spread = np.logspace(-6, 1, 400)[:, None, None]
    members = np.abs(p + spread * rng.standard_normal((400, *v.shape)))
    members *= rng.random((400, *v.shape)) < 0.7
    assert np.all(dot(mean, v - members, v - members) >= dot(mean, v - p, v - p) - 1e-12)
    # what decides for a convex cone, exactly: p is normal to v - p, and v - p points out of it
    np.testing.assert_array_equal(dot(mean, p, v - p), 0.0)
    assert np.all(v - p <= 0.0)


def test_cone_membership_and_violation():
    s2 = NonnegativeCone()
    rows = np.array([[0.0, 2.0], [-0.25, 1.0], [-3.0, -1.0]])
    np.testing.assert_array_equal(asked(s2.violation, rows), [0.0, 0.25, 3.0])
    np.testing.assert_array_equal(asked(s2.contains, rows), [True, False, False])
    assert bool(asked(s2.contains, rows[1], tolerance=0.25))


def test_cone_tangent_is_the_one_sided_derivative_of_its_projection():
    s2 = NonnegativeCone()
    u = np.array([0.0, 0.0, 0.0, 1.0, 2.0])
    f = np.array([3.0, -3.0, 0.0, -2.0, 2.0])
    h = 2.0**-10  # dyadic and small: u + h f keeps the sign of u > 0, and the quotient is exact
    np.testing.assert_array_equal(asked(s2.tangent, u, f), (asked(s2.project, u + h * f) - u) / h)


@pytest.mark.parametrize(
    ("targets", "meets"),
    [
        ((0.0, 1.0), False),
        ((-1.0, 0.5), False),
        ((-1.0, 0.0), False),
        ((0.0, 0.0), True),
        ((1.0, 0.3), True),
        ((1e-3, 50.0), True),
    ],
)
def test_the_sets_meet_iff_the_mean_is_positive_or_both_targets_vanish(targets, meets):
    verdict = compatible(MomentSet(*targets), NonnegativeCone())
    assert bool(verdict) is verdict.meets is meets
    if not meets:
        assert "no solution" in verdict.reason
        assert f"mean {targets[0]:g} and deviation {targets[1]:g}" in verdict.reason


@given(seeds, st.sampled_from([1.0, 0.25, 3.0]))
def test_the_grid_condition_is_the_width_of_one_spike(seed, sigma1):
    _, mean, rng = draw(seed)
    weights = np.array(mean.weights)
    size = {"measure": float(weights.sum()), "smallest_weight": float(weights.min())}
    # the spike: all mass in the lightest cell
    spike = np.zeros(len(weights))
    spike[np.argmin(weights)] = sigma1 * weights.sum() / weights.min()
    widest = float(np.sqrt(mean((spike - sigma1) ** 2))[0])
    assert widest == pytest.approx(
        math.sqrt(size["measure"] / size["smallest_weight"] - 1.0) * sigma1, rel=1e-14
    )
    # below the width there is a common member: the spike, flattened
    moments = MomentSet(sigma1, 0.999 * widest)
    common = sigma1 + 0.999 * (spike - sigma1)
    assert compatible(moments, NonnegativeCone(), **size)
    assert bool(asked(NonnegativeCone().contains, common))
    assert float(asked(moments.violation, common, mean=mean)) < ROUND_OFF * size["measure"] ** 2
    # above it there is none: no nonnegative function of this mean deviates more
    too_wide = compatible(MomentSet(sigma1, 1.001 * widest), NonnegativeCone(), **size)
    assert not too_wide and f"at most {widest:g} (one spike)" in too_wide.reason
    others = rng.gamma(0.1, size=(2000, len(weights)))
    others *= sigma1 / mean(others)
    assert np.all(np.sqrt(mean((others - sigma1) ** 2)) <= widest * (1 + 1e-12))


def test_without_a_grid_any_deviation_is_possible():
    assert compatible(MomentSet(1.0, 100.0), NonnegativeCone())
    assert not compatible(
        MomentSet(1.0, 100.0), NonnegativeCone(), measure=16.0, smallest_weight=1.0
    )


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ((0.0, -1.0), "expected deviation >= 0, got -1.0"),
        ((math.nan, 1.0), "targets must be finite, got .*nan"),
        ((0.0, math.inf), "targets must be finite, got .*inf"),
    ],
)
def test_impossible_targets_are_refused(targets, message):
    with pytest.raises(ValueError, match=message):
        MomentSet(*targets)
