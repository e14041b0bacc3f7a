"""Events: something happens when a quantity crosses zero."""

from collections.abc import Callable, Sequence
from typing import Any

from linkwork.algebra.number import Number
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.mechanism import Mechanism
from linkwork.real_numbers import is_real

Action = str | Callable[..., Any]


class Event(Load):
    """Watch a quantity, and stop, or act, when it crosses zero.

    `quantity` is a function (t, q, v) of all coordinates of the mechanism, by number or name: q["pin"]; with
    `of` a joint, of that joint's; with `of` a body, a function (body, t). `direction` 1 means rising, -1
    falling, 0 both. `action` is "stop", "note", which only writes the time down, or a function
    (t, q, v) -> (q, v) that gives the state to go on from: a bounce, say.

    >>> Event("upright", lambda t, q, v: q["pin"], direction=-1)
    Event('upright')
    """

    word = "event"

    def __init__(
        self,
        name: str,
        quantity: Callable[..., Any],
        *,
        of: Body | Joint | str | None = None,
        direction: int = 0,
        action: Action = "stop",
    ) -> None:
        super().__init__(name, *(() if of is None else (of,)))
        self.whole = of is None
        self.quantity, self.direction, self.action = quantity, direction, action

    def mistakes(self) -> list[str]:
        found = []
        if not callable(self.quantity):
            found.append(f"quantity {self.quantity!r}; give a function that crosses zero")
        if not is_real(self.direction) or self.direction not in (-1, 0, 1):
            found.append(f"direction {self.direction!r}; give 1 (rising), -1 (falling) or 0 (both)")
        if not callable(self.action) and not (
            isinstance(self.action, str) and self.action in ("stop", "note")
        ):
            found.append(f'action {self.action!r}; give "stop", "note" or a function (t, q, v) -> (q, v)')
        return found

    def act(self, t: Number, side: Any) -> Number:
        """Return the quantity."""
        if self.on and isinstance(self.on[0], Body):
            return self.quantity(side, t)
        return self.quantity(t, *((side.q, side.v) if self.whole else (side.position, side.velocity)))


def settle(events: Sequence[Event], mechanism: Mechanism) -> list[str]:
    """Let events know the mechanism they watch; return what is wrong with them."""
    names = [event.name for event in events]
    mistakes = [f"event {name!r}: the name is used twice" for name in {*names} if names.count(name) > 1]
    for event in events:
        event.settle(mechanism.space)
        found = event.mistakes()
        try:
            for side in event.sides(mechanism.joints):
                known = mechanism.bodies if isinstance(side, Body) else mechanism.joints
                if side.name != mechanism.ground.name and side.name not in known:
                    found.append(f"{side.name!r} is not in mechanism {mechanism.name!r}; give one that is")
        except ValueError as error:
            found.append(str(error))
        mistakes += [f"event {event.name!r}: {mistake}" for mistake in found]
    return mistakes
