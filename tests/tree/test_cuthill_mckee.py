"""The order of Cuthill and McKee: the same as SciPy's, which takes longer to import than a model to build."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee as of_scipy

from linkwork.tree.cuthill_mckee import neighbours, reverse_cuthill_mckee


@pytest.mark.parametrize("seed", range(200))
def test_it_is_the_order_of_scipy(seed):
    rng = np.random.default_rng(seed)
    many, things = int(rng.integers(1, 60)), int(rng.integers(1, 40))
    shared = [rng.integers(0, things, rng.integers(1, 6)).tolist() for _ in range(many)]
    pairs = np.array([(who, thing) for who, all_of_it in enumerate(shared) for thing in all_of_it])
    feels = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(many, things))
    expected = of_scipy(csr_array(feels @ feels.T), symmetric_mode=True).tolist()
    assert reverse_cuthill_mckee(neighbours(shared)) == expected


def test_a_ring_gets_a_narrow_band():
    ring = neighbours([(k, (k + 7) % 20) for k in range(20)])
    place = np.argsort(reverse_cuthill_mckee(ring))
    assert max(abs(int(place[a]) - int(place[b])) for a, near in enumerate(ring) for b in near) == 2
