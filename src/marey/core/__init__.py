"""The values that everything else works on, and the kinematics between them."""

from marey.core.contacts import ContactPoint, Contacts
from marey.core.kinematics import World, forward_kinematics, pose_world
from marey.core.labels import Label, Labels
from marey.core.limb import LimbPose, find_hinge, hinge_angle, solve_limb
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.protocols import Clips, Stream
from marey.core.roles import ROLE_NAMES, Roles
from marey.core.skeleton import Skeleton
from marey.core.source import Source

__all__ = [
    "ROLE_NAMES",
    "Clips",
    "ContactPoint",
    "Contacts",
    "Label",
    "Labels",
    "LimbPose",
    "Markers",
    "Motion",
    "Roles",
    "Skeleton",
    "Source",
    "Stream",
    "World",
    "find_hinge",
    "forward_kinematics",
    "hinge_angle",
    "pose_world",
    "solve_limb",
]
