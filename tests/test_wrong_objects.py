"""Objects of a wrong type: every public function raises a typed error that names the parameter."""

from functools import cache

import pytest

import marey
from marey.clean import clean_with_report
from marey.core import Motion
from marey.edit import connect, cycle, deseam, edit_path, mirror, retarget, timewarp, warp
from marey.errors import InvalidValue
from marey.samples import sample


@cache
def walk() -> Motion:
    return sample("walk", seconds=2.0).motion


CASES = {
    "contacts must be Contacts, not int": lambda: marey.clean(walk(), contacts=3),
    "targets must be a list of Target, not 3": lambda: marey.clean(walk(), targets=3),
    "each of targets must be a Target, not int": lambda: marey.clean(walk(), targets=[3]),
    "plants must be a list of PlantAt, not 3": lambda: clean_with_report(walk(), plants=3),
    r"markers must be body, .*, or a list of roles and joint names, not 5": lambda: marey.register(
        [walk(), walk()], markers=5
    ),
    r"markers must be body, .*, or a list of roles and joint names, not 6": lambda: marey.MatchWeb.build(
        [walk()], markers=6
    ),
    "against must be a Motion, not int; load files with marey.load": lambda: marey.measure(walk(), against=3),
    "planes must be a list, not 3": lambda: marey.clean(walk(), planes=3),
    "labels must be a list of str, not 3": lambda: marey.MatchWeb.build([walk()], labels=3),
    "threshold must be at least 0 m, or a percentage such as '10%', not": lambda: marey.MotionGraph.build(
        [walk()], threshold=[3]
    ),
    "thresholds must be a dict, not 3": lambda: marey.MotionGraph.build([walk()], thresholds=3),
    "roles must be a dict, a string or a path, not": lambda: marey.load("walk.bvh", roles=[3]),
    "unit must be one of m, cm, mm, in, cmu, or meters per unit": lambda: marey.load("walk.bvh", unit=[3]),
    "contacts must be a number or a string, not": lambda: marey.transition(walk(), walk(), contacts=[3]),
    "times must be a TimeMap, not int": lambda: marey.splice(walk(), walk(), times=3),
    "keys must be pairs .old seconds, new seconds., not 3": lambda: timewarp(walk(), 3),
    "skeleton must be a Skeleton, not int": lambda: Motion(3, 4, 5, 6),
    "labels must be a Labels, not int": lambda: Motion(walk().skeleton, 4, 5, 6, labels=3),
    "motion must be a Motion, not int": lambda: marey.save(3, "walk.bvh"),
    "path must be the name of a file, not 3": lambda: marey.save(walk(), 3),
    "path must be the name of a file, not 4": lambda: marey.load(4),
    "folder must be a str or PathLike, not int": lambda: marey.MotionSet.open(3),
    "a parametric space needs a list of motions": lambda: marey.ParametricMotion.build(3, feature="turn"),
    "each motion of a splice must be a Motion, not str": lambda: marey.splice(walk(), "carry.bvh"),
    "joints must be a string, a list of str or a dict, not 5": lambda: marey.transplant(walk(), walk(), joints=5),
    "second must be a Motion, not int": lambda: connect(walk(), 3),
    "the target must be a Skeleton or Motion, not int": lambda: retarget(walk(), 3),
    "keys must be TurnKey or MoveKey objects, not 3": lambda: warp(walk(), 3),
}


@pytest.mark.parametrize("message", CASES)
def test_the_message_names_the_parameter(message):
    with pytest.raises(InvalidValue, match=message):
        CASES[message]()


@pytest.mark.parametrize(
    "function",
    [
        marey.clean,
        marey.measure,
        marey.detect_contacts,
        marey.find_floor,
        mirror,
        cycle,
        lambda motion: marey.GazeMap.default().apply(motion, [(1.0, 0.1, 0.1)]),
        lambda motion: deseam(motion, 3),
        lambda motion: edit_path(motion, [[0.0, 0.0], [0.0, 1.0]]),
        lambda motion: timewarp(motion, [(1.0, 2.0)]),
        lambda motion: warp(motion, []),
        lambda motion: retarget(motion, walk()),
    ],
)
def test_a_file_name_is_not_a_motion(function):
    with pytest.raises(InvalidValue, match=r"motion must be a Motion, not str; load files with marey\.load"):
        function("walk.bvh")


def test_a_misspelled_option_names_the_function():
    with pytest.raises(TypeError, match=r"clean\(\) got an unexpected keyword argument 'max_strech'; similar: 'max_s"):
        marey.clean(walk(), max_strech=0.1)
