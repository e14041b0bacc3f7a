"""Models that follow what laws read from outside.

Laws are traced: what they read beside their arguments (names of their module, variables of the function that
they were made in, attributes, lists, arrays) becomes numbers in formulas. A model whose laws read nothing
that can change is traced once. Any other is a `FollowingModel`: whatever is asked of it is answered by the
model of what its laws read now. That one is made anew when something has changed, from the one before: laws
are traced again, and where only numbers are others nothing is compiled.

A run takes the model that is `fixed` when it begins, and so does its recording: what laws read later does not
change them.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from linkwork.lazy import LOCK
from linkwork.mechanism.outside_values import Outside, outside_of
from linkwork.model.model import Model

Outsides = dict[str, Outside]  # by name of the element


class FollowingModel(Model):
    """A model whose laws read from outside what can change; its attributes are those of `current`."""

    public_name: ClassVar[str] = "Model"  # in messages

    def __init__(self, now: Model, outsides: Outsides, again: Callable[..., Model]) -> None:
        vars(self)["now"] = now, outsides
        vars(self)["again"] = again

    def __getattribute__(self, name: str) -> Any:
        if name in _ITS_OWN or name.startswith("__"):
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "current"), name)

    @property
    def current(self) -> Model:
        """The model of what laws read now."""
        own = vars(self)
        model, outsides = own["now"]
        for outside in outsides.values():
            if not outside.same:
                break
        else:
            return model
        with LOCK:
            new = own["again"](model.mechanism, model.form, model.cut, like=model)
            for name in ("loaded_tree", "loaded_body_tree"):
                if name in vars(model):
                    getattr(new, name)
            if (
                "loaded_tree" in vars(model) and new.digest == model.digest
            ):  # what has changed does not matter
                new = model
            own["now"] = new, settled(new)
        return new

    def specialize(self) -> Model:
        """Return the same model with code for this mechanism alone."""
        own = vars(self)
        return following(self.current.specialize(), own["again"])

    def __reduce__(self) -> Any:
        return self.current.__reduce__()


_ITS_OWN = frozenset({"current", "specialize"})


def following(model: Model, again: Callable[..., Model]) -> Model:
    """Return a model that follows what its laws read, or the model itself if that cannot change.

    `again(mechanism, form, cut, like=model)` is how it is made anew.
    """
    outsides = settled(model)
    return FollowingModel(model, outsides, again) if outsides else model


def fixed(model: Model) -> Model:
    """Return the model of what laws read now, all traced: what they read later does not change it."""
    now = model.current
    if now is model or "driver_laws" in vars(now):
        return now
    with LOCK:
        _ = now.loaded_tree, now.loaded_body_tree, now.driver_laws
        vars(model)["now"] = now, settled(now)
    return now


def settled(model: Model) -> Outsides:
    """Return what elements read, as it is after they were traced: a law may count how often it is asked.

    What laws read that are called, and not traced, need not be known.
    """
    origin, called = model.origin, set()
    if "loaded_tree" in vars(model):
        called = {placed.name for placed in model.loaded_tree.loads if placed.formula is None}
    return {
        name: outside if outside.same else outside_of(origin.current[name])
        for name, outside in origin.outsides.items()
        if name not in called
    }


def outsides_of(model: Model) -> Outsides:
    """Return what elements of a model read from outside, as it was when they were last traced."""
    return vars(model)["now"][1] if isinstance(model, FollowingModel) else {}
