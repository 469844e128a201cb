"""Which version of a package a project uses, and where that is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kr_core.project.distributions import import_names
from kr_core.project.project import BELIEVED_SECONDS, LocalProject

if TYPE_CHECKING:
    from kr_core.protocols import Project

UV_LOCK = '[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ registry = "x" }}\n'


def uv_lock(folder: Path, **packages: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = "version = 1\n" + "\n".join(UV_LOCK.format(name=n, version=v) for n, v in packages.items())
    (folder / "uv.lock").write_text(text)


@pytest.mark.req("K9")
def test_the_environment_comes_before_the_lock_file(tmp_path, make_environment, project):
    make_environment(tmp_path / ".venv", {"httpx": "0.28.1"})
    uv_lock(tmp_path, httpx="0.27.0", click="8.1.0")
    opened = project()
    assert opened.version_of("httpx") == ("0.28.1", ".venv")
    assert opened.version_of("click") == ("8.1.0", "uv.lock")
    assert opened.version_of("nosuch") is None
    assert opened.disagreement("httpx") == "uv.lock says 0.27.0, .venv has 0.28.1"
    assert opened.disagreement("click") is None


@pytest.mark.req("K9")
def test_the_nearest_environment_wins_up_to_the_top_of_the_work_tree(tmp_path, make_environment):
    (tmp_path / ".git").mkdir()
    root, work = tmp_path / "app", tmp_path / "app" / "backend" / "src"
    work.mkdir(parents=True)
    make_environment(tmp_path / ".venv", {"a": "1", "b": "1", "c": "1", "d": "1"})
    make_environment(root / "venv", {"a": "2", "b": "2", "c": "2"})
    make_environment(tmp_path / "active", {"e": "4"})
    make_environment(root / "backend" / ".venv", {"a": "3"})
    opened = LocalProject(root, work, {"VIRTUAL_ENV": str(tmp_path / "active")}, own_prefix=None)
    assert [each.label for each in opened.environments()] == [
        "backend/.venv",
        "venv",
        "../.venv",
        "VIRTUAL_ENV",
    ]
    assert [opened.version_of(name) for name in "abde"] == [
        ("3", "backend/.venv"),
        ("2", "venv"),
        ("1", "../.venv"),
        ("4", "VIRTUAL_ENV"),
    ]


@pytest.mark.req("K9")
def test_folders_above_the_root_are_left_alone_without_a_work_tree(tmp_path, make_environment):
    make_environment(tmp_path / ".venv", {"httpx": "1"})
    (tmp_path / "app").mkdir()
    assert LocalProject(tmp_path / "app", tmp_path / "app", {}, own_prefix=None).version_of("httpx") is None


@pytest.mark.req("K9")
def test_a_working_folder_outside_the_root_is_looked_into_first(tmp_path):
    uv_lock(tmp_path / "here", a="1")
    uv_lock(tmp_path / "root", a="2", b="2")
    opened: Project = LocalProject(tmp_path / "root", tmp_path / "here", {}, own_prefix=None)
    assert opened.version_of("a") == ("1", "../here/uv.lock")
    assert opened.version_of("b") == ("2", "uv.lock")


@pytest.mark.req("K9")
def test_the_nearest_lock_file_wins_and_in_one_folder_the_first_of_the_list(tmp_path, project):
    uv_lock(tmp_path, a="1", b="1")
    uv_lock(tmp_path / "backend", a="2")
    (tmp_path / "poetry.lock").write_text('[[package]]\nname = "b"\nversion = "9"\n')
    opened = project("backend")
    assert opened.version_of("a") == ("2", "backend/uv.lock")
    assert opened.version_of("b") == ("1", "uv.lock")


@pytest.mark.req("K9")
def test_an_environment_without_site_packages_knows_nothing(tmp_path, project):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /nowhere\nversion = 3.12.1\n")
    uv_lock(tmp_path, httpx="0.27.0")
    opened = project()
    assert opened.environments()[0].site_packages == ()
    assert opened.version_of("httpx") == ("0.27.0", "uv.lock")
    assert opened.version_of("python") == ("3.12.1", ".venv")


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    "text", ["<<<<<<< HEAD\n[[package]\n", "\x00\xff", "version = 1\n[[package]]\nname = 3"]
)
def test_a_corrupt_lock_file_is_skipped_and_told(tmp_path, project, text):
    (tmp_path / "uv.lock").write_bytes(text.encode("latin-1"))
    (tmp_path / "requirements.txt").write_text("httpx==0.27.0\n")
    opened = project()
    assert opened.version_of("httpx") == ("0.27.0", "requirements.txt")
    assert all(warning.startswith("uv.lock:1: ") for warning in opened.warnings)
    assert len(opened.warnings) == ("HEAD" in text or "\x00" in text)


@pytest.mark.req("K9")
def test_of_two_versions_left_over_the_complete_and_then_the_higher_one_is_taken(
    tmp_path, make_environment, install, project
):
    site = make_environment(tmp_path / ".venv")
    for version in ("2.9", "2.10"):
        install(site, "a", version)
    for version in ("1.0", "2.0"):
        install(site, "b", version)
    (site / "b-2.0.dist-info" / "METADATA").unlink()
    (site / "~ttpx-0.1.dist-info").mkdir()  # pip's leftover
    opened = project()
    assert opened.version_of("a") == ("2.10", ".venv")
    assert opened.version_of("b") == ("1.0", ".venv")
    assert opened.warnings[0] == ".venv: two versions of a, 2.9 and 2.10; 2.10 is taken"
    assert opened.version_of("httpx") is None


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("yaml", "pyyaml"),
        ("PyYAML", "pyyaml"),
        ("bs4", "beautifulsoup4"),
        ("Beautiful Soup", "beautifulsoup4"),
        ("PIL", "pillow"),
        ("PIL.Image", "pillow"),
        ("sklearn", "scikit-learn"),
        ("scikit_learn", "scikit-learn"),
        ("dateutil", "python-dateutil"),
        ("sqlalchemy.orm", "sqlalchemy"),
        ("google.protobuf", "protobuf"),
        ("google.cloud.storage.Client", "google-cloud-storage"),
        ("ujson", "ujson"),
        ("_speedups", "speedy"),
        ("tests", None),
        ("google.cloud", "google-cloud-core"),
    ],
)
def test_a_distribution_is_found_by_its_name_and_by_what_it_is_imported_by(varied, asked, name):
    found = varied.distribution(asked)
    assert (found.name if found else None) == name


@pytest.fixture
def varied(tmp_path, make_environment, install, project) -> LocalProject:
    """A project with distributions that are not imported by their names."""
    site = make_environment(tmp_path / ".venv", {"sqlalchemy": "2.0"})
    install(site, "PyYAML", "6.0", modules=("yaml", "_yaml"), top_level=True)
    install(site, "beautifulsoup4", "4.12", modules=("bs4",))
    install(site, "pillow", "10.0", modules=("PIL",))
    install(site, "scikit-learn", "1.5", modules=("sklearn",))
    install(site, "python-dateutil", "2.9", modules=("dateutil",))
    install(site, "protobuf", "5.0", modules=("google/protobuf",))
    install(site, "google-cloud-core", "2.0", modules=("google/cloud/client",))
    install(site, "google-cloud-storage", "2.1", modules=("google/cloud/storage",))
    install(site, "ujson", "5.0", modules=("ujson.cpython-312-x86_64-linux-gnu.so",))
    install(site, "speedy", "1.0", modules=("speedy", "_speedups.cpython-312-darwin.so", "tests"))
    return project()


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    "name", ["../../x", "a\0b", "🎉", "x" * 300, "", ".", "..", "虚拟滚动", "-", "@a/../../b", "\n"]
)
def test_a_hostile_name_is_just_unknown(tmp_path, make_environment, project, name):
    make_environment(tmp_path / ".venv", {"httpx": "1"})
    (tmp_path / "node_modules").mkdir()
    uv_lock(tmp_path, httpx="1")
    opened = project()
    assert opened.version_of(name) is None
    assert opened.distribution(name) is None
    assert opened.disagreement(name) is None


@pytest.mark.req("K9")
def test_import_names_come_from_top_level_then_record(tmp_path, make_environment, install, project):
    site = make_environment(tmp_path / ".venv")
    install(site, "PyYAML", "6.0", modules=("yaml", "_yaml"), top_level=True)
    install(
        site, "mixed", "1.0", modules=("mixed", "six.py", "_x.cpython-312-darwin.so", "typed.pyi", "tests")
    )
    assert import_names(project().distribution("pyyaml")) == ("_yaml", "yaml")
    assert import_names(project().distribution("mixed")) == ("_x", "mixed", "six", "typed")


@pytest.mark.req("K9")
def test_an_editable_install_is_found_in_the_folder_that_its_pth_names(tmp_path, make_environment, project):
    source = tmp_path / "checkout" / "src"
    (source / "my_tool").mkdir(parents=True)
    (source / "my_tool" / "__init__.py").write_text("")
    (source / "elsewhere").mkdir()
    site = make_environment(tmp_path / ".venv")
    (site / "_my_tool.pth").write_text(f"import os\n# a comment\n/no/such/folder\n{source}\n")
    info = site / "my_tool-0.3.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("_my_tool.pth,,\nmy_tool-0.3.dist-info/METADATA,,\n")
    opened = project()
    assert source in opened.environments()[0].site_packages
    assert opened.version_of("my_tool.cli") == ("0.3", ".venv")
    assert import_names(opened.distribution("my-tool")) == ("my_tool",)


@pytest.mark.req("K9")
def test_eggs_are_read_as_folder_as_file_and_beside_the_sources(tmp_path, make_environment, project):
    site = make_environment(tmp_path / ".venv")
    (site / "old_tool-1.2-py3.12.egg-info").mkdir()
    (site / "older-0.9.egg-info").write_text("Name: older\n")
    source = tmp_path / "dev"
    (source / "dev_tool.egg-info").mkdir(parents=True)
    (source / "dev_tool.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.1\nVersion: 0.5.dev1\n")
    (site / "easy-install.pth").write_text(str(source))
    opened = project()
    names = ("old-tool", "older", "dev-tool")
    assert [opened.version_of(name)[0] for name in names] == ["1.2", "0.9", "0.5.dev1"]


@pytest.mark.req("K9")
def test_a_folder_left_by_an_older_python_is_not_looked_into(tmp_path, make_environment, project):
    make_environment(tmp_path / ".venv", {"httpx": "0.28.1"}, version="3.12.4")
    old = tmp_path / ".venv" / "lib" / "python3.9" / "site-packages"
    (old / "gone-1.0.dist-info").mkdir(parents=True)
    (tmp_path / ".venv" / "lib64").symlink_to("lib")
    opened = project()
    assert len(opened.environments()[0].site_packages) == 1
    assert opened.version_of("gone") is None


@pytest.mark.req("K9")
def test_krs_own_environment_serves_last_and_is_named(tmp_path, make_environment, project):
    own = tmp_path / "tools" / "kr"
    make_environment(own, {"httpx": "9", "rich": "9", "click": "9"})
    make_environment(tmp_path / ".venv", {"httpx": "0.28.1"})
    uv_lock(tmp_path, rich="13")
    opened = project(own=own)
    assert opened.version_of("httpx") == ("0.28.1", ".venv")
    assert opened.version_of("rich") == ("13", "uv.lock")
    assert opened.version_of("click") == ("9", "KR's own environment")
    assert opened.distribution("click").environment.own
    assert opened.distribution("click", own=False) is None
    assert [name for name, _, _ in opened.versions()] == ["httpx", "rich"]


@pytest.mark.req("K9")
def test_krs_own_environment_is_the_projects_where_it_lies_in_it(tmp_path, make_environment, project):
    make_environment(tmp_path / ".venv", {"httpx": "0.28.1"})
    opened = project(own=tmp_path / ".venv", environ={"VIRTUAL_ENV": str(tmp_path / ".venv")})
    assert [(each.label, each.own) for each in opened.environments()] == [(".venv", False)]


@pytest.mark.req("K9")
def test_conda_and_system_packages_are_environments_too(tmp_path, project):
    conda = tmp_path / "conda"
    (conda / "lib" / "python3.11" / "site-packages" / "numpy-2.0.dist-info").mkdir(parents=True)
    (conda / "conda-meta").mkdir()
    (conda / "conda-meta" / "python-3.11.7-h1_0.json").write_text("{}")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(
        f"home = {conda}/bin\ninclude-system-site-packages = true\nversion = 3.11.7\n"
    )
    opened = project(environ={"CONDA_PREFIX": str(conda)})
    assert opened.version_of("numpy") == ("2.0", ".venv")
    assert [each.label for each in opened.environments()] == [".venv", "CONDA_PREFIX"]
    assert (
        project(environ={"CONDA_PREFIX": str(conda), "VIRTUAL_ENV": "/gone"}).version_of("python")[0]
        == "3.11.7"
    )


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", ["python", "CPython", "stdlib", "asyncio", "json", "os.path"])
def test_the_standard_library_has_the_version_of_the_nearest_python(
    tmp_path, make_environment, project, name
):
    running = ".".join(map(str, sys.version_info[:3]))
    assert project().version_of(name) == (running, "KR's own environment")
    make_environment(tmp_path / ".venv", version="3.12.4.final.0")
    assert project().version_of(name) == ("3.12.4", ".venv")


@pytest.mark.req("K9")
def test_the_standard_library_lies_where_the_environments_base_says(tmp_path, make_environment, project):
    folder, version, label = project().standard_library()
    assert (folder / "os.py").is_file()
    assert (version, label) == (".".join(map(str, sys.version_info[:3])), "KR's own environment")
    make_environment(tmp_path / ".venv", version="3.12.4")
    assert project().standard_library()[2] == "KR's own environment"  # its base is not there
    base = tmp_path / ".venv" / "base" / "lib" / "python3.12"
    base.mkdir(parents=True)
    (base / "os.py").write_text("")
    found, version, label = project().standard_library()
    assert (found.resolve(), version, label) == (base, "3.12.4", ".venv")


@pytest.mark.req("K9")
def test_node_modules_serve_packages_of_npm(tmp_path, project):
    for name, version in (("vue", "3.5.1"), ("@angular/core", "18.0.0")):
        folder = tmp_path / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"version": version}))
    (tmp_path / "package.json").write_text('{"dependencies": {"vue": "^3.4"}}')
    opened = project()
    assert opened.version_of("vue") == ("3.5.1", "node_modules")
    assert opened.version_of("@angular/core") == ("18.0.0", "node_modules")


@pytest.mark.req("K9")
def test_versions_lists_everything_known_once(tmp_path, make_environment, project):
    make_environment(tmp_path / ".venv", {"httpx": "0.28.1", "PyYAML": "6.0"})
    uv_lock(tmp_path, httpx="0.27.0", anyio="4.0")
    (tmp_path / "package.json").write_text('{"dependencies": {"@angular/core": "^18", "any": "*"}}')
    assert project().versions() == [
        ("@angular/core", "^18", "package.json"),
        ("anyio", "4.0", "uv.lock"),
        ("httpx", "0.28.1", ".venv"),
        ("pyyaml", "6.0", ".venv"),
    ]


@pytest.mark.req("K9")
def test_a_range_that_the_environment_breaks_is_told(tmp_path, make_environment, project):
    make_environment(tmp_path / ".venv", {"httpx": "0.28.1", "torch": "2.1.0+cu118", "attrs": "25.0.0"})
    (tmp_path / "requirements.txt").write_text("httpx<0.28\ntorch==2.1.0\nattrs~=25.0\n")
    opened = project()
    assert opened.disagreement("httpx") == "requirements.txt asks for <0.28, .venv has 0.28.1"
    assert opened.disagreement("torch") is None
    assert opened.disagreement("attrs") is None


@pytest.mark.req("K9")
def test_the_files_that_decide_are_listed_also_where_they_are_absent(tmp_path, make_environment, project):
    site = make_environment(tmp_path / ".venv", {"httpx": "1"})
    (tmp_path / "requirements-dev.txt").write_text("-r base.txt\n")
    files = set(project().files())
    for name in ("uv.lock", "requirements.txt", "requirements-dev.txt", "base.txt", "venv/pyvenv.cfg"):
        assert tmp_path / name in files, name
    assert site in files


@pytest.mark.req("K9")
def test_a_version_is_found_among_a_hundred_distributions_by_opening_its_own(
    tmp_path, make_environment, install, project
):
    site = make_environment(tmp_path / ".venv", {f"package-{n}": f"{n}.0" for n in range(100)})
    install(site, "PyYAML", "6.0", modules=("yaml",))
    opened = []

    def note(event, arguments):
        if event == "open" and str(site) in str(arguments[0]):
            opened.append(Path(str(arguments[0])).parent.name)

    sys.addaudithook(note)
    assert project().version_of("package-50")
    assert set(opened) <= {"package_50-50.0.dist-info"}


@pytest.mark.req("K9")
def test_the_running_environment_is_read_as_pip_would_list_it():
    from importlib.metadata import distributions

    from kr_core.project.package_names import normalise

    listed = {normalise(each.metadata["Name"]): each.version for each in distributions()}
    root = Path(__file__).parents[3]
    opened = LocalProject(root, root, {}, own_prefix=Path(sys.prefix))
    found = {each.name: each.version for each in opened.distributions(own=True)}
    assert {name: found.get(name) for name in listed} == listed
    assert opened.distribution("yaml").name == "pyyaml"
    assert "yaml" in import_names(opened.distribution("pyyaml"))


@pytest.mark.req("K9")
def test_what_changes_while_a_project_is_open_is_seen_after_a_moment(
    tmp_path, make_environment, install, project
):
    site = make_environment(tmp_path / ".venv", {"httpx": "0.27.0"})
    uv_lock(tmp_path, rich="13.0")
    opened = project()
    assert (opened.version_of("httpx"), opened.version_of("rich")) == (
        ("0.27.0", ".venv"),
        ("13.0", "uv.lock"),
    )
    renamed = (site / "httpx-0.27.0.dist-info").rename(site / "httpx-0.28.1.dist-info")
    (renamed / "METADATA").write_text("Name: httpx\nVersion: 0.28.1\n")
    uv_lock(tmp_path, rich="14.0.0")
    opened._looked -= BELIEVED_SECONDS
    assert (opened.version_of("httpx"), opened.version_of("rich")) == (
        ("0.28.1", ".venv"),
        ("14.0.0", "uv.lock"),
    )
    install(make_environment(tmp_path / "venv"), "click", "8.1")
    (tmp_path / "node_modules" / "vue").mkdir(parents=True)
    (tmp_path / "node_modules" / "vue" / "package.json").write_text('{"version": "3.5.1"}')
    opened._looked -= BELIEVED_SECONDS
    assert (opened.version_of("click"), opened.version_of("vue")) == (
        ("8.1", "venv"),
        ("3.5.1", "node_modules"),
    )


@pytest.mark.req("K9")
def test_the_package_in_node_modules_that_an_answer_rests_on_is_among_the_files_that_decide(
    tmp_path, project
):
    package = tmp_path / "node_modules" / "@angular" / "core" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "18.0.0"}')
    opened = project()
    assert opened.version_of("@angular/core") == ("18.0.0", "node_modules")
    assert package in opened.files()


@pytest.mark.req("K9")
def test_what_node_has_installed_against_what_is_asked_for_is_told(tmp_path, project):
    package = tmp_path / "node_modules" / "vue" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "3.5.1"}')
    (tmp_path / "package.json").write_text('{"dependencies": {"vue": "^2.7"}}')
    assert project().disagreement("vue") == "package.json asks for ^2.7, node_modules has 3.5.1"
    (tmp_path / "package.json").write_text('{"dependencies": {"vue": "^3.4"}}')
    assert project().disagreement("vue") is None


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("express", "express"),
        ("express", "Express"),
        ("socket.io", "Socket-IO"),
        ("JSONStream", "JSONStream"),
    ],
)
def test_a_package_of_node_is_found_by_its_name_with_capitals(tmp_path, project, name, asked):
    """What is installed comes before what is locked, however the name is written."""
    package = tmp_path / "node_modules" / name / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "4.19.2"}')
    locked = {"lockfileVersion": 3, "packages": {f"node_modules/{name}": {"version": "4.17.3"}}}
    (tmp_path / "package-lock.json").write_text(json.dumps(locked))
    assert project().version_of(asked) == ("4.19.2", "node_modules")
    assert project().disagreement(asked) == "package-lock.json says 4.17.3, node_modules has 4.19.2"


@pytest.mark.req("K9")
def test_a_folder_that_asks_for_something_else_is_no_member_of_the_workspace_above(tmp_path, project):
    uv_lock(tmp_path, httpx="0.27.0", rich="13.7.0")
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "pyproject.toml").write_text(
        '[project]\ndependencies = ["httpx>=0.28", "rich>=13"]\n'
    )
    opened = project("tool")
    assert opened.version_of("httpx") == (">=0.28", "tool/pyproject.toml")
    assert opened.version_of("rich") == ("13.7.0", "uv.lock")


@pytest.mark.req("K9")
def test_a_package_of_node_may_have_the_name_of_a_module_of_python(tmp_path, project):
    (tmp_path / "package.json").write_text('{"dependencies": {"uuid": "^9.0.0"}}')
    assert project().version_of("uuid") == ("^9.0.0", "package.json")
    assert project().version_of("json")[1] == "KR's own environment"


CARGO = '[dependencies]\nregex = "1.10"\nlocal = {path = "local"}\n'
CARGO_LOCK = """version = 3
[[package]]
name = "shop"
version = "0.1.0"
dependencies = ["regex"]
[[package]]
name = "regex"
version = "1.10.4"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""


@pytest.mark.req("K9")
def test_what_another_language_alone_asks_for_is_not_the_package_of_python(
    tmp_path, make_environment, project
):
    """A project of Rust may have an environment with tools; what is only installed there has no part in it."""
    make_environment(tmp_path / ".venv", {"regex": "2026.11.19", "local": "1.0", "maturin": "1.9"})
    (tmp_path / "Cargo.toml").write_text(CARGO)
    (tmp_path / "Cargo.lock").write_text(CARGO_LOCK)
    opened = project()
    assert opened.version_of("regex") == ("1.10.4", "Cargo.lock")
    assert opened.version_of("local") is None
    assert opened.version_of("maturin") == ("1.9", ".venv")
    assert opened.distribution("regex") is None
    assert opened.disagreement("regex") is None
    assert [(each.where, each.direct) for each in opened.listed() if each.name == "regex"] == [
        (".venv", False),
        ("Cargo.lock", True),
    ]


@pytest.mark.req("K9")
def test_what_python_asks_for_too_is_the_package_of_python(tmp_path, make_environment, project):
    """By its own name or by the one it is imported by; and an environment below the other manifest is nearer."""
    make_environment(tmp_path / ".venv", {"regex": "2026.11.19", "PyYAML": "6.0"})
    (tmp_path / "Cargo.toml").write_text('[dependencies]\nregex = "1.10"\nyaml = "0.3"\n')
    (tmp_path / "requirements.txt").write_text("regex\npyyaml\n")
    assert project().version_of("regex") == ("2026.11.19", ".venv")
    assert project().version_of("yaml") == ("6.0", ".venv")
    (tmp_path / "requirements.txt").unlink()
    make_environment(tmp_path / "py" / ".venv", {"regex": "2025.1.1"})
    assert project("py").version_of("regex") == ("2025.1.1", "py/.venv")
    assert project("py").distribution("regex").version == "2025.1.1"


GO = "module x.org/m\nrequire (\n github.com/google/uuid v1.6.0\n x.org/json v1.0.0 // indirect\n)\n"
PHP = (
    """{"packages": [{"name": "ramsey/uuid", "version": "4.7.5"}, {"name": "acme/uuid", "version": "1.0"}]}"""
)


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("files", "full", "version"),
    [
        ({"go.mod": GO}, "github.com/google/uuid", ("v1.6.0", "go.mod")),
        (
            {"composer.json": '{"require": {"ramsey/uuid": "^4.7"}}', "composer.lock": PHP},
            "ramsey/uuid",
            ("4.7.5", "composer.lock"),
        ),
    ],
)
def test_a_package_of_another_language_may_have_the_name_of_a_module_of_python(
    tmp_path, make_environment, project, files, full, version
):
    """By its full name or the last part of it; what the project does not ask for itself stays Python's."""
    own = tmp_path.parent / f"{tmp_path.name}-own"
    make_environment(own, {"uuid": "1.30"})
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    opened = project(own=own)
    assert opened.version_of(full) == opened.version_of("uuid") == version
    assert opened.distribution("uuid") is None
    assert opened.version_of("json")[1] == "KR's own environment"


@pytest.mark.req("Z8")
def test_a_folder_that_an_environment_names_twice_is_told_once(project, make_environment, tmp_path):
    """A `.pth` file may name a folder outside of the project in several ways."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    site = make_environment(tmp_path / ".venv")
    (site / "x.pth").write_text(f"{outside}\n{outside}/../{outside.name}\n")
    opened = project()
    list(opened.versions())
    (said,) = [one for one in opened.warnings if "imports from" in one]
    assert said.count(outside.name) == 1
