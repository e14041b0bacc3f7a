"""What other packages and people call things, and what they are called here; for errors only.

Words are compared without case and underscores: `lw.WeldJoint`, `lw.weld_joint`. An answer is what to write
instead; tests check that the names in it exist.
"""

from collections.abc import Iterable
from typing import Any

from linkwork.errors import hint

# Words of MuJoCo, Drake, Pinocchio, PyBullet, Box2D, Chrono, SymPy, Simscape and of textbooks -> our words.
PUBLIC = {
    # joints
    "hinge hingejoint pin pinjoint revolutejoint rotary rotational pivot continuous bearing": "lw.Revolute",
    "slider sliderjoint slide slidejoint prismaticjoint translational linearjoint track": "lw.Prismatic",
    "ball": "lw.Spherical (the joint) or lw.Sphere (the shape)",
    "balljoint ballandsocket socket sphericaljoint": "lw.Spherical",
    "weld weldjoint fixedjoint rigidjoint lock welded attach": "lw.Fixed",
    "freejoint floating floatingjoint freeflyer jointmodelfreeflyer sixdof": "lw.Free",
    "screw screwjoint helicaljoint": "lw.Helical",
    "cardan hooke universaljoint hookejoint": "lw.Universal",
    "planarjoint": "lw.Planar",
    "cylindricaljoint": "lw.Cylindrical",
    "wheeljoint": "lw.Prismatic for the suspension and lw.Revolute for the wheel",
    # constraints and loads
    "distancejoint rodjoint": "lw.Distance",
    "rod": "lw.Cylinder (a shape) or lw.Distance (a massless rod)",
    "rope ropejoint cable tendon": "lw.Pulley, or lw.Distance if it stays straight",
    "pulleyjoint": "lw.Pulley",
    "gearjoint gearconstraint": "lw.Gear",
    "rack rackandpinion": "lw.RackPinion",
    "equality holonomic holonomicconstraint constraintfunction": "lw.Constraint",
    "mimic couplerconstraint": "lw.Coupling",
    "actuator torquemotor motorjoint jointactuator servo": "lw.Motor",
    "damper dashpot springdamper tsda linearspring": "lw.Spring, with stiffness= and damping=",
    "rsda rotationalspring torsionalspring": "lw.TorsionSpring",
    "controller control pid policy": "lw.Feedback",
    "prescribedmotion motionlaw rheonomic position_actuator": "lw.Driver",
    "limit limits jointlimit": "limits= of a joint, and lw.Stop for what is met there",
    "sensor": "what a recording has by name: lw.simulate(...)['pin'].position",
    "gravity": "lw.Mechanism(gravity=...)",
    # bodies and shapes
    "link rigidbodytree part": "lw.Body",
    "mass pointmass": "lw.Body.from_points, or mass= of lw.Body",
    "spatialinertia unitinertia inertiatensor": "lw.Inertia",
    "cube cuboid brick": "lw.Box",
    "disc disk wheel": "lw.Cylinder",
    "rectangle square": "lw.Box, or lw.Polygon for a plate",
    "circle": "lw.Sphere, or lw.Cylinder for a disc",
    "halfspace floor ground ground_plane": "lw.Plane (shapes), or the `ground` of an lw.Mechanism",
    "heightmap hfield terrain": "lw.HeightField",
    "trimesh trianglemesh": "lw.Mesh",
    "hull convexmesh": "lw.ConvexHull",
    "geom geometry shape collider": "lw.Box, lw.Sphere, lw.Cylinder and other shapes",
    # wholes
    "system multibody multibodysystem multibodyplant plant world scene mbs robot linkage mjmodel mjspec "
    "modelbuilder rigidbodyplant assembly chsystem bulletclient": "lw.Mechanism",
    "mjdata data": "lw.State, from model.state(...)",
    "transform pose se3 rigidtransform isometry3 homogeneous": "lw.Frame",
    "quaternion": "lw.rotation_quaternion",
    "euler rpy rotationmatrix": "lw.rotation_euler",
    "result results trajectory": "lw.Recording",
    # functions
    "run solve odeint solveivp rollout propagate": "lw.simulate",
    "sim step stepper stepsimulation mjstep env environment": "lw.Simulation(model).step(dt)",
    "compile": "lw.Mechanism(...).compile()",
    "loadurdf fromurdf parseurdf loadmodel fromxmlpath buildmodelfromurdf read open parser": "lw.load",
    "save write export dump": "the method `save` of an lw.Mechanism, or of a recording",
    "forwarddynamics aba": "model.forward_dynamics, with model = lw.Mechanism(...).compile()",
    "inversedynamics rnea": "model.inverse_dynamics, with model = lw.Mechanism(...).compile()",
    "massmatrix crba": "model.mass_matrix, with model = lw.Mechanism(...).compile()",
    "forwardkinematics fk": "model.poses, with model = lw.Mechanism(...).compile()",
    "inversekinematics ik": "lw.Positions, or model.assemble",
    "animate render viewer visualize display show": "the method `show` of what is to be seen",
    "pi": "math.pi or numpy.pi",
    "arcsin arccos arctan": "lw.asin, lw.acos, lw.atan",
    "arctan2": "lw.atan2",
    "power": "lw.pow, or **",
    "absolutevalue fabs": "lw.abs",
    "ifthenelse select cond": "lw.where",
}

# Options of other packages, or for short -> ours, where there is one of that name.
KEYWORDS = {
    "dt h timestep stepsize": "step",
    "rtol atol tol tolerance eps precision": "accuracy",
    "t tend tf tspan time tmax": "duration",
    "teval saveat sample": "times",
    "fps samplerate rate frequency hz period interval sampletime": "every",
    "x0 y0 q0 initial initialstate start": "state",
    "solver integrator": "method",
    "origin location anchor point pivot position": "at",
    "lower upper range bounds": "limits",
    "k ks springconstant": "stiffness",
    "c b dampingcoefficient viscous": "damping",
    "length l0 restlength freelength": "rest",
    "torque force function f u command": "law",
    "qpos position": "q",
    "qvel qd dq velocity": "v",
    "qacc qdd ddq acceleration": "a",
    "torque force u ctrl effort": "tau",
    "r d diameter": "radius",
    "height": "length",
    "pos xyz translation": "position",
    "orientation quat quaternion rpy euler matrix": "rotation",
    "rho": "density",
    "m weight": "mass",
    "shape shapes geometry geom": "visuals",
    "body1 bodya base predecessor": "parent",
    "body2 bodyb follower successor": "child",
    "joints joint": "joint",
    "velocity qd v0": "velocities",
    "dimension dim": "space",
    "g": "gravity",
    "condition trigger": "quantity",
    "callback": "action",
    "mu kineticfriction lateralfriction slidingfriction": "friction",
    "mus staticmu": "static_friction",
    "e cor bounce bounciness elasticity": "restitution",
    "rollingfriction rollingresistance": "rolling",
    "spinningfriction torsionalfriction spin": "torsional",
    "youngs youngmodulus youngsmodulus elasticmodulus": "young",
    "nu poissonratio poissonsratio": "poisson",
}

_OF_MATERIALS = (
    *("friction", "static_friction", "restitution", "rolling", "torsional"),
    *("stiffness", "young", "poisson", "damping", "dissipation"),
)
_SIMULATE = "lw.simulate({0}, duration)"
_SHOW = "{0}.show()"
_MODEL = "{0}.compile().{1}"

# Of the attributes of our objects: words -> what to write; {0} is the object, {1} the word that was given.
ATTRIBUTES = {
    "Mechanism": {
        "simulate run solve step integrate": _SIMULATE,
        "addbody addlink": "{0}.add(lw.Body(...))",
        "addjoint addhinge addslider": "{0}.add(lw.Revolute(...)) or another joint",
        "addconstraint": "{0}.add(lw.Distance(...)) or another constraint",
        "addforce addload addmotor addspring addactuator addtorque": "{0}.add(lw.Force(...)) or another load",
        "append insertbody extend": "{0}.add(...)",
        "delete pop discard": "{0}.remove(...)",
        "build finalize finalise createsystem tomodel model": "{0}.compile()",
        "links": "{0}.bodies",
        "forces motors springs actuators": "{0}.loads",
        "world base": "{0}.ground",
        "mass totalmass": "{0}.compile().masses.sum()",
        "state initialstate": "{0}.compile().state(...)",
        "view animate render visualize display draw": _SHOW,
        "write export tojson dump": "{0}.save('file.json')",
        "load read": "lw.load('file.json')",
        "kinematics drive": "lw.kinematics({0}, times)",
        "forward_dynamics inverse_dynamics mass_matrix poses jacobian energy diagnose nq nv slices": _MODEL,
        "dof ndof dofs freedoms": "{0}.compile().diagnose(), or .nv of the model",
    },
    "Model": {
        "simulate run solve step integrate": "lw.simulate({0}, duration, state)",
        "dof ndof dofs freedoms numdof": "{0}.nv, or {0}.diagnose() with loops",
        "bodies links": "{0}.body_names, or {0}.mechanism.bodies",
        "fd aba dynamics": "{0}.forward_dynamics(q, v, tau)",
        "id rnea": "{0}.inverse_dynamics(q, v, a)",
        "m massmatrix crba inertiamatrix": "{0}.mass_matrix(q)",
        "fk forwardkinematics kinematics bodypose pose transforms": "{0}.poses(q)",
        "com centerofmass": "{0}.center_of_mass(q)",
        "initialstate defaultstate zerostate x0 start createdata makedata data": "{0}.state(...)",
        "q0 qpos0 home": "{0}.q_drawn",
        "coriolis bias nle": "{0}.bias_forces(q, v)",
        "add remove set": "the mechanism: change it, then compile it again or use lw.carry",
        "compile": "{0} itself, it is compiled",
        "view animate render visualize display": _SHOW,
        "save write": "{0}.mechanism.save('file.json')",
        "mass": "{0}.masses",
    },
    "Samples": {
        "t times ts timestamps": "{0}.time",
        "qpos positions coordinates x": "{0}.q, or {0}['pin'].position",
        "qvel velocities speeds": "{0}.v, or {0}['pin'].velocity",
        "qacc accelerations": "{0}.a",
        "states": "{0}.q and {0}.v, or {0}.at(t)",
        "animate play view render visualize display": _SHOW,
        "tocsv": "{0}.save('run.csv')",
        "topandas df dataframe todf": "{0}.to_dataframe()",
        "success ok converged": "{0}.status",
        "end last finalstate": "{0}.final",
        "bodies joints loads": "{0}['name']",
        "error": "{0}.energy_error",
        "tohtml exporthtml html": "{0}.save_html('run.html')",
        "tovideo video mp4 gif": "{0}.save_video('run.mp4')",
        "savefig": "{0}.plot().savefig('run.png')",
        "interpolate interp": "{0}.at(t)",
        "events": "{0}.report.events",
    },
    "ForestRecording": {
        "status report": "{0}['member'].{1}, or the members that ended early, {0}.failed",
        "q v a work kineticenergy potentialenergy energyerror momentum": "{0}['member'].{1}",
        "members": "{0}.runs",
        "states": "{0}.at(t)",
    },
    "RealTime": {
        "recording": "world.recording, of the scene that ran",
        "summary plot todataframe toxarray save show savehtml savevideo snapshot at time q v": (
            "world.recording.{1}, of the scene that ran"
        ),
    },
    "JointRecord": {
        "q angle pos x value displacement": "{0}.position",
        "v qd speed rate angularvelocity": "{0}.velocity",
        "a qdd": "{0}.acceleration",
        "torque tau effort": "{0}.force",
    },
    "BodyRecord": {
        "x y z pos p": "{0}.position",
        "orientation r quat quaternion": "{0}.rotation",
        "v speed vel": "{0}.velocity",
        "frame transform": "{0}.pose",
    },
    "Simulation": {
        "run simulate advance integrate": "{0}.step(dt), or {0}.step(dt, n)",
        "time": "{0}.t",
        "timestep dt h": "step= of lw.Simulation, or {0}.step(dt)",
        "qpos positions": "{0}.q",
        "qvel velocities": "{0}.v",
        "ctrl control u actions": "{0}.inputs['name']",
        "bodies joints": "{0}['name']",
        "data history": "{0}.recording",
        "setstate": "{0}.reset(state)",
        "view animate render visualize display show": "{0}.recording.show(), or {0}.model.show(live=True)",
        "plot summary energy": "{0}.recording.{1}",
    },
    "Scene": {
        "simulate advance stepsimulation mjstep": "{0}.step(1 / 60), or {0}.run(seconds) in real time",
        "savehtml savevideo plot summary todataframe": "{0}.recording.{1}",
        "load read": "lw.load('now.lws')",
        "bodies": "{0}['robot/link'], or the mechanisms, {0}.actors",
        "t": "{0}.time",
    },
    "Editor": {
        "remove": "{0}.delete(name)",
        "move": "{0}.place(...)",
        "simulate run": "lw.simulate({0}.mechanism, duration)",
    },
    "Body": {
        "com cog centerofmass": "{0}.inertia.com",
        "tensor i inertiatensor": "{0}.inertia.tensor",
        "weight": "{0}.mass",
        "pose frame transform": "{0}.position and {0}.rotation",
        "orientation quaternion quat attitude": "{0}.rotation",
        "shape shapes geometry geom geoms": "{0}.parts",
        "velocity speed": "a state, model.state(velocities=...), or a recording, run['name'].velocity",
        "colour": "{0}.color",
    },
    "Joint": {
        "q position angle value v velocity": "a state, model.state(...), or a run['name'].position",
        "anchor location origin where place": "{0}.at, or {0}.on_parent and {0}.on_child",
        "limit range lower upper": "{0}.limits",
        "body1 predecessor a": "{0}.parent",
        "body2 successor b": "{0}.child",
        "torque force motor actuate control": "lw.Motor('motor', {0}, law)",
        "stiff spring": "{0}.stiffness",
        "viscous damper": "{0}.damping",
    },
    "State": {
        "qpos position": "{0}.q",
        "qvel velocity": "{0}.v",
        "time": "{0}.t",
    },
}


def no_public_name(name: str, known: Iterable[str]) -> str:
    """Say what a name that the package has not is called here, or which was meant."""
    answer = _found(PUBLIC, name)
    return f"linkwork has no {name!r}; " + (f"here it is {answer}" if answer else hint(name, known))


def no_keyword(word: str, known: Iterable[str]) -> str:
    """Say which option was meant."""
    words = list(known)
    answers = [answer for terms, answer in KEYWORDS.items() if _plain(word) in map(_plain, terms.split())]
    answer = next((answer for answer in answers if answer in words), answers[0] if answers else None)
    if answer == "visuals" in words:
        return "shapes follow the name, Body(name, lw.Box(...), density=...); visuals= are only drawn"
    if answer in words:
        return f"here it is {answer}="
    if "material" in words and (answer or word) in _OF_MATERIALS:
        return f"it is a number of a material: material=lw.Material({answer or word}=...)"
    if answer == "step" and "every" in words:
        return "here it is every="
    return hint(word, words)


def no_attribute(thing: Any, name: str) -> AttributeError:
    """Return the error for an attribute that an object has not."""
    there: Any = next((vars(kind)[name] for kind in type(thing).__mro__ if name in vars(kind)), None)
    if hasattr(there, "__get__"):  # a property, which said itself why it has no value
        try:
            there.__get__(thing, type(thing))
        except AttributeError as error:
            return error
    return NoAttribute(thing, name)


class NoAttribute(AttributeError):
    """The error for an attribute that an object has not; what is meant is looked for when it is read.

    `hasattr` and `getattr` with a default never read it: they are asked thousands of times in an edit.
    """

    def __init__(self, thing: Any, name: str) -> None:
        super().__init__(name=name, obj=None)  # so the interpreter adds no guess of its own
        self._thing = thing

    def __str__(self) -> str:
        thing, name = self._thing, str(self.name)
        owner = getattr(type(thing), "public_name", type(thing).__name__)
        if name.startswith("_"):  # asked for by Python itself, or while an object is put together
            return f"{owner!r} object has no attribute {name!r}"
        article = "an" if owner[0] in "AEIO" else "a"
        if _contains(thing, name):
            return f"{article} {owner} has no {name!r}; use {_word(owner)}[{name!r}]"
        if answer := attribute_meant(thing, name):
            return f"{article} {owner} has no {name!r}; use {answer}"
        return f"{article} {owner} has no {name!r}; {hint(name, public_names(thing))}"

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)


NoAttribute.__name__ = NoAttribute.__qualname__ = "AttributeError"  # so it is shown as one
NoAttribute.__module__ = "builtins"


def attribute_meant(thing: Any, name: str) -> str:
    """Return what an attribute of other packages is called here; nothing if that is not known."""
    tables = [ATTRIBUTES[kind.__name__] for kind in type(thing).__mro__ if kind.__name__ in ATTRIBUTES]
    answer = next((found for table in tables if (found := _found(table, name))), "")
    return answer.format(_word(type(thing).__name__), name)


def _contains(thing: Any, name: str) -> bool:
    """Return whether an object knows something by this name."""
    try:
        layout = getattr(thing, "layout", None) if hasattr(type(thing), "layout") else None
        known = getattr(type(thing), "__contains__", None)
        if layout is not None:
            return name in layout.joints or name in layout.bodies or name in layout.loads
        return known is not None and bool(known(thing, name))
    except (AttributeError, TypeError, LookupError):
        return False


def public_names(thing: Any) -> list[str]:
    """Return the names of an object that are for users."""
    return [name for name in dir(thing) if not name.startswith("_")]


def _found(table: dict[str, str], name: str) -> str | None:
    wanted = _plain(name)
    return next((answer for words, answer in table.items() if wanted in map(_plain, words.split())), None)


def _plain(word: str) -> str:
    return word.lower().replace("_", "")


def _word(owner: str) -> str:
    words = {"Recording": "run", "Recordings": "runs", "KinematicRecording": "motion", "Simulation": "sim"}
    words |= {"JointRecord": "run['joint']", "BodyRecord": "run['body']", "ForestRecording": "run"}
    return words.get(owner, owner.lower())
