"""What lies where in the memory of active contacts: one record, ACTIVE, which native parts hand each other.

It holds counts and sizes, the programs of the model, and addresses of arrays. These are doubles unless said.
A contact is NUMBERS of them: its place, three axes (the normal, which points from its second shape to the
first, and two tangents) and its gap. It has three rows, or six: see `active_rows`.
"""

import numpy as np

from linkwork.native.numba_functions import record

PLACE, AXES, GAP, NUMBERS = 0, 3, 12, 13
OPEN, SLIDING, STICKING = 0, 1, 2  # modes

_COUNTS = (
    "count",  # contacts
    "wide",  # rows of each: 3, or 6
    "flat",  # 1: in the plane
    "nq",
    "nv",
    "links",
    "loops",  # rows of closed loops
    "shapes",
    "events",  # functions of the user's events
    "inputs",
    "classes",  # of shapes, if some pairs are left to compliant contacts; else 0
    "jumped",  # 1: at q_jump a normal has jumped
    "quaternion_count",
    "lost",  # contacts that were not found when they were last looked for
    "joints",  # rows of joints: stops, then friction
    "stops",
    "bent",  # 1: some of these rows are not those of coordinates
)
_ADDRESSES = (
    # programs: code, plan, table
    *("columns", "columns_plan", "columns_table"),  # where -> X, J, F
    *("rates", "rates_plan", "rates_table"),  # rate_q, rate_v -> rate
    *("openings", "openings_plan", "openings_table"),  # where, unit -> opening
    *("motion", "motion_plan", "motion_table"),  # t, q, v -> qdot, free, power, pivots
    *("positions", "positions_plan", "positions_table"),  # t, q -> gaps
    *("velocities", "velocities_plan", "velocities_table"),  # t, q, v -> gaps
    *("shown", "shown_plan", "shown_table"),  # t, q, v -> values of the user's events
    # contacts of pairs: code, arguments; where numbers, labels and counts are, and room
    *("find", "find_words", "find_buffer"),
    # all contacts: code, arguments; where numbers, labels and counts are, and room of pairs and of these
    *("detect", "detect_words", "detect_found"),
    *("grow", "grow_plan"),  # what makes more room
    *("bend", "bend_plan"),  # joint_q, joint_v -> joint_gap, joint_rows, joint_drift of rows that are bent
    # arrays, doubles unless said
    "t",  # (1,) [s]
    "q",
    "v",
    "qdot",
    "free",  # (nv,) accelerations without contact
    "power",  # (1,)
    "pivots",  # (loops,)
    "gaps",  # (loops,) or their rates
    "given",  # (inputs,)
    "values",  # (events + 3,)
    "where",  # (nq,) where links are placed
    "X",  # poses of links
    "rate_q",
    "rate_v",
    "rate",
    "unit",  # (nv,)
    "opening",  # (loops,)
    "link_of",  # (shapes,) integers; -1 is ground
    "local",  # (shapes, 3, 4)
    "shape_poses",  # (shapes, 3, 4)
    "label",  # (n, 4) integers: shapes a and b, and their features
    "link",  # (n, 2) integers
    "pair",  # (2,) integers: shapes that are looked at
    "base",  # (n, NUMBERS) contacts at the base of the step
    "normals",  # (n, 6) of the base, in the axes of both shapes
    "now",  # (n, NUMBERS) at q
    "beside",  # (n, NUMBERS) near q
    "three",  # (3 nv,)
    "rows",  # (n, wide, nv) at q
    "rows_beside",  # (n, wide, nv)
    "u",  # (n, wide) relative velocities at q
    "drift",  # (n, wide)
    "ahead",  # (n, wide)
    # modes
    "mode",  # (n, 3) integers: of slip, of spin about the normal, of roll
    "bound",  # (n, 3) friction, torsional and rolling resistance [m]
    "reference",  # (n, 9) unit vectors in the world along slip, spin and roll, at the base
    "direction",  # (n, 6) unit vectors along slip, spin and roll at q, by rows of the contact
    "near",  # (n, 6) forces to stay near
    "force",  # (n, 6) at q
    "base_state",  # (nq + nv,) at the base of the step
    "q_jump",
    # equations
    "held",  # (k, nv) rows that are held
    "pushed",  # (k, nv) J^T of the unknown forces
    "answer",  # (k, nv) M^-1 of these
    "which",  # (k,) integers: the number of the row among those of contacts; -1: of a loop
    "matrix",  # (k, k)
    "right",  # (k,)
    "x",  # (k,)
    "room",
    "more",  # integers
    "change",  # (nv,)
    # swept gap
    "reach",  # (shapes,)
    "speed",  # (shapes,)
    "speed_0",  # (shapes,)
    "q_0",  # of the cubic between two states: positions and their rates
    "q_1",
    "f_0",
    "f_1",
    "kind",  # (shapes,) integers
    "soft",  # (classes, classes) integers: 1 of pairs that are left to compliant contacts
    "taken",  # integers, one for each contact found
    "port",  # (n,) integers
    "quaternions",  # integers: where in q they begin
    # rows of joints (`joint_modes`)
    "joint_position",  # (stops,) integers: their coordinate in q; -1: bent
    "joint_sign",  # (joints,)
    "joint_limit",  # (stops,)
    "joint_rows",  # (joints, nv)
    "joint_gap",  # (stops,) at q
    "joint_u",  # (joints,) velocities along the rows
    "joint_drift",  # (joints,)
    "joint_gap_0",  # (stops,) at the base of the step
    "joint_u_0",  # (joints,)
    "joint_mode",  # (joints,) integers: OPEN, SLIDING, STICKING; a stop that is closed sticks
    "joint_slide",  # (joints,) 1 forwards, -1 backwards, of friction that slides; else 0
    "joint_bound",  # (joints,) of friction
    "joint_near",  # (joints,) forces to stay near
    "joint_force",  # (joints,) at q
    "joint_push",  # (nv,) what friction that slides exerts
    "joint_answer",  # (nv,) M^-1 of that
    "joint_q",
    "joint_v",
)
_SCALES = (
    "size",  # of the mechanism, or 1 m [m]
    "reach_of_steps",  # how far from a contact the stages of a step may lead [m]
    "slack_gap",  # [m]
    "slack_force",  # of the largest force
    "largest",  # force when modes were found [N]
    "worst",  # gap of contacts, when they were last closed [m, m/s]
    "thin",  # smallest half width of a shape [m]
)
ACTIVE = np.dtype(
    [(name, np.int64) for name in (*_COUNTS, *_ADDRESSES)] + [(name, np.float64) for name in _SCALES]
)
active = record(ACTIVE)
