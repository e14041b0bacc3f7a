"""Edits without a pause: from a change of a mechanism to an acceleration of the model grown from the old one.

A time is the best of several, of the processor: the edit itself, `lw.carry`, and `model.motion` at the state
carried over, which makes all tables that a step needs. Beside it is a compilation of the edited mechanism
from nothing.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import numpy as np

import linkwork as lw
from linkwork.native import store

ROUNDS = 30


class Edited:
    """A mechanism while it is edited, with its model and state."""

    def __init__(self, mechanism: lw.Mechanism):
        self.mechanism = mechanism
        self.model = mechanism.compile()
        generator = np.random.default_rng(1)
        self.state = lw.State(
            0.3 * generator.normal(size=self.model.nq), generator.normal(size=self.model.nv)
        )
        self.model.motion(self.state.q, self.state.v)

    def change(self, edit: Callable[[], object]) -> float:
        """Edit, carry, and accelerate; return the time it took."""
        began = time.process_time()
        edit()
        self.model, self.state = lw.carry(self.model, self.state, self.mechanism)
        self.model.motion(self.state.q, self.state.v)
        return time.process_time() - began

    def compiled(self) -> float:
        began = time.process_time()
        model = self.mechanism.compile(floating=True)
        model.motion(self.state.q, self.state.v)
        return time.process_time() - began


def damped(pin: lw.Joint, generator: np.random.Generator) -> Callable[[], object]:
    return lambda: setattr(pin, "damping", float(generator.uniform(0.1, 1.0)))


def measure(links: int, rounds: int) -> dict[str, float]:
    """Return the best time of each edit of a chain [s]."""
    m = lw.examples.chain(links)
    edited = Edited(m)
    pin = m.joints[f"pin{links // 2}"]
    edits: dict[str, Callable[[], object]] = {
        "a joint removed": lambda: m.remove(pin),
        "the joint added": lambda: m.add(pin),
        "a damping changed": damped(pin, np.random.default_rng(2)),
    }
    best = dict.fromkeys([*edits, "compiled anew"], np.inf)
    for _ in range(3):
        for edit in edits.values():
            edited.change(edit)
        best["compiled anew"] = min(best["compiled anew"], edited.compiled())
    with nothing_compiled():
        for _ in range(rounds):
            for name, edit in edits.items():
                best[name] = min(best[name], edited.change(edit))
    return best


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """Refuse to compile anything."""

    def refuse(text: str, *rest: object) -> NoReturn:
        raise RuntimeError("an edit compiles something")

    compile_text, store.compile_text = store.compile_text, refuse
    try:
        yield
    finally:
        store.compile_text = compile_text


def main() -> None:
    goals = {100: 2.0, 1000: 10.0}
    for links, goal in goals.items():
        print(f"a chain of {links} links")
        for name, seconds in measure(links, ROUNDS).items():
            shown = f"   (goal {goal:.0f})" if name.startswith(("a joint", "the joint")) else ""
            print(f"  {name:20} {seconds * 1e3:8.2f} ms{shown}")


if __name__ == "__main__":
    main()
