"""Parametric motion graphs: nodes are spaces of motion, edges say which motions can follow which (Heck chapter 6)."""

from marey.pmg.action_space import ActionSpace
from marey.pmg.auto import AutoReport
from marey.pmg.character import ParametricMotionGraph
from marey.pmg.connect import Compared
from marey.pmg.costs import Seams
from marey.pmg.edge import Edge, Onward
from marey.pmg.gait_space import GaitSpace
from marey.pmg.layered_space import LayeredSpace
from marey.pmg.node import Node, Request, by_name
from marey.pmg.recipe import Recipe, read_recipe, shipped_recipes
from marey.pmg.recipe_build import build_recipe
from marey.pmg.requests import REQUESTS, at_point
from marey.pmg.space import FunctionSpace, Space
from marey.pmg.stream import CharacterStream, Choice, Controller, Moment, Option, Transition

__all__ = [
    "REQUESTS",
    "ActionSpace",
    "AutoReport",
    "CharacterStream",
    "Choice",
    "Compared",
    "Controller",
    "Edge",
    "FunctionSpace",
    "GaitSpace",
    "LayeredSpace",
    "Moment",
    "Node",
    "Onward",
    "Option",
    "ParametricMotionGraph",
    "Recipe",
    "Request",
    "Seams",
    "Space",
    "Transition",
    "at_point",
    "build_recipe",
    "by_name",
    "read_recipe",
    "shipped_recipes",
]
