"""Parametric motion graphs: nodes are spaces of motion, edges say which of it can follow which (Heck chapter 6)."""

from marey.pmg.character import ParametricMotionGraph
from marey.pmg.connect import Compared
from marey.pmg.costs import Seams
from marey.pmg.edge import Edge, Onward
from marey.pmg.gait_space import GaitSpace
from marey.pmg.node import Node, Request, by_name
from marey.pmg.space import FunctionSpace, Space
from marey.pmg.stream import CharacterStream, Choice, Controller, Moment, Option, Transition

__all__ = [
    "CharacterStream",
    "Choice",
    "Compared",
    "Controller",
    "Edge",
    "FunctionSpace",
    "GaitSpace",
    "Moment",
    "Node",
    "Onward",
    "Option",
    "ParametricMotionGraph",
    "Request",
    "Seams",
    "Space",
    "Transition",
    "by_name",
]
