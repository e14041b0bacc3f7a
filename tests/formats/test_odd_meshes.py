"""Meshes as other programs write them are read as what they are."""

import warnings

import numpy as np
import pytest
from formats.odd_meshes import OddMesh, odd_meshes

import linkwork as lw


@pytest.mark.parametrize("odd", list(odd_meshes()), ids=lambda odd: f"{odd.suffix}: {odd.name}")
def test_an_odd_mesh_has_its_volume_and_its_box(odd: OddMesh, tmp_path):
    path = tmp_path / f"part.{odd.suffix}"
    path.write_bytes(odd.data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = lw.load(path)
    size = np.ptp(odd.box)
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(odd.volume, rel=1e-4)
    np.testing.assert_allclose(mesh.vertices.min(axis=0), odd.box[0], atol=1e-4 * size)
    np.testing.assert_allclose(mesh.vertices.max(axis=0), odd.box[1], atol=1e-4 * size)
