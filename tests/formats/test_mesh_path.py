"""Where the meshes of a robot are found, and where they are not looked for."""

import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.geometry import MeshFile

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
ROBOT = """<robot name="r"><link name="arm">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual>
    <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
    <geometry><mesh filename="{}" scale="2 1 -1"/></geometry>
  </visual>
</link></robot>"""


@pytest.fixture
def robot(tmp_path):
    """A robot in a package, with a mesh beside it; returns a function from a filename to its MeshFile."""
    package = tmp_path / "work" / "arm_description"
    for folder in ("urdf", "meshes"):
        (package / folder).mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    (package / "meshes" / "part.obj").write_text(TETRAHEDRON)
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)

    def shape(filename: str) -> MeshFile:
        path = package / "urdf" / "arm.urdf"
        path.write_text(ROBOT.format(filename))
        mechanism = lw.load(path)
        return mechanism.bodies["arm"].visuals[0].shape

    return shape


@pytest.mark.parametrize(
    "filename",
    [
        "../meshes/part.obj",
        "package://arm_description/meshes/part.obj",
        "package:///arm_description/meshes/part.obj",
        "./../urdf/../meshes/part.obj",
    ],
)
def test_a_mesh_is_found_and_placed(robot, filename):
    mesh = lw.load(robot(filename))
    assert mesh.volume == pytest.approx(2 / 6)  # scaled, mirrored and still the right way round
    inertia = mesh.inertia(6.0)
    np.testing.assert_allclose(inertia.com, (1 - 0.25, 2 + 0.5, 3 - 0.25), rtol=1e-12)


def test_nothing_is_opened_before_it_is_asked_for(robot):
    shape = robot("missing.stl")
    with pytest.raises(FileNotFoundError):
        lw.load(shape)


def test_a_mechanism_finds_its_meshes_in_packages_that_are_given(robot, tmp_path):
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    (elsewhere / "part.obj").write_text(TETRAHEDRON)
    (tmp_path / "elsewhere" / "other.obj").write_text(TETRAHEDRON)
    path = Path(robot("package://other/part.obj").folder) / "arm.urdf"
    shape = lw.load(path, packages={"other": elsewhere})["arm"].visuals[0].shape
    assert lw.load(shape).volume == pytest.approx(2 / 6)
    robot("package://other/../other.obj")
    with pytest.raises(FormatError, match="leads out of"):
        lw.load(path, packages={"other": elsewhere})


def test_bodies_touch_by_the_hulls_of_their_meshes_if_asked(robot, tmp_path):
    path = Path(robot("../meshes/ell.obj").folder) / "arm.urdf"
    path.write_text(path.read_text().replace("visual>", "collision>").replace("2 1 -1", "1 1 1"))
    vertices, faces = lw.Extrusion([(0, 0), (1, 0), (1, 0.1), (0.1, 0.1), (0.1, 1), (0, 1)], 1.0).surface()
    lines = [f"v {x} {y} {z}\n" for x, y, z in vertices] + [f"f {a} {b} {c}\n" for a, b, c in faces + 1]
    (path.parents[1] / "meshes" / "ell.obj").write_text("".join(lines))
    hollow = lw.Frame((1.0 - 0.3, 2.0 + 0.3, 3.0))  # the mesh is placed there, turned by a quarter
    found = []
    for hulls in (False, True):
        m = lw.load(path, hulls=hulls)
        m.save(tmp_path / "arm.json")
        for mechanism in (m, lw.load(tmp_path / "arm.json")):
            (skin,) = mechanism["arm"].touched_by
            found.append(len(lw.collide(lw.load(skin.shape), lw.Sphere(0.1), pose_b=hollow)) > 0)
    assert found == [False, False, True, True]
    with pytest.warns(UserWarning, match="touched by its hull"):
        m.save(tmp_path / "again.urdf")
    m = lw.Mechanism("mesh")
    m.add(lw.Body("ell", lw.Mesh(vertices, faces), density=1.0))
    m.save(tmp_path / "ell.json")
    (skin,) = lw.load(tmp_path / "ell.json", hulls=True)["ell"].touched_by
    assert isinstance(skin.shape, lw.ConvexHull)


def test_packages_may_be_told_and_are_found_by_the_path_of_ros(robot, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "part.obj").write_text(TETRAHEDRON)
    shape = robot("package://other/part.obj")
    with pytest.raises(FormatError, match=r"package 'other' is not among .*packages=\{'other': folder\}"):
        lw.load(shape)
    assert lw.load(shape, packages={"other": elsewhere}).volume == pytest.approx(2 / 6)
    os.rename(elsewhere, tmp_path / "other")
    (tmp_path / "ros").mkdir()
    os.rename(tmp_path / "other", tmp_path / "ros" / "other")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    assert lw.load(shape).volume == pytest.approx(2 / 6)
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    (tmp_path / "prefix").mkdir()
    os.rename(tmp_path / "ros", tmp_path / "prefix" / "share")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'none'}{os.pathsep}{tmp_path / 'prefix'}")
    assert lw.load(shape).volume == pytest.approx(2 / 6)


def test_a_folder_that_links_out_of_the_robots_own_is_no_package(robot, tmp_path):
    os.symlink(tmp_path, tmp_path / "work" / "arm_description" / "urdf" / "linked")
    with pytest.raises(FormatError, match="package 'linked' is not among the folders"):
        lw.load(robot("package://linked/secret.obj"))


@pytest.mark.parametrize(
    ("filename", "words"),
    [
        ("../../../secret.obj", "leads out of"),
        ("package://arm_description/../../secret.obj", "leads out of"),
        ("package://../secret.obj", "not a name of a package"),
        ("package:///secret.obj", "package 'secret.obj' is not among the folders"),
        ("package://etc/passwd", "package 'etc' is not among the folders"),
        ("package://work/secret.obj", "package 'work' is not among the folders"),
        ("package://tmp/secret.obj", "package 'tmp' is not among the folders"),
        ("package://arm_description/urdf/../../../secret.obj", "leads out of"),
        ("/etc/passwd", "an absolute path"),
        ("file:///etc/passwd", "file:// is not allowed"),
        ("http://127.0.0.1:1/part.stl", "http:// is not allowed"),
        ("\\\\server\\share\\part.stl", "backslashes"),
        ("../meshes/part.3ds", "cannot read '.3ds'"),
    ],
)
def test_nobody_gets_out_of_the_robots_folders(robot, filename, words):
    with pytest.raises(FormatError, match=words):
        lw.load(robot(filename))


def test_a_link_does_not_lead_out_either(robot, tmp_path):
    os.symlink(tmp_path / "secret.obj", tmp_path / "work" / "arm_description" / "meshes" / "link.obj")
    with pytest.raises(FormatError, match="leads out of"):
        lw.load(robot("../meshes/link.obj"))


def test_meshes_of_published_robots_are_found(robots):
    folder = robots / "ur_description" / "urdf"
    mechanism = lw.load(next(iter(sorted(folder.glob("ur10*.urdf")))))
    shapes = [c.shape for body in mechanism.bodies.values() for c in body.collisions]
    files = [shape for shape in shapes if isinstance(shape, MeshFile)]
    packages = {"example-robot-data": robots.parent}
    found = [lw.load(file, packages=packages) for file in islice(files, 3)]
    assert len(found) == 3
    for mesh in found:
        low, high = mesh.bounds
        assert 0.01 < (high - low).max() < 2.0  # metres
