"""The names that users import, and the errors that they catch."""

from __future__ import annotations

import importlib
import inspect
import pickle

import pytest

import marey
from marey import errors
from marey.core.settings import Settings, options_of
from marey.errors import (
    DifferentSkeletons,
    FileError,
    InvalidValue,
    JointNotFound,
    LimitExceeded,
    MareyError,
    MareyWarning,
    MissingDependency,
    NoResult,
    NotBlendable,
    NoTimewarp,
    ParseError,
    UnknownFormat,
    UnknownName,
    UnknownVersion,
    UnreadableFile,
    UnwritableFile,
    similar,
)

from .test_packages import PACKAGE_OF_NAME

# --- marey


@pytest.mark.parametrize("name", marey.__all__)
def test_every_public_name_is_there(name):
    assert getattr(marey, name) is not None
    assert name in dir(marey) or name == "__version__"


def test_public_names_are_those_of_their_packages():
    assert len(PACKAGE_OF_NAME) > 20
    for name, package in PACKAGE_OF_NAME.items():
        module = importlib.import_module(f"marey.{package}")
        assert name in module.__all__
        assert getattr(marey, name) is getattr(module, name)


def test_names_are_listed_once_and_a_star_imports_them_all():
    assert len(set(marey.__all__)) == len(marey.__all__)
    taken = {}
    exec("from marey import *", taken)
    assert set(marey.__all__) <= set(taken)


def test_main_functions_and_classes_are_public():
    for name in (
        *(
            "load",
            "save",
            "Motion",
            "Skeleton",
            "Contacts",
            "Labels",
            "Markers",
            "Roles",
            "detect_contacts",
            "find_floor",
        ),
        *("clean", "clean_stream", "measure", "distance_grid", "register", "blend", "transition", "MotionGraph"),
    ):
        assert name in marey.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No marey attribute lode"):
        _ = marey.lode
    assert not hasattr(marey, "lode")
    with pytest.raises(ImportError):
        exec("from marey import lode")


def test_the_version_matches_the_installed_package():
    from importlib.metadata import version

    assert marey.__version__ == version("marey")


PACKAGES = (
    *("maths", "core", "io", "compare", "clean", "play", "measure", "check", "samples", "edit", "register", "blend"),
    *("graph", "find", "parametric", "layer", "pmg", "control", "store", "plot", "studio"),
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_package_is_there(package):
    module = importlib.import_module(f"marey.{package}")
    assert module.__all__
    for name in module.__all__:
        assert hasattr(module, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_signatures_show_every_option(package):
    module = importlib.import_module(f"marey.{package}")
    for value in (getattr(module, name) for name in module.__all__):
        is_settings = isinstance(value, type) and issubclass(value, Settings)
        if not (inspect.isfunction(value) or is_settings):
            continue
        kinds = {each.name: each.kind for each in inspect.signature(value).parameters.values()}
        assert "options" not in kinds
        assert "kwargs" not in kinds
        if is_settings:
            assert kinds.keys() - {"settings"} == {each.name for each in options_of(value)}


# --- errors


def test_error_hierarchy():
    tree = {
        InvalidValue: (MareyError, ValueError),
        DifferentSkeletons: (InvalidValue,),
        JointNotFound: (InvalidValue, LookupError),
        UnknownName: (InvalidValue, LookupError),
        NoResult: (MareyError,),
        NoTimewarp: (NoResult,),
        NotBlendable: (NoResult,),
        MissingDependency: (MareyError, ImportError),
        FileError: (MareyError,),
        UnreadableFile: (FileError, OSError),
        UnwritableFile: (FileError, OSError),
        UnknownFormat: (FileError,),
        ParseError: (FileError,),
        LimitExceeded: (FileError,),
        UnknownVersion: (FileError,),
        MareyWarning: (UserWarning,),
    }
    for error, parents in tree.items():
        assert all(issubclass(error, parent) for parent in parents)
    assert not issubclass(MareyWarning, MareyError)
    assert {error.__name__ for error in (*tree, MareyError)} | {
        "collect_warnings",
        "format_list",
        "plural",
        "require",
        "similar",
        "warn_user",
        "word_parameters",
    } == set(errors.__all__)


FILE_ERRORS = [FileError, UnreadableFile, UnwritableFile, UnknownFormat, ParseError, LimitExceeded, UnknownVersion]


@pytest.mark.parametrize("kind", FILE_ERRORS)
def test_a_file_error_names_the_place(kind, tmp_path):
    assert str(kind("expected 3 OFFSET values, got 2", path="walk.bvh", line=37)) == (
        "walk.bvh:37: expected 3 OFFSET values, got 2"
    )
    assert str(kind("is empty", path="walk.bvh")) == "walk.bvh: is empty"
    assert str(kind("is empty")) == "is empty"
    error = kind("is empty", path=tmp_path, line=1)
    assert (error.message, error.path, error.line) == ("is empty", str(tmp_path), 1)


@pytest.mark.parametrize("kind", FILE_ERRORS)
def test_a_file_error_survives_pickling(kind):
    error = pickle.loads(pickle.dumps(kind("is empty", path="walk.bvh", line=3)))
    assert type(error) is kind
    assert str(error) == "walk.bvh:3: is empty"
    assert (error.message, error.path, error.line) == ("is empty", "walk.bvh", 3)


def test_similar_names_are_suggested():
    names = ["LeftToeBase", "LeftFoot", "RightToeBase", "Head"]
    assert similar("LeftToe", names).startswith("; similar: 'LeftToeBase'")
    assert similar("lefttoebase", names, n=1) == "; similar: 'LeftToeBase'"
    assert similar("zzz", names) == ""
    assert similar("head", []) == ""
    assert similar("Left", (f"Left{i}" for i in range(9)), n=2).count("'") == 4
