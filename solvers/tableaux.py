"""Explicit Runge-Kutta tableaux, as data."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: k_i = f(t + c_i dt, u + dt sum_j a_ij k_j).

    Args:
        name: the field's name of the method.
        order: its order for smooth right-hand sides.
        a: the rows a_ij, j < i; the first one is empty.
        b: the weights of the stages in u + dt sum_i b_i k_i.
    """

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]

    @property
    def c(self) -> tuple[float, ...]:
        """The stage times, in units of dt: the row sums of a."""
        return tuple(sum(row) for row in self.a)


#: Forward Euler.
EULER = Tableau("euler", 1, ((),), (1.0,))

#: The explicit trapezoid rule (Heun).
RK2 = Tableau("rk2", 2, ((), (1.0,)), (0.5, 0.5))

#: The classical method of order four (Kutta 1901).
RK4 = Tableau(
    "rk4", 4, ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6)
)
