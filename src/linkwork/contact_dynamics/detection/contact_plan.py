"""The plan of contacts: what native code knows of the contacts of a tree, one word after the other."""

# Words of the plan of contacts: addresses of arrays, ports, places and counts.
(
    ENTRY,  # address of `add_contact_forces` itself
    LANES,
    FREEDOMS,  # 6, or 3 in the plane
    WORK,  # port of the links' blocks, and
    EXTERNAL,  # of the forces on links
    POSE,  # place of X_W in a block, and
    VELOCITY,  # of v
    ROOM,  # place of the memory for contacts in the work array, and
    ROOM_SIZE,
    SLOTS,  # see `contact_workspace`: the array, and how many
    SLOT_COUNT,
    CALL,  # places in that memory
    CONTACT,
    POSES,
    PAIRS,
    NUMBER,
    LABEL,
    TREE,
    NEAR,
    DETECTION,
    BUFFER,
    PAIR_ROOM,
    FIND_PAIRS,  # address of the native `pairs_of`, and
    FIND_CONTACTS,  # of `contacts_of_pairs`
    TABLE,  # of shapes: the array of its addresses, and its length
    TABLE_WORDS,
    SHAPES,
    EXCLUDED,  # pairs of bodies, and how many
    EXCLUDED_COUNT,
    OWNERS,
    STILL,
    LINK,  # (shapes,) the number of its link, 0 for ground
    BLOCK,  # (shapes,) where the block of that begins
    LOCAL,  # (shapes, 3, 4) pose in the link
    OF_SHAPE,  # (shapes, SHAPE_NUMBERS)
    GROUP,  # (shapes,) of shapes that are alike in their materials
    GROUPS,
    ROW,  # (groups, groups) which row of the laws a pair has; -1: none
    LAWS,  # (rows, 2) addresses of the law's kernel and of its numbers
    NUMBERS,  # (rows, LAW_NUMBERS)
    MARGIN,  # (1,) how far apart bodies may be that laws are asked about [m]
    ACCELERATION,  # place of the acceleration in a block; -1: the program finds none
    GRAVITY,  # (3,) [m/s^2]
    LINKS,
    PHASE,  # place in the memory of what is to be done, and of which row;
    COUNTS,  # of how many rows and parts of unknowns there are, and how many felt masses were read;
    BASE,  # of the forces of contacts on links that are known (links, freedoms);
    ROWS,  # of the rows (most, ROW_NUMBERS) and
    ROW_SHAPES,  # (most, 2);
    PARTS,  # (most, 2) of the first row and number of rows of each part, and
    RADII,  # (most,) the largest force;
    FORCES,  # (most,) the unknowns;
    SOLVER,  # and of room to find them: 2 most^2 + 6 most
    MOST,  # rows
    MASSES,  # (most,) what contacts feel of mass, in order; 0 words if no law asks for it
    ASKS,  # 1: a law does
    TOTAL,  # (1,) mass of all [kg]
    WORDS,
) = range(58)

# Phases: find contacts, forces and rows of friction; find contacts and the rows along which they feel a mass;
# add known forces and that of one row, of its largest size; add known forces and those of all rows.
FIND, FEEL, ONE, ALL = range(4)

SHARE, CURVATURE, SIZE, SHAPE_NUMBERS = range(4)  # [1], [1/m], [m]
FRICTION, STATIC, ROLLING, TORSIONAL, REACH, FEELS, LAW_NUMBERS = range(7)  # [1], [1], [m], [m], [m], 0 or 1
PLACE, DIRECTION, TURNS, DRIFT = 0, 3, 6, 7  # numbers of a row of unknowns
