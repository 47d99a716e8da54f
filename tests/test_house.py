"""The order of the house: who may import whom, what is loaded when, and what the library never does."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import marey
from marey import _WHERE

PACKAGE = Path(marey.__file__).parent
ORDER = (
    "errors > compiled > maths > core > io > compare > clean > measure > samples > edit > register > blend > "
    "{graph, find} > parametric > layer > pmg > control > store > plot > bench > studio > cli"
)
# Each room's floor; rooms in braces share one and do not import each other.
FLOORS = [set(part.strip("{} ").split(", ")) for part in ORDER.split(">")]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
MOST_LINES = 500

FILES = sorted(path for path in PACKAGE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def short(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    """'io' for io/bvh.py, 'errors' for errors.py, '' for the package's own __init__; `python -m marey` is the cli."""
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
    """All imports of a module: relative, in functions and under TYPE_CHECKING too, by full name."""
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
    """Every node, and whether it stands within a function, so that it runs only when that is called."""
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
    """'import_module' for importlib.import_module(...), 'print' for print(...)."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def imported_room(target: str) -> str | None:
    """The room that an imported name lives in; None for other packages, '' for marey itself."""
    first, *rest = target.split(".")
    if first != "marey":
        return None
    if not rest or rest[0].startswith("__"):
        return ""
    # `from marey import load` goes by the package's door; what counts is where the name lives.
    where = _WHERE.get(rest[0], target)
    return rest[0] if where == f"marey.{rest[0]}" or where == target else imported_room(where)


def offences(room: str, imports: list[Import]) -> list[str]:
    """What the order forbids among the imports of a module in `room`."""
    out = []
    for each in imports:
        other = imported_room(each.target)
        if other is None or other in (room, "errors", "_kernels"):
            continue
        if other == "":
            if each.target == "marey" and room != "cli":
                out.append(f"line {each.line}: 'import marey' reaches every room; import from the room itself")
        elif other not in FLOOR:
            out.append(f"line {each.line}: imports {each.target}, which is in no room of the order")
        elif FLOOR[other] >= FLOOR[room]:
            out.append(f"line {each.line}: {room} imports {each.target}, but {other} does not stand before it")
    return out


@cache
def imports_of_file(path: Path) -> list[Import]:
    return imports_of(tree_of(path), module_of(path), path.name == "__init__.py")


def offenders(paths: Iterable[Path], faults_of: Callable[[Path], Iterable[object]]) -> dict[str, list[object]]:
    """The files in which a rule finds faults, with those: one test for each rule, not for each rule and file."""
    paths = list(paths)
    assert len(paths) > 100
    found = {short(path): list(faults_of(path)) for path in paths}
    return {name: faults for name, faults in found.items() if faults}


# --- The order


def test_every_room_has_its_place_in_the_order():
    rooms = {room_of(path) for path in FILES} - {""}
    assert rooms <= set(FLOOR), f"not in the order: {sorted(rooms - set(FLOOR))}"
    assert {"errors", "maths", "core", "io", "cli"} <= rooms


def test_nothing_imports_against_the_order():
    paths = [path for path in FILES if room_of(path)]
    assert offenders(paths, lambda path: offences(room_of(path), imports_of_file(path))) == {}


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
        ("marey.core.motion", "from marey.attic import box", False),
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
def test_the_check_itself_sees_every_kind_of_import(module, source, allowed):
    room = module.split(".")[1]
    assert (offences(room, imports_of(ast.parse(source), module, is_package=False)) == []) is allowed


def test_errors_imports_nothing_of_ours():
    path = PACKAGE / "errors.py"
    assert [each for each in imports_of_file(path) if each.target.startswith("marey")] == []


# --- What the library never does


def test_no_file_is_too_long():
    def too_many(path: Path) -> list[int]:
        n_lines = len(path.read_text(encoding="utf-8").splitlines())
        return [n_lines] if n_lines > MOST_LINES else []

    assert offenders(FILES, too_many) == {}


def prints(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in ("print", "pprint"):
            yield f"line {node.lineno}: prints"
        if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr") and ast.unparse(node.value) == "sys":
            yield f"line {node.lineno}: names a standard stream"


def test_the_library_never_prints():
    paths = [path for path in FILES if room_of(path) != "cli"]
    assert offenders(paths, lambda path: prints(tree_of(path))) == {}


PICKLERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def pickles(tree: ast.Module, imports: list[Import]) -> Iterator[str]:
    for each in imports:
        if each.target.split(".")[0] in PICKLERS:
            yield f"line {each.line}: imports {each.target}"
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield f"line {node.value.lineno}: allow_pickle must be False"


def test_nothing_pickles():
    assert offenders(FILES, lambda path: pickles(tree_of(path), imports_of_file(path))) == {}


# --- What is loaded when


def imports_numba(path: Path) -> Iterator[str]:
    for each in imports_of_file(path):
        if each.target.split(".")[0] == "numba":
            yield f"line {each.line}: imports numba"


def test_numba_is_imported_by_the_compiler_of_kernels_alone():
    paths = [path for path in FILES if module_of(path) not in ("marey.compiled.jit", "marey.compiled.lanes")]
    assert offenders(paths, imports_numba) == {}


def test_kernels_stand_in_files_of_their_own():
    names = ("marey.compiled.kernel", "marey.compiled.helper")
    plain = [path for path in FILES if not path.stem.endswith("_kernels")]
    assert offenders(plain, lambda path: [each.target for each in imports_of_file(path) if each.target in names]) == {}


@pytest.mark.parametrize(
    ("source", "faults"),
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
def test_the_rules_see_what_they_forbid(source, faults):
    tree = ast.parse(source)
    imports = imports_of(tree, "marey.edit.join", is_package=False)
    assert len([*prints(tree), *pickles(tree, imports)]) == faults


def modules_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after a statement."""
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


def test_the_values_load_numpy_and_nothing_heavier():
    assert modules_after("from marey import Motion, Skeleton") & HEAVY == {"numpy"}


def test_no_module_loads_numba():
    modules = [module_of(path) for path in FILES if path.name not in ("__main__.py", "jit.py")]
    loaded = modules_after("\n".join(f"import {module}" for module in modules))
    assert {"marey", "numpy"} <= loaded
    assert "numba" not in loaded


@cache
def marked(path: Path, mark: str) -> set[str]:
    """The functions of a module with a decorator of that name."""
    functions = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]
    return {each.name for each in functions if any(ast.unparse(one) == mark for one in each.decorator_list)}


KERNELS = {module_of(path): path for path in FILES if path.stem.endswith("_kernels")}
CALLERS = [
    path
    for path in [*FILES, *sorted(Path(__file__).parent.rglob("*.py"))]
    if path in KERNELS.values() or "_kernels" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", CALLERS, ids=lambda path: path.name)
def test_helpers_are_called_by_kernels_only(path: Path) -> None:
    """Compiled at first use, they cannot be called from Python: that would crash the process."""
    tree, inside = tree_of(path), path in KERNELS.values()
    bare = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level or node.module is None:
            continue
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            if node.module in KERNELS and alias.name in marked(KERNELS[node.module], "helper"):
                bare[alias.asname or alias.name] = whole
            elif whole in KERNELS:
                prefix = alias.asname or alias.name
                bare |= {f"{prefix}.{name}": whole for name in marked(KERNELS[whole], "helper")}
    if inside:
        bare |= dict.fromkeys(marked(path, "helper"), path.stem)
        compiled = marked(path, "helper") | marked(path, "kernel")
        plain = [one for one in tree.body if not isinstance(one, ast.FunctionDef) or one.name not in compiled]
        calls = [node for one in plain for node in ast.walk(one) if isinstance(node, ast.Call)]
        used = {ast.unparse(node.func) for node in calls}
    else:
        used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)}
    assert not used & set(bare)
