"""Hand-written joint tables of well-known rigs: names, parents, rest offsets in meters, and the roles one expects.

Two blanks of indentation are one step down the tree; ``End`` is an End Site. A line with a side mark starts a branch
that is there twice, the second time with x negated: ``*`` stands for Left and Right, ``+`` for L and R, ``^`` for l and
r, ``~`` for left and right. Offsets are rounded; lengths and directions are those of the rigs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MARKS = {"*": ("Left", "Right"), "+": ("L", "R"), "^": ("l", "r"), "~": ("left", "right")}
ARM = ("shoulder", "upper_arm", "forearm", "hand", "fingertips")
LEG = ("upper_leg", "lower_leg", "foot", "ball", "toe_tip")


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    label: str
    how: str
    names: tuple[str, ...]
    parents: NDArray[np.int64]
    offsets: NDArray[np.float64]
    roles: dict[str, str]
    spine: tuple[str, ...]

    @property
    def rest(self) -> NDArray[np.float64]:
        """Return the rest positions, (J, 3)."""
        points = self.offsets.copy()
        for joint in range(1, len(points)):
            points[joint] += points[self.parents[joint]]
        return points


def sided(text: str, side: int) -> str:
    for mark, spellings in MARKS.items():
        text = text.replace(mark, spellings[side])
    return text


def mirrored(lines: list[str]) -> list[str]:
    """Write out branches with a side mark for both sides."""
    out: list[str] = []
    n = 0
    while n < len(lines):
        depth = len(lines[n]) - len(lines[n].lstrip())
        stop = n + 1
        if any(mark in lines[n] for mark in MARKS):
            while stop < len(lines) and len(lines[stop]) - len(lines[stop].lstrip()) > depth:
                stop += 1
            for side in (0, 1):
                for line in lines[n:stop]:
                    head, x, y, z = line.rsplit(" ", 3)
                    out.append(f"{sided(head, side)} {float(x) * (1, -1)[side]} {y} {z}")
        else:
            out.append(lines[n])
        n = stop
    return out


def read_table(table: str) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.float64]]:
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    above: list[int] = []
    for line in mirrored([line for line in table.splitlines() if line.strip()]):
        depth = (len(line) - len(line.lstrip())) // 2
        name, x, y, z = line.strip().rsplit(" ", 3)
        parent = above[depth - 1] if depth else -1
        above[depth:] = [len(names)]
        names.append(names[parent] + "End" if name == "End" else name)
        parents.append(parent)
        offsets.append([float(x), float(y), float(z)])
    return tuple(names), np.array(parents), np.array(offsets)


def rig(label: str, how: str, trunk: str, spine: str, arm: str, leg: str, table: str) -> Rig:
    """`trunk` names hips, neck and head, `arm` and `leg` five joints each; ``-`` is one that the rig lacks."""
    roles = dict(zip(("hips", "neck", "head"), trunk.split("/"), strict=True))
    chain = tuple(spine.split("/"))
    roles.update(spine=chain[0], chest=chain[-1])
    for side, word in enumerate(("left", "right")):
        for parts, joints in ((ARM, arm), (LEG, leg)):
            for part, joint in zip(parts, joints.split("/"), strict=True):
                roles[f"{word}_{part}"] = sided(joint, side)
    return Rig(label, how, *read_table(table), {r: j for r, j in roles.items() if j != "-"}, chain)


CMU = rig(
    "CMU",
    "profile CMU",
    "Hips/Neck/Head",
    "LowerBack/Spine/Spine1",
    "*Shoulder/*Arm/*ForeArm/*Hand/*HandIndex1End",
    "*UpLeg/*Leg/*Foot/*ToeBase/*ToeBaseEnd",
    """
Hips 0 0 0
  +HipJoint 0 0 0
    *UpLeg 0.089 -0.1 0.041
      *Leg 0.136 -0.373 0
        *Foot 0.15 -0.413 0
          *ToeBase 0.012 -0.032 0.12
            End 0 0 0.062
  LowerBack 0 0 0
    Spine 0 0.12 -0.014
      Spine1 0.003 0.121 -0.002
        Neck 0 0 0
          Neck1 -0.006 0.092 0.014
            Head 0.006 0.094 -0.013
              End 0.002 0.095 -0.006
        *Shoulder 0 0 0
          *Arm 0.186 0.045 -0.038
            *ForeArm 0.291 0 0
              *Hand 0.212 0 0
                *FingerBase 0 0 0
                  *HandIndex1 0.03 0 0
                    End 0.024 0 0
                +Thumb 0 0 0
                  End 0.024 0 0.024
""",
)

ASF = rig(
    "ASF",
    "profile ASF",
    "root/lowerneck/head",
    "lowerback/upperback/thorax",
    "^clavicle/^humerus/^radius/^wrist/^fingersEnd",
    "^femur/^tibia/^foot/^toes/^toesEnd",
    """
root 0 0 0
  ^hipjoint 0 0 0
    ^femur 0.089 -0.1 0.041
      ^tibia 0.136 -0.373 0
        ^foot 0.15 -0.413 0
          ^toes 0.012 -0.032 0.12
            End 0 0 0.062
  lowerback 0 0 0
    upperback 0 0.12 -0.014
      thorax 0.003 0.121 -0.002
        lowerneck 0.003 0.123 0.005
          upperneck -0.006 0.092 0.014
            head 0.006 0.094 -0.013
              End 0.002 0.095 -0.006
        ^clavicle 0.003 0.123 0.005
          ^humerus 0.186 0.045 -0.038
            ^radius 0.291 0 0
              ^wrist 0.212 0 0
                ^hand 0.048 0 0
                  ^fingers 0.03 0 0
                    End 0.024 0 0
                ^thumb 0.048 0 0
                  End 0.024 0 0.024
""",
)

MIXAMO_TABLE = """
mixamorig:Hips 0 1 0
  mixamorig:Spine 0 0.099 -0.012
    mixamorig:Spine1 0 0.117 0
      mixamorig:Spine2 0 0.135 0
        mixamorig:Neck 0 0.15 0.009
          mixamorig:Head 0 0.103 0.031
            mixamorig:HeadTop_End 0 0.185 0.066
            mixamorig:*Eye 0.03 0.06 0.09
        mixamorig:*Shoulder 0.061 0.091 0.008
          mixamorig:*Arm 0.129 0 -0.01
            mixamorig:*ForeArm 0.274 0 0
              mixamorig:*Hand 0.276 0 0
                mixamorig:*HandThumb1 0.027 -0.02 0.03
                  mixamorig:*HandThumb2 0.034 -0.02 0.03
                    mixamorig:*HandThumb3 0.03 -0.01 0.03
                      mixamorig:*HandThumb4 0.03 0 0.02
                mixamorig:*HandIndex1 0.123 0 0.028
                  mixamorig:*HandIndex2 0.039 0 0
                    mixamorig:*HandIndex3 0.034 0 0
                      mixamorig:*HandIndex4 0.031 0 0
                mixamorig:*HandMiddle1 0.128 0 0
                  mixamorig:*HandMiddle2 0.036 0 0
                    mixamorig:*HandMiddle3 0.036 0 0
                      mixamorig:*HandMiddle4 0.03 0 0
                mixamorig:*HandRing1 0.122 0 -0.022
                  mixamorig:*HandRing2 0.036 0 0
                    mixamorig:*HandRing3 0.034 0 0
                      mixamorig:*HandRing4 0.03 0 0
                mixamorig:*HandPinky1 0.109 0 -0.047
                  mixamorig:*HandPinky2 0.041 0 0
                    mixamorig:*HandPinky3 0.026 0 0
                      mixamorig:*HandPinky4 0.021 0 0
  mixamorig:*UpLeg 0.091 -0.067 0
    mixamorig:*Leg 0 -0.406 0
      mixamorig:*Foot 0 -0.421 -0.02
        mixamorig:*ToeBase 0 -0.105 0.12
          mixamorig:*Toe_End 0 0 0.1
"""
# Viewers and exporters write the namespace in different ways, or drop it.
MIXAMO_SPELLINGS = ("mixamorig:", "mixamorig_", "mixamorig1:", "mixamorig9:", "Character1_", "mixamorig", "")


def mixamo(prefix: str) -> Rig:
    def spelled(text: str) -> str:
        return text.replace("mixamorig:", prefix)

    return rig(
        f"Mixamo {prefix!r}",
        "profile Mixamo",
        spelled("mixamorig:Hips/mixamorig:Neck/mixamorig:Head"),
        spelled("mixamorig:Spine/mixamorig:Spine1/mixamorig:Spine2"),
        spelled("mixamorig:*Shoulder/mixamorig:*Arm/mixamorig:*ForeArm/mixamorig:*Hand/mixamorig:*HandMiddle4"),
        spelled("mixamorig:*UpLeg/mixamorig:*Leg/mixamorig:*Foot/mixamorig:*ToeBase/mixamorig:*Toe_End"),
        spelled(MIXAMO_TABLE),
    )


MIXAMO = mixamo("mixamorig:")

HUMANIK = rig(
    "HumanIK",
    "profile HumanIK",
    "Hips/Neck/Head",
    "Spine/Spine1/Spine2/Spine3",
    "*Shoulder/*Arm/*ForeArm/*Hand/*HandMiddle3",
    "*UpLeg/*Leg/*Foot/*ToeBase/-",
    """
Reference 0 0 0
  Hips 0 0.98 0
    *UpLeg 0.09 -0.04 0
      *UpLegRoll 0 -0.21 0
      *Leg 0 -0.42 0.01
        *LegRoll 0 -0.2 -0.01
        *Foot 0 -0.42 -0.03
          *ToeBase 0 -0.07 0.14
    Spine 0 0.07 0
      Spine1 0 0.1 0
        Spine2 0 0.1 0
          Spine3 0 0.1 0
            *Shoulder 0.03 0.1 0
              *Arm 0.15 0 0
                *ArmRoll 0.14 0 0
                *ForeArm 0.28 0 0
                  *ForeArmRoll 0.12 0 0
                  *Hand 0.25 0 0
                    *HandThumb1 0.03 0 0.03
                      *HandThumb2 0.05 0 0.02
                    *HandIndex1 0.09 0 0.03
                      *HandIndex2 0.04 0 0
                    *HandMiddle1 0.09 0 0
                      *HandMiddle2 0.04 0 0
                        *HandMiddle3 0.03 0 0
            Neck 0 0.15 0
              Head 0 0.12 0.02
""",
)

LAFAN1 = rig(
    "LAFAN1",
    "profile LAFAN1",
    "Hips/Neck/Head",
    "Spine/Spine1/Spine2",
    "*Shoulder/*Arm/*ForeArm/*Hand/*HandEnd",
    "*UpLeg/*Leg/*Foot/*Toe/*ToeEnd",
    # The rest pose is not a human pose: every bone points along +x.
    """
Hips 0 0.92 0
  LeftUpLeg 0.001 0.019 0.105
    LeftLeg 0.435 0 0
      LeftFoot 0.424 0 0
        LeftToe 0.173 0 0
          End 0.06 0 0
  RightUpLeg 0.001 0.019 -0.105
    RightLeg 0.435 0 0
      RightFoot 0.424 0 0
        RightToe 0.173 0 0
          End 0.06 0 0
  Spine 0.069 -0.026 0
    Spine1 0.126 0 0
      Spine2 0.123 0 0
        Neck 0.258 0 0
          Head 0.118 0 0
            End 0.12 0 0
        LeftShoulder 0.197 -0.015 0.06
          LeftArm 0.113 0 0
            LeftForeArm 0.33 0 0
              LeftHand 0.252 0 0
                End 0.1 0 0
        RightShoulder 0.197 -0.015 -0.06
          RightArm 0.113 0 0
            RightForeArm 0.33 0 0
              RightHand 0.252 0 0
                End 0.1 0 0
""",
)
# The same character standing, arms down, one foot ahead: offsets in the world.
LAFAN1_POSED = read_table("""
Hips 0 0.92 0
  LeftUpLeg 0.105 -0.019 0
    LeftLeg 0.02 -0.41 0.145
      LeftFoot 0.01 -0.42 0.05
        LeftToe 0.01 -0.08 0.153
          End 0 0 0.06
  RightUpLeg -0.105 -0.019 0
    RightLeg 0.02 -0.43 0.06
      RightFoot -0.02 -0.35 -0.24
        RightToe -0.03 -0.13 0.11
          End 0 -0.02 0.056
  Spine 0 0.069 -0.026
    Spine1 0 0.126 0
      Spine2 0 0.123 0
        Neck 0 0.258 0
          Head 0 0.1 0.06
            End 0 0.12 0
        LeftShoulder 0.06 0.19 0.05
          LeftArm 0.111 -0.02 0
            LeftForeArm 0.06 -0.32 -0.05
              LeftHand -0.02 -0.2 0.15
                End 0 -0.07 0.07
        RightShoulder -0.06 0.19 0.05
          RightArm -0.111 -0.02 0
            RightForeArm -0.06 -0.32 0.05
              RightHand 0 -0.25 0.03
                End 0 -0.1 0
""")[2]

SMPL_TABLE = """
Pelvis 0 0.94 0
  +_Hip 0.069 -0.091 -0.007
    +_Knee 0.034 -0.376 -0.005
      +_Ankle -0.014 -0.398 -0.043
        +_Foot 0.026 -0.056 0.119
  Spine1 0 0.109 -0.027
    Spine2 0.001 0.135 0.001
      Spine3 0 0.053 0.025
        Neck 0 0.214 -0.042
          Head 0.005 0.065 0.051
        +_Collar 0.083 0.115 -0.02
          +_Shoulder 0.099 0.045 -0.018
            +_Elbow 0.254 -0.012 -0.021
              +_Wrist 0.249 0.009 -0.005
                +_Hand 0.083 -0.008 -0.015
"""
SMPL = rig(
    "SMPL",
    "profile SMPL",
    "Pelvis/Neck/Head",
    "Spine1/Spine2/Spine3",
    "+_Collar/+_Shoulder/+_Elbow/+_Wrist/+_Hand",
    "+_Hip/+_Knee/+_Ankle/+_Foot/-",
    SMPL_TABLE,
)
SMPLX = rig(
    "SMPL-X",
    "profile SMPL",
    "pelvis/neck/head",
    "spine1/spine2/spine3",
    "~_collar/~_shoulder/~_elbow/~_wrist/~_middle3",
    "~_hip/~_knee/~_ankle/~_foot/-",
    """
pelvis 0 0.94 0
  ~_hip 0.069 -0.091 -0.007
    ~_knee 0.034 -0.376 -0.005
      ~_ankle -0.014 -0.398 -0.043
        ~_foot 0.026 -0.056 0.119
  spine1 0 0.109 -0.027
    spine2 0.001 0.135 0.001
      spine3 0 0.053 0.025
        neck 0 0.214 -0.042
          head 0.005 0.065 0.051
            jaw 0 -0.01 0.02
            ~_eye_smplhf 0.03 0.05 0.06
        ~_collar 0.083 0.115 -0.02
          ~_shoulder 0.099 0.045 -0.018
            ~_elbow 0.254 -0.012 -0.021
              ~_wrist 0.249 0.009 -0.005
                ~_index1 0.1 -0.01 0.02
                  ~_index2 0.032 0 0
                    ~_index3 0.022 0 0
                ~_middle1 0.104 -0.01 0
                  ~_middle2 0.031 0 0
                    ~_middle3 0.023 0 0
                ~_pinky1 0.08 -0.01 -0.04
                  ~_pinky2 0.02 0 0
                    ~_pinky3 0.015 0 0
                ~_ring1 0.09 -0.01 -0.02
                  ~_ring2 0.03 0 0
                    ~_ring3 0.022 0 0
                ~_thumb1 0.04 -0.01 0.03
                  ~_thumb2 0.03 0 0.02
                    ~_thumb3 0.02 0 0.02
""",
)

UE = rig(
    "UE",
    "profile UE",
    "pelvis/neck_01/head",
    "spine_01/spine_02/spine_03",
    "clavicle_^/upperarm_^/lowerarm_^/hand_^/middle_03_^",
    "thigh_^/calf_^/foot_^/ball_^/-",
    """
root 0 0 0
  pelvis 0 0.968 0.011
    spine_01 0 0.108 -0.009
      spine_02 0 0.189 0.013
        spine_03 0 0.134 -0.018
          clavicle_^ 0.038 0.11 0.015
            upperarm_^ 0.15 -0.03 -0.05
              lowerarm_^ 0.22 -0.2 -0.02
                hand_^ 0.18 -0.17 0.1
                  index_01_^ 0.07 -0.08 0.05
                    index_02_^ 0.02 -0.04 0.01
                      index_03_^ 0.02 -0.03 0.01
                  middle_01_^ 0.08 -0.09 0.03
                    middle_02_^ 0.02 -0.04 0.01
                      middle_03_^ 0.02 -0.03 0.01
                  thumb_01_^ 0.02 -0.03 0.04
                    thumb_02_^ 0.01 -0.02 0.03
                      thumb_03_^ 0.01 -0.02 0.03
                lowerarm_twist_01_^ 0.09 -0.08 0.05
              upperarm_twist_01_^ 0.01 -0.01 0
          neck_01 0 0.165 -0.005
            head 0 0.09 0.025
    thigh_^ 0.09 -0.014 -0.005
      calf_^ 0.03 -0.424 0.01
        calf_twist_01_^ 0.01 -0.2 -0.02
        foot_^ 0.03 -0.399 -0.05
          ball_^ 0.02 -0.105 0.14
      thigh_twist_01_^ 0.01 -0.22 0
  ik_foot_root 0 0 0
    ik_foot_^ 0.15 0.131 -0.034
  ik_hand_root 0 0 0
    ik_hand_gun -0.588 1.103 0.03
      ik_hand_l 1.176 0 0
      ik_hand_r 0 0 0
""",
)
UE5 = rig(
    "UE5",
    "profile UE",
    "pelvis/neck_01/head",
    "spine_01/spine_02/spine_03/spine_04/spine_05",
    "clavicle_^/upperarm_^/lowerarm_^/hand_^/middle_03_^",
    "thigh_^/calf_^/foot_^/ball_^/-",
    """
root 0 0 0
  pelvis 0 0.96 0
    spine_01 0 0.03 0
      spine_02 0 0.06 0
        spine_03 0 0.08 0
          spine_04 0 0.1 0
            spine_05 0 0.2 0
              neck_01 0 0.11 0.01
                neck_02 0 0.05 0.01
                  head 0 0.05 0.01
              clavicle_^ 0.02 0.06 0.02
                upperarm_^ 0.16 0 -0.04
                  lowerarm_^ 0.2 -0.2 -0.01
                    hand_^ 0.18 -0.18 0.07
                      middle_metacarpal_^ 0.03 -0.02 0.01
                        middle_01_^ 0.05 -0.04 0.01
                          middle_02_^ 0.03 -0.03 0.01
                            middle_03_^ 0.02 -0.02 0
                      thumb_01_^ 0.02 -0.02 0.03
                        thumb_02_^ 0.02 -0.02 0.03
                    lowerarm_twist_02_^ 0.06 -0.06 0.02
                    lowerarm_twist_01_^ 0.12 -0.12 0.04
                  upperarm_twist_01_^ 0 0 0
                  upperarm_twist_02_^ 0.1 -0.1 0
    thigh_^ 0.1 -0.02 0
      calf_^ 0.02 -0.44 0.01
        foot_^ 0.02 -0.42 -0.04
          ball_^ 0.01 -0.08 0.14
        calf_twist_02_^ 0 -0.14 0
      thigh_twist_01_^ 0 -0.14 0
""",
)

BANDAI = rig(
    "Bandai-Namco",
    "profile Bandai-Namco",
    "Hips/Neck/Head",
    "Spine/Chest",
    "Shoulder_+/UpperArm_+/LowerArm_+/Hand_+/Hand_+End",
    "UpperLeg_+/LowerLeg_+/Foot_+/Toes_+/Toes_+End",
    """
joint_Root 0 0 0
  Hips 0 0.939 -0.03
    Spine 0.157 0 0
      Chest 0.09 -0.004 0
        Neck 0.164 0 0
          Head 0.065 0 0
            End 0 0 0
        Shoulder_+ 0.13 -0.002 0.05
          UpperArm_+ 0.053 0 0
            LowerArm_+ 0.243 0 0
              Hand_+ 0.223 0 0
                End 0 0 0
    UpperLeg_+ -0.022 -0.065 0
      LowerLeg_+ 0.391 0 0
        Foot_+ 0.41 0 0
          Toes_+ 0.118 0 0
            End 0 0 0
""",
)

STYLE100 = rig(
    "100STYLE",
    "profile 100STYLE",
    "Hips/Neck/Head",
    "Chest/Chest2/Chest3/Chest4",
    "*Collar/*Shoulder/*Elbow/*Wrist/*WristEnd",
    "*Hip/*Knee/*Ankle/*Toe/*ToeEnd",
    """
Hips 0 0.95 0
  Chest 0 0.1 0
    Chest2 0 0.11 0
      Chest3 0 0.1 0
        Chest4 0 0.1 0
          Neck 0 0.14 0
            Head 0 0.1 0
              End 0 0.17 0
          *Collar 0.031 0.079 0
            *Shoulder 0.144 0 0
              *Elbow 0.308 0 0
                *Wrist 0.252 0 0
                  End 0.188 0 0
  *Hip 0.085 0 0
    *Knee 0 -0.41 0
      *Ankle 0 -0.42 0
        *Toe 0 -0.08 0.17
          End 0 0 0
""",
)

XSENS = rig(
    "Xsens",
    "profile Xsens",
    "Pelvis/Neck/Head",
    "L5/L3/T12/T8",
    "*Shoulder/*UpperArm/*ForeArm/*Hand/*HandEnd",
    "*UpperLeg/*LowerLeg/*Foot/*Toe/*ToeEnd",
    """
Pelvis 0 0.96 0
  L5 0 0.1 0
    L3 0 0.11 0
      T12 0 0.1 0
        T8 0 0.1 0
          Neck 0 0.14 0
            Head 0 0.1 0
              End 0 0.17 0
          *Shoulder 0.03 0.08 0
            *UpperArm 0.14 0 0
              *ForeArm 0.3 0 0
                *Hand 0.25 0 0
                  End 0.19 0 0
  *UpperLeg 0.085 0 0
    *LowerLeg 0 -0.43 0
      *Foot 0 -0.42 0
        *Toe 0 -0.08 0.17
          End 0 0 0.04
""",
)

ROKOKO = rig(
    "Rokoko",
    "profile Rokoko",
    "Hips/Neck/Head",
    "Spine1/Spine2/Spine3/Spine4",
    "*Shoulder/*Arm/*ForeArm/*Hand/*HandEnd",
    "*Thigh/*Shin/*Foot/*Toe/*ToeTip",
    """
Root 0 0 0
  Hips 0 0.97 0
    Spine1 0 0.08 0
      Spine2 0 0.1 0
        Spine3 0 0.1 0
          Spine4 0 0.1 0
            Neck 0 0.13 0
              Head 0 0.1 0.02
                End 0 0.16 0
            *Shoulder 0.03 0.08 0
              *Arm 0.14 0 0
                *ForeArm 0.29 0 0
                  *Hand 0.25 0 0
                    End 0.1 0 0
    *Thigh 0.09 0 0
      *Shin 0 -0.43 0
        *Foot 0 -0.42 0
          *Toe 0 -0.08 0.15
            *ToeTip 0 0 0.06
""",
)

VRM = rig(
    "VRM",
    "profile VRM",
    "hips/neck/head",
    "spine/chest/upperChest",
    "~Shoulder/~UpperArm/~LowerArm/~Hand/-",
    "~UpperLeg/~LowerLeg/~Foot/~Toes/-",
    """
hips 0 0.9 0
  spine 0 0.06 0
    chest 0 0.1 0
      upperChest 0 0.1 0
        neck 0 0.12 0
          head 0 0.08 0
        ~Shoulder 0.03 0.09 0
          ~UpperArm 0.09 0 0
            ~LowerArm 0.22 0 0
              ~Hand 0.21 0 0
  ~UpperLeg 0.08 -0.04 0
    ~LowerLeg 0 -0.37 0
      ~Foot 0 -0.39 0
        ~Toes 0 -0.07 0.11
""",
)
VROID = rig(
    "VRoid",
    "profile VRM",
    "J_Bip_C_Hips/J_Bip_C_Neck/J_Bip_C_Head",
    "J_Bip_C_Spine/J_Bip_C_Chest/J_Bip_C_UpperChest",
    "J_Bip_+_Shoulder/J_Bip_+_UpperArm/J_Bip_+_LowerArm/J_Bip_+_Hand/J_Bip_+_Middle3",
    "J_Bip_+_UpperLeg/J_Bip_+_LowerLeg/J_Bip_+_Foot/J_Bip_+_ToeBase/-",
    """
Root 0 0 0
  J_Bip_C_Hips 0 0.9 0
    J_Bip_C_Spine 0 0.06 0
      J_Bip_C_Chest 0 0.1 0
        J_Bip_C_UpperChest 0 0.1 0
          J_Sec_+_Bust1 0.05 0 0.08
            J_Sec_+_Bust2 0.02 0 0.06
          J_Bip_C_Neck 0 0.12 0
            J_Bip_C_Head 0 0.08 0
              J_Adj_+_FaceEye 0.02 0.05 0.03
              J_Sec_Hair1_01 0 0.1 -0.08
                J_Sec_Hair2_01 0 -0.15 -0.05
                  J_Sec_Hair3_01 0 -0.2 0
                    J_Sec_Hair4_01 0 -0.2 0
              J_Sec_Hair1_02 0.04 0.1 -0.08
                J_Sec_Hair2_02 0 -0.15 -0.05
                  J_Sec_Hair3_02 0 -0.2 0
                    J_Sec_Hair4_02 0 -0.2 0
              J_Sec_Hair1_03 -0.04 0.1 -0.08
                J_Sec_Hair2_03 0 -0.15 -0.05
                  J_Sec_Hair3_03 0 -0.2 0
                    J_Sec_Hair4_03 0 -0.2 0
          J_Bip_+_Shoulder 0.03 0.09 0
            J_Bip_+_UpperArm 0.09 0 0
              J_Bip_+_LowerArm 0.22 0 0
                J_Bip_+_Hand 0.21 0 0
                  J_Bip_+_Middle1 0.07 0 0
                    J_Bip_+_Middle2 0.03 0 0
                      J_Bip_+_Middle3 0.02 0 0
                  J_Bip_+_Thumb1 0.01 0 0.02
                    J_Bip_+_Thumb2 0.03 0 0.03
    J_Sec_+_Skirt1 0.1 -0.05 0
      J_Sec_+_Skirt2 0.02 -0.15 0
        J_Sec_+_Skirt3 0.02 -0.15 0
          J_Sec_+_Skirt4 0.02 -0.15 0
    J_Bip_+_UpperLeg 0.08 -0.04 0
      J_Bip_+_LowerLeg 0 -0.37 0
        J_Bip_+_Foot 0 -0.39 0
          J_Bip_+_ToeBase 0 -0.07 0.11
""",
)

BIPED = rig(
    "Biped",
    "profile Biped",
    "Bip01 Pelvis/Bip01 Neck/Bip01 Head",
    "Bip01 Spine/Bip01 Spine1/Bip01 Spine2",
    "Bip01 + Clavicle/Bip01 + UpperArm/Bip01 + Forearm/Bip01 + Hand/Bip01 + Finger11",
    "Bip01 + Thigh/Bip01 + Calf/Bip01 + Foot/Bip01 + Toe0/Bip01 + Toe0Nub",
    """
Bip01 0 0.95 0
  Bip01 Footsteps 0 -0.95 0
  Bip01 Pelvis 0 0 0
    Bip01 Spine 0 0.1 0
      Bip01 Spine1 0 0.13 0
        Bip01 Spine2 0 0.13 0
          Bip01 Neck 0 0.14 0
            Bip01 Head 0 0.09 0
              Bip01 HeadNub 0 0.2 0
            Bip01 + Clavicle 0.03 -0.02 0
              Bip01 + UpperArm 0.13 0 0
                Bip01 + Forearm 0.28 0 0
                  Bip01 + Hand 0.25 0 0
                    Bip01 + Finger0 0.03 0 0.03
                      Bip01 + Finger01 0.03 0 0.02
                    Bip01 + Finger1 0.09 0 0
                      Bip01 + Finger11 0.04 0 0
    Bip01 + Thigh 0.09 0 0
      Bip01 + Calf 0 -0.43 0
        Bip01 + Foot 0 -0.42 0
          Bip01 + Toe0 0 -0.09 0.13
            Bip01 + Toe0Nub 0 0 0.06
""",
)

RIGIFY = rig(
    "Rigify",
    "profile Rigify",
    "spine/spine.004/spine.006",
    "spine.001/spine.002/spine.003",
    "shoulder.+/upper_arm.+/forearm.+/hand.+/f_middle.03.+",
    "thigh.+/shin.+/foot.+/toe.+/-",
    """
spine 0 1.05 0
  spine.001 0 0.1 0
    spine.002 0 0.13 0
      spine.003 0 0.13 0
        spine.004 0 0.2 0
          spine.005 0 0.04 0
            spine.006 0 0.04 0.01
        shoulder.+ 0.02 0.13 0.03
          upper_arm.+ 0.16 0 -0.04
            forearm.+ 0.27 0 0.01
              hand.+ 0.25 0 0
                palm.02.+ 0.03 0 0
                  f_middle.01.+ 0.07 0 0
                    f_middle.02.+ 0.04 0 0
                      f_middle.03.+ 0.03 0 0
        breast.+ 0.1 -0.02 0.1
  pelvis.+ 0.05 0 0
  thigh.+ 0.1 0 0
    shin.+ 0 -0.5 0.02
      foot.+ 0 -0.45 -0.03
        heel.02.+ -0.03 -0.08 -0.04
        toe.+ 0 -0.07 0.12
""",
)

DAZ = rig(
    "Daz",
    "profile Daz",
    "hip/neckLower/head",
    "abdomenLower/abdomenUpper/chestLower/chestUpper",
    "^Collar/^ShldrBend/^ForearmBend/^Hand/^Mid3",
    "^ThighBend/^Shin/^Foot/^Toe/^BigToe",
    """
hip 0 1.05 0
  pelvis 0 0.02 0
    ^ThighBend 0.08 -0.1 0
      ^ThighTwist 0 -0.21 0
        ^Shin 0 -0.24 0
          ^Foot 0 -0.43 -0.03
            ^Heel 0 -0.05 -0.05
            ^Metatarsals 0 -0.03 0.04
              ^Toe 0 -0.04 0.1
                ^BigToe -0.02 0 0.03
  abdomenLower 0 0.03 0
    abdomenUpper 0 0.09 0
      chestLower 0 0.09 0
        chestUpper 0 0.12 0
          ^Collar 0.03 0.08 0
            ^ShldrBend 0.12 0.01 -0.02
              ^ShldrTwist 0.12 0 0
                ^ForearmBend 0.15 0 0
                  ^ForearmTwist 0.12 0 0
                    ^Hand 0.13 0 0
                      ^Carpal2 0.02 0 0
                        ^Mid1 0.08 0 0
                          ^Mid2 0.04 0 0
                            ^Mid3 0.03 0 0
                      ^Thumb1 0.02 0 0.02
                        ^Thumb2 0.04 0 0.03
          neckLower 0 0.14 -0.02
            neckUpper 0 0.04 0.01
              head 0 0.05 0
        ^Pectoral 0.06 0.05 0.06
""",
)

KINECT = rig(
    "Kinect",
    "profile Kinect",
    "SpineBase/Neck/Head",
    "SpineMid/SpineShoulder",
    "-/Shoulder*/Elbow*/Wrist*/HandTip*",
    "Hip*/Knee*/Ankle*/Foot*/-",
    """
SpineBase 0 0.95 0
  SpineMid 0 0.3 0
    SpineShoulder 0 0.2 0
      Neck 0 0.07 0
        Head 0 0.15 0
      Shoulder* 0.17 -0.03 0
        Elbow* 0.27 0 0
          Wrist* 0.24 0 0
            Hand* 0.07 0 0
              HandTip* 0.08 0 0
            Thumb* 0.04 0 0.04
  Hip* 0.08 -0.02 0
    Knee* 0 -0.42 0
      Ankle* 0 -0.4 0
        Foot* 0 -0.06 0.11
""",
)

TUTORIAL = rig(
    "tutorial BVH",
    "names",
    "Hips/Neck/Head",
    "Chest",
    "*Collar/*UpArm/*LowArm/*Hand/*HandEnd",
    "*UpLeg/*LowLeg/*Foot/-/*FootEnd",
    # In inches, and without toes: only names can tell left from right.
    """
Hips 0 0 0
  Chest 0 5.21 0
    Neck 0 18.65 0
      Head 0 5.45 0
        End 0 3.87 0
    *Collar 1.12 16.23 1.87
      *UpArm 5.54 0 0
        *LowArm 0 -11.96 0
          *Hand 0 -9.93 0
            End 0 -7 0
  *UpLeg 3.91 0 0
    *LowLeg 0 -18.34 0
      *Foot 0 -17.37 0
        End 0 -3.46 0
""",
)

ACTORCORE = rig(
    "ActorCore",
    "profile ActorCore",
    "CC_Base_Hip/CC_Base_NeckTwist01/CC_Base_Head",
    "CC_Base_Waist/CC_Base_Spine01/CC_Base_Spine02",
    "CC_Base_+_Clavicle/CC_Base_+_Upperarm/CC_Base_+_Forearm/CC_Base_+_Hand/CC_Base_+_Mid3",
    "CC_Base_+_Thigh/CC_Base_+_Calf/CC_Base_+_Foot/CC_Base_+_ToeBase/-",
    """
CC_Base_BoneRoot 0 0 0
  CC_Base_Hip 0 0.95 0
    CC_Base_Pelvis 0 0.02 0
      CC_Base_+_Thigh 0.09 -0.05 0
        CC_Base_+_ThighTwist01 0 -0.1 0
          CC_Base_+_ThighTwist02 0 -0.1 0
        CC_Base_+_Calf 0 -0.43 0
          CC_Base_+_CalfTwist01 0 -0.1 0
          CC_Base_+_Foot 0 -0.42 0
            CC_Base_+_ToeBase 0 -0.09 0.13
    CC_Base_Waist 0 0.1 0
      CC_Base_Spine01 0 0.13 0
        CC_Base_Spine02 0 0.13 0
          CC_Base_NeckTwist01 0 0.2 0
            CC_Base_NeckTwist02 0 0.05 0
              CC_Base_Head 0 0.05 0
          CC_Base_+_Clavicle 0.03 0.15 0
            CC_Base_+_Upperarm 0.13 0 0
              CC_Base_+_UpperarmTwist01 0.1 0 0
              CC_Base_+_Forearm 0.28 0 0
                CC_Base_+_ForearmTwist01 0.1 0 0
                CC_Base_+_Hand 0.25 0 0
                  CC_Base_+_Mid1 0.09 0 0
                    CC_Base_+_Mid2 0.04 0 0
                      CC_Base_+_Mid3 0.03 0 0
""",
)

MOTIVE = rig(
    "Motive",
    "profile Motive",
    "Hip/Neck/Head",
    "Ab/Chest",
    "+Shoulder/+UArm/+FArm/+Hand/-",
    "+Thigh/+Shin/+Foot/+Toe/-",
    """
Hip 0 0.95 0
  Ab 0 0.1 0
    Chest 0 0.2 0
      Neck 0 0.25 0
        Head 0 0.12 0
      +Shoulder 0.04 0.2 0
        +UArm 0.13 0 0
          +FArm 0.28 0 0
            +Hand 0.25 0 0
  +Thigh 0.09 0 0
    +Shin 0 -0.43 0
      +Foot 0 -0.42 0
        +Toe 0 -0.09 0.13
""",
)

SOMA = rig(
    "SOMA",
    "names",
    "Hips/Neck1/Head",
    "Spine1/Spine2/Chest",
    "*Shoulder/*Arm/*ForeArm/*Hand/*HandMiddleEnd",
    "*Leg/*Shin/*Foot/*ToeBase/*ToeEnd",
    """
Root 0 0 0
  Hips 0 0.97 0
    Spine1 0 0.05 0
      Spine2 0 0.07 0
        Chest 0 0.08 -0.01
          Neck1 0 0.26 -0.01
            Neck2 0 0.08 0.02
              Head 0 0.06 0.02
                HeadEnd 0 0.16 0
                Jaw 0 0.01 0.03
                *Eye 0.03 0.05 0.08
          *Shoulder 0.02 0.19 0
            *Arm 0.17 0 -0.01
              *ForeArm 0.28 0 0
                *Hand 0.25 0 0
                  *HandThumb1 0.02 -0.01 0.03
                    *HandThumbEnd 0.05 0 0.06
                  *HandMiddle1 0.1 0 0
                    *HandMiddleEnd 0.1 0 0
    *Leg 0.09 -0.04 0
      *Shin 0 -0.42 0
        *Foot 0 -0.41 0
          *ToeBase 0 -0.08 0.14
            *ToeEnd 0 0 0.06
""",
)

MHR = rig(
    "MHR",
    "names and structure",
    "root/c_neck/c_head",
    "c_spine0/c_spine1/c_spine2/c_spine3",
    "^_clavicle/^_uparm/^_lowarm/^_wrist/^_middle_null",
    "^_upleg/^_lowleg/^_foot/^_ball/-",
    """
body_world 0 0 0
  root 0 0.95 0
    ^_upleg 0.1 -0.03 0
      ^_lowleg 0 -0.42 0
        ^_foot 0 -0.41 0
          ^_talocrural 0 0 0
            ^_subtalar 0 -0.02 0
              ^_transversetarsal 0 -0.02 0.06
                ^_ball 0 -0.02 0.08
    c_spine0 0 0.06 0
      c_spine1 0 0.1 0
        c_spine2 0 0.12 0
          c_spine3 0 0.12 0
            c_neck 0 0.12 0
              c_head 0 0.11 0.02
                c_head_null 0 0.16 0
            ^_clavicle 0.03 0.06 0
              ^_uparm 0.15 0 0
                ^_lowarm 0.28 0 0
                  ^_wrist 0.25 0 0
                    ^_middle1 0.1 0 0
                      ^_middle_null 0.08 0 0
""",
)

RIGS = (
    ACTORCORE, MOTIVE, SOMA, MHR,
    CMU, ASF, MIXAMO, HUMANIK, LAFAN1, SMPL, SMPLX, UE, UE5, BANDAI, STYLE100, XSENS, ROKOKO, VRM, VROID, BIPED, RIGIFY,
    DAZ, KINECT, TUTORIAL,
)  # fmt: skip
# Rigs whose rest pose is a human pose with feet: the shape alone shows the roles.
SHAPELY = tuple(r for r in RIGS if r not in (LAFAN1, BANDAI, TUTORIAL))
