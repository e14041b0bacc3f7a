"""What behaviours remember, as plain values: for files, and for snapshots in memory.

Numbers, texts and lists stand for themselves; all else is a mapping with one key that says what it is.
Whatever cannot be written is refused by name; whatever is read is made of these kinds only, and never of a
class or function that the program has not defined itself.
"""

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import FormatError, unknown
from linkwork.scene.actor import Actor
from linkwork.scene.behaviour import ACTIONS, Behaviour
from linkwork.scene.handles import BodyHandle, Handle, JointHandle
from linkwork.scene.scene_node import Node
from linkwork.spelling import Closed

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

_BITS = {"PCG64": np.random.PCG64, "PCG64DXSM": np.random.PCG64DXSM, "MT19937": np.random.MT19937}
_DEEP = 32  # levels of lists in lists


def written(value: Any, where: str, loose: bool = False) -> Any:
    """Return a value as plain JSON values; FormatError says `where` one cannot be. If `loose`, it is kept."""
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, list):
        return [written(item, where, loose) for item in value]
    if isinstance(value, tuple | set | frozenset):
        items = value if isinstance(value, tuple) else sorted(value)
        return {type(value).__name__: [written(item, where, loose) for item in items]}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": {key: written(item, f"{where}[{key!r}]", loose) for key, item in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype.kind in "bif":
        return {"array": [str(value.dtype), list(value.shape), written(value.ravel().tolist(), where)]}
    if isinstance(value, np.random.Generator):
        state = value.bit_generator.state
        return {"random": [state["bit_generator"], written(state, where)]}
    if isinstance(value, Handle):
        if not value.exists:
            return {"gone": [isinstance(value, BodyHandle), value.name]}
        return {"part": [value.actor.path, value.name]}
    if isinstance(value, Node):
        return {"node": value.path} if value.parent is not None else None
    for name, known in ACTIONS.items():
        if known is value:
            return {"action": name}
    if loose:
        return {"kept": value}
    remedy = (
        "write @lw.action above its definition" if callable(value) else "keep numbers, texts, lists, arrays"
    )
    raise FormatError(
        f"scene: {where} is {value!r:.60}, a {type(value).__name__}, and cannot be saved; {remedy}"
    )


def read(value: Any, scene: "Scene", where: str, deep: int = 0, loose: bool = False) -> Any:
    """Return the value that `written` made these of; FormatError if there is none."""
    if deep > _DEEP:
        raise FormatError(f"{where}: lists in lists, more than {_DEEP} deep")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [read(item, scene, where, deep + 1, loose) for item in value]
    if not isinstance(value, dict) or len(value) != 1:
        raise FormatError(f"{where}: {str(value)[:60]} is no value that a scene writes")
    ((kind, content),) = value.items()
    if loose and kind == "kept":
        return content
    try:
        return _READ[kind](content, scene, where, deep + 1, loose)
    except KeyError:
        raise FormatError(f"{where}: {unknown('kind of value', kind, _READ)}") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"{where}: {kind} {str(content)[:60]}: {error}") from None


def _float(content: Any, *_: Any) -> float:
    if content not in ("nan", "inf", "-inf"):
        raise ValueError("is nan, inf or -inf")
    return float(content)


def _items(content: Any, scene: "Scene", where: str, deep: int, loose: bool) -> list[Any]:
    if not isinstance(content, list):
        raise ValueError("is a list")
    return [read(item, scene, where, deep, loose) for item in content]


def _array(content: Any, scene: "Scene", where: str, deep: int, loose: bool) -> np.ndarray:
    dtype, shape, values = content
    if dtype not in ("bool", "int64", "int32", "float64", "float32"):
        raise ValueError("is of bool, int64, int32, float64 or float32")
    return np.array(read(values, scene, where, deep, loose), dtype).reshape([int(n) for n in shape])


def _random(content: Any, scene: "Scene", where: str, deep: int, loose: bool) -> np.random.Generator:
    name, state = content
    made = _BITS[name]()
    made.state = read(state, scene, where, deep, loose)
    return np.random.Generator(made)


def _mapping(content: Any, scene: "Scene", where: str, deep: int, loose: bool) -> dict[str, Any]:
    return {str(key): read(item, scene, where, deep, loose) for key, item in content.items()}


def _node(content: Any, scene: "Scene", where: str, *_: Any) -> Any:
    if content not in scene:
        raise FormatError(f"{where}: there is no node {content!r}")
    return scene[content]


def _part(content: Any, scene: "Scene", where: str, *_: Any) -> Any:
    path, name = content
    actor = _node(path, scene, where)
    if not isinstance(actor, Actor) or name not in actor:
        raise FormatError(f"{where}: {path!r} has no body or joint {name!r}")
    return actor[name]


def _gone(content: Any, *_: Any) -> Any:
    is_body, name = content
    return (BodyHandle if is_body else JointHandle)(None, str(name))


def _action(content: Any, scene: "Scene", where: str, *_: Any) -> Any:
    if content not in ACTIONS:
        raise FormatError(
            f"{where}: {unknown('action', content, ACTIONS)}; import what defines it, with @lw.action"
        )
    return ACTIONS[content]


_READ = {
    "float": _float,
    "tuple": lambda *words: tuple(_items(*words)),
    "set": lambda *words: set(_items(*words)),
    "frozenset": lambda *words: frozenset(_items(*words)),
    "dict": _mapping,
    "array": _array,
    "random": _random,
    "node": _node,
    "part": _part,
    "gone": _gone,
    "action": _action,
}


def behaviour_written(behaviour: Behaviour, loose: bool = False) -> list[Any]:
    """Return a behaviour as the name of its class and plain values."""
    kind = type(behaviour)
    where = f"{kind.__name__}."
    own = {word: written(value, where + word, loose) for word, value in vars(behaviour).items()}
    return [f"{kind.__module__}.{kind.__qualname__}", own]


def behaviour_read(content: Any, scene: "Scene", where: str, loose: bool = False) -> Behaviour:
    """Return the behaviour that `behaviour_written` wrote; FormatError if the program has no such class."""
    match content:
        case [str(name), dict(values)]:
            pass
        case _:
            raise FormatError(f"{where}: {str(content)[:60]} is no behaviour")
    if name not in Behaviour.known:
        raise FormatError(
            f"{where}: {unknown('behaviour', name, Behaviour.known)}; import the module that defines it first"
        )
    made = object.__new__(Behaviour.known[name])
    if isinstance(made, Closed):
        object.__setattr__(made, "_complete", True)
    for word, value in values.items():
        if not word.isidentifier() or word.startswith("__"):
            raise FormatError(f"{where}: behaviour {name!r} has an attribute {word!r:.40}")
        vars(made)[word] = read(value, scene, f"{where}: {name}.{word}", 0, loose)
    return made
