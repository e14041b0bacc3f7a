"""A model is frozen arrays; what is asked of it are functions of a model and a state."""

import copy
import gc
import pickle
import weakref
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import linkwork as lw
from linkwork.model import body_motion, joint_space


def test_a_model_is_frozen_and_so_are_its_arrays():
    model = lw.examples.cart_pole().compile()
    with pytest.raises(FrozenInstanceError):
        model.nq = 3
    arrays = {f.name: getattr(model, f.name) for f in fields(model)}
    arrays = {name: x for name, x in arrays.items() if isinstance(x, np.ndarray)}
    assert {"gravity", "masses", "centers", "inertias", "q_drawn", "limits", "parents"} < set(arrays)
    for array in arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_methods_are_functions_of_a_model():
    model = lw.examples.cart_pole().compile()
    q, v, tau = np.array([0.1, 0.3]), np.array([0.2, -0.1]), np.zeros(2)
    assert lw.Model.forward_dynamics is joint_space.forward_dynamics
    expected = joint_space.forward_dynamics(model, q, v, tau)
    assert model.forward_dynamics(q, v, tau).tobytes() == expected.tobytes()
    assert model.poses(q).array.tobytes() == body_motion.poses(model, q).array.tobytes()


def test_a_model_with_its_kernels_and_all_that_follows_from_it_is_let_go():
    model = lw.examples.four_bar().compile()
    model.forward_dynamics(model.assemble(), np.zeros(model.nv), np.zeros(model.nv))
    assert "freedom" in str(model.diagnose())
    assert len(model.kernels) > 3
    alive, kernels = weakref.ref(model), weakref.ref(model.kernels)
    del model
    gc.collect()
    assert alive() is None
    assert kernels() is None


@pytest.mark.parametrize("form", ["rolled", "specialized"])
def test_a_copy_is_the_model_and_a_pickle_is_compiled_again(form):
    model = lw.examples.four_bar().compile()
    model = model.specialize() if form == "specialized" else model
    assert copy.copy(model) is copy.deepcopy(model) is model
    twin = pickle.loads(pickle.dumps(model))
    assert (twin.form, twin.digest, twin.loop_names) == (form, model.digest, model.loop_names)


def test_specialising_shares_the_trees_and_has_code_of_its_own():
    model = lw.examples.cart_pole().compile()
    fast = model.specialize()
    assert fast.link_tree is model.link_tree
    assert fast.kernels is not model.kernels
    assert fast.kernel("mass_matrix").form == "specialized"
