"""What runs have in common is made once; each has memory of its own."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import linkwork as lw
from linkwork.simulation.image import Image
from linkwork.simulation.options import options
from linkwork.simulation.setting import setting
from linkwork.trace.lines import LINE


def chosen(accuracy=1e-8, events=()):
    return options(accuracy, None, "auto", None, 1e6, events)


def test_a_setting_is_kept_for_runs_with_the_same_options():
    model = lw.examples.cart_pole().compile()
    assert setting(model, chosen()) is setting(model, chosen())
    assert setting(model, chosen(1e-6)) is not setting(model, chosen())
    assert setting(model.specialize(), chosen()) is not setting(model, chosen())


def test_old_settings_are_forgotten():
    model = lw.examples.cart_pole().compile()
    first = setting(model, chosen())
    for k in range(100):
        setting(model, chosen(1e-3 / (k + 1)))
    assert len(model._settings) < 50
    assert setting(model, chosen()) is not first


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
        room, begin = image.copy()
        kept.append(room)
        seven, at_values, at_empty = room[image.starts["head"] :][:3].tolist()
        assert seven == 7
        for address in (begin, at_values, at_empty):
            assert address % (8 * LINE) == 0
        assert numbers(at_values, 3).tolist() == values.tolist()
        assert not numbers(at_empty, 5).any()
        ctypes.c_double.from_address(at_values).value = 9.0
    assert head.tolist() == [7, 0, 0]
    assert values.tolist() == [0.0, 1.0, 2.0]
