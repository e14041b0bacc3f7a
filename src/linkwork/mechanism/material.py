"""What bodies are made of where they touch: friction, restitution, stiffness; and how two materials combine.

A material without stiffness is rigid. What a contact of two materials has:

* coefficients of friction: the geometric mean; restitution, rolling and torsional resistance: the larger;
* compliances add up, as those of springs in series: 1/k = 1/k1 + 1/k2, and
  1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2 (Johnson, Contact Mechanics, 1985, eq. 4.22);
* damping as of two spring-dampers in series that are loaded slowly: their compliances
  1/(k + i w c) = 1/k - i w c/k^2 + O(w^2) add up, so c/k^2 = c1/k1^2 + c2/k2^2;
* dissipation, the damping per stiffness and rate, follows from the same: the mean, weighted by compliance;
* what is rigid has no compliance, so with something compliant the other one alone counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import inf, sqrt
from typing import ClassVar, NamedTuple

from linkwork.mechanism.option_mistakes import NOT_NEGATIVE, POSITIVE, number_mistakes
from linkwork.real_numbers import shown
from linkwork.spelling import Spelled, fixed

_POISSON = 0.3  # of most solids


@fixed("make another Material, and set body.material or contact.material to it")
@dataclass(frozen=True, kw_only=True)
class Material(metaclass=Spelled):
    """What a body is made of, where it touches others; without `stiffness` or `young` it is rigid.

    >>> Material(friction=0.3, restitution=0.6).is_rigid
    True
    >>> Material(friction=0.9, stiffness=2e5, damping=300).is_rigid
    False
    """

    friction: float = 0.5  # coefficient of sliding friction
    static_friction: float | None = None  # coefficient while it sticks; None: the same
    restitution: float = 0.0  # speed after an impact, per speed before: 0 to 1
    rolling: float = 0.0  # lever of the normal force that resists rolling [m]
    torsional: float = 0.0  # lever of the normal force that resists spinning about the normal [m]
    stiffness: float | None = None  # of the contact [N/m]
    young: float | None = None  # modulus of elasticity [Pa]
    poisson: float = _POISSON  # ratio of strains, of a material with `young`
    damping: float | None = None  # of the contact [N s/m]
    dissipation: float | None = None  # damping per elastic force and rate of approach [s/m]

    rubber: ClassVar["Material"]
    steel: ClassVar["Material"]
    aluminium: ClassVar["Material"]
    glass: ClassVar["Material"]
    wood: ClassVar["Material"]
    concrete: ClassVar["Material"]
    ice: ClassVar["Material"]
    ptfe: ClassVar["Material"]

    def __post_init__(self) -> None:
        if mistake := next(self._mistakes(), None):
            raise ValueError(f"material: {mistake}")
        for each in fields(self):
            value = getattr(self, each.name)
            object.__setattr__(self, each.name, None if value is None else float(value))

    def _mistakes(self) -> Iterator[str]:
        """Yield what is wrong with it, in words."""
        yield from number_mistakes(self, "friction", "rolling", "torsional", wanted=NOT_NEGATIVE)
        yield from number_mistakes(self, "static_friction", wanted=NOT_NEGATIVE, optional=True)
        yield from number_mistakes(self, "restitution", wanted=(lambda x: 0.0 <= x <= 1.0, " from 0 to 1"))
        yield from number_mistakes(self, "stiffness", "young", wanted=POSITIVE, optional=True)
        yield from number_mistakes(
            self, "poisson", wanted=(lambda x: -1.0 < x <= 0.5, " above -1, at most 0.5")
        )
        yield from number_mistakes(self, "damping", "dissipation", wanted=NOT_NEGATIVE, optional=True)
        if self.static_friction is not None and self.static_friction < self.friction:
            yield (
                f"static_friction {shown(self.static_friction)} is less than friction "
                f"{shown(self.friction)}; what sticks holds at least as well: give as much or more"
            )
        for one, other in (("stiffness", "young"), ("damping", "dissipation")):
            if getattr(self, one) is not None and getattr(self, other) is not None:
                yield (
                    f"{one} {shown(getattr(self, one))} and {other} {shown(getattr(self, other))} together; "
                    "give one of them"
                )
        yield from self._compliance_mistakes()

    def _compliance_mistakes(self) -> Iterator[str]:
        if self.is_rigid:
            for word in ("damping", "dissipation"):
                if getattr(self, word) is not None:
                    yield (
                        f"{word} {shown(getattr(self, word))} of what is rigid; give stiffness= or young= too"
                    )
        elif self.restitution:
            yield (
                f"restitution {shown(self.restitution)} of what is compliant, which bounces as its damping "
                "lets it; give damping= or dissipation= instead, or drop stiffness= and young="
            )
        if self.young is None and self.poisson != _POISSON:
            yield f"poisson {shown(self.poisson)} without young=; give it too, or drop poisson="

    @property
    def is_rigid(self) -> bool:
        """Whether it has neither stiffness nor a modulus of elasticity."""
        return self.stiffness is None and self.young is None

    def __repr__(self) -> str:
        said = [
            f"{each.name}={getattr(self, each.name):g}"
            for each in fields(self)
            if getattr(self, each.name) != each.default
        ]
        return f"Material({', '.join(said)})"


# docs/contact.md has the sources of these figures.
Material.rubber = Material(friction=0.8, static_friction=1.0, restitution=0.75)
Material.steel = Material(friction=0.57, static_friction=0.74, restitution=5 / 9)
Material.aluminium = Material(friction=0.39, static_friction=0.5)
Material.glass = Material(friction=0.4, static_friction=0.94, restitution=15 / 16)
Material.wood = Material(friction=0.2, static_friction=0.4, restitution=0.6)
Material.concrete = Material(friction=0.8, static_friction=1.0)
Material.ice = Material(friction=0.03, static_friction=0.1)
Material.ptfe = Material(friction=0.04)

NAMED = {name: value for name, value in vars(Material).items() if isinstance(value, Material)}


class ContactNumbers(NamedTuple):
    """What a contact of two materials has."""

    friction: float
    static_friction: float
    restitution: float
    rolling: float  # [m]
    torsional: float  # [m]
    stiffness: float  # [N/m]; 0: none
    modulus: float  # E* [Pa]; 0: none
    damping: float  # [N s/m]
    dissipation: float  # [s/m]


def combined(a: Material, b: Material) -> ContactNumbers:
    """Return what a contact of two materials has; ValueError if their compliances are of different kinds."""
    if (a.stiffness is not None and b.young is not None) or (a.young is not None and b.stiffness is not None):
        raise ValueError(f"{a} and {b} have a stiffness and a modulus of elasticity; give both the same kind")
    one, other = _hardness(a), _hardness(b)
    whole = min(one, other) if inf in (one, other) else one * other / (one + other)
    shares = [(whole / one, a), (whole / other, b)] if whole < inf else []  # of the compliance
    by_modulus = a.young is not None or b.young is not None
    return ContactNumbers(
        sqrt(a.friction * b.friction),
        sqrt(_static(a) * _static(b)),
        max(a.restitution, b.restitution),
        max(a.rolling, b.rolling),
        max(a.torsional, b.torsional),
        whole if shares and not by_modulus else 0.0,
        whole if shares and by_modulus else 0.0,
        sum(share**2 * (x.damping or 0.0) for share, x in shares),
        sum(share * (x.dissipation or 0.0) for share, x in shares),
    )


def alone(material: Material) -> ContactNumbers:
    """Return what a contact has that is said to be of one material, whatever the bodies are made of."""
    rigid = Material(friction=material.friction, static_friction=material.static_friction)
    return combined(material, rigid)


def _hardness(material: Material) -> float:
    """Return the stiffness of its side of a contact [N/m], or E / (1 - nu^2) [Pa]; inf if it is rigid."""
    if material.stiffness is not None:
        return material.stiffness
    return inf if material.young is None else material.young / (1.0 - material.poisson**2)


def _static(material: Material) -> float:
    return material.friction if material.static_friction is None else material.static_friction
