"""`kr versions`, in projects as people have them and as the tools of each language make them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

REQUIRED = "KR_REQUIRE_INDEX"
"""Set to 1, as CI does, it makes a failure of what is skipped where an index cannot be reached."""
_UNREACHABLE = ("Failed to fetch", "error sending request", "network was disabled", "ENOTFOUND", "EAI_AGAIN",
                "ECONNREFUSED", "ETIMEDOUT", "request to https", "Network connection", "getaddrinfo", "ConnectionError")  # fmt: skip


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


@pytest.fixture
def folder(tmp_path):
    """A project with nothing in it."""
    made = tmp_path / "shop"
    made.mkdir()
    (made / "kr.yaml").write_text("{}\n")
    return made


def write(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text if isinstance(text, str) else json.dumps(text))


class TestTheCommand:
    @pytest.mark.req("K9")
    def test_the_list_has_columns_and_marks_what_the_project_asks_for(self, kr, folder):
        """Names, versions and files in columns; the nearest file's version; what is asked for is marked."""
        write(folder, {
            "uv.lock": 'version = 1\n[[package]]\nname = "httpx"\nversion = "0.27.0"\n[[package]]\nname = "idna"\nversion = "3.10"\n',
            "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["httpx>=0.27", "rich~=13.7"]\n',
        })  # fmt: skip
        done = kr("versions", cwd=folder)
        assert (done.code, done.err) == (0, "")
        assert done.out == (
            "httpx 0.27.0 (uv.lock) direct\n"
            "idna  3.10   (uv.lock)\n"
            "rich  ~=13.7 (pyproject.toml) direct\n"
        )  # fmt: skip
        assert kr("versions", "--json", cwd=folder).json == [
            {"name": "httpx", "version": "0.27.0", "from": "uv.lock"},
            {"name": "idna", "version": "3.10", "from": "uv.lock"},
            {"name": "rich", "version": "~=13.7", "from": "pyproject.toml"},
        ]

    @pytest.mark.req("K9")
    def test_what_is_installed_wins_and_the_difference_is_told(self, kr, project_folder):
        """The version in the environment is shown, and standard error says what the lock file has."""
        write(project_folder, {"requirements.txt": "parcel==1.3.0\n"})
        for arguments in (("versions", "parcel", "--json"), ("versions", "--json")):
            done = kr(*arguments)
            assert done.json == [{"name": "parcel", "version": "1.4.0", "from": ".venv"}]
            assert done.err == "note: requirements.txt says 1.3.0, .venv has 1.4.0\n"
        assert kr("-q", "versions").err == ""

    @pytest.mark.req("K9")
    def test_a_file_in_conflict_is_told_with_its_line_and_the_next_one_serves(self, kr, folder):
        """A merge conflict in one lock file leaves the others; the note says where it is and what to do."""
        write(folder, {
            "uv.lock": "version = 1\n<<<<<<< HEAD\nrevision = 2\n=======\nrevision = 3\n>>>>>>> other\n",
            "requirements.txt": "httpx==0.27.0\n",
        })  # fmt: skip
        done = kr("versions", "httpx", cwd=folder)
        assert (done.code, done.out) == (0, "httpx 0.27.0 (requirements.txt)\n")
        assert done.err == "note: uv.lock:2: a merge conflict; resolve it; left out until it is mended\n"

    @pytest.mark.req("K9")
    def test_an_unknown_name_says_what_was_looked_at(self, kr, project_folder):
        """Exit code 4, and where KR looked; as a list it is an empty one."""
        write(project_folder, {"package.json": {"dependencies": {"vue": "^3"}}})
        done = kr("versions", "nothing")
        assert (done.code, done.out) == (4, "nothing: not known in this project\n")
        assert done.err.startswith("note: looked in .venv, package.json, KR's own environment; install it")
        assert kr("versions", "nothing", "--json").json == []

    @pytest.mark.req("K9")
    def test_one_name_in_two_languages_stands_there_twice(self, kr, folder):
        """A project of Python and JavaScript may have two packages of one name, and the nearer one is asked about."""
        write(folder, {
            "requirements.txt": "redis==5.0.1\n",
            "web/package.json": {"dependencies": {"redis": "^4.6"}},
            "package.json": {"workspaces": ["web"], "dependencies": {"redis": "4.6.1"}},
        })  # fmt: skip
        assert kr("versions", "--json", cwd=folder).json == [
            {"name": "redis", "version": "4.6.1", "from": "package.json"},
            {"name": "redis", "version": "5.0.1", "from": "requirements.txt"},
        ]
        (one,) = kr("-C", "web", "versions", "redis", "--json", cwd=folder).json
        assert one["version"] == "^4.6"

    @pytest.mark.req("K9")
    def test_what_is_direct_in_one_language_is_not_marked_in_the_other(self, kr, folder):
        write(folder, {
            "requirements.txt": "celery==5.4.0\n",
            "uv.lock": '[[package]]\nname = "redis"\nversion = "5.0.1"\nsource = {registry = "https://pypi.org/simple"}\n',
            "package.json": {"dependencies": {"redis": "4.6.1"}},
        })  # fmt: skip
        assert [line.split() for line in kr("versions", cwd=folder).out.splitlines()] == [
            ["celery", "5.4.0", "(requirements.txt)", "direct"],
            ["redis", "4.6.1", "(package.json)", "direct"],
            ["redis", "5.0.1", "(uv.lock)"],
        ]
        assert kr("versions", "redis", cwd=folder).out == "redis 4.6.1 (package.json)\n"

    @pytest.mark.req("K9")
    def test_control_characters_in_a_lock_file_reach_no_terminal(self, kr, folder):
        """What a stranger's file says is shown without what steers a terminal."""
        write(folder, {"package.json": {"dependencies": {"a\x1b[31m": "1.\x1b]0;x\x07"}}})
        assert "\x1b" not in kr("versions", cwd=folder).out


class TestAgainstTheToolsThemselves:
    """On projects that the tools made, each direct dependency has the version that the tool itself names."""

    @pytest.mark.req("K9")
    @pytest.mark.parametrize("installed", [False, True])
    def test_uv(self, kr, folder, tool, installed):
        """A workspace of uv: as `uv export` says while nothing is installed, then as `uv pip list` says."""
        write(folder, {
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.11"\n'
            "dependencies = [\"idna>=3,<3.8\", \"certifi ; sys_platform != 'win32'\", \"member\"]\n"
            '[dependency-groups]\ndev = ["iniconfig>=2"]\n'
            '[tool.uv.workspace]\nmembers = ["member"]\n[tool.uv.sources]\nmember = {workspace = true}\n',
            "member/pyproject.toml": '[project]\nname = "member"\nversion = "1"\nrequires-python = ">=3.11"\n'
            'dependencies = ["packaging>=24", "sniffio"]\n',
        })  # fmt: skip
        uv = (sys.executable, "-m", "uv")
        tool(*uv, "lock", "--quiet", cwd=folder)
        if installed:
            tool(*uv, "sync", "--quiet", "--no-install-workspace", cwd=folder)
            listed = json.loads(tool(*uv, "pip", "list", "--python", ".venv", "--format", "json", cwd=folder))
            expected = {each["name"]: each["version"] for each in listed}
        else:
            exported = tool(
                *uv, "export", "--quiet", "--no-hashes", "--no-annotate", "--no-header", cwd=folder
            )
            lines = [line.partition(" ;")[0] for line in exported.splitlines() if "==" in line]
            expected = dict(line.split("==") for line in lines)
        direct = {"idna", "certifi", "iniconfig", "packaging", "sniffio"}
        assert direct <= set(expected)
        for member in (".", "member"):
            known = versions(kr, folder / member)
            assert {name: known.get(name) for name in direct} == {name: expected[name] for name in direct}

    @pytest.mark.req("K9")
    def test_pip(self, kr, folder, tool):
        """An environment that pip filled from requirements: as `pip list` says."""
        write(folder, {"requirements.txt": "idna<3.8\n-r more.txt\n", "more.txt": "iniconfig\n"})
        tool(sys.executable, "-m", "venv", ".venv", cwd=folder)
        python = folder / ".venv/bin/python"
        tool(
            python,
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "-r",
            "requirements.txt",
            cwd=folder,
        )
        listed = json.loads(tool(python, "-m", "pip", "list", "--format", "json", cwd=folder))
        expected = {each["name"]: each["version"] for each in listed}
        assert {"idna", "iniconfig"} <= set(expected)
        assert versions(kr, folder) == expected

    @pytest.mark.req("K9")
    @pytest.mark.parametrize(
        ("lock_version", "installed"), [("1", False), ("2", False), ("3", False), ("3", True)]
    )
    def test_npm(self, kr, folder, tool, lock_version, installed):
        """A workspace of npm: as `npm ls` says, from the root and from a member with another version."""
        npm = program("npm")
        node_workspace(folder)
        kind = () if installed else ("--package-lock-only",)
        tool(npm, "install", *kind, "--no-audit", "--no-fund", "--lockfile-version", lock_version, cwd=folder)
        listed = json.loads(tool(npm, "ls", "--json", *kind, cwd=folder))
        root = {name: each["version"] for name, each in listed["dependencies"].items() if name != "cart"}
        member = listed["dependencies"]["cart"]["dependencies"]
        assert set(root) == {"ms", "debug", "semver"}
        assert agree(kr, folder, root)
        assert agree(kr, folder / "cart", {name: each["version"] for name, each in member.items()})

    @pytest.mark.req("K9")
    @pytest.mark.parametrize(
        ("name", "package"), [("pnpm", "pnpm@9"), ("pnpm", "pnpm@8"), ("yarn", "yarn@1.22.22")]
    )
    def test_pnpm_and_yarn(self, kr, folder, tool, name, package):
        """A workspace of pnpm or yarn: as `pnpm ls` and `yarn list` say."""
        node_workspace(folder)
        write(folder, {"pnpm-workspace.yaml": "packages: [cart]\n"})
        npx = (program("npx"), "--yes", package)
        tool(*npx, "install", cwd=folder)
        root = {}
        if name == "pnpm":
            listed = json.loads(tool(*npx, "ls", "--json", "--depth", "0", cwd=folder))[0]
            for group in ("dependencies", "devDependencies"):
                root |= {each: found["version"] for each, found in listed[group].items()}
        else:
            said = tool(*npx, "list", "--json", "--depth", "0", cwd=folder).strip().splitlines()[-1]
            names = [each["name"].rpartition("@") for each in json.loads(said)["data"]["trees"]]
            root = {each: version for each, _, version in names if each in {"ms", "debug", "semver"}}
        assert set(root) == {"ms", "debug", "semver"}
        assert agree(kr, folder, root)
        for modules in (folder / "node_modules", folder / "cart/node_modules"):
            shutil.rmtree(modules, ignore_errors=True)
        assert agree(kr, folder, root)
        assert agree(kr, folder / "cart", {"ms": "2.0.0", "semver": "6.3.0"})


def node_workspace(folder):
    write(folder, {
        "package.json": {"name": "shop", "version": "1.0.0", "private": True, "workspaces": ["cart"],
                         "dependencies": {"ms": "^2.1.0", "debug": "4.3.4"}, "devDependencies": {"semver": "~7.5.0"}},
        "cart/package.json": {"name": "cart", "version": "1.0.0", "dependencies": {"ms": "2.0.0", "semver": "6.3.0"}},
    })  # fmt: skip


def versions(kr, folder):
    """What `kr versions` lists in a folder."""
    return {each["name"]: each["version"] for each in kr("versions", "--json", cwd=folder).json}


def agree(kr, folder, expected):
    """Whether `kr versions` says the same of each."""
    known = versions(kr, folder)
    return {name: known.get(name) for name in expected} == expected


def program(name):
    """The path of a program, or the test is skipped; a failure where CI demands it."""
    found = shutil.which(name)
    if found is None:
        missing(f"{name} is not installed")
    return found


def missing(reason):
    """Skip what cannot be tried here, or fail where CI demands it."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def tool(environ, tmp_path):
    """Run a tool and return what it printed; where its index cannot be reached, the test is skipped."""

    def run(*command, cwd):
        done = subprocess.run([*map(os.fspath, command)], cwd=cwd, env=environ, capture_output=True, text=True, timeout=300, check=False)  # fmt: skip
        if done.returncode and any(said in done.stdout + done.stderr for said in _UNREACHABLE):
            missing(f"the package index cannot be reached: {(done.stdout + done.stderr).strip()[-300:]}")
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
