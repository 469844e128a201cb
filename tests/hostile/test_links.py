"""Links and paths that a clone brings with its packages and folders: they may lead to anybody's files, and are not followed there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.clones import kr, make_clone

from kr_core.project.distributions import import_names
from kr_core.toolkit import LocalProject
from kr_plugins.sources.installed_docs.material import find, own_name
from kr_plugins.sources.installed_docs.package_index import open_index
from kr_plugins.sources.installed_docs.pages.page_material import PageMaterial, in_folders
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

pytestmark = pytest.mark.req("Z8")
SECRET = "hunter7191"
PRIVATE = f'"""The password of everything is {SECRET}, so keep it well and tell nobody of it."""\n\ndef secret():\n    """Return {SECRET}."""\n'


@pytest.fixture
def home(tmp_path):
    """Somebody's home folder, with files that are nobody's business."""
    folder = tmp_path / "home"
    (folder / "private").mkdir(parents=True)
    (folder / "private/__init__.py").write_text(PRIVATE)
    (folder / "private/index.d.ts").write_text(f"/** {SECRET} */\nexport declare const secret: string;\n")
    (folder / "private/package.json").write_text(
        f'{{"name": "private", "version": "1.0.0", "description": "{SECRET}"}}'
    )
    (folder / "key").write_text(f"# Key\n\n{SECRET} opens every door that there is in this house.\n")
    (folder / "key.md").hardlink_to(folder / "key")
    return folder


@pytest.fixture
def clone(tmp_path, home):
    make_clone(tmp_path / "home/clone")
    subprocess.run(["git", "init", "-q", str(home / "clone")], check=True)
    return home / "clone"


@pytest.fixture
def site(clone):
    return next(clone.glob(".venv/lib/python3*/site-packages"))


def opened(clone, environ=None):
    return LocalProject(clone, clone, environ or {}, own_prefix=None)


def read_of(framework, project, cache):
    """All that is read of a framework, as text, and the notes."""
    found = find(framework, project)
    assert found is not None
    index, notes = open_index(cache, found.material, lambda _done, _total: None, ReadingBudget())
    index.close()
    passages, _notes = found.material.passages(lambda _done, _total: None, ReadingBudget())
    return repr(passages), [*notes, *found.material.notes]


def test_links_in_a_package_are_not_followed_out_of_the_project(clone, site, home, tmp_path):
    """A module, a folder, a text, the metadata: none is read from anywhere else, and the sources are noted."""
    (site / "parcel/stolen.py").symlink_to(home / "private/__init__.py")
    (site / "parcel/hop").symlink_to(home)
    (site / "parcel/far").symlink_to("hop")
    (site / "parcel/deep").symlink_to(home / "private")
    (site / "parcel/notes.md").symlink_to(home / "key")
    (site / "parcel/absolute.rst").symlink_to("../../../../../../key")
    text, notes = read_of("parcel", opened(clone), tmp_path / "cache")
    assert SECRET not in text
    assert "timeout" in text
    assert any(note.startswith("parcel/stolen.py: a link leads out") for note in notes)
    assert not any(str(home) in note for note in notes)


@pytest.mark.parametrize("name", ["METADATA", "RECORD", "top_level.txt"])
def test_metadata_is_not_read_from_elsewhere(clone, site, home, tmp_path, name):
    info = site / "parcel-1.4.0.dist-info"
    (info / name).unlink(missing_ok=True)
    (home / "listed").write_text(f"Name: x\n\n# {SECRET}\n\nprivate/__init__.py,,\nprivate\n{SECRET}\n")
    (info / name).symlink_to(home / "listed")
    text, notes = read_of("parcel", opened(clone), tmp_path / "cache")
    assert SECRET not in text
    assert name == "top_level.txt" or f"parcel: {name}: a link leads out of its folders, not read" in notes


def test_paths_in_metadata_lead_nowhere_else(clone, site, home, tmp_path):
    """RECORD with `..` and absolute paths, `top_level.txt` with `../..`: no file is read for them."""
    info = site / "parcel-1.4.0.dist-info"
    up = "../../../../../../private"
    (info / "RECORD").write_text(
        f"{up}/__init__.py,,\n{home}/private/__init__.py,,\n{home}/evil.pth,,\nparcel/__init__.py,,\n{up}/objects.inv,,\n"
    )
    (home / "evil.pth").write_text(f"{home}\n")
    (info / "top_level.txt").write_text(f"{up}\n{home}/private\nparcel\n")
    project = opened(clone)
    assert import_names(project.distribution("parcel")) == ("parcel",)
    assert SECRET not in read_of("parcel", project, tmp_path / "cache")[0]


def test_what_pth_files_name_elsewhere_is_told_and_not_read(clone, site, home, tmp_path):
    """The packages there are unknown; `kr doctor` names the folder. What is activated in the project is no more the user's."""
    (home / "private/setup.py").write_text("")
    sibling = home / "sibling"
    (sibling / "crate").mkdir(parents=True)
    (sibling / "crate/__init__.py").write_text(PRIVATE)
    (site / "crate.pth").write_text(f"{sibling}\n{home}\n../../../../../..\n")
    info = site / "crate-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: crate\nVersion: 2.0\n\nA crate.\n")
    (info / "RECORD").write_text("crate.pth,,\ncrate-2.0.dist-info/METADATA,,\n")
    project = opened(clone)
    text, notes = read_of("crate", project, tmp_path / "cache")
    assert SECRET not in text
    assert any("crate: its sources may lie outside of the project" in note for note in notes)
    (warning,) = project.warnings
    assert "../sibling" in warning
    assert "put a `kr.yaml` into a folder that holds both" in warning
    done = kr(clone, "doctor")
    assert "../sibling" in done.out
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        activated = opened(clone, {variable: str(clone / ".venv")})
        assert SECRET not in read_of("crate", activated, tmp_path / "cache")[0]
        assert activated.warnings == [warning]
    (clone / ".venv").rename(home / "env")
    for environment in (
        opened(clone, {"VIRTUAL_ENV": str(home / "env")}),
        LocalProject(clone, clone, {}, own_prefix=home / "env"),
    ):
        assert SECRET in read_of("crate", environment, tmp_path / "cache")[0]
        assert environment.warnings == []


@pytest.mark.parametrize("way", [".venv", "link/.venv", "linked"])
def test_links_in_an_environment_that_is_activated_are_not_followed_out_of_the_project(
    clone, site, home, tmp_path, way
):
    """A variable that an editor sets for each folder that is opened does not make a clone's files the user's own."""
    (site / "parcel/stolen.py").symlink_to(home / "private/__init__.py")
    (home / "link").symlink_to(clone)
    (home / "linked").symlink_to(clone / ".venv")
    place = clone / way if way == ".venv" else home / way
    text, notes = read_of("parcel", opened(clone, {"VIRTUAL_ENV": str(place)}), tmp_path / "cache")
    assert SECRET not in text
    assert any(note.startswith("parcel/stolen.py: a link leads out") for note in notes)


def test_honest_installations_are_read(clone, site, home, tmp_path):
    """Hard links, `lib64`, sources in the project, and links into uv's own cache."""
    (clone / "src/mine").mkdir(parents=True)
    (clone / "src/mine/__init__.py").write_text(
        'def wait():\n    """Wait for nine parsecs, and not a parsec longer."""\n'
    )
    (site / "_mine.pth").write_text(f"{clone}/src\n")
    (site / "mine-1.0.dist-info").mkdir()
    (site / "mine-1.0.dist-info/RECORD").write_text("_mine.pth,,\n")
    archive = home / ".cache/uv/archive-v0/abc/linked"
    archive.mkdir(parents=True)
    (archive / "__init__.py").write_text(
        'def wait():\n    """Wait for ten parsecs, and not a parsec longer."""\n'
    )
    (site / "linked").mkdir()
    (site / "linked/__init__.py").symlink_to(archive / "__init__.py")
    (site / "linked-1.0.dist-info").mkdir()
    (site / "linked-1.0.dist-info/RECORD").write_text("linked/__init__.py,,\n")
    (clone / ".venv/lib64").symlink_to("lib")
    project = opened(clone, {"HOME": str(home)})
    assert "nine parsecs" in read_of("mine", project, tmp_path / "cache")[0]
    assert "ten parsecs" in read_of("linked", project, tmp_path / "cache")[0]
    assert project.warnings == []


@pytest.mark.parametrize("linked", ["site-packages", "lib", "python"])
def test_an_environment_whose_folders_lead_elsewhere_is_empty(clone, site, home, linked):
    place = {"site-packages": site, "python": site.parent, "lib": site.parents[1]}[linked]
    elsewhere = home / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    project = opened(clone)
    assert project.distribution("parcel") is None
    assert "nothing there is read" in project.warnings[0]


def test_what_pyvenv_cfg_names_is_a_python_or_nothing(clone, home, tmp_path):
    """Another environment, a folder in the clone with links out of it, a broken path: KR's own library is read, or no secret."""
    other = make_clone(home / "other")
    (other / "private-1.0.dist-info").mkdir()
    fake = clone / "fake/lib/python3.12"
    (fake / "site-packages").mkdir(parents=True)
    (fake / "os.py").write_text("")
    (fake / "json").symlink_to(home / "private")
    (fake / "site-packages/x.pth").write_text(str(home))
    (fake / "site-packages/private").symlink_to(home / "private")
    for place in (
        f"{home}/other/.venv/bin",
        f"{clone}/fake/bin",
        "fake/bin",
        "a\0b",
        "/proc/self/cwd/fake/bin",
    ):
        (clone / ".venv/pyvenv.cfg").write_text(
            f"home = {place}\nversion = 3.12.1\ninclude-system-site-packages = true\n"
        )
        project = opened(clone)
        assert project.distribution("private") is None
        assert not any(
            str(home / "private") in os.path.realpath(each) or os.path.realpath(each) == str(home)
            for each in project.environments()[0].site_packages
        )
        library = find("python", project).material
        own = library.base == Path(sysconfig.get_path("stdlib"))
        assert all(root.is_relative_to(library.base) for root, _name in library.roots)
        assert own or SECRET not in read_of("python", project, tmp_path / "cache")[0]


def test_links_in_node_modules_are_not_followed_out_of_the_project(clone, home, tmp_path):
    """Packages, their files, and what `package.json` names: all lie in the project, or are not read; `kr doctor` names the links."""
    modules = clone / "node_modules"
    (modules / "crate/docs").mkdir(parents=True)
    (modules / "crate/package.json").write_text(
        json.dumps(
            {
                "name": "crate",
                "version": "1.0.0",
                "types": "../../../private/index.d.ts",
                "main": f"{home}/private/index",
                "exports": {".": "./../../../private/index.d.ts", "./a": "./in/index.d.ts"},
            }
        )
    )
    (modules / "crate/in").symlink_to(home / "private")
    (modules / "crate/index.d.ts").symlink_to(home / "private/index.d.ts")
    (modules / "crate/README.md").symlink_to(home / "key")
    (modules / "crate/docs/key.md").symlink_to(home / "key")
    (modules / "crate/doc").symlink_to(home)
    (modules / "@scope").mkdir()
    (modules / "@scope/private").symlink_to(home / "private")
    (modules / "private").symlink_to(home / "private")
    (modules / "broken").mkdir()
    (modules / "broken/package.json").symlink_to(home / "private/package.json")
    project = opened(clone)
    assert SECRET not in read_of("crate", project, tmp_path / "cache")[0]
    for name in ("private", "@scope/private", "broken"):
        assert project.module(name) is None
    (said,) = project.refused_links()
    assert said.startswith("node_modules: private, @scope/private lead out of the project")
    assert "node_modules: private" in kr(clone, "doctor").out


def test_honest_links_in_node_modules_are_read(clone, tmp_path):
    """pnpm's store in the project, and members of the workspace."""
    store = clone / "node_modules/.pnpm/vue@3.0.0/node_modules/vue"
    for folder, name in ((store, "vue"), (clone / "packages/own", "own")):
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(f'{{"name": "{name}", "version": "3.0.0", "types": "i.d.ts"}}')
        (folder / "i.d.ts").write_text("/** Waits nine parsecs. */\nexport declare function wait(): void;\n")
        (clone / "node_modules" / name).symlink_to(os.path.relpath(folder, clone / "node_modules"))
    for name in ("vue", "own"):
        assert "nine parsecs" in read_of(name, opened(clone), tmp_path / "cache")[0]
    assert opened(clone).refused_links() == []


@pytest.mark.parametrize("target", ["/", "..", "between"])
@pytest.mark.parametrize("name", ["docs", "doc"])
def test_docs_as_a_link_to_elsewhere_is_not_indexed(clone, home, tmp_path, name, target):
    """`docs` that leads to `/` is not walked, nor is a text of it read."""
    (clone / "between").symlink_to("/")
    (clone / name).symlink_to(target)
    (clone / "README.md").write_text("# Clone\n\nThe clone is called by its folder and by nothing else.\n")
    (clone / "stolen.md").symlink_to(home / "key")
    found = find("clone", opened(clone))
    assert [text.path for text in found.material.texts] == ["README.md"]
    assert SECRET not in read_of("clone", opened(clone), tmp_path / "cache")[0]


def test_a_folder_of_documents_is_not_left_by_links(clone, home):
    """`kr docs index` passes links over and tells of the one that leads out."""
    (clone / "docs").mkdir()
    (clone / "docs/page.md").write_text("# Page\n\nA page about parcels and their timeouts.\n")
    (clone / "docs/out").symlink_to(home)
    (clone / "docs/key.md").symlink_to(home / "key")
    done = kr(clone, "docs", "index", "docs")
    assert "passed over: a link to" in done.message
    assert SECRET not in kr(clone, "docs", "search", "opens every door").out


def test_links_across_one_another_end(clone, site):
    """Folders that are linked into each other are walked once, not in every order."""
    folders = [site / "parcel" / f"a{number}" for number in range(12)]
    for folder in folders:
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    for folder in folders:
        for number, other in enumerate(folders):
            (folder / f"to{number}").symlink_to(other)
    found = find("parcel", opened(clone))
    passages, _notes = found.material.passages(lambda _done, _total: None, ReadingBudget())
    assert passages


def test_a_knowledge_base_is_not_left_by_links(clone, home):
    """Folders of frameworks that lead to `/` are not walked, and a report is none that leads out."""
    base = clone / "knowledge-base"
    (base / "frameworks/parcel").mkdir(parents=True)
    (base / "frameworks/all").symlink_to("/")
    (base / "frameworks/parcel/key.md").symlink_to(home / "key")
    for action in ("check", "rebuild"):
        done = kr(clone, "cache", action)
        assert "Traceback" not in done.err
        assert SECRET not in done.message
    assert "key" not in (base / "index.yaml").read_text() if (base / "index.yaml").exists() else True
    (base / "index.yaml").unlink(missing_ok=True)
    (base / "index.yaml").symlink_to(home / "key")
    done = kr(clone, "research", "what does the timeout of Session mean?", "--framework", "parcel")
    assert done.code == 0
    assert "index.yaml cannot be read: a link leads out of" in done.err
    assert SECRET not in done.message


def test_no_research_tells_of_a_key_in_the_home_folder(clone, site, home):
    """By the real command: neither the answer nor what is kept of it holds a word of what a link leads to."""
    (site / "parcel/keys.py").symlink_to(home / "private/__init__.py")
    (site / "parcel/key.md").symlink_to(home / "key")
    done = kr(
        clone,
        "research",
        "what is the password and key that opens every door, secret()?",
        "--framework",
        "parcel",
        "--json",
        HOME=str(home),
    )
    assert "Traceback" not in done.err
    kept = [
        file
        for folder in (clone / "knowledge-base", home / "cache")
        for file in folder.rglob("*")
        if file.is_file()
    ]
    assert all(SECRET.encode() not in file.read_bytes() for file in kept)
    assert SECRET not in done.message


def test_the_knowledge_of_an_agent_lies_in_its_folder(clone, home):
    from kr_core.agents.prompts import _knowledge

    (clone / "known").mkdir()
    (clone / "known/a.md").symlink_to(home / "key.md")
    os.mkfifo(clone / "known/b.md")
    (clone / "known/c.md").write_text("It is known that parcels time out.")
    profile = SimpleNamespace(name="expert", knowledge="known")
    texts, notes = _knowledge(profile, clone)
    assert [name for name, _text in texts] == ['"c.md"']
    assert SECRET not in repr((texts, notes))
    assert Path(clone / "known/b.md").is_fifo()


@pytest.mark.parametrize("named", ["/proc/self/cwd/base/bin", "{clone}/base/bin", "{home}/base/bin"])
def test_a_base_interpreter_of_the_clones_own_opens_no_other_folder(clone, home, site, tmp_path, named):
    """`pyvenv.cfg` may name any folder as its base: one whose packages are a link elsewhere is none."""
    folder = home if "{home}" in named else clone
    version = site.parent.name
    (folder / "base/bin").mkdir(parents=True)
    (folder / "base/lib" / version).mkdir(parents=True)
    (folder / "base/lib" / version / "site-packages").symlink_to(home)
    config = clone / ".venv/pyvenv.cfg"
    config.write_text(
        f"home = {named.format(clone=clone, home=home)}\ninclude-system-site-packages = true\n"
        f"version = {version.removeprefix('python')}.0\n"
    )
    (site / "parcel/README.md").symlink_to(home / "key")
    (site / "parcel/stolen.py").symlink_to(home / "private/__init__.py")
    done = kr(clone, "research", "How do I set the timeout?", "--framework", "parcel")
    assert SECRET not in done.out
    text, _notes = read_of("parcel", opened(clone), tmp_path / "cache")
    assert SECRET not in text


def base_of_system(folder):
    """An installation with a `site-packages`, as a system has it; and that folder."""
    site = folder / "lib/python3.12/site-packages"
    (folder / "bin").mkdir(parents=True)
    site.mkdir(parents=True)
    return site


@pytest.mark.parametrize("way", ["proc", "link", "plain", "outside", "above"])
def test_a_base_that_the_clone_brings_widens_nothing(clone, site, home, tmp_path, way):
    """`home` by /proc, by a link, as it is; one elsewhere whose `site-packages` leads on; one that the clone lies in."""
    place = {"outside": tmp_path / "opt", "above": home}.get(way, clone / "base")
    fake = base_of_system(place) if way != "above" else home / "lib/python3.12/site-packages"
    if way == "above":  # the clone is called `lib`
        (home / "bin").mkdir()
        clone.rename(home / "lib")
        clone, site = home / "lib", home / "lib" / site.relative_to(clone)
        (clone / "python3.12").mkdir()
    else:
        fake.rmdir()
    fake.symlink_to({"above": home}.get(way, Path("/")))
    (clone / "hop").symlink_to(place / "bin")
    named = {"proc": "/proc/self/cwd/base/bin", "link": f"{clone}/hop"}.get(way, f"{place}/bin")
    (clone / ".venv/pyvenv.cfg").write_text(
        f"home = {named}\nversion = 3.12.1\ninclude-system-site-packages = true\n"
    )
    site = next(clone.glob(".venv/lib/python3*/site-packages"))
    (site / "parcel/README.md").symlink_to(home / "key")
    (site / "parcel/stolen.py").symlink_to(home / "private/__init__.py")
    old = Path.cwd()
    os.chdir(clone)
    try:
        project = opened(clone)
        (environment, *_) = project.environments()
        assert not any((home / "key").is_relative_to(os.path.realpath(bound)) for bound in environment.bounds)
        assert SECRET not in read_of("parcel", project, tmp_path / "cache")[0]
    finally:
        os.chdir(old)


def test_an_honest_base_is_read_and_its_pth_files_widen_nothing(clone, site, home, tmp_path):
    """Packages of the system are; but not what a `.pth` file there names elsewhere, nor do links lead there."""
    base = base_of_system(tmp_path / "usr")
    (base / "crate").mkdir()
    (base / "crate/__init__.py").write_text('def wait():\n    """Wait for eleven parsecs, and no more."""\n')
    (base / "crate-1.0.dist-info").mkdir()
    (base / "crate-1.0.dist-info/METADATA").write_text("Name: crate\nVersion: 1.0\n\nA crate.\n")
    (base / "crate-1.0.dist-info/RECORD").write_text("crate/__init__.py,,\n")
    (base / "x.pth").write_text(f"{home}\n")
    (site / "parcel/stolen.py").symlink_to(home / "private/__init__.py")
    (clone / ".venv/pyvenv.cfg").write_text(
        f"home = {tmp_path}/usr/bin\nversion = 3.12.1\ninclude-system-site-packages = true\n"
    )
    project = opened(clone)
    assert "eleven parsecs" in read_of("crate", project, tmp_path / "cache")[0]
    assert SECRET not in read_of("parcel", project, tmp_path / "cache")[0]


def test_the_cache_of_uv_is_not_read_but_what_a_link_names(clone, site, home, tmp_path):
    """Not all archives, not the whole of one, not one that is reached by another link."""
    archives = home / ".cache/uv/archive-v0"
    (archives / "id1/private").mkdir(parents=True)
    (archives / "id1/private/__init__.py").write_text(PRIVATE)
    (home / ".cache/uv/by-name").symlink_to(archives / "id1")
    (site / "parcel/all").symlink_to(archives)
    (site / "parcel/whole").symlink_to(archives / "id1")
    (site / "parcel/by_name.py").symlink_to(home / ".cache/uv/by-name/private/__init__.py")
    (site / "parcel/above").symlink_to(archives / "..")
    (site / "all").symlink_to(archives)
    project = opened(clone, {"HOME": str(home)})
    assert SECRET not in read_of("parcel", project, tmp_path / "cache")[0]
    (archives / "id2/linked").mkdir(parents=True)
    (archives / "id2/linked/__init__.py").write_text(
        'def wait():\n    """Wait for ten parsecs, no more."""\n'
    )
    (site / "linked").symlink_to(archives / "id2/linked")
    (site / "linked-1.0.dist-info").mkdir()
    (site / "linked-1.0.dist-info/RECORD").write_text("linked/__init__.py,,\n")
    project = opened(clone, {"HOME": str(home)})
    assert "ten parsecs" in read_of("linked", project, tmp_path / "cache")[0]
    assert SECRET not in read_of("parcel", project, tmp_path / "cache")[0]


def test_lock_files_are_not_read_from_another_project(clone, home):
    """Neither the file, nor the folder of a catalogue, nor what requirements include; the rest is read as before."""
    (home / "Cargo.lock").write_text(f'version = 3\n[[package]]\nname = "{SECRET}"\nversion = "1.0.0"\n')
    (home / "more.txt").write_text(f"{SECRET}-python==1.0\n")
    (home / "gradle").mkdir()
    (home / "gradle/libs.versions.toml").write_text(f'[libraries]\nx = "org:{SECRET}:1.0"\n')
    (clone / "Cargo.lock").symlink_to("../Cargo.lock")
    (clone / "gradle").symlink_to("../gradle")
    (clone / "more.txt").symlink_to("../more.txt")
    (clone / "requirements.txt").write_text("-r more.txt\nfrom-here==2.0\n")
    done = kr(clone, "versions")
    assert SECRET not in done.message
    assert "from-here" in done.message
    assert "Cargo.lock: cannot be read and is left out (a link leads out of" in done.message


def test_lock_files_above_the_project_and_links_to_them_are_read(clone):
    """A workspace's lock file lies above its member, and a member may link to it."""
    member = clone / "packages/member"
    member.mkdir(parents=True)
    (clone / "Cargo.lock").write_text('version = 3\n[[package]]\nname = "above"\nversion = "1.2.3"\n')
    (clone / "shared.txt").write_text("linked==3.2.1\n")
    (member / "requirements.txt").symlink_to("../../shared.txt")
    project = LocalProject(member, member, {}, own_prefix=None)
    assert project.version_of("above")[0] == "1.2.3"
    assert project.version_of("linked")[0] == "3.2.1"
    assert project.warnings == []


def test_the_name_of_a_project_is_its_own(clone, home):
    (home / "pyproject.toml").write_text(f'[project]\nname = "{SECRET}"\n')
    (clone / "pyproject.toml").unlink(missing_ok=True)
    (clone / "pyproject.toml").symlink_to("../pyproject.toml")
    assert own_name(clone) == clone.name


def test_a_folder_of_built_documentation_is_not_left_by_links(clone, home):
    """Neither by a folder, an inventory nor a page; links within it are followed."""
    listed = b"gizmo.wait py:function 1 page.html#gizmo.wait -\n"
    inventory = (
        b"# Sphinx inventory version 2\n# Project: gizmo\n# Version: 1.0\n# The remainder of this file is compressed using zlib.\n"
        + zlib.compress(listed)
    )
    page = '<body><div role="main"><dl class="py function"><dt id="gizmo.wait">gizmo.wait()</dt><dd><p>{}</p></dd></dl></div></body>'
    private, docs, linked = home / "built", clone / "docs", clone / "docs/linked"
    for folder, said in ((private, SECRET), (docs / "real/deep", "nine parsecs")):
        folder.mkdir(parents=True)
        (folder / "objects.inv").write_bytes(inventory)
        (folder / "page.html").write_text(page.format(f"Waits for {said} and for nothing else."))
    (docs / "out").symlink_to("../../built")
    (docs / "half").mkdir()
    (docs / "half/objects.inv").symlink_to(private / "objects.inv")
    (docs / "page").mkdir()
    (docs / "page/objects.inv").write_bytes(inventory)
    (docs / "page/page.html").symlink_to(private / "page.html")
    linked.symlink_to("real/deep")
    (clone / "named").symlink_to("docs")
    for named in (docs, clone / "named"):
        found = list(in_folders([named]))
        assert [one.folder.name for one in found] == ["linked", "page"]
        passages, _notes = PageMaterial("gizmo", "1.0", found).passages(
            lambda _done, _all: None, ReadingBudget()
        )
        assert "nine parsecs" in repr(passages)
        assert SECRET not in repr(passages)


# -- the file of `kr ask --from` ---------------------------------------------------------------------------

AGENT = 'import json; print(json.dumps({"answer": "OAuth", "rationale": "", "confidence": 99, "uncertainty_reasons": []}))'
SPEC = f"- FR-001: {SECRET} [NEEDS CLARIFICATION: which method?]\n"
ROUTED = {
    "agents": {"duc": {"plugin": "command", "threshold": 0}},
    "plugins": {"command": {"argv": [sys.executable, "-I", "-S", "-c", AGENT]}},
}
LISTED = json.dumps([{"id": "Q1", "feature_id": "F", "topic": "", "text": f"{SECRET}, which method?"}])


@pytest.mark.req("Q15", "Z8")
@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("specs/spec.md", "../../spec.md"),
        ("specs", "{home}"),
        ("specs/questions.json", "{home}/questions.json"),
    ],
)
def test_a_file_of_questions_is_not_read_or_written_through_a_link_out_of_the_project(
    clone, home, place, target
):
    """Neither its questions nor its words leave their place; the real path may be given."""
    (clone / "kr.yaml").write_text(json.dumps(ROUTED))
    for name, text in (("spec.md", SPEC), ("questions.json", LISTED)):
        (home / name).write_text(text)
    (clone / place).parent.mkdir(exist_ok=True)
    (clone / place).symlink_to(target.format(home=home))
    source = place if "." in place else f"{place}/spec.md"
    (home / "link").symlink_to(clone)
    (clone / "below").mkdir()
    ways = [(source,), (f"{clone}/{source}",), (f"{home}/link/{source}",), (f"../{source}", "-C", "below")]
    for way in ways:
        refused = kr(clone, "ask", "--from", *way, KR_TRUST="all")
        assert (refused.code, SECRET in refused.message) == (2, False), refused
        assert f"a link leads to {home}" in refused.err
        assert "give that path itself" in refused.err
    assert (home / "spec.md").read_text() == SPEC
    given = kr(clone, "ask", "--from", f"../{Path(source).name}", "--target", "duc", KR_TRUST="all")
    assert (given.code, "OAuth" in given.out) == (0, True), given


@pytest.mark.req("X1", "Z8")
@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("specs/001-a/tasks.md", "{home}/tasks.md"),
        ("specs", "{home}"),
    ],
)
def test_a_file_of_tasks_is_not_read_through_a_link_out_of_the_project(clone, home, place, target):
    """Its lines are not shown; the real path may be given, and a link within the project is none of these."""
    (home / "tasks.md").write_text(f"- [ ] T001 Do {SECRET} in src/a.py\n")
    (clone / place).parent.mkdir(parents=True, exist_ok=True)
    (clone / place).symlink_to(target.format(home=home))
    source = place if "." in place else f"{place}/tasks.md"
    (clone / "below").mkdir()
    for way in ((source,), (f"{clone}/{source}",), (f"../{source}", "-C", "below")):
        for action in ("plan", "run"):
            refused = kr(clone, "dispatch", action, *way)
            assert (refused.code, SECRET in refused.message) == (2, False), refused
            assert f"a link leads to {home}" in refused.err
    assert SECRET in kr(clone, "dispatch", "plan", f"{home}/tasks.md").out
    (clone / "own.md").write_text("- [ ] T001 Do src/a.py\n")
    (clone / "link.md").symlink_to("own.md")
    assert "T001" in kr(clone, "dispatch", "plan", "link.md").out


@pytest.mark.req("Z8")
@pytest.mark.parametrize("option", ["--request", "--batch"])
def test_a_request_is_not_read_through_a_link_out_of_the_project(clone, home, option):
    """A key that KR does not know would be quoted."""
    (home / "asked.yaml").write_text(f"{{question: What is it?, {SECRET}: 1}}\n")
    (clone / "asked.yaml").symlink_to(home / "asked.yaml")
    (clone / "below").mkdir()
    for way in (("asked.yaml",), ("../asked.yaml", "-C", "below")):
        refused = kr(clone, "research", option, *way)
        assert (refused.code, SECRET in refused.message) == (2, False), refused
        assert "a link leads to" in refused.err
