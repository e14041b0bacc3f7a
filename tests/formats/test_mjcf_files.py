"""Models of MuJoCo: no file outside of their folders is opened, and what MuJoCo does with them is bounded."""

import time

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


# Small models that ask for much; MuJoCo itself takes over a minute or a gigabyte for each.
GREEDY = {
    "copies": "<worldbody><replicate count='9999'>" + "<site/>" * 100 + "</replicate></worldbody>",
    "keys": "<size nkey='1000000000'/>",
    "field": "<asset><hfield name='h' nrow='10000' ncol='10000' size='1 1 1 1'/></asset>",
    "picture": "<asset><texture name='t' builtin='flat' type='2d' width='30000' height='9000'/></asset>",
    "numbers of geoms": "<size nuser_geom='100000000'/><worldbody><geom size='1'/></worldbody>",
    "fine mesh": "<asset><mesh name='m' builtin='supersphere' params='3000 1 1'/></asset>"
    "<worldbody><geom type='mesh' mesh='m'/></worldbody>",
    "attached in attached": "<asset><model name='x' file='3.xml'/></asset><worldbody><body>"
    + "".join(f"<attach model='x' body='b' prefix='p{k}'/>" for k in range(10))
    + "</body></worldbody>",
}


@pytest.mark.parametrize("name", GREEDY)
def test_what_asks_for_too_much_is_refused_within_bounds(name, tmp_path):
    resource = pytest.importorskip("resource", reason="only Unix tells what a process used")
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    body = "<body><joint/><geom size='.1'/></body>" * 90
    (tmp_path / "0.xml").write_text(f"<mujoco><worldbody><body name='b'>{body}</body></worldbody></mujoco>")
    for k in range(1, 4):
        parts = "".join(f"<attach model='x' body='b' prefix='p{i}'/>" for i in range(10))
        (tmp_path / f"{k}.xml").write_text(
            f"<mujoco><asset><model name='x' file='{k - 1}.xml'/></asset>"
            f"<worldbody><body name='b'>{parts}</body></worldbody></mujoco>"
        )
    path = tmp_path / "model.xml"
    path.write_text(f"<mujoco>{GREEDY[name]}</mujoco>")
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(FormatError, match=r"model.xml: MuJoCo takes over .* largest=1e\+"):
        lw.load(path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert (
        time.process_time() - began + theirs < 3.0
    )  # 0.75 s, and the start of two processes' worth of imports


def test_more_may_be_allowed(tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    path = tmp_path / "terrain.xml"
    field = "<asset><hfield name='h' nrow='4000' ncol='4000' size='1 1 1 1'/></asset>"
    path.write_text(f"<mujoco model='wide'>{field}</mujoco>")
    with pytest.raises(FormatError, match="200 MB of memory"):
        lw.load(path)
    assert lw.load(path, largest=1e8).name == "wide"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("import os; os.abort()", r"crashed on it \(SIGABRT\)"),
        ("import os; os.kill(os.getpid(), 11)", r"crashed on it \(SIGSEGV\)"),
        ("import os; os._exit(3)", r"crashed on it \(exit code 3\)"),
        ("import os; print('{', flush=True); os._exit(0)", "its answer is broken"),
        ("while True: pass", "s of processor time"),
        ("x = bytearray(1 << 30)\nimport time\ntime.sleep(60)", "MB of memory"),
        ("raise ImportError('no such library')", "no such library"),
    ],
)
def test_a_reader_that_dies_does_so_alone(what, words, tmp_path, monkeypatch):
    """The real process, with another module in MuJoCo's place: as when its parser meets a bug of its own."""
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    other = tmp_path / "other"
    other.mkdir()
    (other / "mujoco.py").write_text(
        f"class MjSpec:\n  def from_file(path):\n    {what.replace(chr(10), chr(10) + '    ')}\n"
    )
    monkeypatch.syspath_prepend(str(other))
    path = tmp_path / "model.xml"
    path.write_text("<mujoco/>")
    with pytest.raises(FormatError, match=words):
        lw.load(path)


BODY_OF = (
    '<mujoco><worldbody><body name="a"><joint name="j" {}/><geom size="1" {}/></body></worldbody>{}</mujoco>'
)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (('damping="nan"', "", ""), r"dof_damping\[0(, 0)?\] is nan, as MuJoCo has it; give a number"),
        (('stiffness="nan"', "", ""), r"jnt_stiffness.* is nan"),
        (("", 'friction="-1 0 0"', ""), "friction -1.0; give a finite number"),
        (("", 'mass="inf"', ""), r"body_.* is inf.* up to 1e\+15"),
        (("", 'size="nan"', ""), "nan size|not well-formed"),
        (("", "", '<option gravity="0 0 nan"/>'), r"gravity\[2\] is nan"),
        (("", "", '<actuator><motor joint="j" gear="nan"/></actuator>'), "actuator_gear.* is nan"),
        (("", "", '<equality><connect body1="a" anchor="nan 0 0"/></equality>'), "eq_data.* is nan"),
        (("", "", '<keyframe><key qpos="nan"/></keyframe>'), "key_qpos.* is nan"),
        (("", "", '<tendon><fixed stiffness="1"><joint joint="j" coef="nan"/></fixed></tendon>'), "is nan"),
        (("", "", '<extension><plugin plugin="/tmp/x.so"/></extension>'), "plugin /tmp/x.so not found"),
    ],
)
def test_numbers_that_mujoco_lets_pass_are_refused(words, message, tmp_path):
    pytest.importorskip("mujoco", reason="not installed: mujoco")
    path = tmp_path / "model.xml"
    path.write_text(BODY_OF.format(*words))
    with pytest.raises(FormatError, match=message) as error:
        lw.load(path)
    assert "model.xml" in str(error.value)
