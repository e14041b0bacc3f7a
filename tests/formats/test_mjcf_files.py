"""Files that a MuJoCo model names: none outside of its folders is opened, by whatever way it is named."""

import pytest
from formats.corpus import stl

import linkwork as lw
from linkwork.errors import FormatError

BODY = '<body name="b"><freejoint/><geom type="mesh" mesh="s"/></body>'
PART = '<asset><mesh name="s" file="{}"/></asset>'
SECRET = PART.format("secret/x.stl")
# A mesh lies three folders above the model; where an innocent reader looks for it lies a decoy.
MODELS = {
    "include that says the folder": f'<include file="c.xml"/>{SECRET}<worldbody>{BODY}</worldbody>',
    "folder said before": (
        f'<compiler meshdir="../../.."/><compiler meshdir="."/>{SECRET}<worldbody>{BODY}</worldbody>'
    ),
    "attached model above": (
        '<asset><model name="c" file="../child.xml"/></asset><worldbody><body><freejoint/>'
        '<attach model="c" body="b" prefix="z"/></body></worldbody>'
    ),
    "flexible part": (
        '<compiler meshdir="../../.."/><worldbody><body name="b"><freejoint/><geom size=".1"/>'
        '<flexcomp name="f" type="mesh" file="secret/x.stl" mass="1"/></body></worldbody>'
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_no_file_outside_is_opened(name, tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    model = tmp_path / "a" / "b" / "model"
    for folder in (tmp_path / "secret", model / "secret"):
        folder.mkdir(parents=True)
    for place in (tmp_path / "secret" / "x.stl", tmp_path / "a" / "x.stl"):
        place.write_bytes(stl())
    for decoy in (model / "secret" / "x.stl", tmp_path / "a" / "b" / "x.stl"):
        decoy.write_bytes(b"no mesh")
    (model / "c.xml").write_text('<mujocoinclude><compiler meshdir="../../.."/></mujocoinclude>')
    child = f"{PART.format('../x.stl')}<worldbody>{BODY.replace('<freejoint/>', '')}</worldbody>"
    (tmp_path / "a" / "b" / "child.xml").write_text(f"<mujoco>{child}</mujoco>")
    path = model / "model.xml"
    path.write_text(f"<mujoco>{MODELS[name]}</mujoco>")
    with pytest.raises(FormatError, match="leads out of"):
        lw.load(path)


def test_meshes_in_the_folder_that_an_include_says_are_read(tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    (tmp_path / "model").mkdir()
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "x.stl").write_bytes(stl())
    (tmp_path / "model" / "c.xml").write_text(
        '<mujocoinclude><compiler meshdir="../meshes"/></mujocoinclude>'
    )
    path = tmp_path / "model" / "model.xml"
    path.write_text(
        f'<mujoco><include file="c.xml"/>{PART.format("x.stl")}<worldbody>{BODY}</worldbody></mujoco>'
    )
    assert lw.load(path)["b"].inertia.mass == pytest.approx(1000 / 6)
