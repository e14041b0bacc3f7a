"""Behaviours: small objects that are called in every step of a scene, and remember what they need.

What a behaviour keeps in its attributes is saved with the scene and restored with it: numbers, texts, lists,
mappings, arrays, random generators, nodes, bodies and joints. A file names its class; only classes that the
program has defined are made again.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.spelling import Closed, Spelled

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene


class Behaviour(metaclass=Spelled):
    """Something that acts in a scene: override `before`, called before a step, or `after`.

    >>> import linkwork as lw
    >>> class Count(lw.Behaviour):
    ...     def __init__(self):
    ...         self.steps = 0
    ...
    ...     def after(self, scene, dt):
    ...         self.steps += 1
    >>> world = lw.Scene()
    >>> counter = world.add(Count())
    >>> world.step(1 / 60, n=3)
    >>> counter.steps
    3
    """

    known: ClassVar[dict[str, type["Behaviour"]]] = {}  # classes by the name that files use

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        Behaviour.known[f"{cls.__module__}.{cls.__qualname__}"] = cls

    def begin(self, scene: "Scene") -> None:
        """Be added to a scene."""

    def before(self, scene: "Scene", dt: float) -> None:
        """Act before a step of dt seconds."""

    def after(self, scene: "Scene", dt: float) -> None:
        """Act after a step: bodies are where they are now."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class CheckedBehaviour(Behaviour, Closed):
    """A behaviour of the package: it has the attributes of its constructor, and their values are checked."""

    def __setattr__(self, word: str, value: Any) -> None:
        self._check_assignable(word, value)
        object.__setattr__(self, word, self.checked(word, value))

    def checked(self, word: str, value: Any) -> Any:
        """Return the value of an attribute as it is kept; raise TypeError or ValueError if it cannot be."""
        return value


ACTIONS: dict[str, Callable[..., Any]] = {}  # functions that files may name


def action(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be named by files of scenes: `@lw.action` above its definition."""
    name = getattr(function, "__qualname__", "<lambda>")
    if not callable(function) or name.endswith("<lambda>"):
        raise TypeError(f"action: {function!r}; give a function that has a name")
    ACTIONS[f"{function.__module__}.{name}"] = function
    return function
