"""Closed loops against the peers, ratios of one run.

    python benchmarks/loops.py

The three-cylinder engine: accelerations against Pinocchio's loop-constrained ABA and constraint dynamics with
point constraints at the wrist pins where ours are real hinges; a simulated second against MuJoCo's RK4 as an
expert tunes it. The steam engine against real time. Rows of four-bars, per loop.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.peer_speed import best_of

SPEED = 30.0  # of the crank [rad/s]
BLOCK = 1024
STEP = 0.001  # of MuJoCo [s]
ROWS = (4, 10, 40, 100, 400)


class Engine:
    """The three-cylinder engine as drawn, turning."""

    def __init__(self) -> None:
        mechanism = lw.examples.three_cylinder_engine()
        self.bodies, self.model = mechanism.bodies, mechanism.compile()
        self.start = self.model.state(velocities={"bearing": SPEED})
        self.poses = self.model.poses(self.start.q)

    def place(self, joint: str) -> np.ndarray:
        """Return where a joint is in the world."""
        described = self.model.joints[joint]
        return (self.poses[described.child.name] @ described.frames()[1]).position

    def speed(self, joint: str) -> float:
        if joint in self.model.slices:
            return float(self.start.v[self.model.slices[joint][1]][0])
        return float(self.model.loop_coordinates(self.start.q, self.start.v)[joint][1][0])

    def inertia(self, name: str, origin: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the mass of a body, its centre seen from a place, its tensor; in the axes of the world."""
        inertia, R, p = self.bodies[name].inertia, self.poses[name].rotation, self.poses[name].position
        return inertia.mass, R @ inertia.com + p - origin, R @ inertia.tensor @ R.T


def in_pinocchio(engine: Engine) -> tuple[Any, ...]:
    """Return the engine as a tree of crankshaft, rods and pistons, its wrist pins point constraints."""
    import pinocchio as pin

    theirs, place = pin.Model(), engine.place

    def add(name: str, parent: int, kind: Any, place: np.ndarray, on: np.ndarray) -> int:
        number = theirs.addJoint(parent, kind, pin.SE3(np.eye(3), place - on), name)
        theirs.appendBodyToJoint(number, pin.Inertia(*engine.inertia(name, place)), pin.SE3.Identity())
        return number

    shaft = add("crankshaft", 0, pin.JointModelRY(), place("bearing"), np.zeros(3))
    constraints = []
    for k in (1, 2, 3):
        wrist = place(f"wrist pin {k}")
        rod = add(f"rod {k}", shaft, pin.JointModelRY(), place(f"crank pin {k}"), place("bearing"))
        piston = add(f"piston {k}", 0, pin.JointModelPZ(), wrist, np.zeros(3))
        ends = (rod, wrist - place(f"crank pin {k}")), (piston, np.zeros(3))
        placed = [x for number, p in ends for x in (number, pin.SE3(np.eye(3), p))]
        constraints.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, theirs, *placed, pin.LOCAL))
    models = pin.StdVec_RigidConstraintModel()
    datas = pin.StdVec_RigidConstraintData()
    for one in constraints:
        models.append(one)
        datas.append(one.createData())
    return theirs, models, datas


def accelerations() -> None:
    import pinocchio as pin

    engine = Engine()
    model, q, v = engine.model, engine.start.q, engine.start.v
    theirs, models, datas = in_pinocchio(engine)
    tau, out = np.zeros(model.nv), np.zeros(model.nv)
    settings = pin.ProximalSettings(1e-12, 1e-6, 10)
    q_theirs, tau_theirs = pin.neutral(theirs), np.zeros(theirs.nv)
    cylinders = [name for k in (1, 2, 3) for name in (f"crank pin {k}", f"cylinder {k}")]
    v_theirs = np.array([engine.speed(name) for name in ("bearing", *cylinders)])

    lcaba_data = theirs.createData()
    pin.computeJointMinimalOrdering(theirs, lcaba_data, models)
    dynamics_data = theirs.createData()
    pin.initConstraintDynamics(theirs, dynamics_data, models, datas)
    qs, vs, taus = (np.tile(x, (BLOCK, 1)) for x in (q, v, tau))
    outs = np.zeros((BLOCK, model.nv))
    runs: dict[str, Callable[[], object]] = {
        "linkwork": lambda: model.forward_dynamics(q, v, tau, out=out),
        "batch": lambda: model.forward_dynamics(qs, vs, taus, out=outs),
        "lcaba": lambda: pin.lcaba(
            theirs, lcaba_data, q_theirs, v_theirs, tau_theirs, models, datas, settings
        ),
        "constraintDynamics": lambda: pin.constraintDynamics(
            theirs, dynamics_data, q_theirs, v_theirs, tau_theirs, models, datas, settings
        ),
    }
    ours = model.forward_dynamics(q, v, tau)[model.slices["bearing"][1]][0]
    found = {name: float(np.asarray(runs[name]())[0]) for name in ("lcaba", "constraintDynamics")}
    print("three-cylinder engine, acceleration of the crank [rad/s^2]:")
    print(f"  linkwork {ours:.9g}, " + ", ".join(f"{name} {x:.9g}" for name, x in found.items()))
    times = best_of(runs, 15, 0.05)
    peer = min(times["lcaba"], times["constraintDynamics"])
    for name in ("lcaba", "constraintDynamics"):
        print(f"  {name}: {times[name] * 1e6:.2f} us")
    print(
        f"  linkwork: {times['linkwork'] * 1e6:.2f} us, {peer / times['linkwork']:.1f}x (goal 1.5x, aim 3x)"
    )
    each = times["batch"] / BLOCK
    print(f"  in batches of {BLOCK}: {each * 1e6:.3f} us, {peer / each:.1f}x")


def in_mujoco(engine: Engine) -> str:
    """Return the engine as MJCF, its wrist pins closed by `connect`, with the solver tuned by an expert."""

    def text(values: Any) -> str:
        return " ".join(f"{x:.17g}" for x in np.ravel(values))

    def inertial(name: str, origin: np.ndarray) -> str:
        mass, com, tensor = engine.inertia(name, origin)
        full = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        return f'<inertial pos="{text(com)}" mass="{mass:.17g}" fullinertia="{text(full)}"/>'

    rods, pistons, closed = [], [], []
    for k in (1, 2, 3):
        pin, wrist = engine.place(f"crank pin {k}"), engine.place(f"wrist pin {k}")
        rods.append(
            f'<body name="rod {k}" pos="{text(pin)}"><joint name="crank pin {k}" axis="0 1 0"/>'
            f"{inertial(f'rod {k}', pin)}</body>"
        )
        pistons.append(
            f'<body name="piston {k}" pos="{text(wrist)}">'
            f'<joint name="cylinder {k}" type="slide" axis="0 0 1"/>'
            f"{inertial(f'piston {k}', wrist)}</body>"
        )
        closed.append(
            f'<connect body1="rod {k}" body2="piston {k}" anchor="{text(wrist - pin)}" '
            'solref=".002 1" solimp=".9999 .9999 .001"/>'
        )
    return f"""<mujoco><compiler angle="radian"/>
<option timestep="{STEP}" integrator="RK4" gravity="0 0 -9.81"/>
<worldbody><body name="crankshaft"><joint name="bearing" axis="0 1 0"/>{inertial("crankshaft", np.zeros(3))}
{"".join(rods)}</body>{"".join(pistons)}</worldbody><equality>{"".join(closed)}</equality></mujoco>"""


def a_second() -> None:
    """A simulated second at an accuracy that is better than that of MuJoCo."""
    import mujoco

    engine = Engine()
    model, start = engine.model, engine.start
    theirs = mujoco.MjModel.from_xml_string(in_mujoco(engine))
    data = mujoco.MjData(theirs)
    speeds = np.array([engine.speed(theirs.joint(k).name) for k in range(theirs.njnt)])

    def mujoco_second() -> None:
        mujoco.mj_resetData(theirs, data)
        data.qvel[:] = speeds
        mujoco.mj_step(theirs, data, round(1.0 / STEP))

    exact = lw.simulate(model, 1.0, start, accuracy=1e-12, method="dop853", times=[1.0])["bearing"].position[
        0
    ]
    mujoco_second()
    error = abs(data.qpos[0] - exact)
    print(f"one second of the engine: mujoco RK4 {STEP * 1e3:g} ms, tuned: angle off by {error:.2g} rad")
    q, v = (np.tile(x, (BLOCK, 1)) for x in (start.q, start.v))
    for accuracy in (1e-8, 1e-6, 1e-5, 1e-4):  # at 1e-5 the error is a tenth of MuJoCo's
        run = lw.simulate(model, 1.0, start, accuracy=accuracy, times=[1.0])
        ours = abs(run["bearing"].position[0] - exact)
        times = best_of(
            {
                "mujoco": mujoco_second,
                "one": lambda accuracy=accuracy: lw.simulate(
                    model, 1.0, start, accuracy=accuracy, times=[1.0]
                ),
                "many": lambda accuracy=accuracy: lw.simulate(
                    model, 1.0, q=q, v=v, accuracy=accuracy, times=[1.0], threads=1
                ),
            },
            5,
            0.0,
        )
        one, many = times["mujoco"] / times["one"], times["mujoco"] / (times["many"] / BLOCK)
        print(
            f"  accuracy {accuracy:g}: off by {ours:.2g} rad, gap {run.report.loop_gap:.1g} m, "
            f"{times['one'] * 1e3:.2f} ms, {one:.1f}x (goal 5x at 1e-6); in batches {many:.1f}x (goal 15x)"
        )


def steam() -> None:
    model = lw.examples.steam_engine().compile()
    duration = 10.0
    times = best_of(
        {
            "auto": lambda: lw.simulate(model, duration, times=[duration]),
            "rkf45": lambda: lw.simulate(model, duration, times=[duration], method="rkf45"),
        },
        7,
        0.0,
    )
    print(f"steam engine, defaults: {duration / times['auto']:.0f} times real time (goal 300)")
    print(f"  by Fehlberg's method {duration / times['rkf45']:.0f} times")
    for method in ("auto", "rkf45"):
        report = lw.simulate(model, duration, times=[duration], method=method).report
        print(f"  {report.method}: {report.evaluations} evaluations")


def per_loop(models: dict[int, lw.Model], starts: dict[int, lw.State]) -> None:
    """Print the time of an acceleration per loop of models with so many loops."""
    told = []
    for n, model in models.items():
        start, tau, out = starts[n], np.zeros(model.nv), np.zeros(model.nv)

        def run(model=model, start=start, tau=tau, out=out) -> object:
            return model.forward_dynamics(start.q, start.v, tau, out=out)

        told.append(best_of({"run": run}, 9, 0.02)["run"] / n)
    print("    " + ", ".join(f"{n}: {x * 1e9:.0f} ns" for n, x in zip(models, told, strict=True)))
    print(f"    largest over smallest {max(told) / min(told):.2f} (goal 1.5)")


def rows() -> None:
    print("four-bars, an acceleration per loop:")
    for space in ("plane", "space"):
        print(f"  in a row on ground, {space}")
        models = {n: lw.examples.four_bars(n, space=space).compile() for n in ROWS}
        per_loop(models, {n: model.state(velocities={"ground pin 0": -1.0}) for n, model in models.items()})
    print("  on the links of a chain that floats")
    models = {n: centipede(n).compile() for n in ROWS}
    per_loop(models, {n: lw.State(model.assemble(), np.zeros(model.nv)) for n, model in models.items()})


def centipede(n: int) -> lw.Mechanism:
    """Return a free chain of n links, each with a four-bar for a leg."""
    m = lw.Mechanism("centipede")
    solid, last = lw.Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.1])), m.ground

    def body(name: str, x: float, y: float) -> lw.Body:
        return m.add(lw.Body(name, solid, position=(x, y, 0)))

    def hinge(name: str, a: lw.Body, b: lw.Body, x: float, y: float) -> None:
        m.add(lw.Revolute(name, a, b, at=(x, y, 0), axis=(0, 0, 1)))

    for k in range(n):
        link = body(f"link {k}", k, 0)
        if k:
            hinge(f"spine {k}", last, link, k - 0.5, 0)
        else:
            m.add(lw.Free("air", m.ground, link))
        one, two, foot = (
            body(f"one {k}", k - 0.2, -0.5),
            body(f"two {k}", k + 0.2, -0.5),
            body(f"foot {k}", k, -1),
        )
        hinge(f"A {k}", link, one, k - 0.2, 0)
        hinge(f"B {k}", one, foot, k - 0.2, -1)
        hinge(f"C {k}", two, foot, k + 0.3, -1)
        hinge(f"D {k}", link, two, k + 0.2, -0.1)
        last = link
    return m


if __name__ == "__main__":
    accelerations()
    a_second()
    steam()
    rows()
