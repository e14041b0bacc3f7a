"""The store of a model's native code: one kernel per algorithm, tree, form and path."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import linkwork as lw
from linkwork.dynamics import jacobian, loop_closure, poses
from linkwork.dynamics.kernels import Kernels


def test_what_differs_in_the_tree_the_form_or_the_path_is_another_kernel():
    model = lw.examples.chain(3).compile()
    kernels, tree = Kernels(), model.link_tree
    asked = [
        (poses.ALGORITHM, tree, "rolled", None),
        (poses.ALGORITHM, model.loaded_tree, "rolled", None),
        (poses.ALGORITHM, tree, "specialized", None),
        (jacobian.ALGORITHM, tree, "rolled", (1,)),
        (jacobian.ALGORITHM, tree, "rolled", (1, 2)),
    ]
    made = [kernels.get(*what) for what in asked]
    assert len({id(kernel) for kernel in made}) == len(kernels) == len(asked)
    for kernel, (algorithm, tree, form, path) in zip(made, asked, strict=True):
        assert (kernel.algorithm, kernel.tree, kernel.form, kernel.path) == (algorithm, tree, form, path)
        assert kernels.get(algorithm, tree, form, path) is kernel


def test_threads_that_ask_at_once_get_one_kernel():
    model, kernels = lw.examples.chain(3).compile(), Kernels()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: kernels.get(poses.ALGORITHM, model.link_tree, "rolled"), range(200)))
    assert len(set(map(id, made))) == len(kernels) == 1


def test_forward_dynamics_is_without_drivers_whatever_was_asked_before():
    """The tree without drivers and the one with them have kernels of their own."""
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", lambda t: t))
    q, v, tau = (np.zeros(n) for n in (3, 3, 3))
    first, second = m.compile(), m.compile()
    q = first.assemble()
    expected = first.forward_dynamics(q, v, tau)
    with_drivers = second.kernel_of(loop_closure.ALGORITHM, second.link_tree)(q, v, tau)[0]
    found = np.empty(3)
    assert second.kernel("forward_dynamics").call(q, v, tau, found) is found
    assert found.tobytes() == expected.tobytes() == second.forward_dynamics(q, v, tau).tobytes()
    assert np.abs(with_drivers - expected).max() > 1.0
