"""What a lock file has from elsewhere than the public registries is private: they do not even learn its name."""

from __future__ import annotations

import json

import pytest

from kr_core.toolkit import LocalProject
from kr_plugins.sources.deepwiki import _registries

pytestmark = pytest.mark.req("Z8")

UV = 'version = 1\n\n[[package]]\nname = "acme-parcel"\nversion = "1.0.0"\nsource = {{ {} }}\n'
POETRY = '[[package]]\nname = "acme-parcel"\nversion = "1.0.0"\n{}\n'
PNPM = "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      acme-parcel:\n        specifier: {0}\n        version: {1}\n\npackages:\n\n  {2}:\n    resolution: {3}\n"


def npm(**package: object) -> str:
    whole = {
        "lockfileVersion": 3,
        "packages": {"": {}, "node_modules/acme-parcel": {"version": "1.0.0", **package}},
    }
    return json.dumps(whole)


PRIVATE = {
    "uv, another registry": {"uv.lock": UV.format('registry = "https://pypi.acme.example/simple"')},
    "uv, git": {"uv.lock": UV.format('git = "https://github.com/acme/parcel?rev=1#abc"')},
    "uv, a folder": {"uv.lock": UV.format('editable = "packages/parcel"')},
    "uv, an address": {"uv.lock": UV.format('url = "https://files.acme.example/parcel.whl"')},
    "uv, a name like the public one": {"uv.lock": UV.format('registry = "https://pypi.org.acme.example/simple"')},
    "poetry, another registry": {"poetry.lock": POETRY.format('[package.source]\ntype = "legacy"\nurl = "https://pypi.acme.example/simple"')},
    "poetry, git": {"poetry.lock": POETRY.format('[package.source]\ntype = "git"\nurl = "https://github.com/acme/parcel.git"')},
    "poetry, a folder": {"poetry.lock": POETRY.format('[package.source]\ntype = "directory"\nurl = "../parcel"')},
    "pdm, git": {"pdm.lock": POETRY.format('git = "https://github.com/acme/parcel.git"')},
    "Pipfile": {"Pipfile.lock": json.dumps({"_meta": {"sources": [{"name": "acme", "url": "https://pypi.acme.example/simple"}]}, "default": {"acme-parcel": {"version": "==1.0.0", "index": "acme"}}})},
    "pylock": {"pylock.toml": 'lock-version = "1.0"\n[[packages]]\nname = "acme-parcel"\nversion = "1.0.0"\nindex = "https://pypi.acme.example/simple"\n'},
    "requirements, another index": {"requirements.txt": "--index-url https://pypi.acme.example/simple\nacme-parcel==1.0.0\n"},
    "requirements, git": {"requirements.txt": "acme-parcel @ git+https://github.com/acme/parcel\n"},
    "pyproject, another index": {"pyproject.toml": '[project]\nname = "x"\ndependencies = ["acme-parcel==1.0.0"]\n[[tool.uv.index]]\nurl = "https://pypi.acme.example/simple"\n'},
    "pyproject, its own name": {"pyproject.toml": '[project]\nname = "Acme_Parcel"\nversion = "1.0.0"\n'},
    "poetry, not locked": {"pyproject.toml": '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\nacme-parcel = {path = "../parcel"}\n'},
    "npm, another registry": {"package-lock.json": npm(resolved="https://npm.acme.example/acme-parcel/-/acme-parcel-1.0.0.tgz")},
    "npm, git": {"package-lock.json": npm(resolved="git+ssh://git@github.com/acme/parcel.git#abc")},
    "npm, a member": {"package-lock.json": npm(resolved="packages/parcel", link=True)},
    "npm 1": {"package-lock.json": json.dumps({"lockfileVersion": 1, "dependencies": {"acme-parcel": {"version": "git+ssh://git@github.com/acme/parcel.git#abc"}}})},
    "npm, not locked": {"package.json": json.dumps({"dependencies": {"acme-parcel": "github:acme/parcel"}})},
    "npm, its own name": {"package.json": json.dumps({"name": "acme-parcel", "version": "1.0.0"})},
    "npm, another registry in its settings": {"package.json": json.dumps({"dependencies": {"acme-parcel": "^1.0.0"}}), ".npmrc": "registry=https://npm.acme.example/\n"},
    "pnpm, another registry": {"pnpm-lock.yaml": PNPM.format("^1.0.0", "1.0.0", "acme-parcel@1.0.0", "{integrity: x, tarball: https://npm.acme.example/acme-parcel.tgz}")},
    "pnpm, git": {"pnpm-lock.yaml": PNPM.format("github:acme/parcel", "https://codeload.github.com/acme/parcel/tar.gz/abc", "acme-parcel@https://codeload.github.com/acme/parcel/tar.gz/abc", "{tarball: https://codeload.github.com/acme/parcel/tar.gz/abc}")},
    "pnpm, a member": {"pnpm-lock.yaml": PNPM.format("workspace:*", "link:../parcel", "other@1.0.0", "{integrity: x}")},
    "yarn, another registry": {"yarn.lock": '# yarn lockfile v1\n\nacme-parcel@^1.0.0:\n  version "1.0.0"\n  resolved "https://npm.acme.example/acme-parcel.tgz#1"\n'},
    "yarn, a member": {"yarn.lock": '__metadata:\n  version: 8\n\n"acme-parcel@workspace:packages/parcel":\n  version: 0.0.0-use.local\n  resolution: "acme-parcel@workspace:packages/parcel"\n'},
}  # fmt: skip
PUBLIC = {
    "uv": ({"uv.lock": UV.format('registry = "https://pypi.org/simple"')}, ("PyPI",)),
    "uv beside another index": ({"uv.lock": UV.format('registry = "https://pypi.org/simple"'), "pyproject.toml": '[[tool.uv.index]]\nurl = "https://pypi.acme.example/simple"\n'}, ("PyPI",)),
    "poetry": ({"poetry.lock": POETRY.format("")}, ("PyPI",)),
    "requirements": ({"requirements.txt": "acme-parcel==1.0.0\n"}, ("PyPI",)),
    "npm": ({"package-lock.json": npm(resolved="https://registry.npmjs.org/acme-parcel/-/acme-parcel-1.0.0.tgz")}, ("npm",)),
    "pnpm": ({"pnpm-lock.yaml": PNPM.format("^1.0.0", "1.0.0", "acme-parcel@1.0.0", "{integrity: x}")}, ("npm",)),
    "yarn": ({"yarn.lock": '# yarn lockfile v1\n\nacme-parcel@^1.0.0:\n  version "1.0.0"\n  resolved "https://registry.yarnpkg.com/acme-parcel/-/acme-parcel-1.0.0.tgz#1"\n'}, ("npm",)),
    "nothing": ({}, ("PyPI", "npm")),
}  # fmt: skip


PUBLIC_PINS = {"requirements.txt": "acme-parcel==1.0.0\n"}
UNTOLD = {
    "pnpm": PUBLIC["pnpm"][0],
    "pdm": {"pdm.lock": POETRY.format("")},
    "npm": {"package-lock.json": npm()},
    "yarn 4": {"yarn.lock": '__metadata:\n  version: 8\n\n"acme-parcel@npm:^1.0.0":\n  version: 1.0.0\n  resolution: "acme-parcel@npm:1.0.0"\n'},
}  # fmt: skip
OTHER = "https://pypi.acme.example/simple"
NPM = "https://npm.acme.example/"
SETTINGS = {
    ".config/pip/pip.conf": f"[global]\nextra-index-url =\n    https://pypi.org/simple\n    {OTHER}\n",
    ".pip/pip.conf": "[global]\nindex-url = file:///srv/wheels\n",
    ".config/uv/uv.toml": f'[[index]]\nname = "acme"\nurl = "{OTHER}"\n',
    ".npmrc": f"fund=false\nregistry={NPM}\n",
    ".yarnrc.yml": f"npmRegistryServer: {NPM}\n",
    ".bunfig.toml": f'[install]\nregistry = "{NPM}"\n',
}
VARIABLES = {
    "UV_INDEX_URL": OTHER,
    "UV_DEFAULT_INDEX": OTHER,
    "UV_INDEX": f"pypi=https://pypi.org/simple acme={OTHER}",
    "PIP_INDEX_URL": OTHER,
    "PIP_EXTRA_INDEX_URL": f"https://pypi.org/simple {OTHER}",
    "PIP_FIND_LINKS": "/srv/wheels",
    "NPM_CONFIG_REGISTRY": NPM,
    "npm_config_registry": NPM,
}
HARMLESS = {
    "variables": ({}, {"PIP_INDEX_URL": "https://pypi.org/simple", "NPM_CONFIG_REGISTRY": "https://registry.npmjs.org/", "UV_INDEX": ""}),
    "files": ({".config/pip/pip.conf": "[global]\nindex-url = https://pypi.org/simple\ntimeout = 5\n", ".npmrc": "@other:registry=https://npm.acme.example/\n//npm.acme.example/:_authToken=x\n"}, {}),
}  # fmt: skip


def asked(folder, files, name="acme-parcel", **environ):
    for path, text in files.items():
        (folder / path).write_text(text)
    registries, why = _registries(name, LocalProject(folder, folder, environ, own_prefix=None))
    assert not (registries and why)
    return registries


def home_with(folder, files):
    home = folder / "home"
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    return str(home)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.mark.parametrize("path", SETTINGS)
@pytest.mark.parametrize("files", [{}, PUBLIC_PINS], ids=["no file", "pins alone"])
def test_an_index_that_only_the_user_configures_may_have_the_package(tmp_path, folder, path, files):
    """A name that no lock file tells the origin of is not sent where the user's own settings name another index."""
    home = home_with(tmp_path, {path: SETTINGS[path]})
    assert asked(folder, files, HOME=home) == ()


@pytest.mark.parametrize("variable", VARIABLES)
def test_an_index_that_only_the_environment_names_may_have_the_package(folder, variable):
    """The same for each variable that names an index to pip, uv or npm."""
    assert asked(folder, PUBLIC_PINS, **{variable: VARIABLES[variable]}) == ()


@pytest.mark.parametrize("variable", ["PIP_CONFIG_FILE", "UV_CONFIG_FILE", "NPM_CONFIG_USERCONFIG"])
def test_a_file_of_settings_that_the_environment_names_counts(tmp_path, folder, variable):
    """`PIP_CONFIG_FILE` and its like name one more file."""
    file = tmp_path / "mine.conf"
    text = {
        "PIP_CONFIG_FILE": f"[global]\nindex-url = {OTHER}\n",
        "UV_CONFIG_FILE": f'index-url = "{OTHER}"\n',
        "NPM_CONFIG_USERCONFIG": f"registry={NPM}\n",
    }
    file = file.with_suffix(".toml") if variable == "UV_CONFIG_FILE" else file
    file.write_text(text[variable])
    assert asked(folder, {}, **{variable: str(file)}) == ()


def test_a_scope_of_the_user_makes_its_packages_private_and_no_others_public(tmp_path, folder):
    """`@acme:registry=` in the user's `.npmrc` counts for `@acme/...`; for others it says nothing."""
    home = home_with(tmp_path, {".npmrc": f"@acme:registry={NPM}\n"})
    assert asked(folder, {}, "@acme/parcel", HOME=home) == ()
    assert asked(folder, {}, "@other/parcel", HOME=home) == ("npm",)
    assert asked(folder, {}, "@acme/parcel", **{"npm_config_@acme:registry": NPM}) == ()
    assert asked(folder, {}, "@other/parcel", HOME=home, PIP_INDEX_URL=OTHER) == ()


@pytest.mark.parametrize("case", UNTOLD)
def test_a_lock_file_that_does_not_say_where_a_package_is_from_makes_none_public(folder, case):
    """pnpm, newer Yarn, PDM, and npm without addresses leave it open; then another index may have it."""
    assert asked(folder, UNTOLD[case], PIP_INDEX_URL=OTHER) == ()


@pytest.mark.parametrize("case", ["uv", "poetry", "npm", "yarn"])
def test_a_lock_file_that_says_so_makes_a_package_public_beside_any_index(tmp_path, folder, case):
    """What a lock file has from the public registry is looked up there, whatever else is configured."""
    files, registries = PUBLIC[case]
    home = home_with(tmp_path, SETTINGS)
    assert asked(folder, files, HOME=home, **VARIABLES) == registries


@pytest.mark.parametrize("case", HARMLESS)
def test_settings_that_name_only_the_public_registries_change_nothing(tmp_path, folder, case):
    """The public index under its own address is no other index."""
    files, environ = HARMLESS[case]
    assert asked(folder, {}, HOME=home_with(tmp_path, files), **environ) == ("PyPI", "npm")


def test_the_reason_names_the_setting(folder):
    """Who wonders why nothing was looked up learns which setting it was."""
    why = _registries("acme-parcel", LocalProject(folder, folder, {"PIP_INDEX_URL": OTHER}, own_prefix=None))[
        1
    ]
    assert why.startswith("PIP_INDEX_URL names another index, and no lock file says that acme-parcel")


@pytest.mark.parametrize("case", PRIVATE)
def test_no_public_registry_learns_the_name_of_a_private_package(tmp_path, case):
    """A package that comes from another registry, an address, git or a folder, or may do so, is looked up nowhere."""
    assert asked(tmp_path, PRIVATE[case]) == ()


@pytest.mark.parametrize("case", PUBLIC)
def test_what_comes_from_the_public_registry_is_looked_up_there(tmp_path, case):
    """A package of which a lock file says that it is public, or nothing says otherwise, is looked up."""
    files, registries = PUBLIC[case]
    assert asked(tmp_path, files) == registries
