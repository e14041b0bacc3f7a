"""Mechanisms at random, for tests of kinematics and of dynamics in all coordinates."""

import numpy as np

import linkwork as lw


def bare(m):
    """Return the mechanism without loads and forces of joints, which forward dynamics takes as tau."""
    for load in list(m.loads):
        m.remove(load)
    for joint in m.joints.values():
        joint.damping = joint.friction = joint.stiffness = 0.0
        joint.limits = None
    return m


def random_inertia(generator, space):
    size = 3 if space == "space" else 2
    tensor = np.diag(generator.uniform(1, 1.5, 3)) if space == "space" else 1.2
    return lw.Inertia(generator.uniform(0.5, 2), generator.normal(size=size), tensor)


def with_masses(m):
    """Return the mechanism, its bodies having masses at random."""
    generator = np.random.default_rng(8)
    for body in m.bodies.values():
        body.inertia = random_inertia(generator, m.space)
    return m


def random_tree(seed):
    generator = np.random.default_rng(seed)
    space = ("space", "plane")[seed % 2]
    m = lw.Mechanism("tree", space=space)
    bodies = [m.ground]
    kinds = [lw.Revolute, lw.Prismatic, lw.Revolute]
    kinds += [lw.Spherical, lw.Universal, lw.Cylindrical, lw.Planar] if space == "space" else []
    for k in range(6):
        size = 3 if space == "space" else 2
        body = m.add(lw.Body(f"b{k}", random_inertia(generator, space), position=generator.normal(size=size)))
        kind = kinds[generator.integers(len(kinds))]
        options = {}
        if kind in (lw.Revolute, lw.Prismatic, lw.Cylindrical, lw.Planar) and space == "space":
            options["axis"] = generator.normal(size=3)
        elif kind is lw.Prismatic:
            options["axis"] = generator.normal(size=2)
        at = generator.normal(size=size)
        options["armature"] = 0.3 * (k % 2)
        m.add(kind(f"j{k}", bodies[generator.integers(len(bodies))], body, at=at, **options))
        bodies.append(body)
    return m


def random_loop(space, kind, seed):
    """Return a closed chain of one joint of a kind and of hinges, which has one freedom; drawn closed."""
    generator = np.random.default_rng(seed)
    m = lw.Mechanism("loop", space=space)
    size = 3 if space == "space" else 2
    before = m.ground
    kinds, freedoms = [lw.Revolute, kind], 0
    for k in range(9):
        each = kinds[k] if k < 2 else lw.Revolute
        freedoms += each.coordinates
        last = freedoms == (7 if space == "space" else 4)
        body = m.ground if last else m.add(lw.Body(f"b{k}", position=generator.normal(size=size)))
        options = {"pitch": 0.3} if each is lw.Helical else {}
        if space == "space" and each.directed and each is not lw.Universal:
            options["axis"] = generator.normal(size=3)
        elif space == "plane" and each is lw.Prismatic:
            options["axis"] = generator.normal(size=2)
        m.add(each(f"j{k}", before, body, at=generator.normal(size=size), **options))
        before = body
        if last:
            return m
    raise AssertionError(kind)


class PinInSlot(lw.Constraint):
    """A pin of one body in a slot of another, along its x axis."""

    def phi(self, a, b):
        return [b.to_local(a.to_world(self.pin))[1]]


def hinged_chain(space, count=4):
    """Return bodies that hang on each other by hinges, drawn without turns."""
    generator = np.random.default_rng(3)
    m = lw.Mechanism("chain", space=space)
    before, size = m.ground, 3 if space == "space" else 2
    for k in range(count):
        body = m.add(lw.Body(f"b{k}", position=generator.normal(size=size)))
        axis = {"axis": generator.normal(size=3)} if space == "space" else {}
        m.add(lw.Revolute(f"j{k}", before, body, at=generator.normal(size=size), **axis))
        before = body
    return m


def constrained(space):
    """Return, by name, how to build chains of hinges closed by each constraint between two bodies."""
    size = 3 if space == "space" else 2
    p, n = np.array([0.5, 0.2, 0.1][:size]), np.array([1.0, 0.3, 0.2][:size])

    def build(make):
        m = hinged_chain(space)
        a, b = m["b1"], m["b3"]
        m.add(make(m, a, b, b.position - a.position))
        return m

    made = {
        "Distance": lambda m, a, b, ab: lw.Distance("tie", a, b, on_parent=p),
        "PointOnPlane": lambda m, a, b, ab: lw.PointOnPlane("tie", a, b, normal=n, on_parent=ab),
        "PointOnLine": lambda m, a, b, ab: lw.PointOnLine("tie", a, b, axis=n, on_parent=ab + p, on_child=p),
        "Pulley": lambda m, a, b, ab: lw.Pulley(
            "tie", a, b, over=[(3, 4, 2)[:size], (5, 4, 2)[:size]], ratio=1.5, on_child=p
        ),
        "Absolute": lambda m, a, b, ab: lw.Absolute("tie", b, x=b.position[0]),
        "own": lambda m, a, b, ab: PinInSlot("tie", a, b, pin=ab + np.array([0.3, 0.0, 0.4][:size])),
    }
    for name in CONSTRAINTS:
        if name.startswith(("Cam", "PointOnCurve")):
            made[name] = lambda m, a, b, ab, name=name: _constraint(m, name, np.random.default_rng(3))
    return {name: (lambda make=make: build(make)) for name, make in made.items()}


CONSTRAINTS = {
    "Distance": 1,
    "PointOnLine": (1, 2),
    "PointOnPlane": 1,
    "Pulley": 1,
    "PointOnCurve": (1, 2),
    "Cam with an edge": 1,
    "Cam with a roller": 1,
    "Cam with a flat face": 1,
    "Absolute place": (2, 3),
    "Absolute pose": (3, 6),
    "Gear external": 1,
    "Gear internal": 1,
    "Gear bevel": 1,
    "Gear belt": 1,
    "Gear crossed": 1,
    "RackPinion": 1,
    "Coupling": 1,
    "own": 1,
}  # fmt: skip; how many freedoms each takes, in the plane and in space


def random_constrained(space, name, seed):
    """Return a chain at random, drawn so that a constraint of one kind closes it, and driven."""
    generator = np.random.default_rng(seed)
    size, takes = (3 if space == "space" else 2), np.broadcast_to(CONSTRAINTS[name], 2)[int(space == "space")]
    count = max(4, int(takes))
    m = lw.Mechanism(name, space=space)
    before = m.ground
    for k in range(count):
        body = m.add(lw.Body(f"b{k}", position=generator.normal(size=size)))
        options = {"axis": generator.normal(size=3)} if space == "space" else {}
        sliding = name == "RackPinion" and k == 3
        if sliding and space == "plane":
            options["axis"] = generator.normal(size=2)
        kind = lw.Prismatic if sliding else lw.Revolute
        m.add(kind(f"j{k}", before, body, at=generator.normal(size=size), **options))
        before = body
    m.add(_constraint(m, name, generator))
    for k in range(count - int(takes)):
        m.add(lw.Driver(f"motor {k}", f"j{k}"))
    return m


def _constraint(m, name, generator):
    """Return a constraint between the second and the fourth body of a chain that holds as drawn."""
    size = 3 if m.space == "space" else 2
    a, b = m["b1"], m["b3"]
    point, normal = generator.normal(size=size), generator.normal(size=size)
    there = b.position + point - a.position
    place = {"on_parent": there, "on_child": point}
    s = float(generator.uniform(0, 6))
    kind, _, sort = name.partition(" ")
    if kind == "Distance":
        return lw.Distance("tie", a, b, on_parent=generator.normal(size=size), on_child=point)
    if kind == "PointOnLine":
        return lw.PointOnLine("tie", a, b, axis=normal, **place)
    if kind == "PointOnPlane":
        return lw.PointOnPlane("tie", a, b, normal=normal, **place)
    if kind == "Pulley":
        over = (5 + generator.random((2, size))).tolist()
        return lw.Pulley("tie", a, b, over=over, ratio=1.5, on_child=point)
    if kind == "PointOnCurve":
        on_parent = there - np.array([1.1 * np.cos(s), 0.8 * np.sin(s), 0.3 * s][:size])
        options = {"on_parent": on_parent, "on_child": point, "interval": (s - 1.0, s + 1.0)}
        return lw.PointOnCurve(
            "tie", a, b, lambda s: [1.1 * lw.cos(s), 0.8 * lw.sin(s), 0.3 * s][:size], **options
        )
    if kind == "Cam":
        outward = np.array([0.8 * np.cos(s), 1.1 * np.sin(s), 0.0][:size])
        outward /= np.linalg.norm(outward)
        on_cam = np.array([1.1 * np.cos(s), 0.8 * np.sin(s), 0.0][:size])
        options = {"with a roller": {"radius": 0.2}, "with a flat face": {"face": -outward}}.get(sort, {})
        on_parent = there - on_cam - options.get("radius", 0.0) * outward
        options |= {"on_parent": on_parent, "on_child": point, "interval": (s - 1.0, s + 1.0)}
        return lw.Cam("tie", a, b, lambda s: [1.1 * lw.cos(s), 0.8 * lw.sin(s)], **options)
    if kind == "Absolute":
        last = list(m.bodies.values())[-1]
        held = dict(zip("xyz", last.position.tolist(), strict=False)) if sort == "place" else {}
        return lw.Absolute("tie", last, **held)
    if kind == "Gear":
        return lw.Gear("tie", "j2", "j3", teeth=(20, 33), kind=sort)
    if kind == "RackPinion":
        return lw.RackPinion("tie", "j2", "j3", 0.4)
    if kind == "Coupling":
        return lw.Coupling("tie", "j3", "j2", -0.7)
    pin = b.position - a.position + np.array([0.4, 0.0, 0.3][:size])
    return PinInSlot("tie", a, b, pin=pin)
