"""Compile all kernels of marey into one extension module, src/marey/_kernels.abi3.so (.pyd on Windows).

Each file of kernels is compiled separately, in one process per processor. Numba infers the types and generates LLVM's
intermediate code of every kernel and of the helpers that it calls. This code is linked into one module, optimized for a
portable processor and written as an object file. The machine's C compiler, or that of the PyPI package ziglang, links
the object files with `module.c`, which calls the kernels from Python. Object files stay in build/kernels and are
compiled again only if a file that they depend on has changed.

Numba is needed here only. See CONTRIBUTING.md for how to add a kernel.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGE = ROOT / "src" / "marey"
sys.path.insert(0, str(PACKAGE.parent))

from marey.compiled import ArrayType, TupleType, hash_sources, kernel_files  # noqa: E402

OBJECTS = ROOT / "build" / "kernels"
LIBRARY = PACKAGE / ("_kernels.pyd" if sys.platform == "win32" else "_kernels.abi3.so")

# The oldest processors that the library runs on. Older ones compile kernels at first use. Compared with x86-64-v2, the
# measured times are: blends 0.92, grids 0.6 to 0.9, edges of parametric motion graphs 0.8. Finding all minima of 6,200
# frames takes 1.94 times as long as the matrix products, instead of 2.30 times.
PROCESSORS = {"x86_64": "x86-64-v3", "amd64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}
TYPE_CODES = {
    "float64": "d", "float32": "f", "int64": "l", "int32": "i", "int8": "c", "uint8": "C", "uint16": "H", "bool": "?",
}  # fmt: skip


class BuildError(Exception):
    """The library could not be built; the text says why."""


def processor() -> str:
    """Return LLVM's name of the processor to compile for."""
    machine = platform.machine().lower()
    if machine not in PROCESSORS:
        raise BuildError(f"no portable processor is known for {machine}")
    return PROCESSORS[machine]


# --- Files and their dependencies


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


@cache
def imported_files(path: Path) -> frozenset[Path]:
    """Return the kernel files that a file imports, directly or indirectly, and the file itself."""
    files = {module_name(each): each for each in kernel_files()}
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    found = {path}
    for name in names & set(files):
        found |= imported_files(files[name])
    return frozenset(found)


@cache
def builder_hash() -> str:
    """Return a hash of everything that determines how kernels are compiled: this file, marey.compiled, the versions of
    Numba and llvmlite, and the processor."""
    from importlib.metadata import version

    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted((PACKAGE / "compiled").glob("*.py")):
        digest.update(path.read_bytes())
    parts = [version("numba"), version("llvmlite"), processor(), sysconfig.get_platform()]
    digest.update("\0".join(parts).encode())
    return digest.hexdigest()


def object_key(path: Path) -> str:
    digest = hashlib.sha256(builder_hash().encode())
    for each in sorted(imported_files(path)):
        digest.update(module_name(each).encode() + b"\0" + each.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def library_stamp() -> str:
    """Return a hash of everything from which the library is built."""
    digest = hashlib.sha256(builder_hash().encode() + (HERE / "module.c").read_bytes())
    for path in kernel_files():
        digest.update(object_key(path).encode())
    return digest.hexdigest()


# --- Compile Python to an object file, in a separate process


@dataclass
class Compiled:
    """A compiled file of kernels: lines of the table for module.c, and the types of errors they can raise."""

    kernels: list[dict[str, Any]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)


class Compiler:
    """Numba, configured to keep the code of each function instead of loading it into this process."""

    def __init__(self) -> None:
        os.environ["NUMBA_DISABLE_INTEL_SVML"] = "1"
        import llvmlite.binding as llvm
        from numba import njit
        from numba.core import callconv, codegen, cpu, types
        from numba.core.registry import cpu_target

        from marey import compiled
        from marey.compiled import jit
        from marey.compiled.lanes import register_lanes

        self.failures: list[tuple[str, str]] = []
        failures = self.failures

        def keep(library: Any) -> None:
            library._finalized = True

        def return_failure(
            convention: Any, builder: Any, exc: Any, exc_args: Any = None, loc: Any = None, func_name: Any = None
        ) -> None:
            failure = (exc.__name__, str(exc_args[0]) if exc_args else "")
            if failure not in failures:
                failures.append(failure)
            convention._return_errcode_raw(builder, callconv._const_int(1 + failures.index(failure)))

        def take_constants_as_numbers(typed: Any, context: Any, args: Any, kws: Any) -> Any:
            # Numba would compile a helper for each constant that it is called with.
            plain = tuple(types.unliteral(each) for each in args)
            return get_call_type(typed, context, plain, {name: types.unliteral(kws[name]) for name in kws})

        get_call_type = types.Dispatcher.get_call_type
        types.Dispatcher.get_call_type = take_constants_as_numbers
        codegen.JITCodeLibrary.finalize = keep
        # Numba registers a builtin that calls each function. The function is never called, so any unique builtin works.
        cpu.CPUContext.get_executable = lambda *_: [].append
        callconv.CPUCallConv.return_user_exc = return_failure

        self.context = cpu_target.target_context
        self.codegen = self.context.codegen()
        self.llvm = llvm
        machine = llvm.Target.from_triple(llvm.get_process_triple())
        self.codegen._tm = machine.create_target_machine(cpu=processor(), opt=3, reloc="pic", codemodel="default")
        self.numba_type = jit.numba_type
        self.read_signature = compiled.read_signature

        class Forms(compiled.Forms):
            name = "build"

            def kernel(self, name: str, function: Any) -> Any:
                return njit(**jit.BARE)(function)

            def helper(self, function: Any) -> Any:
                return njit(**jit.BARE)(function)

        register_lanes()
        compiled.use_forms(Forms())
        self.compiled = compiled

    def compile(self, path: Path) -> tuple[bytes, Compiled]:
        """Compile all kernels of a file; return the object file and its kernels."""
        name = module_name(path)
        importlib.import_module(name)
        out = Compiled()
        whole = self.new_module(name)
        linked: set[Any] = set()
        for kernel_name, declared in self.compiled.list_kernels().items():
            if declared.function.__module__ != name:
                continue
            signature = self.read_signature(declared.function)
            arguments = tuple(self.numba_type(each) for each in signature.arguments.values())
            try:
                declared.compiled.compile(arguments)
            except Exception as error:
                raise BuildError(f"{kernel_name}: {error}") from error
            result = declared.compiled.overloads[arguments]
            expected = self.numba_type(signature.result)
            returned = result.signature.return_type
            if not fits(returned, expected):
                raise BuildError(f"{kernel_name}: returns {returned}, but its signature says {expected}")
            for library in libraries_of(result.library):
                if library not in linked:
                    linked.add(library)
                    whole.link_in(library._final_module.clone())
            symbol = "marey_" + kernel_name.replace(".", "_")
            whole.link_in(self.entry(symbol, result))
            out.kernels.append(
                {
                    "name": kernel_name,
                    "symbol": symbol,
                    "argument_names": " ".join(signature.arguments),
                    "argument_types": "".join(type_code(each) for each in signature.arguments.values()),
                    "result_type": type_code(signature.result),
                }
            )
        out.failures = list(self.failures)
        return self.emit(whole, {each["symbol"] for each in out.kernels}), out

    def new_module(self, name: str) -> Any:
        return self.llvm.parse_assembly(str(self.codegen._create_empty_module(name)))

    def entry(self, symbol: str, result: Any) -> Any:
        """Return a module with a function that calls a kernel with arguments from slots, and stores its results in
        slots."""
        from llvmlite import ir

        description = result.fndesc
        convention = result.target_context.call_conv
        kind = convention.get_function_type(description.restype, description.argtypes)
        module = self.codegen._create_empty_module(symbol)
        callee = ir.Function(module, kind, description.llvm_func_name)
        word = ir.IntType(64)
        slots = word.as_pointer()
        entry = ir.Function(module, ir.FunctionType(ir.IntType(32), [slots, slots]), symbol)
        builder = ir.IRBuilder(entry.append_basic_block())
        arguments = []
        for i, wanted in enumerate(kind.args[2:]):
            place = builder.gep(entry.args[0], [word(i)])
            arguments.append(builder.load(builder.bitcast(place, wanted.as_pointer())))
        returned = kind.args[0].pointee
        results, failure = builder.alloca(returned), builder.alloca(kind.args[1].pointee)
        builder.store(ir.Constant(returned, None), results)
        builder.store(ir.Constant(kind.args[1].pointee, None), failure)
        status = builder.call(callee, [results, failure, *arguments])
        for i, leaf in enumerate(leaves(builder, builder.load(results))):
            place = builder.gep(entry.args[1], [word(i)])
            if isinstance(leaf.type, ir.IntType) and leaf.type.width < 64:
                leaf = builder.zext(leaf, word)
            builder.store(leaf, builder.bitcast(place, leaf.type.as_pointer()))
        builder.ret(status)
        return self.llvm.parse_assembly(str(module))

    def emit(self, whole: Any, exported: set[str]) -> bytes:
        for each in (*whole.functions, *whole.global_variables):
            if not each.is_declaration and each.name not in exported:
                each.linkage = "internal"
        whole.verify()
        # Like Numba: inline, remove reference counts that cancel each other, then optimize.
        for options in ({"loop_vectorize": False, "slp_vectorize": False, "opt": 0, "cost": "cheap"}, {}):
            manager, builder = self.codegen._module_pass_manager(**options)
            manager.run(whole, builder)
        return bytes(self.codegen._tm.emit_object(whole))


def fits(returned: Any, expected: Any) -> bool:
    """Return whether a kernel's result has the type in its signature; its arrays may be writable."""
    from numba.core import types

    if isinstance(expected, types.Array):
        return isinstance(returned, types.Array) and returned.copy(readonly=True) == expected
    if isinstance(expected, types.BaseTuple):
        return (
            isinstance(returned, types.BaseTuple)
            and len(returned) == len(expected)
            and all(fits(*pair) for pair in zip(returned, expected, strict=True))
        )
    return bool(returned == expected)


def libraries_of(library: Any) -> Iterator[Any]:
    """Return the code libraries of a function and of all functions that it calls, called functions first."""
    seen: dict[Any, None] = {}

    def visit(each: Any) -> None:
        if each not in seen:
            for other in each._linking_libraries:
                visit(other)
            seen[each] = None

    visit(library)
    return iter(seen)


def leaves(builder: Any, value: Any) -> Iterator[Any]:
    """Yield the numbers and pointers that a value consists of."""
    from llvmlite import ir

    if isinstance(value.type, ir.ArrayType | ir.LiteralStructType):
        for i in range(len(value.type)):
            yield from leaves(builder, builder.extract_value(value, i))
    else:
        yield value


def type_code(of: Any) -> str:
    """Return a type of a signature in the form that module.c reads."""
    if of is None:
        return ""
    if isinstance(of, ArrayType):
        return f"{'w' if of.is_written else 'r'}{TYPE_CODES[of.dtype]}{of.ndim}"
    if isinstance(of, TupleType):
        return f"({chr(ord('0') + len(of.items))}{''.join(map(type_code, of.items))}"
    return {int: "l", float: "d", bool: "b"}[of]


_compiler: Compiler | None = None


def compile_file(path: Path) -> float:
    """Write the object file of a file of kernels, and a JSON file that lists its kernels; return the processor time in
    seconds."""
    global _compiler
    start = time.process_time()
    if _compiler is None:
        _compiler = Compiler()
        gc.disable()  # the process is short-lived, and collecting takes a tenth of its time
    code, compiled = _compiler.compile(path)
    target = OBJECTS / f"{object_key(path)}.o"
    facts = {"kernels": compiled.kernels, "failures": compiled.failures}
    for file, content in ((target, code), (target.with_suffix(".json"), json.dumps(facts).encode())):
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_bytes(content)
        part.replace(file)
    return time.process_time() - start


# --- The library


def compile_all(report: Callable[[str], None], workers: int | None = None) -> list[Path]:
    """Compile the object files that are missing; return the paths of all object files."""
    OBJECTS.mkdir(parents=True, exist_ok=True)
    files = kernel_files()
    objects = {path: OBJECTS / f"{object_key(path)}.o" for path in files}
    missing = [path for path, file in objects.items() if not file.with_suffix(".json").is_file()]
    # Start with the files that take longest, so that all processes end at about the same time.
    missing.sort(key=lambda path: -sum(each.stat().st_size for each in imported_files(path)))
    if missing:
        with ProcessPoolExecutor(max_workers=min(workers or os.cpu_count() or 1, len(missing))) as pool:
            futures = {pool.submit(compile_file, path): path for path in missing}
            for n, future in enumerate(as_completed(futures), 1):
                seconds = future.result()
                report(f"[{n}/{len(missing)}] {futures[future].relative_to(PACKAGE)} ({seconds:.1f} s)")
    for stale in set(OBJECTS.glob("*.*")) - {file.with_suffix(s) for file in objects.values() for s in (".o", ".json")}:
        stale.unlink(missing_ok=True)
    return list(objects.values())


def write_table(objects: list[Path], path: Path) -> None:
    """Write table.h for module.c."""
    facts = [json.loads(file.with_suffix(".json").read_text(encoding="utf-8")) for file in objects]
    lines, rows = [], []
    max_slots = max_arrays = 1
    for i, each in enumerate(facts):
        failures = ", ".join(f"{{&PyExc_{name}, {json.dumps(text)}}}" for name, text in each["failures"])
        lines.append(f"static const Failure FAILURES_{i}[] = {{{failures or '{NULL, NULL}'}}};")
        for kernel in each["kernels"]:
            lines.append(f"extern int32_t {kernel['symbol']}(const Slot *, Slot *);")
            texts = [kernel[key] for key in ("name", "argument_names", "argument_types", "result_type")]
            rows.append(f"    {{{', '.join(map(json.dumps, texts))}, {kernel['symbol']}, FAILURES_{i}}},")
            codes = kernel["argument_types"], kernel["result_type"]
            max_slots = max(max_slots, *map(count_slots, codes))
            max_arrays = max(max_arrays, sum(code.count("r") + code.count("w") for code in codes))
    lines += [
        f"#define N_KERNELS {len(rows)}",
        f"#define MAX_SLOTS {max_slots}",
        f"#define MAX_ARRAYS {max_arrays}",
        f"#define SOURCES {json.dumps(hash_sources())}",
        f"#define BUILT_WITH {json.dumps(library_stamp())}",
        *(["#define MAREY_NEEDS_AVX2"] if processor() == "x86-64-v3" else []),
        "static const Kernel KERNELS[] = {",
        *rows,
        "};",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def count_slots(code: str) -> int:
    n = i = 0
    while i < len(code):
        if code[i] in "rw":
            n += 5 + 2 * int(code[i + 2])
            i += 3
        elif code[i] == "(":
            i += 2
        else:
            n += 1
            i += 1
    return n


def find_compiler() -> list[str]:
    """Return the command of the machine's C compiler, or else that of the package ziglang."""
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        command = name.split()
        if shutil.which(command[0]):
            return command
    try:
        importlib.import_module("ziglang")
    except ImportError:
        raise BuildError("there is no C compiler; install one, or `pip install ziglang`") from None
    return [sys.executable, "-m", "ziglang", "cc"]


def link(objects: list[Path], folder: Path) -> Path:
    import numpy as np

    out = folder / LIBRARY.name
    command = [*find_compiler(), "-shared", "-O2", "-fvisibility=hidden", "-I", str(folder), "-I", np.get_include()]
    command += ["-I", sysconfig.get_path("include"), str(HERE / "module.c"), *map(str, objects), "-o", str(out)]
    if sys.platform == "win32":
        command += ["-L", str(Path(sys.base_prefix) / "libs"), "-lpython3"]
    else:
        command += ["-fPIC", "-lm", *(["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else [])]
        if sys.platform == "linux":
            command += ["-Wl,--no-undefined-version", "-Wl,-s"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise BuildError(f"the C compiler failed: {next((line for line in said if 'error' in line), said[:1])}")
    return out


def is_current() -> bool:
    """Return whether the library was built from the current sources."""
    stamp = library_stamp().encode()
    return LIBRARY.is_file() and stamp in LIBRARY.read_bytes()


def build(report: Callable[[str], None] = lambda line: None, workers: int | None = None) -> bool:
    """Build the library; return False if it was already up to date."""
    if is_current():
        return False
    objects = compile_all(report, workers)
    with tempfile.TemporaryDirectory(dir=OBJECTS.parent) as name:
        folder = Path(name)
        write_table(objects, folder / "table.h")
        link(objects, folder).replace(LIBRARY)
    return True


def main() -> int:
    try:
        is_built = build(lambda line: print(line, file=sys.stderr, flush=True))
    except BuildError as why:
        print(f"the kernels were not compiled: {why}", file=sys.stderr)
        return 1
    print(f"{LIBRARY.relative_to(ROOT)} {'built' if is_built else 'is up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
