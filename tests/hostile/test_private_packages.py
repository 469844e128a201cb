"""What a lock file has from elsewhere than the public registries is private: they do not even learn its name."""

from __future__ import annotations

import json

import pytest

from kr_core.toolkit import LocalProject
from kr_plugins.sources.deepwiki.package_registry import _registries

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


def asked(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return _registries("acme-parcel", LocalProject(folder, folder, {}, own_prefix=None))


@pytest.mark.parametrize("case", PRIVATE)
def test_no_public_registry_learns_the_name_of_a_private_package(tmp_path, case):
    """A package that comes from another registry, an address, git or a folder, or may do so, is looked up nowhere."""
    assert asked(tmp_path, PRIVATE[case]) == ()


@pytest.mark.parametrize("case", PUBLIC)
def test_what_comes_from_the_public_registry_is_looked_up_there(tmp_path, case):
    """A package of which a lock file says that it is public, or nothing says otherwise, is looked up."""
    files, registries = PUBLIC[case]
    assert asked(tmp_path, files) == registries
