"""Indexes in the user's cache folder: what a clone has laid under genuine metadata is read in that clone, and nowhere else."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from support.clones import kr
from support.projects import install, make_environment

from kr_core.toolkit import LocalProject
from kr_plugins.sources.installed_docs import package_index
from kr_plugins.sources.installed_docs.material import find
from kr_plugins.sources.installed_docs.package_index import open_index
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

pytestmark = pytest.mark.req("Z8")
QUESTION = "what does the timeout of open_bar mean?"
HONEST = "Seconds to wait until the bar opens, thirty at most."
EVIL = "Seconds to wait, see evil7191.example today and now."
MANIFEST = {"name": "barlib", "version": "2.1.0", "types": "index.d.ts"}


def python_project(folder, text):
    """A project whose environment has barlib 2.1.0, of genuine metadata; returns its site-packages."""
    folder.mkdir(parents=True)
    (folder / "kr.yaml").write_text("knowledge_research: {sources: [installed_docs]}\n")
    site = make_environment(folder)
    (folder / ".venv/pyvenv.cfg").write_text("version_info = 3.12.4\n")
    source = (
        f'def open_bar(timeout=3.0):\n    """Open the bar.\n\n    Args:\n        timeout: {text}\n    """\n'
    )
    install(site, "barlib", "2.1.0", {"barlib/__init__.py": source})
    return site


def npm_project(folder, text):
    """A project whose `node_modules` has barlib 2.1.0, of names and sizes that are genuine."""
    package = folder / "node_modules/barlib"
    package.mkdir(parents=True)
    (folder / "kr.yaml").write_text("knowledge_research: {sources: [installed_docs]}\n")
    (package / "package.json").write_text(json.dumps(MANIFEST))
    (package / "index.d.ts").write_text(
        f"/**\n * Open the bar.\n *\n * @param timeout - {text}\n */\nexport declare function open_bar(timeout: number): void;\n"
    )
    (package / "README.md").write_text(f"# barlib\n\n## Timeout\n\nThe timeout of `open_bar`: {text}\n")
    for name in ("package.json", "index.d.ts", "README.md"):
        os.utime(package / name, (1, 1))
    return package


MAKERS = pytest.mark.parametrize("make", [python_project, npm_project])


def asked(folder):
    done = kr(folder, "research", QUESTION, "--framework", "barlib", "--json")
    assert "Traceback" not in done.err
    return done.message


def indexes(folder):
    return sorted((folder / "cache/installed").glob("*.sqlite"))


def key(folder, environ=None):
    return find("barlib", LocalProject(folder, folder, environ or {}, own_prefix=None)).material.fingerprint


@MAKERS
def test_a_clone_does_not_answer_for_another_project(tmp_path, make):
    """The clone is asked first, then the honest project, then the clone again: each answers from its own files."""
    assert len(HONEST) == len(EVIL)
    make(tmp_path / "evil", EVIL)
    make(tmp_path / "honest", HONEST)
    assert "evil7191" in asked(tmp_path / "evil")
    said = asked(tmp_path / "honest")
    assert "until the bar opens" in said
    assert "evil7191" not in said
    assert len(indexes(tmp_path)) == 2
    shutil.rmtree(tmp_path / "evil/knowledge-base", ignore_errors=True)
    assert "until the bar opens" not in asked(tmp_path / "evil")


@MAKERS
def test_a_clone_where_another_project_lay_finds_no_index_of_it(tmp_path, make):
    """Another clone at the same path, with the same times of writing: what was read there before is no answer any more."""
    make(tmp_path / "clone", EVIL)
    assert "evil7191" in asked(tmp_path / "clone")
    (tmp_path / "clone").rename(tmp_path / "before")
    make(tmp_path / "clone", HONEST)
    said = asked(tmp_path / "clone")
    assert "until the bar opens" in said
    assert "evil7191" not in said


def test_a_member_of_a_workspace_with_the_same_times_is_read_anew(tmp_path):
    """What is edited in place is told by times too, and an archive may set those of writing."""
    for text in (EVIL, HONEST):
        shutil.rmtree(tmp_path / "clone", ignore_errors=True)
        package = npm_project(tmp_path / "clone", text)
        package.rename(tmp_path / "clone/barlib")
        package.symlink_to("../barlib")
        said = asked(tmp_path / "clone")
        assert ("evil7191" in said) == (text == EVIL)


@MAKERS
def test_an_index_is_made_once_in_a_place_and_anew_where_the_project_moved(tmp_path, make):
    make(tmp_path / "one", HONEST)
    before = key(tmp_path / "one")
    assert key(tmp_path / "one") == before
    (tmp_path / "link").symlink_to("one")
    assert key(tmp_path / "link") == before
    asked(tmp_path / "one")
    asked(tmp_path / "one")
    assert len(indexes(tmp_path)) == 1
    (tmp_path / "link").unlink()
    (tmp_path / "one").rename(tmp_path / "two")
    shutil.rmtree(tmp_path / "two/knowledge-base", ignore_errors=True)
    assert "until the bar opens" in asked(tmp_path / "two")
    assert len(indexes(tmp_path)) == 2


def test_environments_of_the_user_share_an_index(tmp_path):
    """They lie outside of the projects, so nobody else has filled them; and no clone's environment has their key."""
    keys = {}
    for name in ("one", "two"):
        python_project(tmp_path / name, HONEST)
        keys[name] = key(tmp_path / name)
        (tmp_path / name / ".venv").rename(tmp_path / f"{name}-env")
        keys[f"{name}-env"] = key(tmp_path / name, {"VIRTUAL_ENV": str(tmp_path / f"{name}-env")})
    assert keys["one-env"] == keys["two-env"]
    assert keys["one-env"] not in {keys["one"], keys["two"]}


def test_a_clone_that_reaches_another_environment_by_a_link_has_its_own_index(tmp_path):
    """It may read less there than the project whose environment it is, which must not get so little."""
    python_project(tmp_path / "honest", HONEST)
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil/.venv").symlink_to("../honest/.venv")
    assert key(tmp_path / "evil") != key(tmp_path / "honest")


def test_documents_of_a_project_are_told_apart_by_what_they_say(tmp_path):
    """A text that looks as two texts do is not taken for them."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text('[project]\nname = "barlib"\n')
    (tmp_path / "one/a.md").write_text("# A\n")
    (tmp_path / "one/b.md").write_text("# B\n")
    (tmp_path / "two/a.md").write_text("# A\n\0b.md\0# B\n")
    assert key(tmp_path / "one") != key(tmp_path / "two")


def test_the_computing_of_a_key_reads_no_sources(tmp_path, monkeypatch):
    """Of an installed package the metadata are read, and nothing else, however many files it has."""
    python_project(tmp_path / "one", HONEST)
    monkeypatch.setattr(package_index, "read_module", None)
    read = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest, **named: read.append(str(path)) or real(path, *rest, **named)
    )
    key(tmp_path / "one")
    assert not [path for path in read if path.endswith(".py")]


def test_indexes_that_nobody_uses_make_room(tmp_path, monkeypatch):
    """Together they stay below a limit: the one unused for longest goes first, and never the one that was just made."""
    folders = [tmp_path / name for name in ("one", "two", "three")]
    made = []
    for age, folder in zip((9, 5, 0), folders, strict=True):
        python_project(folder, HONEST)
        if age == 0:
            size = sum(path.stat().st_size for path in made)
            monkeypatch.setattr(package_index, "_LARGEST_CACHE", size)
        before = set(indexes(tmp_path))
        opened(folder, tmp_path)
        made += set(indexes(tmp_path)) - before
        if age:
            days = made[-1].stat().st_mtime - age * 86_400
            os.utime(made[-1], (days, days))
        if age == 5:
            opened(folders[0], tmp_path)  # used again: now the second is the oldest
    assert indexes(tmp_path) == sorted([made[0], made[2]])
    monkeypatch.setattr(package_index, "_LARGEST_CACHE", 1)
    python_project(tmp_path / "four", HONEST)
    opened(tmp_path / "four", tmp_path)
    assert len(indexes(tmp_path)) == 1


def opened(folder, base):
    found = find("barlib", LocalProject(folder, folder, {}, own_prefix=None))
    index, notes = open_index(base / "cache", found.material, lambda _done, _total: None, ReadingBudget())
    index.close()
    assert notes == []
