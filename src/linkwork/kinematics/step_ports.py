"""What lies behind the ports of unrolled code, `void code(plan, ports)`, one pointer each."""

# shared by all lanes: data of the equations, scales of the unknowns, weights of the pivots, where turns are
# counted from; then of each lane
SHARED = ("data", "columns", "weights", "here")
PORTS = (*SHARED, "q", "u", "p", "ref", "new", "x", "located", "report")

LENGTH, LARGEST, PIVOT = range(3)  # report: of the step, scaled; of the equations; least, times its weight
