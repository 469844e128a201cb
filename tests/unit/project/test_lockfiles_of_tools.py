"""What is found in lock files as the tools write them, from each member of a workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kr_core.project.package_names import normalise
from kr_core.project.project import LocalProject

LOCKS = Path(__file__).parent / "locks"
NODE = {
    ".": {"ms": "2.1.3", "debug": "4.3.4", "semver": "7.5.4", "is-odd": "3.0.1", "is-number": "6.0.0"},
    "packages/cart": {"ms": "2.0.0", "semver": "6.3.2", "@types/ms": "2.1.0", "debug": "4.3.4"},
    "packages/cart/src": {"ms": "2.0.0", "semver": "6.3.2"},
    "packages/web": {"odd": "2.0.0", "is-odd": "2.0.0", "ms": "2.1.3", "semver": "7.5.4"},
}
EXPECTED = {
    **dict.fromkeys(("npm-3", "pnpm-5", "pnpm-8", "pnpm-9", "yarn-1", "yarn-4"), NODE),
    "npm-1": {
        ".": NODE["."],
        "packages/cart": NODE["packages/cart"],
        # version 1 does not say which member depends on what: `is-odd` is what its package.json asks for
        "packages/web": {"odd": "2.0.0", "is-odd": "^2.0.0", "ms": "2.1.3"},
    },
    "uv": {
        ".": {"httpx": "0.27.2", "idna": "3.7", "iniconfig": "2.3.1", "colorama": "0.4.6", "anyio": "4.16.0"},
        "packages/api": {"packaging": "26.3", "h11": "0.16.0"},
        "packages/old": {"click": "8.5.1"},
    },
    "poetry": {".": {"httpx": "0.27.2", "certifi": "2025.1.31", "colorama": "0.4.6", "h2": "4.4.1"}},
    "pdm": {".": {"httpx": "0.27.2", "certifi": "2025.1.31", "iniconfig": "2.3.1"}},
    "pipenv": {".": {"httpx": "0.27.2", "idna": "3.20", "iniconfig": "2.3.1", "colorama": None}},
    "pylock": {".": {"httpx": "0.27.2", "idna": "3.7", "api": None}},
    "cargo": {
        ".": {"itoa": "1.0.11", "cfg-if": "1.0.0", "cfg_if": "1.0.0"},
        "cli": {"itoa": "1.0.11"},
        "cli/src": {"itoa": "1.0.11"},
        "core": {"itoa": "0.4.8"},
    },
    "go": {
        ".": {
            "github.com/google/uuid": None,  # each is replaced by a folder, which has no version
            "mux": None,
            "golang.org/x/text": None,
            "rsc.io/quote": "v1.5.2",
        }
    },
    "bundler": {".": {"rack": "2.2.8", "rakelet": "13.0.6"}},
    "composer": {".": {"psr/log": "3.0.1", "psr/cache": "v3.0.0", "php": None}},
    "maven": {
        ".": {"slf4j-api": "2.0.13", "jackson-databind": "2.17.1", "junit-bom": "5.10.2"},
        "service": {
            "com.fasterxml.jackson.core:jackson-databind": "2.17.1",
            "guava": "33.2.0-jre",
            "core": "1.4.0",
            "slf4j-api": "2.0.13",
            "junit-jupiter": None,
            "unknown": None,
            "commons-lang3": "[3.12,4.0)",
        },
    },
    "gradle": {
        ".": {
            "com.google.guava:guava": "33.2.0-jre",
            "log4j-core": "2.23.1",
            "commons-lang3": "3.+",
            "from-properties": "7.1",
            "unknown": None,
            "old": None,
            "junit-jupiter": "5.10.2",
        },
        "app": {
            "ktor-client-core": "2.3.11",
            "slf4j-api": "2.0.13",
            "jackson-bom": "2.17.1",
            "postgresql": "42.7.3",
            "mockk": "1.13.11",
            "okio": "3.9.0",
            "org.springframework.boot": "3.3.0",
            "org.jetbrains.kotlin.jvm": "1.9.24",
            "commented-out": None,
        },
    },
}
DIRECT = {
    "npm-3": ({"debug", "is-odd", "ms", "semver"}, {"debug", "is-odd", "ms"}),
    "uv": (
        {"httpx", "api", "idna", "colorama", "iniconfig", "pathspec"},
        {"httpx", "api", "idna"},
    ),
    "poetry": ({"httpx", "certifi", "colorama", "iniconfig"}, {"httpx", "certifi", "colorama"}),
    "go": ({"github.com/google/uuid", "golang.org/x/text", "rsc.io/quote"},) * 2,
    "bundler": ({"rack", "rakelet"},) * 2,
    "composer": ({"psr/log", "psr/cache"}, {"psr/log"}),
}


def opened(tmp_path: Path, name: str, member: str = ".") -> LocalProject:
    """The project with a lock file of this kind, in an environment of Python 3.12."""
    root = tmp_path / name
    shutil.copytree(LOCKS / name, root)
    (root / ".venv").mkdir()
    (root / ".venv" / "pyvenv.cfg").write_text("home = /nowhere\nversion = 3.12.4\n")
    (root / member).mkdir(parents=True, exist_ok=True)
    return LocalProject(root, root / member, {}, own_prefix=None)


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("name", "member"), [(name, member) for name in EXPECTED for member in EXPECTED[name]]
)
def test_each_member_of_a_workspace_has_the_versions_that_it_runs(tmp_path, name, member):
    project = opened(tmp_path, name, member)
    found = {package: (project.version_of(package) or (None,))[0] for package in EXPECTED[name][member]}
    assert found == EXPECTED[name][member]
    assert project.warnings == []


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", EXPECTED)
def test_the_list_says_what_is_said_of_each_package(tmp_path, name):
    project = opened(tmp_path, name)
    listed = {package: (version, where) for package, version, where in project.versions()}
    assert listed
    assert {package: project.version_of(package) for package in listed} == listed


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", DIRECT)
def test_what_the_project_itself_asks_for_is_told_apart(tmp_path, name):
    project = opened(tmp_path, name)
    every, needed = DIRECT[name]
    assert project.direct_dependencies() == {normalise(name) for name in every}
    assert project.direct_dependencies(development=False) == {normalise(name) for name in needed}


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("python", "version"), [("3.11.7", "2024.8.30"), ("3.12.4", "2025.1.31"), (None, "2025.1.31")]
)
@pytest.mark.parametrize("name", ["poetry", "pdm"])
def test_markers_choose_for_the_python_of_the_environment(tmp_path, name, python, version):
    shutil.copytree(LOCKS / name, tmp_path / name)
    if python:
        (tmp_path / name / ".venv").mkdir()
        (tmp_path / name / ".venv" / "pyvenv.cfg").write_text(f"version = {python}\n")
    project = LocalProject(tmp_path / name, tmp_path / name, {}, own_prefix=None)
    assert project.version_of("certifi") == (version, f"{name}.lock")


@pytest.mark.req("K9")
def test_forks_of_a_uv_lock_are_chosen_by_marker(tmp_path):
    shutil.copytree(LOCKS / "uv", tmp_path / "uv")
    (tmp_path / "uv" / ".venv").mkdir()
    (tmp_path / "uv" / ".venv" / "pyvenv.cfg").write_text("version = 3.11.2\n")
    project = LocalProject(tmp_path / "uv", tmp_path / "uv", {}, own_prefix=None)
    assert project.version_of("idna") == ("3.6", "uv.lock")


@pytest.mark.req("K9")
def test_every_lock_file_is_read_the_same_with_windows_line_ends_and_a_byte_order_mark(tmp_path):
    for name in EXPECTED:
        project = opened(tmp_path, name)
        before = project.versions()
        for path in (tmp_path / name).rglob("*"):
            if path.is_file() and path.name != "pyvenv.cfg":
                text = path.read_text("utf-8").replace("\n", "\r\n")
                path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        again = LocalProject(project.root, project.root, {}, own_prefix=None)
        assert (again.versions(), again.warnings) == (before, []), name


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"requirements.txt": "django>=4.2\n", "requirements-py27.txt": "django==1.11.29\n"}, ">=4.2"),
        ({"requirements.txt": "django>=4.2\n", "requirements-lock.txt": "django==4.2.9\n"}, "4.2.9"),
        ({"pyproject.toml": '[project]\nname = "a"\ndependencies = ["django>=5"]\n', "requirements-docs.txt": "django==4.2.1\n"}, ">=5"),
    ],
)  # fmt: skip
def test_an_exact_line_outside_of_the_projects_own_range_is_for_another_use(tmp_path, files, version):
    """Files of requirements lie side by side for other Pythons and for the docs."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert LocalProject(tmp_path, tmp_path, {}, own_prefix=None).version_of("django")[0] == version


@pytest.mark.req("K9")
def test_a_child_of_a_pom_overrides_the_version_of_its_parent(tmp_path):
    """As Maven's own model builder has it, though the parent's is higher."""
    guava = "<dependencies><dependency><groupId>g</groupId><artifactId>guava</artifactId><version>{}</version></dependency></dependencies>"
    (tmp_path / "pom.xml").write_text(
        f"<project><groupId>a</groupId><artifactId>top</artifactId><version>1</version>{guava.format('32.1')}</project>"
    )
    (tmp_path / "child").mkdir()
    (tmp_path / "child" / "pom.xml").write_text(
        "<project><parent><groupId>a</groupId><artifactId>top</artifactId><version>1</version></parent>"
        f"<artifactId>child</artifactId>{guava.format('31.0')}</project>"
    )
    project = LocalProject(tmp_path, tmp_path / "child", {}, own_prefix=None)
    assert project.version_of("g:guava")[0] == "31.0"
