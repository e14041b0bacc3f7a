"""Trees whose accelerations others have printed: RBDL's tests, from rest under g = 9.81 along -y."""

import numpy as np
import pytest
from mechanisms import branched_tree, double_pendulum, pendulum, triple_pendulum

PRINTED = {
    pendulum: [-4.905],
    double_pendulum: [-5.886, 3.924],
    triple_pendulum: [-6.03692307692308, 3.77307692307692, 1.50923076923077],
    branched_tree: [
        -1.60319066147860,
        -0.534396887159533,
        4.10340466926070,
        0.267198443579767,
        5.30579766536965,
    ],
}


@pytest.mark.parametrize(("mechanism", "printed"), PRINTED.items(), ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("specialize", [False, True], ids=["rolled", "specialized"])
def test_accelerations_are_those_printed(mechanism, printed, specialize):
    model = mechanism().compile()
    model = model.specialize() if specialize else model
    at_rest = np.zeros(model.nv)
    a = model.forward_dynamics(at_rest, at_rest, at_rest)
    named = [a[model.slices[f"hinge {k}"][1]][0] for k in range(1, model.nv + 1)]
    np.testing.assert_allclose(named, printed, rtol=0, atol=1.5e-14)
