"""What lock files and lists of dependencies say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.knowledge import lockfiles

FILES = {
    "poetry.lock": '[[package]]\nname = "HTTPX"\nversion = "1.0"\n[package.dependencies]\nh11 = "*"\n',
    "pdm.lock": '[metadata]\ngroups = ["default"]\n[[package]]\nname = "httpx"\nversion = "1.0"\n',
    "pylock.toml": 'lock-version = "1.0"\n[[packages]]\nname = "httpx"\nversion = "1.0"\n',
    "Pipfile.lock": json.dumps({"default": {"httpx": {"version": "==1.0"}}, "develop": {"pytest": {}}}),
    "package-lock.json": json.dumps(
        {
            "packages": {
                "": {},
                "node_modules/httpx": {"version": "1.0"},
                "node_modules/a/node_modules/httpx": {"version": "9"},
            }
        }
    ),
    "requirements.txt": "httpx[http2]==1.0 ; python_version > '3.8'  # why\n",
}


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", FILES)
def test_each_file_yields_the_version_of_a_package(tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    assert lockfiles.read(tmp_path / name).pins["httpx"].version == "1.0"


@pytest.mark.req("K9")
def test_the_first_version_of_package_lock_is_read_too(tmp_path):
    (tmp_path / "package-lock.json").write_text(json.dumps({"dependencies": {"vue": {"version": "2.7.1"}}}))
    assert lockfiles.read(tmp_path / "package-lock.json").pins["vue"].version == "2.7.1"


@pytest.mark.req("K9")
def test_a_package_that_is_locked_twice_has_its_higher_version(tmp_path):
    lock = '[[package]]\nname="numpy"\nversion="1.26.4"\n[[package]]\nname="numpy"\nversion="2.1.0"\n'
    (tmp_path / "uv.lock").write_text(lock + '[[package]]\nname="numpy"\nversion="2.0.0"\n')
    assert lockfiles.read(tmp_path / "uv.lock").pins["numpy"].version == "2.1.0"


@pytest.mark.req("K9")
def test_requirements_are_read_with_what_they_include(tmp_path):
    (tmp_path / "requirements.txt").write_text(
        "-r requirements/base.txt\n-r requirements.txt\n-e .\n--index-url https://x\nrich >= 13, < 15\n"
        "attrs==24.1.0 \\\n    --hash=sha256:abc \\\n    --hash=sha256:def\n"
        "wheel @ https://host/wheel-0.43.0-py3-none-any.whl\nplain\n./local/package\ngarbage here is\n"
    )
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.txt").write_text("httpx~=0.28.0\n")
    read = lockfiles.read(tmp_path / "requirements.txt")
    assert {name: pin.version for name, pin in read.pins.items()} == {
        "httpx": "~=0.28.0",
        "rich": ">=13,<15",
        "attrs": "24.1.0",
        "wheel": "0.43.0",
        "plain": "",
    }
    assert read.files == (tmp_path / "requirements.txt", tmp_path / "requirements" / "base.txt")


@pytest.mark.req("K9")
def test_requirements_frozen_by_powershell_are_read(tmp_path):
    (tmp_path / "requirements.txt").write_bytes("httpx==1.0\r\n".encode("utf-16"))
    assert lockfiles.read(tmp_path / "requirements.txt").pins["httpx"].version == "1.0"


@pytest.mark.req("K9")
def test_pyproject_names_dependencies_and_what_only_development_needs(tmp_path, project):
    (tmp_path / "pyproject.toml").write_text("""
[project]
dependencies = ["httpx>=0.27,<1", "PyYAML"]
optional-dependencies = {web = ["trafilatura>=2"]}
[dependency-groups]
dev = ["pytest>=8", {include-group = "lint"}, "httpx"]
[tool.poetry.dependencies]
python = "^3.11"
rich = "^13.7"
click = {version = "~8.1", extras = ["x"]}
[tool.poetry.group.test.dependencies]
mock = "*"
[tool.pdm.dev-dependencies]
docs = ["sphinx"]
[tool.uv]
dev-dependencies = ["ruff"]
""")
    opened = project()
    main = {"httpx", "pyyaml", "rich", "click"}
    assert opened.direct_dependencies(development=False) == main
    assert opened.direct_dependencies() == main | {"trafilatura", "pytest", "mock", "sphinx", "ruff"}
    assert opened.version_of("httpx") == (">=0.27,<1", "pyproject.toml")
    assert opened.version_of("rich") == ("^13.7", "pyproject.toml")
    assert opened.version_of("click") == ("~8.1", "pyproject.toml")
    assert opened.version_of("pyyaml") is None


@pytest.mark.req("K9")
def test_direct_dependencies_come_from_requirements_and_package_json_too(tmp_path, project):
    (tmp_path / "requirements.txt").write_text("Beautiful_Soup4\n")
    (tmp_path / "requirements-dev.txt").write_text("pytest\n")
    (tmp_path / "requirements-latest.txt").write_text("numpy\n")
    (tmp_path / "package.json").write_text(
        '{"dependencies": {"vue": "^3"}, "devDependencies": {"vite": "5"}}'
    )
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "transitive"\nversion = "1"\n')
    assert project().direct_dependencies() == {"beautiful-soup4", "pytest", "numpy", "vue", "vite"}
    assert project().direct_dependencies(development=False) == {"beautiful-soup4", "numpy", "vue"}
    assert "transitive" in project().named_packages()


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", [each.name for each in lockfiles.FORMATS])
@given(data=st.binary() | st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["package", "packages", "name", "version", "project", "dependencies", "default", "tool"]), inner)))  # fmt: skip
def test_whatever_stands_in_a_file_is_read_or_refused_with_a_value_error(tmp_path_factory, name, data):
    path = tmp_path_factory.getbasetemp() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    try:
        read = lockfiles.read(path)
    except ValueError:
        return
    assert all(isinstance(pin.version, str) for pin in read.pins.values())


def test_json_that_is_nested_too_deeply_is_refused(tmp_path):
    (tmp_path / "package.json").write_text('{"a":' + "[" * 100_000)
    with pytest.raises(ValueError):
        lockfiles.read(tmp_path / "package.json")
