"""Packages that git tracks in the project: their words are those of the repository's authors, and never `medium`."""

from __future__ import annotations

import json
import os
import subprocess
from types import SimpleNamespace

import pytest
from flows.conftest import NOWHERE
from support.commands import run_here
from support.projects import PARCEL, install, make_environment

pytestmark = pytest.mark.req("Z8", "R13")

ASK = ("research", "What is the default timeout of parcel.send?", "--framework", "parcel")
LIE = 'def send(to, timeout: float = 99.0):\n    """Send a parcel. The default timeout is 99 seconds."""\n'
NOTE = "`{}` is part of this repository: its author wrote what KR tells of {}"


@pytest.fixture
def clone(tmp_path, monkeypatch, capsys):
    root = tmp_path / "clone"
    root.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KR_", "VIRTUAL_ENV", "CONDA", "GIT_"))}  # fmt: skip
    own = {"HOME": str(tmp_path), "KR_CACHE_DIR": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state"), "NO_COLOR": "1"}  # fmt: skip

    def run(*arguments, **env):
        return run_here(monkeypatch, capsys, arguments, cwd=root, environ={**kept, **NOWHERE, **own, **env})

    def commit():
        for arguments in (("init", "-q"), ("add", "-A", "-f")):
            subprocess.run(["git", "-C", root, *arguments], check=True, env={**kept, **own})

    return SimpleNamespace(kr=run, root=root, commit=commit)


def test_an_environment_of_a_clone_is_low_with_one_note(clone):
    """It calls its own text parcel 1.4.0; `kr doctor` says whose it is."""
    install(make_environment(clone.root), "parcel", "1.4.0", {"parcel/__init__.py": LIE})
    clone.commit()
    done = clone.kr(*ASK)
    assert done.code == 0
    assert "**Confidence: low" in done.out
    assert done.err.count(NOTE.format(".venv", "parcel")) == 1
    assert "note   environment: .venv" in clone.kr("doctor").out
    assert "part of this repository" in clone.kr("doctor").out


def test_an_environment_that_git_does_not_track_is_as_before(clone):
    """A project's own environment, which `.gitignore` names or which nobody has added."""
    clone.commit()
    install(make_environment(clone.root), "parcel", "1.4.0", {"parcel/__init__.py": LIE})
    done = clone.kr(*ASK)
    assert "**Confidence: low" not in done.out
    assert "part of this repository" not in done.err
    assert "ok     environment: .venv" in clone.kr("doctor").out


@pytest.mark.parametrize("linked", [False, True], ids=["folder", "link"])
def test_the_environment_that_the_user_activated_comes_before_a_tracked_one(clone, tmp_path, linked):
    """Also where the tracked one is a link to a folder of the repository."""
    install(make_environment(clone.root), "parcel", "1.4.0", {"parcel/__init__.py": LIE})
    if linked:
        (clone.root / ".venv").rename(clone.root / "vendor")
        (clone.root / ".venv").symlink_to("vendor")
    clone.commit()
    install(make_environment(tmp_path / "real"), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})  # fmt: skip
    done = clone.kr(*ASK, VIRTUAL_ENV=str(tmp_path / "real/.venv"))
    assert "**Confidence: low" not in done.out
    assert "99" not in done.out
    assert "part of this repository" not in done.err


def test_a_package_in_tracked_node_modules_is_low_with_one_note(clone):
    """As with an environment; a package that was installed beside it is as before."""
    for name in ("evil", "good"):
        if name == "good":
            clone.commit()
        folder = clone.root / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": name, "version": "1.2.3", "types": "index.d.ts"}))  # fmt: skip
        (folder / "index.d.ts").write_text("export interface Options {\n  /** Milliseconds to wait before it fails. @default 99999 */\n  timeout?: number;\n}\n/** Send a request with these options. */\nexport function send(options?: Options): void;\n")  # fmt: skip
    question = "What is the default of the timeout option of send?"
    evil = clone.kr("research", question, "--framework", "evil")
    assert "**Confidence: low" in evil.out
    assert evil.err.count(NOTE.format("node_modules/evil", "evil")) == 1
    good = clone.kr("research", question, "--framework", "good")
    assert "part of this repository" not in good.err


def test_a_package_of_a_workspace_is_its_own(clone):
    """npm links it into `node_modules`; git tracks the package and not the link."""
    (clone.root / "packages/mine").mkdir(parents=True)
    (clone.root / "packages/mine/package.json").write_text('{"name": "mine", "version": "1.0.0"}')
    (clone.root / "packages/mine/README.md").write_text("# mine\n\nSends parcels. The timeout is 5 seconds.\n")  # fmt: skip
    clone.commit()
    (clone.root / "node_modules").mkdir()
    (clone.root / "node_modules/mine").symlink_to("../packages/mine")
    assert "part of this repository" not in clone.kr("research", "What is the timeout of mine?", "--framework", "mine").err  # fmt: skip
