"""Packages that git tracks in the project: their words are those of the repository's authors, and never `medium`."""

from __future__ import annotations

import json
import subprocess
from types import SimpleNamespace

import pytest
from flows.conftest import NOWHERE
from support.commands import environment_of, run_here
from support.projects import PARCEL, install, make_environment

from kr_core.toolkit import LocalProject
from kr_plugins.sources.repositories import repository_of

pytestmark = pytest.mark.req("Z8", "R13")

ASK = ("research", "What is the default timeout of parcel.send?", "--framework", "parcel")
LIE = 'def send(to, timeout: float = 99.0):\n    """Send a parcel. The default timeout is 99 seconds."""\n'
NOTE = "`{}` is part of this repository: its author wrote what KR tells of {}"


@pytest.fixture
def clone(tmp_path, monkeypatch, capsys):
    root = tmp_path / "clone"
    root.mkdir()
    own = environment_of(tmp_path)

    def run(*arguments, **env):
        return run_here(monkeypatch, capsys, arguments, cwd=root, environ={**own, **NOWHERE, **env})

    def commit_in(folder, what="."):
        git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for arguments in (("init", "-q"), ("add", "-A", "-f", what), ("commit", "-q", "--allow-empty", "-m", "all")):  # fmt: skip
            subprocess.run([*git, *arguments], check=True, env=own, capture_output=True)

    return SimpleNamespace(kr=run, root=root, commit_in=commit_in, commit=lambda: commit_in(root))


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


def lay(root, place, readme="", **values):
    """A package in `node_modules`."""
    folder = root / "node_modules" / place
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": place, "version": "1.4.0", **values}))
    (folder / "README.md").write_text(readme)
    if values.get("types"):
        (folder / "index.d.ts").write_text("/** Send a parcel. The default timeout is 99 seconds. */\nexport function send(to: string): void;\n")  # fmt: skip


def test_types_of_the_clone_make_an_installed_package_low_with_one_note(clone):
    """npm keeps what lies in `node_modules/@types`, and all declarations of the package are from there."""
    lay(clone.root, "@types/parcel", types="index.d.ts")
    clone.commit()
    lay(
        clone.root, "parcel", "# parcel\n\n## Timeout\n\nThe default timeout of `parcel.send` is 5 seconds.\n"
    )
    for question in ("What does send of parcel do?", ASK[1]):
        done = clone.kr("research", question, "--framework", "parcel")
        assert is_low(done, "node_modules/@types/parcel")
    own = clone.root / "node_modules/parcel/index.d.ts"
    own.write_text("/** Send a parcel. */\nexport function send(to: string): void;\n")
    typed = clone.kr("research", "What does send of parcel do?", "--framework", "parcel", "--refresh")
    assert "part of this repository" not in typed.err


@pytest.mark.parametrize("declared", [True, False])
def test_a_dependency_of_the_clone_is_low_with_one_note(clone, declared):
    """What an npm package hands on is told from what it depends on: a README, or declarations that it exports."""
    lie = "# parcel\n\n## send(options)\n\nSends a parcel of `box`.\n\n#### timeout\n\nThe default timeout of `box.send` is 99 seconds.\n"  # fmt: skip
    lay(clone.root, "parcel", "" if declared else lie, **({"types": "index.d.ts"} if declared else {}))
    clone.commit()
    lay(clone.root, "box", "# box\n\nPacks boxes.\n", dependencies={"parcel": "1"}, types="index.d.ts")
    (clone.root / "node_modules/box/index.d.ts").write_text('export * from "parcel";\n' if declared else "export {};\n")  # fmt: skip
    question = "What does send do in box?" if declared else "What is the default timeout of box.send?"
    assert is_low(clone.kr("research", question, "--framework", "box"), "node_modules/parcel")


def test_a_package_that_an_alias_installed_is_shown_by_its_own_name(clone):
    lay(clone.root, "parcel", name="other-parcel", types="index.d.ts")
    done = clone.kr("research", "What does send of parcel do?", "--framework", "parcel")
    assert "parcel is other-parcel here: an alias installed it by this name" in done.err
    assert "pkg:npm/other-parcel@1.4.0" in done.out


def test_a_package_of_a_workspace_is_low_with_one_note(clone):
    """npm links it into `node_modules`; git tracks the package and not the link."""
    folder = clone.root / "packages/parcel"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "parcel", "version": "1.0.0"}')
    (folder / "README.md").write_text("# parcel\n\n## Timeout\n\nThe default timeout of `parcel.send` is 99 seconds.\n")  # fmt: skip
    clone.commit()
    (clone.root / "node_modules").mkdir()
    (clone.root / "node_modules/parcel").symlink_to("../packages/parcel")
    assert is_low(clone.kr(*ASK), "packages/parcel")


def lay_parcel(folder):
    """A package that calls itself parcel 1.4.0, beside its metadata."""
    folder.mkdir(parents=True)
    return install(folder, "parcel", "1.4.0", {"parcel/__init__.py": LIE})


def is_low(done, folder):
    return "**Confidence: low" in done.out and done.err.count(NOTE.format(folder, "parcel")) == 1


@pytest.mark.parametrize("activated", [False, True], ids=["in the project", "activated"])
def test_a_package_beside_an_editable_install_is_low_with_one_note(clone, tmp_path, activated):
    """The `.pth` of the project's own install names `src`, where the clone has metadata of another package, too."""
    lay_parcel(clone.root / "src")
    clone.commit()
    site = make_environment(tmp_path / "mine" if activated else clone.root)
    (site / "_own.pth").write_text(f"{clone.root}/src\n")
    env = {"VIRTUAL_ENV": str(tmp_path / "mine/.venv")} if activated else {}
    assert is_low(clone.kr(*ASK, **env), "src/parcel")


def test_a_member_of_a_workspace_that_uv_installs_is_low_with_one_note(clone):
    """The environment is the user's, and holds the metadata; what they describe is the clone's."""
    lay_parcel(clone.root / "packages/parcel/src")
    clone.commit()
    site = make_environment(clone.root)
    install(site, "parcel", "1.4.0", {"_parcel.pth": f"{clone.root}/packages/parcel/src\n"})
    assert is_low(clone.kr(*ASK), "packages/parcel/src/parcel")


@pytest.mark.parametrize("kind", ["folder", "wheel"])
def test_a_package_that_was_installed_from_a_part_of_the_clone_is_low_with_one_note(clone, kind):
    """Its files are copies; `direct_url.json` says of what."""
    source = clone.root / (
        "vendor/the parcel" if kind == "folder" else "vendor/parcel-1.4.0-py3-none-any.whl"
    )
    source.parent.mkdir()
    if kind == "folder":
        source.mkdir()
        (source / "pyproject.toml").write_text("")
    else:
        source.write_text("")
    clone.commit()
    metadata = install(make_environment(clone.root), "parcel", "1.4.0", {"parcel/__init__.py": LIE})
    (metadata / "direct_url.json").write_text(json.dumps({"url": source.as_uri()}))
    assert is_low(clone.kr(*ASK), source.relative_to(clone.root).as_posix())


@pytest.mark.parametrize("said", ["", "[]", '{"url": 7}', '{"url": "file:relative"}', '{"url": "file:///a%00b"}', '{"url": "http://["}'])  # fmt: skip
def test_an_address_that_leads_nowhere_changes_nothing(clone, said):
    clone.commit()
    metadata = install(make_environment(clone.root), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    (metadata / "direct_url.json").write_text(said)
    done = clone.kr(*ASK)
    assert "**Confidence: low" not in done.out
    assert done.err == ""


def test_a_checkout_that_is_no_part_of_the_repository_is_as_before(clone):
    """`pip install -e git+...` makes one in the environment, or in `src`; a submodule is part of the repository."""
    clone.commit()
    lay_parcel(clone.root / "src/parcel")
    (make_environment(clone.root) / "parcel.pth").write_text(f"{clone.root}/src/parcel\n")
    clone.commit_in(clone.root / "src/parcel")
    done = clone.kr(*ASK)
    assert "**Confidence: low" not in done.out
    assert "part of this repository" not in done.err
    clone.commit_in(clone.root, "src/parcel")
    assert is_low(clone.kr(*ASK, "--refresh"), "src/parcel/parcel")


def test_what_an_installed_package_hands_on_of_the_clone_is_low_with_one_note(clone):
    """`box` is from an index; the project lays its own `parcel` under it, as a member of a workspace."""
    lay_parcel(clone.root / "packages/parcel")
    clone.commit()
    site = make_environment(clone.root)
    (site / "parcel.pth").write_text(f"{clone.root}/packages/parcel\n")
    box = install(site, "box", "2.0.0", {"box/__init__.py": 'from parcel import send\n\n__all__ = ["pack", "send"]\n\ndef pack(size: int = 3):\n    """Pack a box. The default size is 3."""\n'})  # fmt: skip
    with (box / "METADATA").open("a") as file:
        file.write("Requires-Dist: parcel\n")
    done = clone.kr("research", "What is the default timeout of box.send?", "--framework", "box")
    assert is_low(done, "packages/parcel/parcel")
    own = clone.kr("research", "What is the default size of box.pack?", "--framework", "box")
    assert "**Confidence: low" not in own.out


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("where", [".venv", "node_modules/parcel", "packages/parcel"])
def test_a_package_of_the_clone_does_not_say_where_a_library_is_made(clone, where, tracked):
    """`context7` and `deepwiki` are asked about that repository, so its author would choose whose words are shown."""
    root = clone.root
    if where == "node_modules/parcel":
        (root / where).mkdir(parents=True)
        (root / where / "package.json").write_text('{"name": "parcel", "version": "1.4.0", "repository": "evil/parcel"}')  # fmt: skip
    else:
        metadata = install(make_environment(root), "parcel", "1.4.0", {"parcel.py": LIE})
        with (metadata / "METADATA").open("a") as file:
            file.write("Project-URL: Source, https://github.com/evil/parcel\n")
        (root / "packages/parcel").mkdir(parents=True)
        (root / "packages/parcel/pyproject.toml").write_text("")
        if where == "packages/parcel":
            (metadata / "direct_url.json").write_text(json.dumps({"url": (root / where).as_uri()}))
    if tracked:
        clone.commit_in(root, where)
    said = repository_of("parcel", LocalProject(root, root, {}, own_prefix=None))
    note = f"`{where}` is part of this repository: KR does not use the address that it gives for parcel"
    assert said == ((None, (note,)) if tracked else ("evil/parcel", ()))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://github.com/evil/parcel.git", "https://github.com/evil/parcel.git"),
        ("ssh://git@github.com/evil/parcel", "ssh://github.com/evil/parcel"),
        ("https://ann:secret@example.org:8443/parcel-1.4.0.tar.gz?token=secret#x", "https://example.org/parcel-1.4.0.tar.gz"),
        ("https://example.org/KR has verified\u202e parcel", "another address"),
        ("file:///home/conda/feedstock_root/build_artifacts/parcel/work", None),
        ("parcel", None),
    ],
)  # fmt: skip
def test_a_package_from_another_place_than_an_index_has_a_note(clone, url, shown):
    """`pkg:pypi/parcel@1.4.0` names the one of the index; a fork is not rated otherwise, for the user chose it."""
    metadata = install(make_environment(clone.root), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    (metadata / "direct_url.json").write_text(json.dumps({"url": url, "vcs_info": {"vcs": "git"}}))
    done = clone.kr(*ASK)
    assert "**Confidence: low" not in done.out
    note = f"note: installed_docs: parcel was installed from {shown}, not from an index\n"
    assert done.err == (note if shown else "")
