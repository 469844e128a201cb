"""Which of several versions, files and tools is the one in use, and where none is known to be."""

import json
import sys

import pytest

pytestmark = pytest.mark.req("K9")


def lay(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text if isinstance(text, str) else json.dumps(text))


def npm_lock(version, **more):
    return {
        "lockfileVersion": 3,
        "packages": {"": {"dependencies": {"ms": "*"}, **more}, "node_modules/ms": {"version": version}},
    }


def yarn_lock(version):
    return f'# yarn lockfile v1\n\n\nms@*:\n  version "{version}"\n'


MANIFEST = {"dependencies": {"ms": "*"}}


def test_a_shrinkwrap_comes_before_the_package_lock(project, tmp_path):
    """npm reads `npm-shrinkwrap.json` and ignores the other file."""
    lay(tmp_path, {"npm-shrinkwrap.json": npm_lock("2.0.0"), "package-lock.json": npm_lock("1.0.0")})
    assert project().version_of("ms") == ("2.0.0", "npm-shrinkwrap.json")


BERRY = """__metadata:
  version: 8

"is-odd@npm:0.1.0":
  version: 0.1.0
  resolution: "is-odd@npm:0.1.0"

"is-odd@npm:^0.1.2":
  version: 0.1.2
  resolution: "is-odd@npm:0.1.2"
"""


@pytest.mark.parametrize("key", ["is-odd", "is-odd@npm:^2.0.0", "is-odd@^2.0.0", "shop/is-odd", "**/is-odd"])
def test_resolutions_of_yarn_are_found_by_each_of_their_keys(project, tmp_path, key):
    """The version that a resolution names is in use, not the highest that is locked."""
    manifest = {"name": "shop", "dependencies": {"is-odd": "^2.0.0"}, "resolutions": {key: "0.1.0"}}
    lay(tmp_path, {"package.json": manifest, "yarn.lock": BERRY})
    assert project().version_of("is-odd") == ("0.1.0", "yarn.lock")


def test_a_dependency_that_yarn_chose_nothing_for_has_no_locked_version(project, tmp_path):
    """Of several locked versions none is taken for it; what is asked for stands."""
    lay(tmp_path, {"package.json": {"dependencies": {"is-odd": "^2.0.0"}}, "yarn.lock": BERRY})
    assert project().version_of("is-odd") == ("^2.0.0", "package.json")


@pytest.mark.parametrize(
    "named",
    [
        {"packageManager": "yarn@4.1.0"},
        {"devEngines": {"packageManager": {"name": "yarn"}}},
        {"devEngines": {"packageManager": [{"name": "yarn"}]}},
    ],
)
def test_the_lock_file_of_the_tool_that_package_json_names_is_believed(project, tmp_path, named):
    """What another tool has left beside it is not asked, for a package that only it names either."""
    stale = npm_lock("1.0.0")
    stale["packages"]["node_modules/left"] = {"version": "9.0.0"}
    lay(
        tmp_path,
        {"package.json": MANIFEST | named, "package-lock.json": stale, "yarn.lock": yarn_lock("2.0.0")},
    )
    opened = project()
    assert opened.version_of("ms") == ("2.0.0", "yarn.lock")
    assert opened.version_of("left") is None
    assert opened.warnings == []


def test_lock_files_of_two_tools_that_differ_are_told(project, tmp_path):
    """Nothing says which tool is in use: npm's file comes first, and a warning names both and what to do."""
    lay(
        tmp_path,
        {"package.json": MANIFEST, "package-lock.json": npm_lock("1.0.0"), "yarn.lock": yarn_lock("2.0.0")},
    )
    opened = project()
    assert opened.version_of("ms") == ("1.0.0", "package-lock.json")
    assert len(opened.warnings) == 1
    assert "package-lock.json says 1.0.0 of ms, yarn.lock says 2.0.0" in opened.warnings[0]
    assert "packageManager" in opened.warnings[0]


def test_lock_files_of_two_tools_of_python_that_differ_are_told(project, tmp_path):
    """uv's comes first, and a warning names both and what to do; where they agree, there is none."""
    lay(tmp_path, {"uv.lock": UV, "pyproject.toml": PYPROJECT, "poetry.lock": POETRY})
    opened = project()
    assert opened.version_of("idna") == ("3.4", "uv.lock")
    (told,) = opened.warnings
    assert (
        told
        == "uv.lock says 3.4 of idna, poetry.lock says 2.0; delete the file of the tool that you do not use"
    )
    lay(tmp_path, {"poetry.lock": POETRY.replace("2.0", "3.4")})
    opened = project()
    assert opened.version_of("idna") == ("3.4", "uv.lock")
    assert opened.warnings == []
    (tmp_path / "uv.lock").unlink()
    lay(tmp_path, {"Pipfile.lock": {"default": {"idna": {"version": "==3.9"}}}})
    opened = project()
    assert opened.version_of("idna") == ("3.4", "poetry.lock")
    assert "Pipfile.lock says 3.9" in opened.warnings[0]


def test_what_go_replaces_by_a_folder_has_no_version(project, tmp_path):
    """The folder may hold anything."""
    lay(tmp_path, {"go.mod": "module x\nrequire (\n a/b v1.0.0\n c/d v1.0.0\n)\nreplace a/b => ./local\n"})
    assert project().version_of("a/b") is None
    assert project().version_of("c/d") == ("v1.0.0", "go.mod")


def test_what_the_program_needs_comes_before_what_its_development_needs(project, tmp_path):
    """Pipenv's `default` before `develop`, Composer's `packages` before `packages-dev`."""
    lay(
        tmp_path,
        {
            "Pipfile.lock": {"default": {"c": {"version": "==2.0"}}, "develop": {"c": {"version": "==3.0"}}},
            "composer.lock": {
                "packages": [{"name": "a/b", "version": "1.2.3"}],
                "packages-dev": [{"name": "a/b", "version": "9.0.0"}],
            },
        },
    )
    assert project().version_of("c") == ("2.0", "Pipfile.lock")
    assert project().version_of("a/b") == ("1.2.3", "composer.lock")


UV = """version = 1
[[package]]
name = "shop"
version = "0.1"
source = { virtual = "." }
dependencies = [{ name = "idna", version = "3.4" }]
[package.optional-dependencies]
old = [{ name = "packaging", version = "22.0" }]
new = [{ name = "packaging", version = "24.0" }, { name = "idna", version = "3.9" }]
[package.dev-dependencies]
dev = [{ name = "six", version = "1.15.0" }]
legacy = [{ name = "six", version = "1.16.0" }]
""" + "".join(
    f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ registry = "https://pypi.org/simple" }}\n'
    for name, version in (
        ("idna", "3.4"),
        ("idna", "3.9"),
        ("packaging", "22.0"),
        ("packaging", "24.0"),
        ("six", "1.15.0"),
        ("six", "1.16.0"),
    )
)
PYPROJECT = """[project]
name = "shop"
dependencies = ["idna==3.4"]
[project.optional-dependencies]
old = ["packaging==22.0"]
new = ["packaging==24.0", "idna==3.9"]
[dependency-groups]
dev = ["six==1.15.0"]
legacy = ["six==1.16.0"]
"""


@pytest.mark.parametrize(
    "files", [{"uv.lock": UV, "pyproject.toml": PYPROJECT}, {"pyproject.toml": PYPROJECT}]
)
def test_the_project_comes_before_its_default_group_and_that_before_the_others(project, tmp_path, files):
    """Extras that exclude each other leave the version unknown."""
    lay(tmp_path, files)
    opened = project()
    assert opened.version_of("idna")[0] == "3.4"
    assert opened.version_of("six")[0] == "1.15.0"
    assert opened.version_of("packaging") is None


CONFLICTS = """conflicts = [
    [{ package = "shop", group = "dev" }, { package = "shop", group = "legacy" }],
    [{ package = "shop", extra = "old" }, { package = "shop", extra = "new" }],
]
"""


@pytest.mark.parametrize(
    ("default", "version"),
    [('["legacy"]', "1.16.0"), ('["dev"]', "1.15.0"), ("[]", None), ('["Legacy"]', "1.16.0")],
)
@pytest.mark.parametrize("locked", [True, False])
def test_the_default_groups_are_those_that_uv_has_in_pyproject(project, tmp_path, default, version, locked):
    """Without a default group nothing says which of two groups that exclude each other is in use."""
    manifest = f"{PYPROJECT}[tool.uv]\ndefault-groups = {default}\n"
    files = {"uv.lock": UV.replace("[[", f"{CONFLICTS}[[", 1)} if locked else {}
    lay(tmp_path, {"pyproject.toml": manifest, **files})
    found = project().version_of("six")
    assert (found and found[0]) == version


def test_what_one_of_two_extras_names_that_exclude_each_other_has_no_version(project, tmp_path):
    """The other extra's packages need another version of it; what has one version has it in each."""
    old, new = '{ name = "packaging", version = "22.0" }', '{ name = "packaging", version = "24.0" }, '
    lock = UV.replace(new, "").replace(old, f'{old}, {{ name = "attrs" }}')
    lock += '[[package]]\nname = "attrs"\nversion = "25.0"\n'
    lay(tmp_path, {"uv.lock": lock})
    assert project().version_of("packaging") == ("22.0", "uv.lock")
    lay(tmp_path, {"uv.lock": lock.replace("[[", f"{CONFLICTS}[[", 1)})
    assert project().version_of("packaging") is None
    assert project().version_of("attrs") == ("25.0", "uv.lock")
    assert project().version_of("idna") == ("3.4", "uv.lock")


def test_a_marker_that_does_not_hold_leaves_a_package_without_a_version(project, tmp_path, make_environment):
    """It is named all the same: what is not installed here may be asked about."""
    make_environment(tmp_path / ".venv", version="3.12.4")
    lay(tmp_path, {"requirements.txt": 'old==1.0 ; python_version < "3"\nnew==2.0 ; python_version >= "3"\n'})
    opened = project()
    assert opened.version_of("old") is None
    assert opened.version_of("new") == ("2.0", "requirements.txt")
    assert opened.named_packages() == {"old", "new"}


NOT_MEMBERS = {
    "uv": {
        "uv.lock": UV,
        "own/pyproject.toml": '[project]\nname = "own"\ndependencies = ["idna"]\n',
    },
    "npm": {
        "package-lock.json": npm_lock("1.0.0", workspaces=["packages/*"])
        | {"packages": npm_lock("1.0.0", workspaces=["packages/*"])["packages"] | {"packages/a": {}}},
        "own/package.json": {"dependencies": {"ms": "*"}},
    },
    "pnpm": {
        "pnpm-lock.yaml": "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      ms:\n        version: 1.0.0\n"
        "  packages/a: {}\npackages:\n  ms@1.0.0:\n    x: y\n",
        "own/package.json": {"dependencies": {"ms": "*"}},
    },
}


@pytest.mark.parametrize("tool", NOT_MEMBERS)
def test_a_project_that_is_not_a_member_has_none_of_the_versions_of_the_workspace(project, tmp_path, tool):
    """A folder of the root without a manifest of its own still has them."""
    lay(tmp_path, NOT_MEMBERS[tool] | {"src/x": ""})
    name, version = ("idna", "3.4") if tool == "uv" else ("ms", "1.0.0")
    assert project("src").version_of(name)[0] == version
    assert project("own").version_of(name) is None


def test_a_folder_that_package_json_names_is_a_dependency(project, tmp_path):
    """It is listed by the name in `package.json` and by its own; a member of a workspace is not, and odd links do no harm."""
    packages = {
        "": {
            "workspaces": ["packages/*"],
            "dependencies": {"renamed": "file:./local", "own": "^1.0.0", "odd": "file:x", "gone": "file:y"},
        },
        "local": {"name": "local-lib", "version": "7.7.7"},
        "packages/own": {"version": "1.0.0"},
        "node_modules/renamed": {"resolved": "local", "link": True},
        "node_modules/own": {"resolved": "packages/own", "link": True},
        "node_modules/odd": {"resolved": ["x"], "link": True},
        "node_modules/gone": {"resolved": "y", "link": True},
    }
    lay(tmp_path, {"package-lock.json": {"lockfileVersion": 3, "packages": packages}})
    listed = {name: version for name, version, _where in project().versions()}
    assert listed == {"renamed": "7.7.7", "local-lib": "7.7.7"}


def test_an_entry_of_berry_with_a_long_key_is_read(project, tmp_path):
    """Many members that ask for different ranges make a key of over 1,024 characters, which berry writes with `?`."""
    asked = [f"is-odd@npm:>=0.{minor}.0 <2" for minor in range(60)]
    lock = BERRY.replace('"is-odd@npm:^0.1.2":', f'? "{", ".join(asked)}"\n:')
    lay(tmp_path, {"package.json": {"dependencies": {"is-odd": ">=0.59.0 <2"}}, "yarn.lock": lock})
    assert project().version_of("is-odd") == ("0.1.2", "yarn.lock")


GO_WORKSPACE = {
    "go.work": "go 1.22\nuse (\n ./api\n ./lib // shared\n)\nreplace g/h v1.1.0 => g/h v1.1.1\n",
    "api/go.mod": "module x/api\nrequire (\n x/lib v0.1.0\n a/b v1.9.0\n c/d v1.0.0\n e/f v1.0.0 // indirect\n g/h v1.1.0\n)\n"
    "replace g/h => ./own\n",
    "lib/go.mod": "module x/lib\nrequire (\n a/b v1.10.0-rc.2\n c/d v1.0.0-rc.1\n e/f v1.2.0\n)\nreplace e/f => e/fork v1.3.0\n",
    "apart/go.mod": "module x/apart\nrequire a/b v1.2.0\n",
}


def test_a_module_of_a_workspace_of_go_has_the_versions_of_the_workspace(project, tmp_path):
    """The highest that a module requires, replaced as any of them says, `go.work` first; a module outside has its own."""
    lay(tmp_path, GO_WORKSPACE)
    opened = project("api")
    found = {name: opened.version_of(name) for name in ("a/b", "c/d", "e/f", "g/h", "x/lib")}
    assert {name: where and where[0] for name, where in found.items()} == {
        "a/b": "v1.10.0-rc.2",
        "c/d": "v1.0.0",
        "e/f": "v1.3.0",
        "g/h": "v1.1.1",
        "x/lib": None,
    }
    assert project("apart").version_of("a/b") == ("v1.2.0", "apart/go.mod")
    assert tmp_path / "go.work" in opened.files()


STALE = npm_lock("9.0.0") | {"packages": {"node_modules/ms": {"version": "9.0.0"}}}
UV_MEMBER = UV.replace('"."', '"packages/a"').replace(
    "version = 1\n", 'version = 1\n[manifest]\nmembers = ["shop", "root"]\n'
)
POETRY = '[[package]]\nname = "idna"\nversion = "2.0"\n'
CARGO = 'version = 4\n[[package]]\nname = "ms"\nversion = "{}"\nsource = "registry+x"\n'
LEFT_OVER = {
    "npm": {
        "package.json": {"workspaces": ["packages/*", "!packages/b"]},
        "package-lock.json": NOT_MEMBERS["npm"]["package-lock.json"],
        "packages/a/package.json": MANIFEST,
        "packages/a/package-lock.json": STALE,
    },
    "yarn": {
        "package.json": {"workspaces": {"packages": ["./**/a/"]}},
        "yarn.lock": yarn_lock("1.0.0"),
        "packages/a/package.json": MANIFEST,
        "packages/a/yarn.lock": yarn_lock("9.0.0"),
        "packages/a/package-lock.json": STALE,
    },
    "pnpm": {
        "pnpm-lock.yaml": NOT_MEMBERS["pnpm"]["pnpm-lock.yaml"],
        "packages/a/package.json": MANIFEST,
        "packages/a/pnpm-lock.yaml": "lockfileVersion: '9.0'\npackages:\n  ms@9.0.0:\n    x: y\n",
        "packages/a/yarn.lock": yarn_lock("9.0.0"),
    },
    "uv": {
        "uv.lock": UV_MEMBER,
        "packages/a/pyproject.toml": PYPROJECT,
        "packages/a/uv.lock": UV.replace("3.4", "2.0"),
        "packages/a/poetry.lock": POETRY,
    },
    "cargo": {
        "Cargo.toml": '[workspace]\nmembers = ["packages/*"]\n',
        "Cargo.lock": CARGO.format("1.0.0")
        + '[[package]]\nname = "a"\nversion = "0.1.0"\ndependencies = ["ms"]\n',
        "packages/a/Cargo.toml": '[package]\nname = "a"\n[dependencies]\nms = "*"\n',
        "packages/a/Cargo.lock": CARGO.format("9.0.0"),
    },
}


@pytest.mark.parametrize("tool", LEFT_OVER)
def test_a_lock_file_left_over_in_a_member_of_a_workspace_is_not_asked(project, tmp_path, tool):
    """The tool reads the workspace's alone; one in a folder that is no member is believed."""
    lay(tmp_path, LEFT_OVER[tool])
    name, version = ("idna", "3.4") if tool == "uv" else ("ms", "1.0.0")
    opened = project("packages/a")
    assert opened.version_of(name)[0] == version
    assert not [
        where for *_, where in opened.versions() if where.startswith("packages/a/") and "lock" in where
    ]
    own = {file.replace("packages/a/", "packages/b/"): text for file, text in LEFT_OVER[tool].items()}
    lay(tmp_path, {file: text for file, text in own.items() if file.startswith("packages/b/")})
    if tool in {"npm", "yarn", "pnpm"}:
        assert project("packages/b").version_of(name)[0] == "9.0.0"


PNPM_MEMBERS = (
    "lockfileVersion: '9.0'\nimporters:\n  .: {}\n  packages/a:\n    dependencies:\n      ms:\n"
    "        specifier: 2.1.3\n        version: 2.1.3\npackages:\n  ms@2.1.3:\n    x: y\n"
)
OLD = {"dependencies": {"ms": "1.0.0"}}
OVERRIDDEN = {
    "npm": {
        "package.json": {"workspaces": ["packages/*"], "overrides": {"ms": "2.1.3"}},
        "package-lock.json": npm_lock("2.1.3", workspaces=["packages/*"])
        | {"packages": npm_lock("2.1.3", workspaces=["packages/*"])["packages"] | {"packages/a": OLD}},
        "packages/a/package.json": OLD,
    },
    "pnpm": {
        "package.json": {"pnpm": {"overrides": {"ms": "2.1.3"}}},
        "pnpm-lock.yaml": PNPM_MEMBERS,
        "packages/a/package.json": OLD,
    },
    "yarn-1": {
        "package.json": {"workspaces": ["packages/*"], "resolutions": {"**/ms": "2.1.3"}},
        "yarn.lock": '# yarn lockfile v1\n\n\nms@1.0.0, ms@2.1.3:\n  version "2.1.3"\n',
        "packages/a/package.json": OLD,
    },
    "berry": {
        "package.json": {"workspaces": ["packages/*"], "resolutions": {"ms": "2.1.3"}},
        "yarn.lock": '__metadata:\n  version: 8\n\n"ms@npm:2.1.3":\n  version: 2.1.3\n  resolution: "ms@npm:2.1.3"\n',
        "packages/a/package.json": OLD,
    },
    "uv": {
        "pyproject.toml": '[tool.uv]\noverride-dependencies = ["ms==2.1.3"]\n[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        "uv.lock": 'version = 1\n[manifest]\nmembers = ["a"]\noverrides = [{ name = "ms", specifier = "==2.1.3" }]\n'
        '[[package]]\nname = "a"\nversion = "1"\nsource = { virtual = "packages/a" }\ndependencies = [{ name = "ms" }]\n'
        '[[package]]\nname = "ms"\nversion = "2.1.3"\nsource = { registry = "https://pypi.org/simple" }\n',
        "packages/a/pyproject.toml": '[project]\nname = "a"\ndependencies = ["ms==1.0.0"]\n',
    },
}


@pytest.mark.parametrize("tool", OVERRIDDEN)
def test_what_the_root_of_a_workspace_overrides_is_in_use_in_its_members(project, tmp_path, tool):
    """The lock file lists the member, so that the list of the member decides nothing; also from a folder in it."""
    lay(tmp_path, OVERRIDDEN[tool] | {"packages/a/src/x": ""})
    for folder in (".", "packages/a", "packages/a/src"):
        version, where = project(folder).version_of("ms")
        assert (version, "lock" in where) == ("2.1.3", True)
    assert [version for name, version, _ in project("packages/a").versions() if name == "ms"] == ["2.1.3"]


def test_what_a_member_develops_with_may_lie_outside_of_what_it_lets_others_have(project, tmp_path):
    """A range of peers is for those who use the member; the lock file has what is installed for it."""
    peers = {"peerDependencies": {"ms": "^0.7.0 || ^1.0.0"}, "devDependencies": {"ms": "2.1.3"}}
    lay(tmp_path, OVERRIDDEN["pnpm"] | {"packages/a/package.json": peers})
    assert project("packages/a").version_of("ms") == ("2.1.3", "pnpm-lock.yaml")


def test_development_comes_before_categories_of_ones_own_in_a_pipfile_lock(project, tmp_path):
    """As Pipenv has it in the groups that are installed by default; categories that exclude each other leave it open."""
    lay(
        tmp_path,
        {
            "Pipfile.lock": {
                "docs": {"click": {"version": "==8.5.1"}, "six": {"version": "==1.16.0"}},
                "develop": {"click": {"version": "==8.0.4"}},
                "old": {"six": {"version": "==1.15.0"}, "idna": {"version": "==3.4"}},
                "new": {"idna": {"version": "==3.4"}},
            }
        },
    )
    opened = project()
    assert opened.version_of("click") == ("8.0.4", "Pipfile.lock")
    assert opened.version_of("six") is None
    assert opened.version_of("idna") == ("3.4", "Pipfile.lock")


def test_a_group_of_poetry_without_a_condition_has_the_package_for_every_python(
    project, tmp_path, make_environment
):
    """Poetry writes a condition only for the groups that have one."""
    make_environment(tmp_path / ".venv", version="3.12.4")
    package = '[[package]]\nname = "{}"\nversion = "1.16.0"\ngroups = ["main", "docs"]\nmarkers = {}\n'
    docs = "docs = \"python_version < '3.12'\""
    lay(
        tmp_path,
        {
            "poetry.lock": package.format("six", f"{{{docs}}}")
            + package.format("toml", f"{{main = \"python_version < '3.11'\", {docs}}}")
        },
    )
    assert project().version_of("six") == ("1.16.0", "poetry.lock")
    assert project().version_of("toml") is None


def test_of_several_versions_in_an_old_lock_of_poetry_the_one_for_the_python_in_use_is_taken(
    project, tmp_path, make_environment
):
    """Poetry 1 writes no markers, only which Python each version is for; what is not in PEP 440 is not judged."""
    make_environment(tmp_path / ".venv", version="3.9.18")
    package = '[[package]]\nname = "{}"\nversion = "{}"\noptional = false\npython-versions = "{}"\n'
    versions = [
        ("numpy", "1.24.4", ">=3.8"),
        ("numpy", "1.26.4", ">=3.9,<3.13"),
        ("numpy", "2.5.5", ">=3.12"),
    ]
    versions += [("six", "1.16.0", ">=2.7, !=3.0.*, !=3.1.*"), ("any", "1.0", "*"), ("caret", "1.0", "^3.9")]
    lay(tmp_path, {"poetry.lock": "".join(package.format(*each) for each in versions)})
    found = {name: project().version_of(name) for name in ("numpy", "six", "any", "caret")}
    assert {name: where and where[0] for name, where in found.items()} == {
        "numpy": "1.26.4",
        "six": "1.16.0",
        "any": "1.0",
        "caret": "1.0",
    }


EXCLUSIVE = [("8.0.4", 'extra == "cpu" and extra != "cuda"'), ("8.1.7", 'extra == "cuda" and extra != "cpu"')]
POETRY_OF_EXTRAS = {
    "poetry.lock": "".join(
        f'[[package]]\nname = "click"\nversion = "{version}"\ngroups = ["main"]\nmarkers = {json.dumps(marker)}\n'
        for version, marker in EXCLUSIVE
    ),
    "pyproject.toml": '[project.optional-dependencies]\ncpu = ["click==8.0.4"]\ncuda = ["click==8.1.7"]\n'
    "[tool.poetry.dependencies]\nclick = ["
    + ", ".join(f'{{version = "{version}", markers = {json.dumps(marker)}}}' for version, marker in EXCLUSIVE)
    + "]\n",
}


@pytest.mark.parametrize("names", [["poetry.lock", "pyproject.toml"], ["poetry.lock"], ["pyproject.toml"]])
@pytest.mark.parametrize("python", ["3.12.4", None])
def test_extras_of_poetry_that_exclude_each_other_leave_the_version_unknown(
    project, tmp_path, make_environment, names, python
):
    """The form that Poetry's documentation has for builds of torch; no extra is asked for, with or without an environment."""
    if python:
        make_environment(tmp_path / ".venv", version=python)
    lay(tmp_path, {name: POETRY_OF_EXTRAS[name] for name in names})
    assert project().version_of("click") is None


@pytest.mark.parametrize("python", ["3.12.4", None])
def test_what_poetry_installs_without_an_extra_is_in_use(project, tmp_path, make_environment, python):
    """A marker may also say that an extra is not asked for."""
    if python:
        make_environment(tmp_path / ".venv", version=python)
    lock = POETRY_OF_EXTRAS["poetry.lock"].replace(r"extra == \"cpu\" and ", "")
    lay(tmp_path, {"poetry.lock": lock})
    assert project().version_of("click") == ("8.0.4", "poetry.lock")


PYLOCK = (
    'lock-version = "1.0"\nextras = ["gpu"]\ndependency-groups = ["dev", "docs"]\ndefault-groups = ["dev"]\n'
    + "".join(
        f'[[packages]]\nname = "{name}"\nversion = "{version}"\nmarker = "{marker}"\n'
        for name, version, marker in (
            ("idna", "3.6", "'gpu' not in extras"),
            ("idna", "3.7", "'gpu' in extras"),
            ("six", "1.15.0", "'dev' in dependency_groups"),
            ("six", "1.16.0", "'dev' not in dependency_groups"),
            ("click", "8.0.0", "'docs' in dependency_groups"),
            ("click", "8.1.0", "'dev' not in dependency_groups"),
            ("rich", "13.0.0", "'docs' in dependency_groups"),
        )
    )
)


@pytest.mark.parametrize("python", ["3.12.4", None])
def test_a_pylock_is_read_without_extras_and_with_the_default_groups(
    project, tmp_path, make_environment, python
):
    """As an installer does that is asked for nothing else; what one alone has keeps its version."""
    if python:
        make_environment(tmp_path / ".venv", version=python)
    lay(tmp_path, {"pylock.toml": PYLOCK})
    found = {name: project().version_of(name) for name in ("idna", "six", "click", "rich")}
    assert {name: where and where[0] for name, where in found.items()} == {
        "idna": "3.6",
        "six": "1.15.0",
        "click": None,
        "rich": "13.0.0",
    }


def test_of_several_versions_that_poetry_asks_for_the_one_for_the_platform_in_use_is_taken(
    project, tmp_path, make_environment
):
    """Poetry's own key for it, beside its key for Python and markers, which may have an `or`."""
    make_environment(tmp_path / ".venv", version="3.12.4")
    here, either = f'platform = "{sys.platform}"', "os_name != 'a' or os_name != 'b'"
    wanted = {
        "idna": f'{{version = "3.6", {here}}}, {{version = "3.7", platform = "other"}}',
        "six": f'{{version = "1.15", platform = "more || {sys.platform}"}}, {{version = "1.16", platform = "other"}}',
        "rich": f'{{version = "13.0", {here}, python = ">=3.12"}}, {{version = "13.1", {here}, python = "<3.12"}}',
        "click": f'{{version = "8.0", python = ">=3.12"}}, {{version = "8.1", python = "<3.12", markers = "{either}"}}',
    }
    lines = "".join(f"{name} = [{each}]\n" for name, each in wanted.items())
    lay(tmp_path, {"pyproject.toml": f"[tool.poetry.dependencies]\n{lines}"})
    found = {name: project().version_of(name) for name in wanted}
    assert {name: where and where[0] for name, where in found.items()} == {
        "idna": "3.6",
        "six": "1.15",
        "rich": "13.0",
        "click": "8.0",
    }


def test_a_version_that_a_variable_names_is_not_known(project, tmp_path):
    """pip puts the value of the variable there; KR looks at no variables for it."""
    lay(tmp_path, {"requirements.txt": "ms==${MS_VERSION}\nidna>=${LOW},<4\nsix==1.16.0\n"})
    opened = project()
    assert opened.version_of("ms") is None
    assert opened.version_of("idna") is None
    assert opened.version_of("six") == ("1.16.0", "requirements.txt")
    assert "ms" in opened.direct_dependencies()


API_LOCK = '[[package]]\nname = "httpx"\nversion = "0.28.1"\n'
API_PROJECT = '[project]\nname = "api"\ndependencies = ["httpx"]\n'


@pytest.mark.parametrize("file", ["uv.lock", "poetry.lock", "pdm.lock"])
def test_an_environment_above_the_nearest_lock_file_of_a_package_is_another_projects(
    project, tmp_path, make_environment, file
):
    """What no nearer file locks is taken from there; and so is everything where the environment lies beside the lock file."""
    make_environment(tmp_path / ".venv", {"httpx": "0.23.0", "rich": "13.0"})
    lay(tmp_path, {f"api/{file}": API_LOCK, "api/pyproject.toml": API_PROJECT, "api/src/x": ""})
    for folder in ("api", "api/src"):
        opened = project(folder)
        assert opened.version_of("httpx") == ("0.28.1", f"api/{file}")
        assert opened.version_of("rich") == ("13.0", ".venv")
        assert {name: version for name, version, _ in opened.versions()} == {
            "httpx": "0.28.1",
            "rich": "13.0",
        }
        assert opened.disagreement("httpx") is None
        assert opened.distribution("httpx", own=False) is None
    assert project().version_of("httpx") == ("0.23.0", ".venv")
    make_environment(tmp_path / "api/.venv")
    assert project("api").version_of("httpx") == ("0.28.1", f"api/{file}")
    make_environment(tmp_path / "api/venv", {"httpx": "0.28.0"})
    assert project("api/src").version_of("httpx") == ("0.28.0", "api/venv")


def test_a_member_of_a_workspace_has_the_environment_of_the_workspace(project, tmp_path, make_environment):
    """Also where a lock file is left over in the member; a list of requirements makes no environment of its own."""
    make_environment(tmp_path / ".venv", {"idna": "3.3", "six": "1.10"})
    lay(tmp_path, LEFT_OVER["uv"] | {"packages/a/requirements.txt": "six==1.16.0\n"})
    opened = project("packages/a")
    assert opened.version_of("idna") == ("3.3", ".venv")
    assert opened.version_of("six") == ("1.10", ".venv")


def test_the_base_environment_of_conda_comes_after_a_lock_file(project, tmp_path, make_environment):
    """It is on for every project; an environment that somebody made is the project's."""
    make_environment(tmp_path / "opt/conda", {"httpx": "0.23.0", "rich": "13.0"})
    lay(tmp_path, {"api/poetry.lock": API_LOCK, "api/pyproject.toml": API_PROJECT})
    environ = {"CONDA_PREFIX": str(tmp_path / "opt/conda"), "CONDA_DEFAULT_ENV": "base"}
    opened = project("api", environ)
    assert opened.version_of("httpx") == ("0.28.1", "api/poetry.lock")
    assert opened.version_of("rich") == ("13.0", "CONDA_PREFIX")
    opened = project("api", environ | {"CONDA_DEFAULT_ENV": "shop"})
    assert opened.version_of("httpx") == ("0.23.0", "CONDA_PREFIX")


POETRY_FOLDER = (
    '[[package]]\nname = "api"\nversion = "1"\n[package.source]\ntype = "directory"\nurl = "api"\n'
)
PDM_FOLDER = '[[package]]\nname = "api"\nversion = "1"\neditable = true\npath = "./api"\n'
ABOVE = {
    "poetry": ("poetry.lock", API_LOCK, API_LOCK + POETRY_FOLDER),
    "pdm": ("pdm.lock", API_LOCK, API_LOCK + PDM_FOLDER),
    "pipenv": (
        "Pipfile.lock",
        {"default": {"httpx": {"version": "==0.28.1"}}},
        {"default": {"httpx": {"version": "==0.28.1"}, "api": {"path": "./api", "editable": True}}},
    ),
}


@pytest.mark.parametrize("own", ["pyproject.toml", "poetry", "Pipfile"])
@pytest.mark.parametrize("tool", ABOVE)
def test_a_project_below_has_nothing_of_a_lock_file_that_does_not_name_its_folder(
    project, tmp_path, tool, own
):
    """A folder without a manifest of its own has, and so has one with settings of tools alone."""
    file, lock, with_member = ABOVE[tool]
    manifests = {
        "pyproject.toml": {"api/pyproject.toml": API_PROJECT},
        "poetry": {
            "api/pyproject.toml": '[tool.poetry]\nname = "api"\n[tool.poetry.dependencies]\nhttpx = "*"\n'
        },
        "Pipfile": {"api/Pipfile": '[packages]\nhttpx = "*"\n'},
    }
    lay(tmp_path, manifests[own] | {file: lock, "src/pyproject.toml": "[tool.ruff]\n", "api/src/x": ""})
    for folder in ("api", "api/src"):
        assert project(folder).version_of("httpx") is None
    assert project("src").version_of("httpx") == ("0.28.1", file)
    lay(tmp_path, {file: with_member})
    for folder in ("api", "api/src"):
        assert project(folder).version_of("httpx") == ("0.28.1", file)


@pytest.mark.parametrize("version", [1, 3])
def test_a_project_below_has_nothing_of_a_package_lock_without_members(project, tmp_path, version):
    """Unless the lock file names its folder as a dependency."""
    tree = {"lockfileVersion": 1, "dependencies": {"ms": {"version": "2.1.3"}}}
    linked = {"lockfileVersion": 1, "dependencies": {**tree["dependencies"], "api": {"version": "file:api"}}}
    lock, with_member = (tree, linked) if version == 1 else (npm_lock("2.1.3"), npm_lock("2.1.3"))
    if version == 3:
        with_member["packages"] |= {"api": MANIFEST, "node_modules/api": {"resolved": "api", "link": True}}
    wished = {"api/package.json": {"dependencies": {"ms": "^2.0.0"}}, "src/package.json": {"type": "module"}}
    lay(tmp_path, wished | {"package-lock.json": lock, "package.json": MANIFEST})
    assert project("api").version_of("ms") == ("^2.0.0", "api/package.json")
    assert project("src").version_of("ms") == ("2.1.3", "package-lock.json")
    lay(tmp_path, {"package-lock.json": with_member})
    assert project("api").version_of("ms") == ("2.1.3", "package-lock.json")


BUN = """{
  "lockfileVersion": 1,
  "workspaces": {
    "": {
      "name": "shop",
      "dependencies": {
        "debug": "4.3.4",
        "ms": "2.1.3",
        "odd": "npm:is-odd@3.0.1",
      },
    },
    "packages/a": {
      "name": "@shop/a",
      "version": "1.0.0",
      "dependencies": {
        "@types/ms": "2.1.0",
        "ms": "2.0.0",
      },
      "devDependencies": {
        "semver": "6.3.1",
      },
    },
    "packages/b": {
      "name": "b",
      "dependencies": {
        "@shop/a": "workspace:*",
        "is-odd": "2.0.0",
        "ms": "^2.0.0",
        "parcel": "github:acme/parcel",
      },
    },
  },
  "overrides": {
    "is-number": "6.0.0",
  },
  "packages": {
    "@shop/a": ["@shop/a@workspace:packages/a"],

    "@types/ms": ["@types/ms@2.1.0", "", {}, "sha512-GsC,} =="],

    "b": ["b@workspace:packages/b"],

    "debug": ["debug@4.3.4", "", { "dependencies": { "ms": "2.1.2" } }, "sha512-PRW=="],

    "is-number": ["is-number@6.0.0", "", {}, "sha512-Wu1=="],

    "is-odd": ["is-odd@2.0.0", "", { "dependencies": { "is-number": "^4.0.0" } }, "sha512-OTi=="],

    "ms": ["ms@2.1.3", "", {}, "sha512-6Fl=="],

    "odd": ["is-odd@3.0.1", "", { "dependencies": { "is-number": "^6.0.0" } }, "sha512-CQp=="],

    "own": ["own@1.2.3", "https://npm.acme.example/own/-/own-1.2.3.tgz", {}, "sha512-own=="],

    "parcel": ["parcel@github:acme/parcel#0123abc", {}, "acme-parcel-0123abc"],

    "@shop/a/ms": ["ms@2.0.0", "", {}, "sha512-Tpp=="],

    "@shop/a/semver": ["semver@6.3.1", "", { "bin": { "semver": "./bin/semver.js" } }, "sha512-BR7=="],

    "debug/ms": ["ms@2.1.2", "", {}, "sha512-sGk=="],
  }
}
"""
BUN_VERSIONS = {
    ".": {"debug": "4.3.4", "ms": "2.1.3", "odd": "3.0.1", "is-odd": "3.0.1", "is-number": "6.0.0"},
    "packages/a": {"ms": "2.0.0", "@types/ms": "2.1.0", "semver": "6.3.1", "debug": "4.3.4"},
    "packages/b": {"ms": "2.1.3", "is-odd": "2.0.0", "parcel": None, "@shop/a": None, "b": None},
    "apart": {"ms": None, "debug": None},
}


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("folder", BUN_VERSIONS)
def test_each_member_of_a_workspace_of_bun_has_the_versions_that_bun_installs(
    project, tmp_path, folder, version
):
    """In each format since bun 1.2; a project outside of the workspace has none of them."""
    lock = BUN.replace('"lockfileVersion": 1', f'"lockfileVersion": {version}')
    lay(tmp_path, {"bun.lock": lock, "apart/package.json": MANIFEST, "packages/b/package.json": {}})
    opened = project(folder)
    found = {name: opened.version_of(name) for name in BUN_VERSIONS[folder]}
    assert {name: where and where[0] for name, where in found.items()} == BUN_VERSIONS[folder]
    assert opened.warnings == []


def test_a_lock_file_of_bun_says_which_packages_are_private(project, tmp_path):
    """A member, what comes from git, and what is in another registry; of the default one it says nothing."""
    lay(tmp_path, {"bun.lock": BUN})
    opened = project()
    assert [bool(opened.why_private(name)) for name in ("own", "parcel", "b", "ms")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("own", [{"bun.lock": BUN}, {"bun.lockb": "binary"}])
def test_a_lock_file_of_npm_is_left_over_where_bun_is_named(project, tmp_path, own):
    """Also beside bun's old file, which KR cannot read; where bun has none, it takes npm's over."""
    manifest = MANIFEST | {"packageManager": "bun@1.2.0"}
    lay(tmp_path, own | {"package.json": manifest, "package-lock.json": npm_lock("1.0.0")})
    assert project().version_of("ms") == (("2.1.3", "bun.lock") if "bun.lock" in own else None)
    (tmp_path / next(iter(own))).unlink()
    assert project().version_of("ms") == ("1.0.0", "package-lock.json")


def test_lock_files_of_npm_and_bun_that_differ_are_told(project, tmp_path):
    """Nothing names the tool in use."""
    lay(tmp_path, {"package.json": MANIFEST, "package-lock.json": npm_lock("1.0.0"), "bun.lock": BUN})
    opened = project()
    assert opened.version_of("ms") == ("1.0.0", "package-lock.json")
    assert "bun.lock says 2.1.3" in opened.warnings[0]


LIKE_NAMES = {
    "package.json": {"dependencies": {"object.assign": "^4.1.0"}},
    "package-lock.json": {
        "lockfileVersion": 3,
        "packages": {
            "": {"dependencies": {"object.assign": "^4.1.0"}},
            "node_modules/object-assign": {"version": "4.1.1"},
            "node_modules/object.assign": {"version": "4.1.7"},
            "node_modules/socket.io": {"version": "4.8.1"},
        },
    },
}
"""Two packages of npm that Python would take for one."""


def test_packages_of_node_with_like_names_are_two(project, tmp_path):
    lay(tmp_path, LIKE_NAMES)
    opened = project()
    assert opened.versions() == [
        ("object-assign", "4.1.1", "package-lock.json"),
        ("object.assign", "4.1.7", "package-lock.json"),
        ("socket.io", "4.8.1", "package-lock.json"),
    ]
    assert opened.version_of("object-assign") == ("4.1.1", "package-lock.json")
    assert opened.version_of("object.assign") == ("4.1.7", "package-lock.json")
    assert [each.name for each in opened.listed() if each.direct] == ["object.assign"]


def test_installed_packages_of_node_with_like_names_are_two(project, tmp_path):
    for name, version in {"object-assign": "4.1.1", "object.assign": "4.1.7"}.items():
        lay(tmp_path, {f"node_modules/{name}/package.json": {"name": name, "version": version}})
    lay(tmp_path, LIKE_NAMES)
    opened = project()
    for name, version in {"object-assign": "4.1.1", "object.assign": "4.1.7"}.items():
        assert (name, version, "node_modules") in opened.versions()
        assert opened.version_of(name) == (version, "node_modules")
        assert opened.disagreement(name) is None


def test_a_like_name_is_taken_where_it_is_one_package(project, tmp_path):
    lay(tmp_path, LIKE_NAMES)
    opened = project()
    assert opened.version_of("socket-io") == ("4.8.1", "package-lock.json")
    assert opened.version_of("Socket.IO") == ("4.8.1", "package-lock.json")
    assert opened.version_of("object_assign") == ("4.1.7", "package-lock.json")  # the one that is asked for
    (tmp_path / "package.json").unlink()
    assert project().version_of("object_assign") is None


def test_a_locked_name_comes_before_a_like_name_that_is_installed(project, tmp_path):
    """`object-assign` lies below the package that needs it, so `node_modules` has the other one only."""
    lay(tmp_path, LIKE_NAMES)
    lay(tmp_path, {"node_modules/object.assign/package.json": {"version": "4.1.7"}})
    assert project().version_of("object-assign") == ("4.1.1", "package-lock.json")


def test_a_like_name_is_of_the_same_package_in_each_file(project, tmp_path):
    """The range of `package.json` and the version that is locked are those of one package."""
    lay(tmp_path, LIKE_NAMES)
    (tmp_path / "package-lock.json").unlink()
    lay(tmp_path, {"package.json": {"dependencies": {"object.assign": "^4.1.0"}}})
    assert project().version_of("object-assign") == ("^4.1.0", "package.json")
    lay(tmp_path, {"yarn.lock": '# yarn lockfile v1\n\n\nobject-assign@^4:\n  version "4.1.1"\n'})
    assert project().version_of("object-assign") == ("4.1.1", "yarn.lock")
    assert project().version_of("object.assign") == ("^4.1.0", "package.json")


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("go.mod", "module x.org/m\nrequire (\n x.org/a.b v1.0.0\n x.org/a-b v2.0.0\n)\n", "x.org/a{}b"),
        ("Gemfile.lock", "GEM\n  specs:\n    a.b (v1.0.0)\n    a-b (v2.0.0)\n", "a{}b"),
        ("composer.json", {"require": {"x/a.b": "v1.0.0", "x/a-b": "v2.0.0"}}, "x/a{}b"),
        (
            "build.gradle",
            "dependencies { implementation 'x:a.b:v1.0.0'\nimplementation 'x:a-b:v2.0.0' }",
            "x:a{}b",
        ),
    ],
)
def test_packages_of_other_languages_with_like_names_are_two(project, tmp_path, name, text, asked):
    lay(tmp_path, {name: text})
    opened = project()
    for full in (asked, "a{}b"):
        assert opened.version_of(full.format(".")) == ("v1.0.0", name)
        assert opened.version_of(full.format("-")) == ("v2.0.0", name)
    assert len(opened.versions()) == 2


def test_names_of_rust_and_python_have_several_spellings(project, tmp_path):
    lay(
        tmp_path,
        {"Cargo.toml": '[dependencies]\nserde_json = "1"\n', "requirements.txt": "Ruamel.Yaml==0.18\n"},
    )
    assert project().version_of("serde-json") == ("^1", "Cargo.toml")
    assert project().version_of("ruamel_yaml") == ("0.18", "requirements.txt")
