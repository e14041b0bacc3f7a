"""What runs have in common is made once; each has memory of its own."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import linkwork as lw
from linkwork.simulation.image import Image
from linkwork.simulation.setting import setting
from linkwork.trace.lines import LINE


def test_a_setting_is_kept_for_runs_with_the_same_options():
    model = lw.examples.cart_pole().compile()
    assert setting(model) is setting(model)
    assert setting(model, 1e-6) is not setting(model)
    assert setting(model.specialize()) is not setting(model)


def test_old_settings_are_forgotten():
    model = lw.examples.cart_pole().compile()
    first = setting(model)
    for k in range(100):
        setting(model, 1e-3 / (k + 1))
    assert len(model._settings) < 50
    assert setting(model) is not first


def test_an_event_that_was_changed_is_seen_by_the_next_run():
    model = lw.examples.cart_pole().compile()
    state = model.state(pin=0.3)
    event = lw.Event("there", lambda t, q, v: q["pin"] - 1.0)
    before = lw.simulate(model, 5.0, state, events=[event]).final.t
    event.quantity = lambda t, q, v: q["pin"] - 2.0
    assert lw.simulate(model, 5.0, state, events=[event]).final.t > before


def test_runs_at_once_do_not_disturb_each_other():
    model = lw.examples.cart_pole().compile()
    starts = [model.state(pin=0.3 + 0.01 * k) for k in range(20)]
    alone = [lw.simulate(model, 3.0, start).q.tobytes() for start in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda start: lw.simulate(model, 3.0, start).q.tobytes(), starts))
    assert together == alone


def numbers(address, count):
    return np.array((ctypes.c_double * count).from_address(address))


def test_every_copy_of_an_image_points_to_its_own_parts():
    values = np.arange(3.0)
    head = np.array([7, 0, 0])
    image = Image({"empty": 5, "head": head, "values": values}, [("head", 1, "values"), ("head", 2, "empty")])
    kept = []
    for _ in range(20):
        room = image.room()
        kept.append(room)
        seven, at_values, at_empty = room.words[image.starts["head"] :][:3].tolist()
        assert seven == 7
        for address in (room.address, at_values, at_empty):
            assert address % (8 * LINE) == 0
        assert numbers(at_values, 3).tolist() == values.tolist()
        assert not numbers(at_empty, 5).any()
        for address in (at_values, at_empty):
            ctypes.c_double.from_address(address).value = 9.0
    for room in kept:
        at_values, at_empty = room.words[image.starts["head"] :][1:3].tolist()
        room.clear()
        assert numbers(at_values, 3).tolist() == values.tolist()
        assert not numbers(at_empty, 5).any()
    assert head.tolist() == [7, 0, 0]
    assert values.tolist() == [0.0, 1.0, 2.0]
