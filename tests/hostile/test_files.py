"""What stands in the place of a file that KR reads: devices, pipes, sockets, folders, files without end, texts nested without end."""

from __future__ import annotations

import json
import os

import pytest
from support.clones import FLAT, KINDS, kr, lay, make_clone

pytestmark = pytest.mark.req("Z8")
QUESTION = ("research", "what does the timeout of Session mean?", "--framework", "parcel")
_SOME = ("device", "pipe", "large")
"""Those that would fill the memory, or be waited for."""


@pytest.fixture
def clone(tmp_path):
    make_clone(tmp_path / "clone")
    return tmp_path / "clone"


@pytest.fixture
def site(clone):
    return next(clone.glob(".venv/lib/python3*/site-packages"))


def lay_in_place(kind, path):
    """The same, where a file or folder may be already."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    lay(kind, path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["kr.yaml", "pyproject.toml"])
def test_a_configuration_that_is_no_file_is_refused_at_once(clone, name, kind):
    """A device, a pipe or a file without end is an error that names it; no memory is filled."""
    (clone / "kr.yaml").unlink()
    lay_in_place(kind, clone / name)
    done = kr(clone, *QUESTION)
    assert done.memory < FLAT
    if (name, kind) == ("pyproject.toml", "folder"):  # which is nobody's configuration
        assert done.code == 0
    else:
        assert (done.code, name in done.err) == (2, True)
        assert "Traceback" not in done.err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("option", ["--request", "--batch"])
def test_a_request_that_is_no_file_is_refused_at_once(clone, option, kind):
    """What the user names as a request must be a plain file of a bounded size."""
    lay(kind, clone / "asked.yaml")
    done = kr(clone, "research", option, "asked.yaml")
    assert (done.code, "asked.yaml: " in done.err, "Traceback" in done.err) == (2, True, False)
    assert done.memory < FLAT


@pytest.mark.parametrize(
    "line",
    [
        '"$@" --request <(cat asked.json)',
        'cat asked.json | "$@" --request -',
        'cat asked.json | "$@" --request /dev/stdin',
        '"$@" --batch <(cat asked.json)',
        'cat asked.json | "$@" --batch /dev/fd/0',
    ],
)
def test_a_pipe_that_the_user_hands_over_is_read(clone, line):
    """A shell's `<(command)` and standard input go on working."""
    asked = {"question": "what does the timeout of Session mean?", "framework": "parcel"}
    (clone / "asked.json").write_text(json.dumps(asked))
    done = kr(clone, "research", shell=line)
    assert done.code == 0, done.err
    assert "timeout" in done.out


@pytest.mark.parametrize(
    "line", ['"$@" --request /dev/stdin </dev/zero', '"$@" --batch <(yes)', '"$@" --batch - </dev/zero']
)
def test_a_pipe_without_end_is_read_up_to_a_limit(clone, line):
    done = kr(clone, "research", shell=line)
    assert done.code == 2
    assert "larger than 20,000,000 bytes" in done.err
    assert done.memory < FLAT


@pytest.mark.parametrize("kind", _SOME)
@pytest.mark.parametrize("name", ["index.yaml", "_archived-index.yaml"])
def test_an_index_that_is_no_file_costs_no_answer(clone, name, kind):
    """The question is answered; what is wrong with the index is told, by a note or by `kr cache check`."""
    lay(kind, clone / "knowledge-base" / name)
    done = kr(clone, *QUESTION)
    assert done.code == 0, done.err
    assert done.memory < FLAT
    checked = kr(clone, "cache", "check")
    assert name in checked.out
    assert checked.memory < FLAT


@pytest.mark.parametrize("kind", _SOME)
def test_a_report_or_evidence_that_is_no_file_is_none(clone, kind):
    """A hit whose report or evidence is something else by now is researched again; `kr verify` refuses it."""
    assert kr(clone, *QUESTION).code == 0
    (report,) = (clone / "knowledge-base/frameworks").rglob("*.md")
    (evidence,) = (clone / "knowledge-base/frameworks").rglob("*.evidence.json")
    lay_in_place(kind, evidence)
    done = kr(clone, "verify", str(report))
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert done.memory < FLAT
    lay_in_place(kind, report)
    for arguments in (QUESTION, ("cache", "check"), ("cache", "list")):
        done = kr(clone, *arguments)
        assert "Traceback" not in done.err
        assert done.memory < FLAT


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_a_package_that_is_none_is_noted(clone, site, kind):
    """Its sources, its metadata and its texts: each is left out, the rest is read."""
    for name in ("parcel/more.py", "parcel/notes.md", "zzz.pth", "parcel-1.4.0.dist-info/top_level.txt"):
        lay_in_place(kind, site / name)
    done = kr(clone, *QUESTION)
    assert done.code == 0, done.err
    if kind != "folder":  # which is no source
        assert "parcel/more.py: " in done.message
    assert done.memory < FLAT


@pytest.mark.parametrize("kind", _SOME)
@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
def test_metadata_that_is_no_file_is_noted(clone, site, name, kind):
    lay_in_place(kind, site / "parcel-1.4.0.dist-info" / name)
    done = kr(clone, *QUESTION)
    assert done.code == 0, done.err
    assert f"parcel: {name}: " in done.err
    assert done.memory < FLAT


@pytest.mark.parametrize("kind", _SOME)
def test_lock_files_and_packages_that_are_no_files_are_told(clone, kind):
    """Each is left out with a note, and what else is known is still known."""
    for name in ("uv.lock", "package.json", "node_modules/vue/package.json", "requirements.txt"):
        lay(kind, clone / name)
    done = kr(clone, "versions")
    assert done.code == 0
    assert "parcel" in done.out
    for name in ("uv.lock", "package.json", "requirements.txt"):
        assert f"note: {name}: " in done.err
    assert done.memory < FLAT


@pytest.mark.parametrize("kind", _SOME)
def test_lessons_that_are_no_file_are_refused(clone, kind):
    lay(kind, clone / "knowledge-base/lessons/_lessons-learned.md")
    for arguments in (
        ("lessons", "list"),
        ("lessons", "add", "a lesson", "--phase", "code-review"),
        ("doctor",),
    ):
        done = kr(clone, *arguments)
        assert done.code != 0
        assert "_lessons-learned.md" in done.message
        assert "Traceback" not in done.message
        assert done.memory < FLAT


@pytest.mark.parametrize("kind", _SOME)
def test_state_that_is_no_file_is_no_state(clone, kind):
    """What lies in `.kr/` may have come with the project too."""
    for name in ("uncommitted.json", "serve.json", "uses.json"):
        lay(kind, clone / ".kr" / name)
    done = kr(clone, *QUESTION)
    assert done.code == 1, done.err
    assert ".kr" in done.err
    assert done.memory < FLAT


_DEEP = 100_000


def test_texts_nested_without_end_are_errors(clone, site):
    """JSON and TOML nested 100,000 deep end no process."""
    brackets = "[" * _DEEP + "]" * _DEEP
    (clone / "asked.json").write_text(brackets)
    for option in ("--request", "--batch"):
        done = kr(clone, "research", option, "asked.json")
        assert (done.code, "asked.json" in done.err, "Traceback" in done.err) == (2, True, False)
    (clone / "package.json").write_text(f'{{"version": {brackets}}}')
    (clone / "package-lock.json").write_text(f'{{"packages": {brackets}}}')
    (clone / "pyproject.toml").write_text(f"[project]\nname = {brackets}\n")
    (clone / "node_modules/vue").mkdir(parents=True)
    (clone / "node_modules/vue/package.json").write_text(f'{{"version": "3.0.0", "exports": {brackets}}}')
    done = kr(clone, "versions")
    assert (done.code, "Traceback" in done.err) == (0, False)
    assert "pyproject.toml: nested too deeply" in done.err
    for framework in ("parcel", "vue", "clone"):
        done = kr(clone, *QUESTION[:3], framework)
        assert "Traceback" not in done.err
        assert done.code in {0, 4}
    (clone / "kr.yaml").unlink()
    (clone / "pyproject.toml").write_text(f"[tool.kr]\nname = {brackets}\n")
    done = kr(clone, *QUESTION)
    assert (done.code, "pyproject.toml: nested too deeply" in done.err) == (2, True)


def test_evidence_nested_without_end_is_none(clone):
    assert kr(clone, *QUESTION).code == 0
    (evidence,) = (clone / "knowledge-base/frameworks").rglob("*.evidence.json")
    evidence.write_text("[" * _DEEP + "]" * _DEEP)
    done = kr(clone, *QUESTION)
    assert (done.code, "Traceback" in done.err) == (0, False)
    evidence.write_text("[" * _DEEP + "]" * _DEEP)  # a weak answer was researched and written again
    (report,) = (clone / "knowledge-base/frameworks").rglob("*.md")
    done = kr(clone, "verify", os.fspath(report))
    assert (done.code, "cannot be verified" in done.err) == (2, True)
