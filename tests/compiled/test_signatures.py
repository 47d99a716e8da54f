"""Declarations of kernels: signatures by annotations, and which imports kernel files may have."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import numpy as np
import pytest

from marey.compiled import (
    ArrayType,
    Floats1D,
    Floats2D,
    Ints1D,
    Out,
    Signature,
    TupleType,
    convert_argument,
    kernel_files,
    list_kernels,
    python_form,
    read_signature,
)
from tests.compiled.operations import load_kernels


class Body(NamedTuple):
    parents: Ints1D
    scale: float
    positions: Out[Floats2D]


def measure(body: Body, weights: Floats1D, span: tuple[int, int], is_cyclic: bool) -> tuple[float, Floats1D]:
    raise NotImplementedError


def test_annotations_are_the_signature() -> None:
    assert read_signature(measure) == Signature(
        {
            "body": TupleType((ArrayType("int64", 1), float, ArrayType("float64", 2, is_written=True)), Body),
            "weights": ArrayType("float64", 1),
            "span": TupleType((int, int)),
            "is_cyclic": bool,
        },
        TupleType((float, ArrayType("float64", 1))),
    )


def test_other_types_are_refused() -> None:
    def name(text: str) -> None: ...

    with pytest.raises(TypeError, match=r"test_signatures\..*name: kernels take numbers, arrays, tuples and records"):
        read_signature(name)


def load_all() -> dict[str, Any]:
    load_kernels()
    return list_kernels()


def test_every_kernel_has_a_signature_and_is_in_use_as_one_form() -> None:
    kernels = load_all()
    assert len(kernels) > 80
    for each in kernels.values():
        read_signature(each.function)
        assert python_form(each.compiled) is each.function


def test_no_kernel_takes_many_arguments() -> None:
    many = {}
    for path in kernel_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and len(node.args.args) > 8:
                many[f"{path.name}: {node.name}"] = len(node.args.args)
    assert many == {}


@pytest.mark.parametrize("path", kernel_files(), ids=lambda path: path.stem)
def test_kernels_depend_on_nothing_outside_the_hash(path: Any) -> None:
    """The hash of the `*_kernels.py` files decides whether compiled code is current, so they import only each other."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {"math", "numpy"}
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            inside = node.module is not None and node.module.endswith("_kernels")
            assert (
                inside
                or node.module in ("marey.compiled", "marey.compiled.lanes", "collections.abc", "typing", "math")
                or all(name.endswith("_kernels") for name in names)
            ), names


# Operations that Python or NumPy round differently from compiled code; see CONTRIBUTING.md.
ROUNDED = {
    "math.hypot", "math.pow", "math.fsum", "math.dist", "np.sin", "np.cos", "np.tan", "np.arcsin", "np.arccos",
    "np.arctan", "np.arctan2", "np.exp", "np.log", "np.power",
}  # fmt: skip


@pytest.mark.parametrize("path", kernel_files(), ids=lambda path: path.stem)
def test_kernels_use_only_what_all_forms_round_alike(path: Any) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in ROUNDED
            # `vec.dot` is the library's own helper; NumPy's sums depend on the machine.
            is_own = isinstance(node.value, ast.Name) and node.value.id == "vec"
            assert is_own or node.attr not in ("sum", "mean", "dot")


def test_arguments_are_converted_only_without_loss() -> None:
    strided = np.arange(10.0)[::2]
    result = convert_argument(strided, "float64", 1, "k: x")
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, strided)
    np.testing.assert_array_equal(convert_argument([1, 2], "float64", 1, "k: x"), [1.0, 2.0])
    with pytest.raises(TypeError, match="k: x: expected int64 with 1 axes, got float64 with 1"):
        convert_argument([0.5], "int64", 1, "k: x")
    with pytest.raises(TypeError, match="k: x: expected float64 with 2 axes, got float64 with 1"):
        convert_argument([0.5], "float64", 2, "k: x")
