"""The Model: what the machine needs of a mechanism, as documented arrays.

What can be asked of a model and a state are functions, one file per subject; each is a method here, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.kernel import Kernel
from linkwork.dynamics.kernels import Kernels, Path
from linkwork.dynamics.native_program import Form
from linkwork.lazy import lazy
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.snapshot import Snapshot
from linkwork.model import (
    body_motion,
    diagnosis,
    dimensionless,
    drive_forces,
    driver_law,
    energy_and_momentum,
    independent_coordinates,
    joint_space,
    loop_closing,
    loop_equations,
    model_notes,
    model_page,
    operational_inertia,
    own_forces,
    reaction_forces,
    trees,
    units_and_sizes,
)
from linkwork.model.state_arguments import of_motion, of_positions, of_state
from linkwork.spelling import fixed, returned_by
from linkwork.tree.topology import Topology
from linkwork.tree.tree import Tree
from linkwork.viewable import Viewable

Array = np.ndarray


@returned_by("compile a mechanism: model = mechanism.compile()")
@fixed("change its mechanism, then compile it again or use lw.carry")
@dataclass(frozen=True, eq=False, repr=False)
class Model(Viewable):
    """What the machine needs of a mechanism: immutable, shared freely between threads.

    Arrays of one state have shape (nq,) or (nv,); with a leading axis of N they are batches, computed in SIMD
    lanes. The methods that return arrays take `out=`; none writes its inputs; a wrong shape or a NaN raises
    ValueError naming the argument and the joint. Forces on bodies are given by `forces=`: a mapping from body
    names to Force, or to arrays of the same numbers (torque first), in the body's frame, about its origin.
    A State can stand for q, and for v, t and inputs after it: `model.poses(state)["pole"]`.
    """

    name: str
    space: str  # "space" or "plane"
    gravity: Array  # (3,) or (2,) [m/s^2]
    nq: int  # numbers of a position
    nv: int  # numbers of a velocity
    body_names: tuple[str, ...]  # parents before children, without ground
    joint_names: tuple[str, ...]  # joint k carries body k
    load_names: tuple[str, ...]  # springs, motors, forces
    contact_names: tuple[str, ...]
    parents: Array  # (bodies,) number of the body that carries body k, -1 for ground
    masses: Array  # (bodies,) [kg]
    centers: Array  # (bodies, 3) or (bodies, 2) centre of mass in the body's frame [m]
    inertias: Array  # (bodies, 3, 3) or (bodies,) tensor about the centre of mass, body axes [kg m^2]
    joint_starts: Array  # (joints + 1, 2) first position and velocity of joint k; the last are behind all
    q_drawn: Array  # (nq,) positions as drawn [rad, m, quaternions], then constraints' own unknowns
    limits: Array  # (nv, 2) lower, upper; infinite where there is none [rad, m]
    damping: Array  # (nv,) force per velocity [N m s/rad, N s/m]
    friction: Array  # (nv,) dry friction [N m, N]
    stiffness: Array  # (nv,) spring of the joint [N m/rad, N/m]
    rest: Array  # (nv,) where that spring rests [rad, m]
    armature: Array  # (nv,) inertia of the drive [kg m^2, kg]
    quaternions: Array  # (k,) number of the first of four positions that are a quaternion
    couplings: Mapping[str, Coupling]  # by name
    mechanism: Mechanism  # as it was when compiled; it cannot be changed
    origin: Snapshot  # where the elements of that come from
    graph: Topology  # the spanning tree of the mechanism's graph, and what closes loops
    link_tree: Tree  # bodies welded together as one link, with their constants
    form: Form  # of native code: "rolled", shared by all mechanisms of such joints, or "specialized"
    unrolls: bool = True  # whether few links have unrolled code of their motion, compiled for each new build
    kernels: Kernels = field(default_factory=Kernels, init=False)  # native code of this model's trees

    # The rest follows from these: functions of a model (and a state), as methods; and arrays, computed once.

    # dynamics in the coordinates of the joints
    forward_dynamics = joint_space.forward_dynamics
    inverse_dynamics = joint_space.inverse_dynamics
    bias_forces = of_motion(joint_space.bias_forces)
    gravity_forces = of_positions(joint_space.gravity_forces)
    mass_matrix = joint_space.mass_matrix
    position_rates = of_motion(joint_space.position_rates)
    kernel = joint_space.kernel
    forward_call = lazy(joint_space.forward_call)
    inverse_call = lazy(joint_space.inverse_call)
    mass_call = lazy(joint_space.mass_call)
    inertia_fault = lazy(joint_space.inertia_fault)

    # motion of bodies
    poses = of_positions(body_motion.poses)
    velocities = of_motion(body_motion.velocities)
    accelerations = of_motion(body_motion.accelerations)
    body_accelerations = of_motion(body_motion.body_accelerations)
    jacobian = of_positions(body_motion.jacobian)
    motion_subspace = of_state(body_motion.motion_subspace)
    constraint_subspace = of_state(body_motion.constraint_subspace)
    dual_bases = of_state(body_motion.dual_bases)
    body_rows = lazy(body_motion.body_rows)

    # what is felt at a point
    felt_inertia = of_positions(operational_inertia.felt_inertia)
    inverse_felt_inertia = of_positions(operational_inertia.inverse_felt_inertia)

    # forces that joints bear
    reactions = of_motion(reaction_forces.reactions)
    reactions_at = of_motion(reaction_forces.reactions_at)
    reactions_in_motion = of_motion(reaction_forces.reactions_in_motion)
    loop_forces = of_motion(reaction_forces.loop_forces)
    row_forces_in_motion = of_motion(reaction_forces.row_forces_in_motion)
    equation_forces = of_motion(reaction_forces.equation_forces)

    # sums over all bodies
    energy = of_motion(energy_and_momentum.energy)
    kinetic_energy = of_motion(energy_and_momentum.kinetic_energy)
    potential_energy = of_positions(energy_and_momentum.potential_energy)
    momentum = of_motion(energy_and_momentum.momentum)
    center_of_mass = of_positions(energy_and_momentum.center_of_mass)

    # motion under the mechanism's own forces
    motion = of_motion(own_forces.motion)
    loads = of_motion(own_forces.loads)
    load_values = of_state(own_forces.load_values)
    contact_forces = of_motion(own_forces.contact_forces)
    loop_drives = of_motion(own_forces.loop_drives)

    # closed loops
    loops = lazy(loop_equations.loops)
    loop_names = lazy(loop_equations.loop_names)
    row_slices = lazy(loop_equations.row_slices)
    equation_slices = lazy(loop_equations.equation_slices)
    loop_slices = lazy(loop_equations.loop_slices)
    row_weights = lazy(loop_equations.row_weights)
    weak_pivots = lazy(loop_equations.weak_pivots)
    loop_coordinates = of_state(loop_equations.loop_coordinates)
    loop_motion = of_motion(loop_equations.loop_motion)
    loop_accelerations = of_motion(loop_equations.loop_accelerations)
    loop_gap = of_positions(loop_equations.loop_gap)
    constraint_residual = of_positions(loop_equations.constraint_residual)
    constraint_velocity = of_motion(loop_equations.constraint_velocity)
    constraint_jacobian = of_positions(loop_equations.constraint_jacobian)
    closed_velocity = of_motion(loop_closing.closed_velocity)
    assemble = of_state(loop_closing.assemble)
    state = loop_closing.state

    # what is free to move
    diagnose = of_state(diagnosis.diagnose)
    independent_joints = of_state(independent_coordinates.independent_joints)
    velocity_map = of_positions(independent_coordinates.velocity_map)
    velocity_map_rate = of_motion(independent_coordinates.velocity_map_rate)
    driver_laws = lazy(driver_law.driver_laws)
    generalized_forces = of_positions(drive_forces.generalized_forces)
    loop_scales = lazy(dimensionless.loop_scales)
    notes = lazy(model_notes.notes)

    # units, sizes and names
    slices = lazy(units_and_sizes.slices)
    limited_joints = lazy(units_and_sizes.limited_joints)
    size = lazy(units_and_sizes.size)
    tree_units = lazy(units_and_sizes.tree_units)
    position_units = lazy(units_and_sizes.position_units)
    coordinate_units = lazy(units_and_sizes.coordinate_units)
    coordinate_sizes = lazy(units_and_sizes.coordinate_sizes)
    coordinate_names = lazy(units_and_sizes.coordinate_names)
    loop_coordinate_names = lazy(units_and_sizes.loop_coordinate_names)
    loop_units = lazy(units_and_sizes.loop_units)
    constraint_units = lazy(units_and_sizes.constraint_units)
    load_units = lazy(units_and_sizes.load_units)

    # trees of links, for the algorithms
    body_tree = lazy(trees.body_tree)
    undriven_tree = lazy(trees.undriven_tree)
    undriven_rows = lazy(trees.undriven_rows)
    loaded_tree = lazy(trees.loaded_tree)
    smooth_tree = lazy(trees.smooth_tree)
    stepped_tree = lazy(trees.stepped_tree)
    smooth_touching_tree = lazy(trees.smooth_touching_tree)
    smooth_body_tree = lazy(trees.smooth_body_tree)
    loaded_body_tree = lazy(trees.loaded_body_tree)
    touching_tree = lazy(trees.touching_tree)
    touching_body_tree = lazy(trees.touching_body_tree)
    compliant_contacts = lazy(trees.compliant_contacts)
    is_compliant = lazy(trees.is_compliant)
    is_rigid = lazy(trees.is_rigid)
    moved_inertia = lazy(trees.moved_inertia)
    inputs = lazy(trees.inputs)
    digest = lazy(trees.digest)

    _repr_html_ = model_page.page

    @property
    def current(self) -> "Model":
        """The model of what laws read from outside now: this one, if that cannot change (see `following`)."""
        return self

    @property
    def cut(self) -> list[str]:
        """The joints that close loops."""
        return [name for name in self.loop_names if name in self.mechanism.joints]

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints by name, as described."""
        return MappingProxyType(self.mechanism.joints)

    def kernel_of(
        self,
        algorithm: Algorithm,
        tree: Tree | None = None,
        form: Form | None = None,
        path: Path | None = None,
    ) -> Kernel:
        """Return the kernel of an algorithm on a tree of this model: that of its links or of its bodies."""
        if tree is None:
            tree = self.link_tree if algorithm.tree == "links" else self.body_tree
        return self.kernels.get(algorithm, tree, form or self.form, path)

    def specialize(self) -> "Model":
        """Return the same model with code for this mechanism alone: slower to compile, faster in batches."""
        return replace(self, form="specialized")

    def __repr__(self) -> str:
        return model_page.line(self)

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from linkwork.model.compile import compile_mechanism

        return compile_mechanism, (self.mechanism, self.form, self.cut)
