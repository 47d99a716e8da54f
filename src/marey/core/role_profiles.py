"""Interpret joint names: profiles of well-known rigs, and the words that other rigs use.

This is the only module in the library that knows bone names. Names are split into tokens, so case, separators,
namespaces and a prefix shared by all joints (``mixamorig:``, ``Character1_``, ``Bip01``) do not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

__all__ = [
    "POINT_SETS",
    "PROFILES",
    "NameParts",
    "PointSet",
    "Profile",
    "joints_like",
    "read_names",
    "roles_by_words",
]

SIDES = ("left", "right")


class Profile(NamedTuple):
    """The joint names of one rig.

    roles : role to normalized joint name. marks : further names that identify the rig.
    """

    name: str
    roles: dict[str, str]
    marks: tuple[str, ...]


def _build_profile(name: str, sides: str, trunk: str, arm: str, leg: str, marks: str = "") -> Profile:
    """Build the profile of one rig from the joint names of its trunk, one arm and one leg.

    In these names, ``*`` stands for the side, as one of the two words in `sides` spells it, and ``-`` for a missing
    joint. `marks` are further names that identify the rig.
    """
    roles = dict(zip(("hips", "neck", "head"), trunk.split(), strict=True))
    limbs = dict(zip(("shoulder", "upper_arm", "forearm", "hand"), arm.split(), strict=True))
    limbs.update(zip(("upper_leg", "lower_leg", "foot", "ball"), leg.split(), strict=True))
    for side, spelling in zip(SIDES, sides.split(), strict=True):
        roles.update({f"{side}_{role}": joint.replace("*", spelling) for role, joint in limbs.items()})
    return Profile(name, {role: joint for role, joint in roles.items() if joint != "-"}, tuple(marks.split()))


_LONG, _SHORT, _PLAIN = "left right", "l r", "hips neck head"
_HIK_ARM, _HIK_LEG = "*shoulder *arm *forearm *hand", "*upleg *leg *foot *toebase"
_JOINT_ARM, _JOINT_LEG = "*collar *shoulder *elbow *wrist", "*hip *knee *ankle *foot"
_BONE_ARM, _BONE_LEG = "*shoulder *upperarm *lowerarm *hand", "*upperleg *lowerleg *foot *toes"

# If two profiles match equally well, the earlier one is used, so the more general one comes first.
# fmt: off
PROFILES: tuple[Profile, ...] = (
    _build_profile("HumanIK", _LONG, _PLAIN, _HIK_ARM, _HIK_LEG, "reference leftuplegroll leftarmroll spine3"),
    _build_profile("CMU", _LONG, _PLAIN, _HIK_ARM, _HIK_LEG, "lhipjoint lowerback neck1 lthumb leftfingerbase"),
    _build_profile("Mixamo", _LONG, _PLAIN, _HIK_ARM, _HIK_LEG, "mixamorig headtopend lefttoeend lefthandindex4"),
    _build_profile("LAFAN1", _LONG, _PLAIN, _HIK_ARM, "*upleg *leg *foot *toe", "spine1 spine2"),
    _build_profile("ASF", _SHORT, "root lowerneck head", "*clavicle *humerus *radius *wrist",
             "*femur *tibia *foot *toes", "lhipjoint lowerback upperback thorax upperneck lfingers"),
    _build_profile("SMPL", _SHORT, "pelvis neck head", _JOINT_ARM, _JOINT_LEG, "spine1 spine2 spine3 lhand"),
    _build_profile("SMPL", _LONG, "pelvis neck head", _JOINT_ARM, _JOINT_LEG, "spine1 spine2 spine3 leftindex1"),
    _build_profile("UE", _SHORT, "pelvis neck01 head", "clavicle* upperarm* lowerarm* hand*",
             "thigh* calf* foot* ball*", "spine01 spine02 ikfootroot upperarmtwist01l"),
    _build_profile("Bandai-Namco", _SHORT, _PLAIN, "shoulder* upperarm* lowerarm* hand*",
             "upperleg* lowerleg* foot* toes*", "jointroot spine chest"),
    _build_profile("100STYLE", _LONG, _PLAIN, _JOINT_ARM, "*hip *knee *ankle *toe", "chest chest2 chest3 chest4"),
    _build_profile("Xsens", _LONG, "pelvis neck head", "*shoulder *upperarm *forearm *hand",
             "*upperleg *lowerleg *foot *toe", "l5 l3 t12 t8"),
    _build_profile("Rokoko", _LONG, _PLAIN, _HIK_ARM, "*thigh *shin *foot *toe", "spine4 lefttoetip"),
    _build_profile("VRM", _LONG, _PLAIN, _BONE_ARM, _BONE_LEG, "chest upperchest"),
    _build_profile("VRM", _SHORT, _PLAIN, _BONE_ARM, "*upperleg *lowerleg *foot *toebase", "chest upperchest"),
    _build_profile("Biped", _SHORT, "pelvis neck head", "*clavicle *upperarm *forearm *hand",
             "*thigh *calf *foot *toe0", "spine headnub ltoe0nub footsteps"),
    _build_profile("Rigify", _SHORT, "spine spine004 spine006", "shoulder* upperarm* forearm* hand*",
             "thigh* shin* foot* toe*", "spine001 spine002 spine003"),
    _build_profile("Daz", _SHORT, "hip neck head", "*collar *shldr *forearm *hand",
             "*thigh *shin *foot *toe", "pelvis abdomen chest"),
    _build_profile("Daz", _SHORT, "hip necklower head", "*collar *shldrbend *forearmbend *hand",
             "*thighbend *shin *foot *toe", "pelvis abdomenlower chestlower lthightwist"),
    _build_profile("ActorCore", _SHORT, "hip necktwist01 head", "*clavicle *upperarm *forearm *hand",
             "*thigh *calf *foot *toebase", "boneroot waist spine01 spine02 necktwist02 lupperarmtwist01"),
    _build_profile("Motive", _SHORT, "hip neck head", "*shoulder *uarm *farm *hand",
             "*thigh *shin *foot *toe", "ab chest"),
    _build_profile("Kinect", _LONG, "spinebase neck head", "- shoulder* elbow* wrist*",
             "hip* knee* ankle* foot*", "spinemid spineshoulder"),
)
# fmt: on


class PointSet(NamedTuple):
    """The body points of a data set or program, in order, and which joints of `core.solve` they represent.

    A joint represented by several points lies at their mean.
    """

    names: tuple[str, ...]
    joints: dict[str, tuple[str, ...]]


def _point_set(names: str, trunk: str, limbs: str) -> PointSet:
    """Build a `PointSet`. In `limbs`, ``*`` stands for the side; ``+`` separates several points of one joint."""
    pairs = [pair.split("=") for pair in trunk.split()]
    for side in SIDES:
        pairs += [
            [f"{side}_{joint}", point.replace("*", side if "left" in names else side[0].upper())]
            for joint, point in (pair.split("=") for pair in limbs.split())
        ]
    return PointSet(tuple(names.split()), {joint: tuple(points.split("+")) for joint, points in pairs})


_JOINT_LIMBS = "upper_arm=*_shoulder forearm=*_elbow hand=*_wrist upper_leg=*_hip lower_leg=*_knee foot=*_ankle"
# fmt: off
POINT_SETS: dict[str, PointSet] = {
    "humanml3d": _point_set(
        "pelvis left_hip right_hip spine1 left_knee right_knee spine2 left_ankle right_ankle spine3 left_foot "
        "right_foot neck left_collar right_collar head left_shoulder right_shoulder left_elbow right_elbow left_wrist "
        "right_wrist",
        "hips=pelvis spine=spine1 spine2=spine2 chest=spine3 neck=neck head=head",
        f"shoulder=*_collar ball=*_foot {_JOINT_LIMBS}",
    ),
    "coco": _point_set(
        "nose left_eye right_eye left_ear right_ear left_shoulder right_shoulder left_elbow right_elbow left_wrist "
        "right_wrist left_hip right_hip left_knee right_knee left_ankle right_ankle",
        "head=left_ear+right_ear nose=nose", _JOINT_LIMBS,
    ),
    "human36m": _point_set(
        "pelvis RHip RKnee RAnkle LHip LKnee LAnkle spine thorax nose head LShoulder LElbow LWrist RShoulder RElbow "
        "RWrist",
        "hips=pelvis spine=spine neck=thorax head=nose head_tip=head",
        "upper_arm=*Shoulder forearm=*Elbow hand=*Wrist upper_leg=*Hip lower_leg=*Knee foot=*Ankle",
    ),
    "mediapipe": _point_set(
        "nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer left_ear right_ear "
        "mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist left_pinky "
        "right_pinky left_index right_index left_thumb right_thumb left_hip right_hip left_knee right_knee left_ankle "
        "right_ankle left_heel right_heel left_foot_index right_foot_index",
        "head=left_ear+right_ear nose=nose",
        f"fingertips=*_index+*_pinky ball=*_foot_index {_JOINT_LIMBS}",
    ),
}
# fmt: on

# The body part that each word stands for. "hip", "leg", "shoulder", "arm", "foot" and "hand" mean different joints in
# different rigs; `roles_by_words` resolves them from the other joints of the same side.
_WORDS: dict[str, str] = {
    word: part
    for part, words in {
        "hips": "hips pelvis",
        "hip": "hip hipjoint",
        "thigh": "thigh upleg upperleg legupper femur upthigh upperthigh",
        "leg": "leg",
        "shin": "shin calf knee lowerleg lowleg loleg leglower tibia",
        "ankle": "ankle",
        "foot": "foot",
        "ball": "toe toes ball toebase",
        "collar": "clavicle clav collar collarbone",
        "shoulder": "shoulder",
        "upperarm": "upperarm uparm armupper humerus shldr",
        "arm": "arm",
        "forearm": "forearm lowerarm lowarm loarm armlower elbow radius ulna",
        "wrist": "wrist",
        "hand": "hand",
        "neck": "neck lowerneck necklower",
        "head": "head",
    }.items()
    for word in words.split()
}
# Parts whose joints are suggested when a role was not found.
_NEAR_ROLE: dict[str, tuple[str, ...]] = {
    "hips": ("hips", "hip"),
    "neck": ("neck",),
    "head": ("head", "neck"),
    "shoulder": ("collar", "shoulder"),
    "upper_arm": ("upperarm", "arm", "shoulder"),
    "forearm": ("forearm", "arm"),
    "hand": ("hand", "wrist"),
    "fingertips": ("hand", "wrist"),
    "upper_leg": ("thigh", "leg", "hip"),
    "lower_leg": ("shin", "leg"),
    "foot": ("foot", "ankle"),
    "ball": ("ball", "foot", "ankle"),
    "toe_tip": ("ball", "foot", "ankle"),
}
_SIDE_WORDS = {"left": 1, "l": 1, "lft": 1, "right": -1, "r": -1, "rgt": -1}
_NOISE = {"joint", "jnt", "jt", "bone", "bn", "bind", "bnd", "def", "skin", "sk", "skel", "bend"}
_ENDS = {"end", "nub", "site", "tip", "effector", "eff"}
# fmt: off
# Joints attached to a limb without being part of it.
_EXTRAS = {
    "twist", "roll", "ik", "fk", "pole", "target", "ctrl", "control", "helper", "aim", "tweak", "mch", "org",
    "driver", "socket", "attach", "prop", "weapon", "gun", "sword", "heel", "hair", "skirt", "cape", "tail",
    "eye", "jaw", "breast", "muscle", "corrective", "virtual", "dummy",
}
_FINGERS = {
    "middle": 0, "mid": 0, "index": 1, "fingers": 2, "finger": 2, "ring": 3, "pinky": 4, "little": 4,
    "thumb": 5,
}
# fmt: on
PLAIN, EXTRA = 2, 9  # finger ranks: no finger named, and not part of the limb

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_SHARED_PREFIX = 0.6  # minimum fraction of the joints that share a prefix


class NameParts(NamedTuple):
    """The meaning of a skeleton's J joint names.

    Attributes
    ----------
    keys : normalized names: lower case, no namespace, no shared prefix, no separators.
    prefix : the shared prefix that was removed, normalized.
    sides : +1 left, -1 right, 0 unknown.
    parts : the body part (a value of the word table), or None.
    ends : True for names of end sites.
    ranks : 0 for a middle finger, 1 index, 2 no finger named, then ring, little, thumb; 9 for props and helpers.
    """

    keys: tuple[str, ...]
    prefix: str
    sides: tuple[int, ...]
    parts: tuple[str | None, ...]
    ends: tuple[bool, ...]
    ranks: tuple[int, ...]


def read_names(names: Sequence[str]) -> NameParts:
    """Parse J joint names; see `NameParts`."""
    tokens = [_split_tokens(name) for name in names]
    prefix = _strip_shared(tokens)
    read = [_read_tokens(words) for words in tokens]
    return NameParts(
        keys=tuple("".join(words) for words in tokens),
        prefix=prefix,
        sides=tuple(side for side, _, _, _ in read),
        parts=tuple(part for _, part, _, _ in read),
        ends=tuple(end for _, _, end, _ in read),
        ranks=tuple(rank for _, _, _, rank in read),
    )


def _split_tokens(name: str) -> list[str]:
    bare = re.split(r"[:|]", name)[-1]
    tokens = [token.lower() for token in _TOKEN.findall(bare)]
    # VRoid rigs mix body joints (J_Bip_L_Hand) with hair and cloth (J_Sec_...), Rigify mixes deform joints
    # (DEF-hand.L) with controls. There the prefix marks the body, and not all joints share it.
    for known in (["j", "bip", "c"], ["j", "bip"], ["def"]):
        if tokens[: len(known)] == known and len(tokens) > len(known):
            return tokens[len(known) :]
    return tokens


def _strip_shared(tokens: list[list[str]]) -> str:
    """Remove leading tokens that most joints share from `tokens`, in place; return the removed tokens as text."""
    removed = ""
    while True:
        first = Counter(words[0] for words in tokens if len(words) > 1)
        if not first:
            return removed
        word = max(first, key=lambda word: first[word])
        if first[word] < max(3, _SHARED_PREFIX * len(tokens)) or word in _SIDE_WORDS:
            return removed
        removed += word
        for words in tokens:
            if len(words) > 1 and words[0] == word:
                del words[0]


def _read_tokens(tokens: list[str]) -> tuple[int, str | None, bool, int]:
    """Return side, body part, end site or not, and finger rank of one name."""
    side, rest, end, rank = 0, [], False, PLAIN
    for token in tokens:
        sign, word = _split_side(token)
        side = side or sign
        if word in _ENDS:
            end = True
        elif word in _EXTRAS:
            rank = EXTRA
        elif word in _FINGERS:
            rank = _FINGERS[word] if rank == PLAIN else rank
            rest.append(word)
        elif word and not word.isdigit() and word not in _NOISE:
            rest.append(word)
    if not rest and not end and tokens[:1] in (["l"], ["r"]):
        side = 0  # a bare "L5" is a vertebra; "joint_5_L" is a side
    part = None if end or rank == EXTRA else _WORDS.get("".join(rest))
    return side, part, end, rank


def _split_side(token: str) -> tuple[int, str]:
    """Split a side prefix off a token: ``lfemur`` -> (1, "femur"), ``l`` -> (1, ""), ``lower`` -> (0, "lower")."""
    if token in _SIDE_WORDS:
        return _SIDE_WORDS[token], ""
    if token in _WORDS:
        return 0, token
    for spelling in ("left", "right", "l", "r"):
        bare = token.removeprefix(spelling)
        if bare != token and (bare in _WORDS or bare in _FINGERS):
            return _SIDE_WORDS[spelling], bare
    for spelling in SIDES:
        bare = token.removesuffix(spelling)
        if bare != token and bare in _WORDS:
            return _SIDE_WORDS[spelling], bare
    return 0, token


def roles_by_words(read: NameParts) -> dict[str, int]:
    """Return the roles that follow from the words in the names alone, ignoring the hierarchy."""
    by_part: dict[tuple[int, str], list[int]] = {}
    for joint, (side, part) in enumerate(zip(read.sides, read.parts, strict=True)):
        if part is not None:
            by_part.setdefault((side, part), []).append(joint)
    roles: dict[str, int] = {}
    central = {part: joints[0] for (side, part), joints in by_part.items() if side == 0}
    hips = [central[part] for part in ("hips", "hip") if part in central]
    if hips:
        roles["hips"] = min(hips)
    roles.update({part: central[part] for part in ("neck", "head") if part in central})
    for name, sign in zip(SIDES, (1, -1), strict=True):
        limb = {part: joints for (side, part), joints in by_part.items() if side == sign}
        found = _arm_by_words(limb) | _leg_by_words(limb)
        roles.update({f"{name}_{role}": joint for role, joint in found.items() if joint is not None})
    return roles


def _get_first(limb: dict[str, list[int]], part: str) -> int | None:
    return limb[part][0] if part in limb else None


def _get_only(limb: dict[str, list[int]], part: str) -> int | None:
    """Return the joint of a limb's part, or None if several joints have the same name: numbered series (leg_1, leg_2)
    are ambiguous.
    """
    return limb[part][0] if len(limb.get(part, ())) == 1 else None


def _choose_known(first: int | None, second: int | None) -> int | None:
    return second if first is None else first


def _arm_by_words(limb: dict[str, list[int]]) -> dict[str, int | None]:
    collar, shoulder = _get_first(limb, "collar"), _get_first(limb, "shoulder")
    upper, arm, forearm = _get_first(limb, "upperarm"), _get_only(limb, "arm"), _get_first(limb, "forearm")
    if upper is None and arm is None and "arm" not in limb:
        # Named by joints, not bones: the shoulder is the joint of the upper arm.
        upper, shoulder = shoulder, None
    elif upper is None:
        upper = arm
    elif forearm is None:
        forearm = arm
    return {
        "shoulder": _choose_known(collar, shoulder),
        "upper_arm": upper,
        "forearm": forearm,
        "hand": _choose_known(_get_first(limb, "wrist"), _get_first(limb, "hand")),
    }


def _leg_by_words(limb: dict[str, list[int]]) -> dict[str, int | None]:
    thigh, hip, leg, shin = (
        _get_first(limb, "thigh"),
        _get_first(limb, "hip"),
        _get_only(limb, "leg"),
        _get_first(limb, "shin"),
    )
    upper = _choose_known(thigh, hip)
    if upper is None and shin is not None:
        upper = leg
    elif upper is not None and shin is None:
        shin = leg
    ankle, foot, ball = _get_first(limb, "ankle"), _get_first(limb, "foot"), _get_first(limb, "ball")
    return {
        "upper_leg": upper,
        "lower_leg": shin,
        "foot": _choose_known(ankle, foot),
        "ball": ball if ankle is None else _choose_known(ball, foot),
    }


def joints_like(read: NameParts, role: str) -> list[int]:
    """Return joints with names similar to a role, on the role's side or without a side."""
    side = next((sign for word, sign in (("left_", 1), ("right_", -1)) if role.startswith(word)), 0)
    near = _NEAR_ROLE.get(role.removeprefix("left_").removeprefix("right_"), ())
    return [
        joint
        for joint, (its_side, part) in enumerate(zip(read.sides, read.parts, strict=True))
        if part in near and its_side in (side, 0)
    ]
