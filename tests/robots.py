"""Robots for tests: those of PyPI's example-robot-data, by name, and a small one to take apart."""

from functools import cache
from importlib.metadata import distribution
from pathlib import Path

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="steel"><color rgba="0.5 0.5 0.6 1"/></material>
  <link name="trunk">
    <inertial><mass value="4"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual name="block">
      <origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/>
      <geometry><box size="1 2 3"/></geometry>
      <material name="steel"/>
    </visual>
    <collision><geometry><sphere radius="2"/></geometry></collision>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>
      <mass value="2"/>
      <inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="0.03" izz="0.5"/>
    </inertial>
    <visual>
      <geometry><cylinder radius="0.1" length="0.5"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material>
    </visual>
    <visual><geometry><mesh filename="package://arm/a.stl" scale="1 -1 1"/></geometry></visual>
  </link>
  <link name="finger"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
    <parent link="trunk"/><child link="upper"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1.5" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="upper"/><child link="finger"/>
    <mimic joint="shoulder" multiplier="-2" offset="0.5"/>
  </joint>
  <gazebo><plugin name="p"/></gazebo>
  <transmission name="t"><joint name="shoulder"/></transmission>
</robot>
"""


@cache
def robot_files() -> dict[str, Path]:
    """Return the URDF files; a name is that of the file, with its folder where two files share theirs."""
    package = distribution("example-robot-data")
    folder = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    paths = sorted(folder.glob("**/*.urdf"))
    stems = [path.stem for path in paths]
    return {
        path.stem if stems.count(path.stem) == 1 else f"{path.relative_to(folder).parts[0]}/{path.stem}": path
        for path in paths
    }
