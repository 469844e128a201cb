"""What lock files and lists of dependencies say."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kr_core.project import lockfiles
from kr_core.project.lockfiles.npm import wished
from kr_core.project.lockfiles.requirements import requirement
from kr_core.project.lockfiles.yarn import entries, split

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
@settings(max_examples=30, deadline=None)  # of each of twenty files, on disks that may be busy
@given(data=st.binary() | st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["package", "packages", "name", "version", "project", "dependencies", "default", "tool"]), inner)))  # fmt: skip
def test_whatever_stands_in_a_file_is_read_or_refused_with_a_value_error(tmp_path_factory, name, data):
    folder = tmp_path_factory.getbasetemp() / "any"  # one for all examples; no other test lies below it
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    try:
        read = lockfiles.read(path)
    except ValueError:
        return
    assert all(isinstance(pin.version, str) for pin in read.pins.values())


DEEP = "[" * 100_000
ENTITIES = (
    '<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<project>&b;</project>'
)


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("uv.lock", 'version = 1\n\n[[package]]\nname = "a"\nversion = "1', 5, "no TOML"),
        ("poetry.lock", '[[package]]\nname = "a"\nversion = ', 3, "no TOML"),
        ("Cargo.lock", 'version = 4\n[[package]]\nname = "a\n', 3, "no TOML"),
        ("package-lock.json", '{\n "packages": {\n  "node_modules/a": {"version": ', 3, "no JSON"),
        ("composer.lock", "{", 1, "no JSON"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      a: [\n", 7, "no YAML"),
        ("yarn.lock", "something else\n", 1, "no lock file of yarn"),
        ("pom.xml", "<project>\n<dependencies>\n", 3, "no XML"),
        ("pom.xml", ENTITIES, 2, "declares entities"),
        ("package-lock.json", f'{{"a": {DEEP}', None, "nested too deeply"),
        ("uv.lock", f"a = {DEEP}", None, "nested too deeply"),
        ("pnpm-lock.yaml", f"lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies: {DEEP}\n", 4, "nested too deeply"),
        *((each.name, "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n", 2, "merge conflict") for each in lockfiles.FORMATS),
        ("requirements.txt", "httpx==1\n\udcff", 2, "no utf-8 text"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_refused_with_its_line(tmp_path, name, text, line, said):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(lockfiles.UnreadableError, match=said) as refused:
        lockfiles.read(path)
    assert refused.value.line == line


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", 'version = 9\n[[package]]\nname = "a"\nversion = "1"\n'),
        ("Cargo.lock", 'version = 12\n[[package]]\nname = "a"\nversion = "1"\n'),
        ("poetry.lock", '[[package]]\nname = "a"\nversion = "1"\n[metadata]\nlock-version = "7.0"\n'),
        ("package-lock.json", '{"lockfileVersion": 8, "packages": {"node_modules/a": {"version": "1"}}}'),
        ("pnpm-lock.yaml", "lockfileVersion: '42.0'\npackages:\n\n  a@1:\n    x: y\n"),
    ],
)
def test_a_lock_file_of_a_later_format_is_read_as_far_as_it_is_understood_and_told(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    read = lockfiles.read(tmp_path / name)
    assert read.pins["a"].version == "1"
    assert "is not known to KR" in read.notes[0][1]


@pytest.mark.req("K9")
def test_a_lock_file_full_of_anchors_is_refused(tmp_path):
    bomb = "".join(
        f"      d{n}: &d{n} [{', '.join([f'*d{n - 1}'] * 9 if n else ['x'] * 9)}]\n" for n in range(30)
    )
    (tmp_path / "pnpm-lock.yaml").write_text(
        f"lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n{bomb}"
    )
    with pytest.raises(lockfiles.UnreadableError, match="anchors"):
        lockfiles.read(tmp_path / "pnpm-lock.yaml")


@pytest.mark.req("K9")
def test_what_is_written_in_requirements_of_every_form_is_understood(tmp_path):
    (tmp_path / "requirements.txt").write_text("""\
--index-url https://index.example/simple
-c constraints.txt
-e git+https://host.example/team/tool.git@v1.4.2#egg=Tool
git+https://host.example/team/other.git@main#subdirectory=x&egg=other
parcel @ git+https://host.example/team/parcel.git@2.0.1
https://host.example/wheels/direct-3.1-py3-none-any.whl
./wheels/local_one-0.2-py3-none-any.whl
-e ./a-folder
idna==3.6 ; python_version < "3.12"
idna==3.7 ; python_version >= "3.12"   # two lines, one of them holds
click
flask [async] >=2,<4 --hash=sha256:abc
legacy===1.0-special
""")
    (tmp_path / "constraints.txt").write_text("click==8.1.7\nnot-asked-for==1.0\n")
    read = lockfiles.read(tmp_path / "requirements.txt", environment={"python_version": "3.11"})
    assert {name: pin.version for name, pin in read.pins.items()} == {
        "tool": "1.4.2", "other": "", "parcel": "2.0.1", "direct": "3.1", "local-one": "0.2", "idna": "3.6",
        "click": "8.1.7", "not-asked-for": "1.0", "flask": ">=2,<4", "legacy": "1.0-special",
    }  # fmt: skip
    assert not read.pins["not-asked-for"].direct
    assert read.pins["click"].direct


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", ["package-lock.json", "package.json", "Pipfile.lock", "composer.lock"])
@pytest.mark.parametrize("text", ["[]", "null", '"x"'])
def test_json_that_is_no_object_is_told(tmp_path, name, text):
    """A file that holds JSON of another kind is unreadable, and not taken for one that names nothing."""
    (tmp_path / name).write_text(text)
    with pytest.raises(lockfiles.UnreadableError, match="no object") as told:
        lockfiles.read(tmp_path / name)
    assert told.value.line == 1


@pytest.mark.req("K9")
def test_an_exact_constraint_is_the_version_of_a_range(tmp_path):
    """`-c` fixes what is asked for as a range, and neither what is exact itself nor by a marker that does not hold."""
    (tmp_path / "requirements.txt").write_text("-c fixed.txt\nrich>=13,<14\nclick<9\nidna==3.6\nattrs>=1\n")
    (tmp_path / "fixed.txt").write_text(
        "Rich==13.7.0\nclick<8.2\nidna==3.7\nattrs==1.0 ; python_version < '3'\n"
    )
    read = lockfiles.read(tmp_path / "requirements.txt", environment={"python_version": "3.11"})
    versions = {name: (pin.version, pin.direct) for name, pin in read.pins.items()}
    assert versions == {
        "rich": ("13.7.0", True), "click": ("<9", True), "idna": ("3.6", True), "attrs": (">=1", True),
    }  # fmt: skip


@pytest.mark.req("K9")
@given(
    name=st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,10}[A-Za-z0-9])?", fullmatch=True),
    version=st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}((a|b|rc)[0-9])?", fullmatch=True),
    extras=st.lists(st.from_regex(r"[a-z]{1,5}", fullmatch=True), max_size=2),
    marker=st.sampled_from(["", "python_version > '3.8'", 'sys_platform == "win32" and extra == "x"']),
    space=st.sampled_from(["", " ", "  "]),
)
def test_a_requirement_is_read_as_packaging_reads_it(name, version, extras, marker, space):
    from packaging.requirements import Requirement

    text = f"{name}{space}[{','.join(extras)}]{space}=={space}{version}{space}" + (
        f" ; {marker}" if marker else ""
    )
    expected, read = Requirement(text), requirement(text)
    assert (read.name, f"=={read.version}", read.direct) == (expected.name, str(expected.specifier), True)
    assert bool(read.marker) == (expected.marker is not None)


NPM_NAME = st.from_regex(r"(@[a-z0-9~][a-z0-9._~-]{0,8}/)?[a-z0-9~][a-z0-9._~-]{0,8}", fullmatch=True)
NPM_RANGE = st.from_regex(r"(npm:)?[\^~>=<]{0,2}[0-9]{1,3}\.[0-9x*]{1,2}( \|\| [0-9]{1,2})?", fullmatch=True)


@pytest.mark.req("K9")
@given(
    asked=st.lists(st.tuples(NPM_NAME, NPM_RANGE), min_size=1, max_size=4, unique=True), berry=st.booleans()
)
def test_descriptors_of_yarn_are_split_as_they_were_joined(asked, berry):
    descriptors = [f"{name}@{wanted}" for name, wanted in asked]
    head = f'"{", ".join(descriptors)}"' if berry else ", ".join(f'"{each}"' for each in descriptors)
    text = f"# yarn lockfile v1\n\n{head}:\n  version{':' if berry else ''} {'1.2.3' if berry else chr(34) + '1.2.3' + chr(34)}\n"
    (locked,) = entries(text)
    assert [split(each) for each in locked.descriptors] == asked
    assert locked.version == "1.2.3"


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        ("^1.2", "^1.2"), ("workspace:*", ""), ("workspace:^", ""), ("workspace:~1.2.0", "~1.2.0"), ("*", ""),
        ("npm:other@^2", "^2"), ("npm:@a/b@3", "3"), ("file:../x", ""), ("link:./y", ""), ("latest", "latest"),
        ("github:user/repo#v1.2.3", "v1.2.3"), ("user/repo", ""), ("git+ssh://git@host/x.git#semver:^1.2", "^1.2"),
        ("https://host/x.tgz", ""), ("catalog:", ""), ("", ""), (">=1 <2 || 3", ">=1 <2 || 3"),
    ],
)  # fmt: skip
def test_what_package_json_asks_for_is_a_range_where_it_names_one(wanted, version):
    assert wished(wanted) == version


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", ["package-lock.json", "pnpm-lock.yaml", "yarn.lock", "uv.lock"])
def test_ten_thousand_packages_are_read_in_a_moment(tmp_path, name):
    sha = "sha512-" + "A" * 86 + "=="
    numbers = range(10_000)
    text = {
        "package-lock.json": lambda: json.dumps({"lockfileVersion": 3, "packages": {
            f"node_modules/p{n}": {"version": f"1.{n}.0", "integrity": sha, "dependencies": {f"p{n + 1}": "^1"}} for n in numbers}}, indent=2),
        "pnpm-lock.yaml": lambda: "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      p9:\n        specifier: ^1\n        version: 1.9.0\n\npackages:\n"
        + "".join(f"\n  p{n}@1.{n}.0:\n    resolution: {{integrity: {sha}}}\n    engines: {{node: '>=6'}}\n" for n in numbers),
        "yarn.lock": lambda: "# yarn lockfile v1\n\n" + "".join(f'\np{n}@^1, p{n}@^1.2:\n  version "1.{n}.0"\n  integrity {sha}\n' for n in numbers),
        "uv.lock": lambda: "version = 1\n" + "".join(
            f'\n[[package]]\nname = "p{n}"\nversion = "1.{n}.0"\nwheels = [\n' + f'    {{ url = "https://host/p", hash = "{sha}" }},\n' * 9 + "]\n" for n in numbers),
    }[name]()  # fmt: skip
    (tmp_path / name).write_text(text)
    before = time.process_time()
    assert lockfiles.read(tmp_path / name).pins["p9999"].version == "1.9999.0"
    assert time.process_time() - before < 5  # generous: a busy machine; it takes a tenth of that


@pytest.mark.req("K9")
def test_a_file_that_is_absurdly_large_is_refused_unread(tmp_path):
    with (tmp_path / "uv.lock").open("wb") as file:
        file.truncate(60_000_000)
    with pytest.raises(lockfiles.UnreadableError, match="larger than 20 MB"):
        lockfiles.read(tmp_path / "uv.lock")
