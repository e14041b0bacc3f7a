"""Mechanisms and models in a notebook: small tables, in which no name is taken for markup."""

import xml.etree.ElementTree as ElementTree

from everything import held, plane, space

import linkwork as lw

EVIL = "<img src=x onerror=alert(1)>"


def cells(html: str) -> list[list[str]]:
    root = ElementTree.fromstring(html)
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_a_mechanism_shows_its_bodies_joints_and_loads():
    engine = lw.examples.steam_engine()
    rows = cells(engine._repr_html_())
    mass = engine.bodies["flywheel"].inertia.mass
    assert ["flywheel", f"{mass:.6g}", "4 Cylinder", "(0, 0, 0)"] in rows
    assert ["bearing", "Revolute", "base", "flywheel", "damping 0.05"] in rows
    assert ["steam", "Steam", "base, flywheel, piston rod"] in rows


def test_a_model_shows_its_numbers_and_loops():
    rows = cells(lw.examples.steam_engine().compile()._repr_html_())
    assert ["velocities nv", "7"] in rows
    assert ["loops", "3, closed by valve slide, rocker pin, wrist pin"] in rows
    assert ["bearing", "Revolute", "flywheel", "0", "0"] in rows


def test_everything_can_be_shown():
    for mechanism in (space(), plane(), lw.Mechanism("nothing")):
        assert cells(mechanism._repr_html_()) or not mechanism.bodies
    assert cells(space().compile()._repr_html_())


def test_names_are_text():
    m = lw.Mechanism(EVIL)
    body = m.add(lw.Body(EVIL, lw.Sphere(1), mass=1))
    m.add(lw.Revolute(f"{EVIL} joint", m.ground, body))
    for html in (m._repr_html_(), m.compile()._repr_html_()):
        assert "<img" not in html


def test_long_tables_are_cut():
    html = lw.examples.chain(200)._repr_html_()
    assert "and 160 more" in html
    assert html.count("<tr>") < 100


def test_constraints_and_drivers_are_listed():
    rows = cells(held("plane")._repr_html_())
    assert ["gear", "Gear", "pin 0, pin 1"] in rows
    assert ["slot", "PinInSlot", "wheel 0, wheel 1"] in rows
    assert ["motor", "pin 0", "a function of time"] in rows
    assert ["still", "pin 1", "0.25"] in rows
