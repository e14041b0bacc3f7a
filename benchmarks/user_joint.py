"""A joint written by a user in five lines against a built-in hinge: chains of 30."""

import numpy as np

import linkwork as lw
from linkwork.peer_speed import best_of


class Knee(lw.Joint):
    coordinates = 1

    def motion(self, q):
        return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])


def chain(joint) -> lw.Model:
    m = lw.Mechanism("chain")
    above = m.ground
    for k in range(30):
        body = m.add(lw.Body(f"b{k}", lw.Box(0.05, 0.05, 0.3), density=1000, position=(0, 0, -0.3 * k)))
        m.add(joint(f"j{k}", above, body, at=(0, 0, -0.3 * k)))
        above = body
    return m.compile()


def main() -> None:
    q, v, tau, out = (np.full(30, x) for x in (0.1, 0.2, 0.3, 0.0))
    qs, vs, taus, outs = (np.tile(x, (1024, 1)) for x in (q, v, tau, out))
    built_in, own = chain(lw.Revolute), chain(Knee)
    for title, a, b in (
        ("one call", lambda m: m.forward_dynamics(q, v, tau, out=out), 1),
        ("batch", lambda m: m.forward_dynamics(qs, vs, taus, out=outs), 1024),
    ):
        times = best_of({"built-in": lambda a=a: a(built_in), "own": lambda a=a: a(own)}, 15)
        line = f"hinge {times['built-in'] * 1e6 / b:.3f} us, Knee {times['own'] * 1e6 / b:.3f} us"
        print(f"{title:10} {line}: {times['own'] / times['built-in']:.2f}   (goal 1.5)")


if __name__ == "__main__":
    main()
