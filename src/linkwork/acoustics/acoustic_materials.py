"""What materials sound like: one table of moduli, densities and losses, and which row of it a body is.

Moduli and densities are the usual rounded ones (Kaye and Laby, Tables of Physical and Chemical Constants,
section 2.2; of wood along the grain). Loss factors are those of pieces by themselves, rounded from Cremer,
Heckl and Petersson, Structure-Borne Sound (3rd ed. 2005), tables of chapter 3; they vary from piece to piece
by a factor of two and more. The loss of what is bolted or hinged is that of its joints, some 0.01 (the same,
section on damping of built-up structures).
"""

from collections.abc import Mapping
from math import log, sqrt
from typing import Any, NamedTuple

from linkwork.errors import LinkworkError, unknown
from linkwork.mechanism.material import NAMED, Material


class Acoustics(NamedTuple):
    """The numbers of a material that its sound depends on."""

    young: float  # modulus of elasticity [Pa]
    density: float  # [kg/m^3]
    poisson: float
    loss: float  # loss factor: energy lost per radian, per energy

    @property
    def plate_speed(self) -> float:
        """The speed of long waves in a plate [m/s]."""
        return sqrt(self.young / (self.density * (1.0 - self.poisson**2)))

    @property
    def shear_speed(self) -> float:
        """The speed of shear waves [m/s]."""
        return sqrt(self.young / (2.0 * (1.0 + self.poisson) * self.density))


ACOUSTICS: dict[str, Acoustics] = {
    "steel": Acoustics(2.1e11, 7850.0, 0.29, 5e-4),
    "iron": Acoustics(1.1e11, 7200.0, 0.27, 2e-3),
    "brass": Acoustics(1.0e11, 8500.0, 0.35, 1e-3),
    "aluminium": Acoustics(7.0e10, 2700.0, 0.34, 5e-4),
    "glass": Acoustics(7.0e10, 2500.0, 0.23, 1e-3),
    "concrete": Acoustics(3.0e10, 2300.0, 0.2, 6e-3),
    "brick": Acoustics(1.4e10, 1800.0, 0.15, 1.5e-2),
    "wood": Acoustics(1.1e10, 600.0, 0.35, 1.0e-2),
    "ice": Acoustics(9.3e9, 917.0, 0.33, 1.0e-2),
    "plastic": Acoustics(2.3e9, 1050.0, 0.38, 3e-2),
    "ptfe": Acoustics(5.0e8, 2200.0, 0.46, 5e-2),
    "rubber": Acoustics(1.0e7, 1100.0, 0.49, 2e-1),
}

JOINED = 1e-2  # loss factor of what joints hold
_BY_DENSITY = ("steel", "brass", "iron", "aluminium", "concrete", "brick", "wood", "plastic")
_SOUNDS = {material: name for name, material in NAMED.items()}  # those of lw.Material


def acoustics_of(name: str, material: Material, density: float, said: Mapping[str, str]) -> Acoustics:
    """Return the numbers of a body: as said by its name, of its material, or of what weighs as much."""
    if name in said:
        return named(said[name])
    if material in _SOUNDS:
        return ACOUSTICS[_SOUNDS[material]]
    like = min(_BY_DENSITY, key=lambda word: abs(log(ACOUSTICS[word].density / max(density, 1.0))))
    found = ACOUSTICS[like]
    if material.young is not None:
        found = found._replace(young=material.young, poisson=material.poisson)
    return found


def named(word: Any) -> Acoustics:
    """Return a row of the table; LinkworkError if there is none of this name."""
    if word not in ACOUSTICS:
        raise LinkworkError(f"sound: {unknown('material', str(word), ACOUSTICS)}")
    return ACOUSTICS[word]
