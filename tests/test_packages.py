"""Package structure: which package may import which, what is loaded when, and what the library never does."""

from __future__ import annotations

import ast
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import marey

PACKAGE = Path(marey.__file__).parent
ORDER = (
    "{errors, deprecation} > compiled > maths > core > io > compare > clean > play > measure > samples > edit > "
    "check > register > blend > {graph, find} > parametric > layer > pmg > control > store > plot > bench > studio > "
    "cli"
)
# A package imports only from packages before it. Packages in braces share a layer and do not import each other.
LAYER = {package: layer for layer, part in enumerate(ORDER.split(">")) for package in part.strip("{} ").split(", ")}
MAX_LINES = 500
MAX_PARAMETERS = 12

FILES = sorted(path for path in PACKAGE.rglob("*.py"))


@cache
def parse_file(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# The package of each name that users import from `marey` itself, as __init__.pyi lists them.
PACKAGE_OF_NAME = {
    alias.name: node.module
    for node in parse_file(PACKAGE / "__init__.pyi").body
    if isinstance(node, ast.ImportFrom) and node.module
    for alias in node.names
}


def short(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def package_of(path: Path) -> str:
    """Return 'io' for io/bvh.py, 'errors' for errors.py, '' for the package's own __init__; `python -m marey` is the
    cli."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return {"__init__": "", "__main__": "cli"}.get(first, first)


def module_of(path: Path) -> str:
    parts = ["marey", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass(frozen=True)
class Import:
    """One module, or one name of a module, that a line imports."""

    target: str
    line: int
    at_module_level: bool


def imports_of(tree: ast.Module, module: str, is_package: bool) -> list[Import]:
    """Return all imports of a module by full name, also relative ones, ones in functions and under TYPE_CHECKING."""
    found = []
    for node, inside in walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, module, is_package)
            targets = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            name = node.args[0] if node.args else None
            targets = [name.value] if isinstance(name, ast.Constant) and isinstance(name.value, str) else []
        else:
            continue
        found += [Import(target, node.lineno, not inside) for target in targets]
    return found


def walk(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node, and whether it is inside a function and so runs only when that is called."""
    left = [(tree, False)]
    while left:
        node, inside = left.pop()
        yield node, inside
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        left += [(child, inside) for child in ast.iter_child_nodes(node)]


def absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    up = node.level - 1 if is_package else node.level
    parts = module.split(".")
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def called(node: ast.Call) -> str:
    """Return 'import_module' for importlib.import_module(...), 'print' for print(...)."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def imported_package(target: str) -> str | None:
    """Return the package that defines an imported name; None for other libraries, '' for marey itself."""
    first, *rest = target.split(".")
    if first != "marey":
        return None
    if not rest or rest[0].startswith("__"):
        return ""
    return PACKAGE_OF_NAME.get(rest[0], rest[0])


def find_order_violations(package: str, imports: list[Import]) -> list[str]:
    """Return the imports of a module in `package` that ORDER forbids."""
    out = []
    for each in imports:
        other = imported_package(each.target)
        if other is None or other in (package, "errors", "_kernels"):
            continue
        if other == "":
            if each.target == "marey" and package != "cli":
                out.append(f"line {each.line}: 'import marey' reaches every package; import from the package itself")
        elif other not in LAYER:
            out.append(f"line {each.line}: imports {each.target}, whose package is not in ORDER")
        elif LAYER[other] >= LAYER[package]:
            out.append(f"line {each.line}: {package} imports {each.target}, but {other} does not come before {package}")
    return out


def find_private_imports(package: str, imports: list[Import]) -> list[str]:
    """Return the imports of a module in `package` that use a private module or name of another package."""
    return [
        f"line {each.line}: imports {each.target}, which is private to {imported_package(each.target)}"
        for each in imports
        if imported_package(each.target) not in (None, "", package, "_kernels")
        and any(part.startswith("_") and not part.startswith("__") for part in each.target.split("."))
    ]


@cache
def imports_of_file(path: Path) -> list[Import]:
    return imports_of(parse_file(path), module_of(path), path.name == "__init__.py")


def find_violations(paths: Iterable[Path], rule: Callable[[Path], Iterable[object]]) -> dict[str, list[object]]:
    """Return the files that break a rule, and how: one test per rule, not per rule and file."""
    paths = list(paths)
    assert len(paths) > 100
    found = {short(path): list(rule(path)) for path in paths}
    return {name: violations for name, violations in found.items() if violations}


# --- Imports between packages


def test_order_lists_every_package():
    packages = {package_of(path) for path in FILES} - {""}
    assert packages <= set(LAYER), f"not in ORDER: {sorted(packages - set(LAYER))}"
    assert {"errors", "maths", "core", "io", "cli"} <= packages


def test_imports_follow_the_order():
    paths = [path for path in FILES if package_of(path)]
    assert find_violations(paths, lambda path: find_order_violations(package_of(path), imports_of_file(path))) == {}


def test_no_module_imports_private_names_of_another_package():
    paths = [path for path in FILES if package_of(path)]
    assert find_violations(paths, lambda path: find_private_imports(package_of(path), imports_of_file(path))) == {}


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("from marey.maths import quat", True),
        ("from marey import __version__", True),
        ("from marey import _kernels", True),
        ("from marey.edit._loops import find_loop", True),
        ("from . import _loops", True),
        ("from marey.maths._arrays import FloatArray", False),
        ("from marey.maths import _arrays", False),
        ("from ..maths import _arrays", False),
        ("import marey.maths._arrays", False),
        ("def f():\n    from marey.core.motion import _check", False),
    ],
)
def test_the_check_for_private_names_sees_every_kind_of_import(source, allowed):
    imports = imports_of(ast.parse(source), "marey.edit.cycle", is_package=False)
    assert (find_private_imports("edit", imports) == []) is allowed


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("marey.core.motion", "from marey.maths import quat", True),
        ("marey.core.motion", "from marey.io import load", False),
        ("marey.core.motion", "from marey import load", False),
        ("marey.core.motion", "from marey import Skeleton", True),
        ("marey.core.motion", "import marey.io.bvh", False),
        ("marey.core.motion", "import marey", False),
        ("marey.core.motion", "from marey import __version__", True),
        ("marey.core.motion", "from ..io import load", False),
        ("marey.core.motion", "from .. import io", False),
        ("marey.core.motion", "from ..maths import quat", True),
        ("marey.core.motion", "from . import skeleton", True),
        ("marey.core.motion", "from marey.elsewhere import box", False),
        ("marey.maths.quat", "from marey.errors import InvalidValue", True),
        ("marey.maths.quat", "def f():\n    from marey.core import Motion", False),
        ("marey.maths.quat", "if TYPE_CHECKING:\n    from marey.core import Motion", False),
        ("marey.maths.quat", "import importlib\nimportlib.import_module('marey.core')", False),
        ("marey.find.web", "from marey.graph import build", False),
        ("marey.graph.build", "from marey.find import web", False),
        ("marey.graph.build", "from marey.blend import transition", True),
        ("marey.parametric.space", "from marey.find import web\nfrom marey.graph import build", True),
        ("marey.cli.main", "import marey\nfrom marey.studio import server", True),
        ("marey.errors", "from marey.maths import quat", False),
    ],
)
def test_the_check_for_order_sees_every_kind_of_import(module, source, allowed):
    package = module.split(".")[1]
    assert (find_order_violations(package, imports_of(ast.parse(source), module, is_package=False)) == []) is allowed


def test_errors_imports_nothing_from_marey():
    path = PACKAGE / "errors.py"
    assert [each for each in imports_of_file(path) if each.target.startswith("marey")] == []


# --- What the library never does


def test_no_file_is_too_long():
    def too_many(path: Path) -> list[int]:
        # Examples in docstrings do not count.
        text = re.sub(r"\n *Examples\n *---+\n.*?(?=\"\"\")", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        n_lines = len(text.splitlines())
        return [n_lines] if n_lines > MAX_LINES else []

    assert find_violations(FILES, too_many) == {}


def test_no_function_has_too_many_parameters():
    def too_many(path: Path) -> Iterator[str]:
        for node in ast.walk(parse_file(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if len(names) - ("self" in names or "cls" in names) > MAX_PARAMETERS:
                    yield node.name

    assert find_violations(FILES, too_many) == {}


def test_a_class_name_has_one_meaning():
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in parse_file(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(short(path))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def find_prints(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in ("print", "pprint"):
            yield f"line {node.lineno}: prints"
        if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr") and ast.unparse(node.value) == "sys":
            yield f"line {node.lineno}: uses a standard stream"


def test_the_library_never_prints():
    paths = [path for path in FILES if package_of(path) != "cli"]
    assert find_violations(paths, lambda path: find_prints(parse_file(path))) == {}


PICKLERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def find_pickling(tree: ast.Module, imports: list[Import]) -> Iterator[str]:
    for each in imports:
        if each.target.split(".")[0] in PICKLERS:
            yield f"line {each.line}: imports {each.target}"
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield f"line {node.value.lineno}: allow_pickle must be False"


def test_nothing_pickles():
    assert find_violations(FILES, lambda path: find_pickling(parse_file(path), imports_of_file(path))) == {}


# --- What an import loads


def imports_numba(path: Path) -> Iterator[str]:
    for each in imports_of_file(path):
        if each.target.split(".")[0] == "numba":
            yield f"line {each.line}: imports numba"


def test_only_the_kernel_compiler_imports_numba():
    paths = [path for path in FILES if module_of(path) not in ("marey.compiled.jit", "marey.compiled.lanes")]
    assert find_violations(paths, imports_numba) == {}


def test_kernels_have_files_of_their_own():
    names = ("marey.compiled.kernel", "marey.compiled.helper")
    plain = [path for path in FILES if not path.stem.endswith("_kernels")]
    assert (
        find_violations(plain, lambda path: [each.target for each in imports_of_file(path) if each.target in names])
        == {}
    )


@pytest.mark.parametrize(
    ("source", "n_violations"),
    [
        ("print(1)", 1),
        ("import sys\nsys.stderr.write('x')", 1),
        ("import pickle", 1),
        ("def f():\n    from joblib import dump", 1),
        ("np.load(path, allow_pickle=True)", 1),
        ("np.load(path, allow_pickle=trust)", 1),
        ("np.load(path, allow_pickle=False)", 0),
    ],
)
def test_the_checks_see_what_they_forbid(source, n_violations):
    tree = ast.parse(source)
    imports = imports_of(tree, "marey.edit.join", is_package=False)
    assert len([*find_prints(tree), *find_pickling(tree, imports)]) == n_violations


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after running a statement."""
    code = f"{statement}\nimport sys\nsys.stdout.write(' '.join(sorted({{m.split('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


HEAVY = {"numpy", "scipy", "numba", "matplotlib", "rich"}


def test_importing_marey_loads_no_numpy():
    assert modules_after("import marey") & HEAVY == set()


def test_the_command_line_starts_without_heavy_packages():
    loaded = modules_after("import marey.cli.main")
    assert "click" in loaded
    assert loaded & HEAVY == set()


def test_motions_and_skeletons_load_numpy_and_nothing_heavier():
    assert modules_after("from marey import Motion, Skeleton") & HEAVY == {"numpy"}


def test_no_module_loads_numba():
    modules = [module_of(path) for path in FILES if path.name not in ("__main__.py", "jit.py")]
    loaded = modules_after("\n".join(f"import {module}" for module in modules))
    assert {"marey", "numpy"} <= loaded
    assert "numba" not in loaded


# --- Functions that share their name with a package

IMPORT_ORDERS = [
    "import marey",
    "from marey import blend, check, clean, measure, register",
    "import marey.blend, marey.check, marey.clean, marey.measure, marey.register",
    "from marey.blend import transition\nfrom marey.clean import find_floor",
    "import marey.blend.baselines\nimport marey.measure.report",
    "import marey\nmarey.blend, marey.clean\nimport marey.blend.blend, marey.clean.floor\nimport marey.register.dtw",
    "from marey.blend.blend import blend\nimport marey.blend.transition",
    "import importlib\nimportlib.import_module('marey.clean')\nimportlib.import_module('marey.blend.baselines')",
    "import marey.cli.main, marey.graph, marey.pmg, marey.control.evaluate",
    "from marey import *",
]


@pytest.mark.parametrize("statements", IMPORT_ORDERS)
def test_functions_keep_their_names_in_any_import_order(statements):
    code = f"""{statements}
import inspect, sys, marey
for name in ("blend", "check", "clean", "measure", "register"):
    function, package = getattr(marey, name), sys.modules.get(f"marey.{{name}}")
    assert inspect.isfunction(function), name
    assert list(inspect.signature(function).parameters)[0] in ("motion", "motions"), inspect.signature(function)
    assert inspect.ismodule(package) and getattr(package, name) is function, name
import marey.blend.baselines, marey.clean.floor
from marey.blend import baselines, blend, transition
from marey.clean import clean, floor
assert inspect.ismodule(baselines) and inspect.ismodule(floor)
assert blend is marey.blend and clean is marey.clean and transition is marey.transition
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["blend", "check", "clean", "measure", "register"])
def test_help_shows_the_signature(name):
    function = getattr(marey, name)
    assert pydoc.render_doc(function, renderer=pydoc.plaintext).count(f"{name}(motion") == 1
    assert not callable(sys.modules[f"marey.{name}"])


def test_star_leaves_out_the_packages():
    stub = parse_file(PACKAGE / "__init__.pyi")
    listed = {
        alias.name
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is None
        for alias in node.names
    }
    assert listed == marey._PACKAGES
    assert not listed & set(marey.__all__)
    assert listed <= set(dir(marey))


# --- Kernels


@cache
def functions_with_decorator(path: Path, decorator: str) -> set[str]:
    """Return the names of a module's functions that have this decorator."""
    functions = [node for node in ast.walk(parse_file(path)) if isinstance(node, ast.FunctionDef)]
    return {each.name for each in functions if any(ast.unparse(one) == decorator for one in each.decorator_list)}


KERNELS = {module_of(path): path for path in FILES if path.stem.endswith("_kernels")}
CALLERS = [
    path
    for path in [*FILES, *sorted(Path(__file__).parent.rglob("*.py"))]
    if path in KERNELS.values() or "_kernels" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", CALLERS, ids=lambda path: path.name)
def test_helpers_are_called_by_kernels_only(path: Path) -> None:
    """Calling a compiled helper from Python would crash the process."""
    tree, inside = parse_file(path), path in KERNELS.values()
    bare = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level or node.module is None:
            continue
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            if node.module in KERNELS and alias.name in functions_with_decorator(KERNELS[node.module], "helper"):
                bare[alias.asname or alias.name] = whole
            elif whole in KERNELS:
                prefix = alias.asname or alias.name
                bare |= {f"{prefix}.{name}": whole for name in functions_with_decorator(KERNELS[whole], "helper")}
    if inside:
        bare |= dict.fromkeys(functions_with_decorator(path, "helper"), path.stem)
        compiled = functions_with_decorator(path, "helper") | functions_with_decorator(path, "kernel")
        plain = [one for one in tree.body if not isinstance(one, ast.FunctionDef) or one.name not in compiled]
        calls = [node for one in plain for node in ast.walk(one) if isinstance(node, ast.Call)]
        used = {ast.unparse(node.func) for node in calls}
    else:
        used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)}
    assert not used & set(bare)
