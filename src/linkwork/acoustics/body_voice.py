"""modes <- size, material: what a body sounds like when it is struck.

*Size.* A body sounds like the box that has its mass and moments of inertia: with principal moments I_k its
sides are

    l_x^2 = 6 (I_y + I_z - I_x) / m,  and so on round.

*Pitch.* Sorted, l >= w >= h, it is a plate l x w of thickness h with free edges, a bar if it is narrow.
Warburton (The vibration of rectangular plates, Proc. IMechE 168, 1954, table 1) gives the frequencies of the
mode with m and n nodal lines across l and w, from those of free bars, G = 0, 0, 1.506, m - 1/2:

    f_mn = (pi h c_p / (4 sqrt(3))) [(G_m/l)^4 + (G_n/w)^4 + 2 (nu H_m H_n + (1 - nu) J_m J_n) / (l w)^2]^1/2

c_p = sqrt(E / (rho (1 - nu^2))). Thin plates have no shear; waves are no faster than those of shear, c_s, so

    f = f_mn / sqrt(1 + (f_mn / f_s)^2),   f_s = c_s / 2 [ (G_m/l)^2 + (G_n/w)^2 ]^1/2.

A ball becomes a cube of 1.55 r, whose lowest mode is within a quarter of Lamb's 2.64 c_s / (2 pi r) (1882).

*Decay.* A mode of loss factor eta dies away as exp(-eta w t / 2), and a little faster by what holds the
body.

*Loudness.* An impulse J at a place where the mode has the shape phi makes it move with J phi / m_i, m_i =
m/4 (bars and plates with free ends, phi = 1 there). Its surface S accelerates the air like a piston that is
short against the wave: r p = rho_0 S e w J phi / (4 pi m_i), with e = (k a)^2 / (1 + (k a)^2): what a side
pushes the others pull, unless the body is as large as the wave (k = w / c, a half its length).

The modes' shapes are products of cos(m pi x / l), as van den Doel and Pai have it (The sounds of physical
shapes, Presence 7, 1998): where a body is struck says which of its modes are heard.

*The click.* A body that is pushed by a force F pushes the air: as a dipole, of a ball of volume V r p = 3/2
rho_0 V / (4 pi c) cos(angle) F' / m (Koss and Alfredson, Transient sound radiated by spheres undergoing an
elastic collision, J. Sound Vib. 27, 1973). Small hard bodies, whose modes are inaudible, click. Over all
angles the cosine is 1/sqrt(3).
"""

from dataclasses import dataclass
from math import exp, pi, sqrt
from typing import Any

import numpy as np

from linkwork.acoustics.acoustic_materials import JOINED, Acoustics

Array = np.ndarray

AIR, SPEED = 1.2, 343.0  # density of air [kg/m^3], and speed of sound in it [m/s], at 20 degrees
_LOWEST, _HIGHEST = 30.0, 16_000.0  # that is heard [Hz]
_MODES = 12  # of a body at most: the lowest
_HELD = 6.0  # by which all modes die away faster, whatever the body is made of [1/s]


@dataclass(frozen=True, eq=False)
class Voice:
    """How a body rings; K modes."""

    mass: float  # [kg]
    sides: Array  # (3,) of the box that is as heavy and as hard to turn, along `axes` [m]
    axes: Array  # (3, 3) principal axes, in columns, in the body's frame
    centre: Array  # (3,) of mass, in the body's frame [m]
    inverse_inertia: Array  # (3, 3) about that centre, along the axes of the body [1/(kg m^2)]
    acoustics: Acoustics
    frequency: Array  # (K,) [Hz]
    decay: Array  # (K,) [1/s]
    gain: Array  # (K,) pressure times distance, per impulse [Pa m / (N s)]
    order: Array  # (K, 3) nodal lines across each of the sides

    @property
    def click(self) -> float:
        """Pressure times distance per rate of change of the force [Pa m s / N]."""
        return 1.5 * AIR * float(self.sides.prod()) / (4.0 * pi * SPEED * self.mass * sqrt(3.0))

    def shapes(self, point: Array) -> Array:
        """Return how much each mode moves at a point of the body (K,)."""
        along = self.axes.T @ (point - self.centre)
        place = np.clip(along / np.maximum(self.sides, 1e-9) + 0.5, 0.0, 1.0)
        return np.prod(np.cos(pi * self.order * place), axis=1)

    def lasts(self, least: float = exp(-9.0)) -> float:
        """Return how long it rings until this part is left [s]."""
        return float(-np.log(least) / self.decay.min()) if len(self.decay) else 0.0


def box_of(mass: float, tensor: Any) -> tuple[Array, Array]:
    """Return the sides (3,) of a box of this mass and inertia, and its axes in columns."""
    moments, axes = np.linalg.eigh(np.asarray(tensor, float))
    squares = 6.0 * (moments.sum() - 2.0 * moments) / max(mass, 1e-12)
    return np.sqrt(np.maximum(squares, 1e-8)), axes


def voice(mass: float, centre: Array, tensor: Array, acoustics: Acoustics, joined: bool) -> Voice:
    """Return the voice of a body of this mass and inertia; joints damp what is `joined`."""
    sides, axes = box_of(mass, tensor)
    (h, w, l), longest = np.sort(sides), np.argsort(sides)
    found = []
    for m in range(5):
        for n in range(4):
            if m + n >= 2:
                found.append((_frequency(m, n, float(l), float(w), float(h), acoustics), m, n))
    found = sorted(each for each in found if _LOWEST <= each[0] <= _HIGHEST)[:_MODES]
    f = np.array([each[0] for each in found])
    order = np.zeros((len(found), 3))
    for row, (_, m, n) in zip(order, found, strict=True):
        row[longest[2]], row[longest[1]] = m, n
    omega = 2.0 * pi * f
    decay = 0.5 * (acoustics.loss + (JOINED if joined else 0.0)) * omega + _HELD
    ka = 0.5 * omega / SPEED * float(l)
    gain = AIR * float(l * w) * ka**2 / (1.0 + ka**2) * omega / (pi * mass)
    inverse = np.linalg.pinv(np.asarray(tensor, float), rcond=1e-9)
    return Voice(mass, sides, axes, centre, inverse, acoustics, f, decay, gain, order)


def _frequency(m: int, n: int, l: float, w: float, h: float, of: Acoustics) -> float:
    """Return the frequency of a mode of a free plate, no higher than shear allows [Hz]."""
    (G, H, J), (g, i, j) = _warburton(m), _warburton(n)
    mixed = 2.0 * (of.poisson * H * i + (1.0 - of.poisson) * J * j) / (l * w) ** 2
    thin = pi * h * of.plate_speed / (4.0 * sqrt(3.0)) * sqrt((G / l) ** 4 + (g / w) ** 4 + mixed)
    # Across a twisted plate, with G = 0 and J > 0, waves are as long as it is wide.
    sheared = 0.5 * of.shear_speed * sqrt((max(G, m and 1.0) / l) ** 2 + (max(g, n and 1.0) / w) ** 2)
    return thin / sqrt(1.0 + (thin / sheared) ** 2)


def _warburton(m: int) -> tuple[float, float, float]:
    """Return G, H and J of a free bar with m nodes (Warburton's table 1)."""
    if m < 2:
        return 0.0, 0.0, (0.0, 12.0 / pi**2)[m]
    if m == 2:
        return 1.506, 1.248, 5.017
    x = m - 0.5
    return x, x**2 * (1.0 - 2.0 / (x * pi)), x**2 * (1.0 + 6.0 / (x * pi))
