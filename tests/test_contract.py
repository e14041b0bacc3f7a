"""The forms in which the public names are promised, section by section: each must work as it stands here."""

import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

NAMES = """
Sphere Box Cylinder Capsule Cone Ellipsoid Plane HeightField Polygon Mesh
Fixed Revolute Prismatic Helical Cylindrical Universal Spherical Planar Free
Distance Gear RackPinion Pulley PointOnLine PointOnPlane PointOnCurve Cam Absolute Coupling
 Spring Bushing TorsionSpring Motor Force Torque
"""
ROBOT = """<robot name="robot">
<link name="trunk"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="upper"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="forearm"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="revolute"><parent link="trunk"/><child link="upper"/><origin xyz="0 0 .3"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="10"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="forearm"/><origin xyz="0 0 .3"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="10"/></joint>
</robot>"""


def cart_pole():
    m = lw.Mechanism("cart-pole", gravity=(0, 0, -9.81))
    cart = m.add(lw.Body("cart", lw.Box(0.4, 0.2, 0.1), density=800))
    pole = m.add(lw.Body("pole", lw.Cylinder(radius=0.01, length=1.0), density=2700, position=(0, 0, 0.55)))
    m.add(lw.Prismatic("rail", m.ground, cart, axis=(1, 0, 0)))
    m.add(lw.Revolute("pin", cart, pole, at=(0, 0, 0.05), axis=(0, 1, 0), damping=0.01))
    return m


@pytest.fixture(scope="module")
def model():
    return cart_pole().compile()


@pytest.fixture(scope="module")
def state(model):
    return model.state(pin=0.3, velocities={"rail": 0.1})


def test_the_names_are_there():
    assert all(inspect.isclass(getattr(lw, name)) for name in NAMES.split())
    assert issubclass(lw.AssemblyError, lw.LinkworkError)
    for rotation in ((1, 0, 0, 0), np.eye(3), Rotation.from_euler("z", 0.3)):
        lw.Body("body", lw.Sphere(0.1), mass=1.0, rotation=rotation)
    inertia = lw.Body("body", lw.Inertia(1.0, (0, 0, 0), np.eye(3))).inertia
    assert inertia.mass == 1.0
    assert inertia.com.shape == (3,)
    assert inertia.tensor.shape == (3, 3)
    assert lw.Body.from_points("pair", [1.0, 2.0], [(0, 0, 0), (1, 0, 0)]).inertia.mass == 3.0
    assert lw.Inertia(1.0, (0, 0), 0.3).tensor == 0.3


def test_describe_compile_simulate(model, state, tmp_path):
    run = lw.simulate(model, 10.0, state)
    assert "energy error" in run.summary()
    count = len(run.time)
    assert run["pin"].position.shape == run["pin"].velocity.shape == (count,)
    assert run["pole"].pose.position.shape == (count, 3)
    assert run.q.shape == run.v.shape == (count, 2)
    assert run.energy.shape == (count,)
    assert run.status == "DONE"
    assert run.final.q.shape == (2,)
    run.save(tmp_path / "cart.lwr")
    assert len(lw.load(tmp_path / "cart.lwr").to_dataframe()) == count
    assert callable(run.show)
    pytest.importorskip("matplotlib")
    assert run.plot("pin").axes


def test_algorithms_on_arrays(model, state):
    q, v, tau = state.q, state.v, np.zeros(2)
    a = model.forward_dynamics(q, v, tau)
    assert a.shape == (2,)
    rows = model.forward_dynamics(np.tile(q, (5, 1)), np.tile(v, (5, 1)), np.zeros((5, 2)))
    assert (rows == a).all()
    assert np.allclose(model.inverse_dynamics(q, v, a), tau, atol=1e-12)
    results = {
        "mass_matrix": (q,),
        "bias_forces": (q, v),
        "momentum": (q, v),
        "center_of_mass": (q,),
        "inverse_dynamics": (q, v, a),
        "forward_dynamics": (q, v, tau),
    }
    for name, given in results.items():
        expected = getattr(model, name)(*given)
        out = np.zeros_like(expected)
        getattr(model, name)(*given, out=out)
        assert (out == expected).all()
    pose = model.poses(q)["pole"]
    assert isinstance(pose, lw.Frame)
    assert pose.position.shape == (3,)
    assert pose.rotation.shape == (3, 3)
    assert model.jacobian(q, "pole", point=(0, 0, 0.5)).shape == (6, 2)
    assert isinstance(model.energy(q, v), float)
    assert model.velocities(q, v)["pole"].v is not None
    assert model.reactions(q, v, tau)["pin"].force.shape == (3,)
    assert (model.nq, model.nv, model.joint_names) == (2, 2, ("rail", "pin"))
    assert model.slices["pin"] == (slice(1, 2), slice(1, 2))
    assert np.allclose(model.specialize().forward_dynamics(q, v, tau), a, rtol=1e-13)
    with pytest.raises(ValueError, match=r"q.*joint 'rail'"):
        model.forward_dynamics([np.nan, 0], v, tau)


def test_loops_and_kinematics():
    engine = lw.examples.steam_engine().compile()
    assert engine.diagnose().freedoms == 1
    assert engine.assemble(engine.q_drawn + 0.01).shape == (engine.nq,)
    fourbar = lw.Mechanism("four-bar", space="plane")
    crank, rod, rocker = (fourbar.add(lw.Body(name)) for name in ("crank", "rod", "rocker"))
    fourbar.add(lw.Revolute("A", fourbar.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    fourbar.add(lw.Revolute("B", crank, rod, on_parent=(0.1, 0), on_child=(0, 0)))
    fourbar.add(lw.Revolute("C", rod, rocker, on_parent=(0.3, 0), on_child=(0.22, 0)))
    fourbar.add(lw.Revolute("D", fourbar.ground, rocker, on_parent=(0.2, 0), on_child=(0, 0)))
    fourbar.add(lw.Driver("motor", "A", lambda t: 2 * np.pi * t))
    motion = lw.kinematics(fourbar, np.linspace(0, 1, 361))
    assert motion["rocker"].angle.shape == (361,)
    assert motion["C"].reaction.force.shape == (361, 2)
    assert motion["motor"].force.shape == (361,)


def test_variants_steps_and_edits(model, state):
    m = cart_pole()
    m.add(lw.Motor("motor", "rail"))
    driven = m.compile()
    sim = lw.Simulation(driven, driven.state(pin=0.3))
    sim.inputs["motor"] = 3.0
    sim.step(0.002)
    assert (sim.t, sim.q.shape, len(sim.recording)) == (0.002, (2,), 2)
    sim.reset(driven.state())
    assert sim.t == 0.0
    runs = lw.simulate(driven, 0.1, vary={"pole.mass": [0.5, 0.6], "pin.damping": [0.1, 0.2]})
    assert runs["pin"].position.shape == (2, len(runs.time))
    m.add(lw.Sampled("balance", "motor", every=0.002, law=lambda t, q, v: 1.0))
    assert (lw.simulate(m, 0.1)["motor"].force == 1.0).all()
    broken = cart_pole()
    broken.remove("pin")
    new, carried = lw.carry(model, state, broken)
    assert new.nv == carried.v.size == 7
    run = lw.simulate(model, 2.0, state)
    assert run.at(1.2345)["pole"].pose.position.shape == (3,)
    assert lw.degrees(90) == np.pi / 2
    assert lw.interp(0.5, [0, 1], [0, 3]) == 1.5


def test_many_at_once(model, state, tmp_path):
    runs = lw.simulate(model, 0.1, q=np.tile(state.q, (4, 1)), v=np.tile(state.v, (4, 1)))
    assert len(runs) == 4

    def build(length, mass):
        m = lw.Mechanism("pendulum")
        bob = m.add(lw.Body("bob", lw.Sphere(0.05), mass=mass, position=(0, 0, -length)))
        m.add(lw.Revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
        return m

    parameters = {"length": np.linspace(0.5, 2, 4), "mass": [1, 2, 5]}
    with ThreadPoolExecutor(2) as executor:
        table = lw.sweep(
            build, parameters, lambda m: {"nv": m.compile().nv}, executor=executor, folder=tmp_path / "sweep"
        )
    assert len(table.to_dataframe()) == 12


def test_contact_scenes_and_files(tmp_path):
    m = lw.Mechanism("foot")
    box = lw.Box(0.2, 0.1, 0.05)
    m.add(lw.Body("foot", box, density=900, material=lw.Material.rubber, position=(0, 0, 0.1)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    lw.Material(friction=0.3, static_friction=0.35, restitution=0.6)
    lw.Material(friction=0.9, stiffness=2e5, damping=300)
    for run in (lw.simulate(m, 1.5), lw.simulate(m, 1.5, step=1 / 60)):
        assert run["foot"].contact_force.shape == (len(run), 3)
        assert len(run.contacts.at(1.5).force)
        assert run.report.events[0][1] == "ground hits foot"
    file = tmp_path / "robot.urdf"
    file.write_text(ROBOT)
    world = lw.Scene(gravity=(0, 0, -9.81))
    world.add(lw.ground_plane(), material=lw.Material(friction=0.6))
    robot = world.add(lw.load(file), position=(0, 0, 1))
    world.add(lw.BreakWhen(robot["elbow"], force=800))
    world.step(1 / 60)
    assert np.ndim(robot["knee"].position) == 0
    robot.detach("forearm")
    world.save(tmp_path / "now.lws")
    assert lw.load(tmp_path / "now.lws").hash() == world.hash()
    free = lw.load(file, base="free")
    assert "base" in free.joints
    free.save(tmp_path / "robot.json")
    assert lw.load(tmp_path / "robot.json").compile().nv == 8
