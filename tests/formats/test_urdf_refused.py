"""URDF: the files that must be refused, with file, line, element, value and remedy."""

import os
import re
import warnings

import numpy as np
import pytest
from robots import ARM

from linkwork.errors import FormatError, LinkworkError
from linkwork.formats import load

# (what is replaced, by what, words of the message)

REFUSED = {
    "not a robot": ('<robot name="arm">', "<model>", None),
    "doctype": ("<robot ", "<!DOCTYPE robot><robot ", "2: <!DOCTYPE is not allowed"),
    "laughs": ("<robot ", '<!DOCTYPE z [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><robot ', "<!DOCTYPE"),
    "entity": ("<robot ", '<!DOCTYPE z [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot ', "<!DOCTYPE"),
    "undefined entity": ('name="arm"', 'name="&x;"', "undefined entity"),
    "xinclude": ("<gazebo>", '<xi:include href="/etc/passwd"/><gazebo>', "xi:include: this is not URDF"),
    "xacro": ("<gazebo>", '<xacro:property name="a" value="1"/><gazebo>', "run xacro"),
    "xacro in a number": ('mass value="2"', 'mass value="${m}"', "not a number yet; run xacro on the file"),
    "xacro in a vector": ('xyz="0 0 1"', 'xyz="$(arg z) 1"', "not a number yet; run xacro on the file"),
    "nul": ('name="arm"', 'name="a\0"', "not well-formed"),
    "unclosed": ("</robot>", "", "no element found"),
    "trailing": ("</robot>", "</robot><robot/>", "junk after document element"),
    "deep": ("<gazebo>", "<a>" * 200 + "</a>" * 200 + "<gazebo>", "nested more than 100 deep"),
    "attributes": ("<gazebo>", "<gazebo " + "a" * 2_000_000 + ">", "characters in one tag or text"),
    "elements": ("<gazebo>", "<a/>" * 400_000 + "<gazebo>", "tags; allowed are 200000"),
    "nan": ('mass value="2"', 'mass value="nan"', "value='nan'.* is not a number"),
    "inf": ('mass value="2"', 'mass value="inf"', "is not a number"),
    "minus inf": ('xyz="0 0 1"', 'xyz="0 -inf 1"', "'-inf' is not a number"),
    "overflow": ('mass value="2"', 'mass value="1e999"', "too large; allowed is -1e\\+15 to 1e\\+15"),
    "garbage": ('mass value="2"', 'mass value="1.0abc"', "'1.0abc' is not a number"),
    "comma": ('mass value="2"', 'mass value="1,5"', "'1,5' is not a number"),
    "hex": ('mass value="2"', 'mass value="0x10"', "is not a number"),
    "underscore": ('mass value="2"', 'mass value="1_0"', "is not a number"),
    "arabic": ('mass value="2"', 'mass value="١٢"', "is not a number"),
    "empty number": ('mass value="2"', 'mass value=""', 'value="" is empty'),
    "blank number": ('mass value="2"', 'mass value=" "', "is not a number"),
    "many digits": ('mass value="2"', f'mass value="{"9" * 10_000}"', "too large"),
    "two of three": ('xyz="0 0 1"', 'xyz="0 1"', "xyz='0 1' has 2 numbers; give 3"),
    "four of three": ('xyz="0 0 1"', 'xyz="0 1 2 3"', "has 4 numbers; give 3"),
    "no mass": ('<mass value="4"/>', "", "<mass> is missing"),
    "no tensor": ('<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>', "", "<inertia> is missing"),
    "no moment": ('ixx="1" ', "", "attribute 'ixx' is missing"),
    "negative mass": ('mass value="2"', 'mass value="-2"', "value=-2 is negative; allowed is 0 to"),
    "huge mass": ('mass value="2"', 'mass value="1e308"', "too large"),
    "negative moment": ('izz="0.5"', 'izz="-0.5"', "one is negative.*repair=True"),
    "triangle": (
        'izz="0.5"',
        'izz="1.5"',
        "which no real body has; give the tensor about the centre of mass; repair=True",
    ),
    "indefinite": ('ixy="0.01"', 'ixy="0.6"', "one is negative"),
    "far off": ('ixx="0.3"', 'ixx="3e11"', "out of all proportion"),
    "two inertials": ('<link name="upper">', '<link name="upper"><inertial/>', "a second <inertial>"),
    "zero axis": ('xyz="0 0 2"', 'xyz="0 0 0"', "xyz='0 0 0' has no direction"),
    "nan axis": ('xyz="0 0 2"', 'xyz="0 nan 0"', "is not a number"),
    "empty axis": ('xyz="0 0 2"', "", "attribute 'xyz' is missing"),
    "limits": ('lower="-1.5"', 'lower="2.5"', "lower=2.5 is above upper=2"),
    "damping": ('damping="0.5"', 'damping="-0.5"', "damping=-0.5 is negative"),
    "friction": ('friction="0.25"', 'friction="-1"', "friction=-1 is negative"),
    "contact": (
        '<link name="upper">',
        '<link name="upper"><contact><lateral_frictoin value="1"/></contact>',
        "unknown element 'lateral_frictoin'; did you mean 'lateral_friction'",
    ),
    "restitution": (
        '<link name="upper">',
        '<link name="upper"><contact><restitution value="2"/></contact>',
        "restitution 2.0; give a finite number from 0 to 1",
    ),
    "effort": ('effort="10"', 'effort="ten"', "'ten' is not a number"),
    "joint type": ('"prismatic"', '"screw"', "type='screw'; available are fixed, revolute"),
    "no joint type": ('type="prismatic"', "", "attribute 'type' is missing"),
    "link twice": ('"finger"/>', '"upper"/>', "a second link of this name \\(the first is on line 13\\)"),
    "joint twice": ('joint name="grip"', 'joint name="shoulder"', "a second joint of this name"),
    "empty name": ('link name="finger"', 'link name=""', 'name="" is empty'),
    "no name": ('joint name="grip"', "joint", "attribute 'name' is missing"),
    "long name": ('link name="finger"', f'link name="{"x" * 100_000}"', "a name of 100000 characters"),
    "missing link": (
        'child link="finger"',
        'child link="fingr"',
        "unknown link 'fingr'; did you mean 'finger'",
    ),
    "no child": ('<child link="finger"/>', "", "<child> is missing"),
    "itself": ('child link="finger"', 'child link="upper"', "joins link 'upper' to itself"),
    "two parents": (
        "<gazebo>",
        '<joint name="x" type="fixed"><parent link="trunk"/><child link="finger"/></joint><gazebo>',
        "link 'finger' has a parent already",
    ),
    "two roots": (
        '<link name="finger"/>',
        '<link name="finger"/><link name="lost"/>',
        "'trunk' and 'lost' both",
    ),
    "ring": ('child link="finger"', 'child link="trunk"', None),
    "ring aside": (
        "<gazebo>",
        '<link name="a"/><link name="b"/>'
        '<joint name="x" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="y" type="fixed"><parent link="b"/><child link="a"/></joint><gazebo>',
        "hangs on a ring",
    ),
    "mimic itself": (
        'mimic joint="shoulder"',
        'mimic joint="grip"',
        "\\['grip'\\] mimic each other in a ring",
    ),
    "mimic ring": ("<dynamics", '<mimic joint="grip"/><dynamics', "mimic each other in a ring"),
    "mimic nothing": ('mimic joint="shoulder"', "mimic", "attribute 'joint' is missing"),
    "no geometry": ('<geometry><box size="1 2 3"/></geometry>', "", "<geometry> is missing"),
    "no shape": ('<box size="1 2 3"/>', "", "0 shapes"),
    "a plane without direction": ('<box size="1 2 3"/>', '<plane normal="0 0 0"/>', "not all 0"),
    "unknown shape": ('<box size="1 2 3"/>', "<torus/>", "unknown shape <torus>"),
    "flat box": ('<box size="1 2 3"/>', '<box size="1 0 3"/>', "Box: y 0.0; give a finite length > 0"),
    "nowhere mesh": ('filename="package://arm/a.stl"', "", "attribute 'filename' is missing"),
    "misspelt origin": (
        '<origin xyz="0 0 1"',
        '<orign xyz="0 0 1"',
        "orign: unknown element 'orign'; did you mean 'origin'",
    ),
    "misspelt place": ('xyz="0 0 1"', 'xzy="0 0 1"', "/origin: unknown attribute 'xzy'; did you mean 'xyz'"),
    "misspelt damping": ("damping=", "dampin=", "unknown attribute 'dampin'; did you mean 'damping'"),
    "misspelt inertial": ("<inertial>", "<inertal>", None),
    "misspelt limit": ("lower=", "lowr=", "unknown attribute 'lowr'; did you mean 'lower'"),
    "misspelt mimic": (
        "multiplier=",
        "multipler=",
        "unknown attribute 'multipler'; did you mean 'multiplier'",
    ),
    "misspelt mesh": ("scale=", "scal=", "unknown attribute 'scal'; did you mean 'scale'"),
    "misspelt colour": ("<color ", "<colour ", "unknown element 'colour'; did you mean 'color'|mismatched"),
    "quaternion": ('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0 1"', "unknown attribute 'quat_xyzw'"),
    "colour": ('rgba="1 0 0 1"', 'rgba="red"', "rgba='red' has 1 numbers; give 4"),
}


def test_unchanged_it_is_accepted(read):
    assert read(ARM).compile().nv > 0
    assert read(ARM.rstrip().encode()).compile().nv > 0


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_file_line_element_and_remedy(read, case):
    before, after, words = REFUSED[case]
    assert before in ARM
    with pytest.raises(FormatError) as error:
        read(ARM.replace(before, after, 1))
    message = str(error.value)
    assert re.search(r"robot\.urdf:\d+: ", message), message
    assert len(message) < 1000
    if words:
        assert re.search(words, message), message


def test_a_message_reads_like_this(read, tmp_path):
    with pytest.raises(FormatError) as error:
        read(ARM.replace('lower="-1.5"', 'lower="low"'))
    assert str(error.value) == (
        f"{tmp_path}/robot.urdf:30: robot 'arm'/joint 'shoulder'/limit: lower='low': 'low' is not a number; "
        "write it like 0.5 or -1e-3"
    )


@pytest.mark.parametrize(
    "raw", [b"", b"\xef\xbb\xbf", b"a\xff", ARM.encode("utf-16"), b'<robot name="\xff"/>', b"<robot/>"]
)
def test_what_is_no_text_or_no_robot_is_refused(read, raw):
    with pytest.raises(FormatError):
        read(raw)


def test_a_truncated_file_is_refused_wherever_it_ends(read):
    data = ARM.rstrip().encode()
    for k in range(16):
        with pytest.raises(FormatError, match=r"robot\.urdf:\d+: "):
            read(data[: len(data) * k // 16])


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.soak)])
def test_a_random_mutation_is_loaded_or_refused_but_nothing_else(read, count):
    rng = np.random.default_rng(5)
    tokens = [
        b"",
        b"<",
        b'"',
        b"nan",
        b"-1",
        b"1e400",
        b"&#0;",
        b"<link",
        b"/>",
        b"\xff",
        b"joint",
        b"]]>",
        b"<!--",
    ]
    read_or_refused = []
    for _ in range(count):
        data = bytearray(ARM.encode())
        for _ in range(rng.integers(1, 4)):
            at, length = rng.integers(len(data)), rng.integers(12)
            data[at : at + length] = tokens[rng.integers(len(tokens))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(bytes(data))
                read_or_refused.append("read")
            except LinkworkError:
                read_or_refused.append("refused")
    assert read_or_refused.count("read") > count // 100
    assert read_or_refused.count("refused") > count // 10


def test_only_regular_files_are_opened(tmp_path):
    folder, pipe = tmp_path / "folder.urdf", tmp_path / "pipe.urdf"
    folder.mkdir()
    os.mkfifo(pipe)
    for path in (folder, pipe):
        with pytest.raises(FormatError, match="not a regular file"):
            load(path)


def test_a_file_is_not_read_past_its_limit(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(FormatError, match="50000000 bytes; allowed are 16000000"):
        load(path)
