"""A journal as a file: whole, or not there; and what was cut off or changed is known before it is imported."""

import json
import stat

import pytest

from kr_core import StorageError
from kr_core.plugin import RecordRow
from kr_core.qalog.record_file import read_record, write_record

pytestmark = pytest.mark.req("G2", "S3")

ROWS = [
    RecordRow("chain", (0,)),
    RecordRow(
        "events",
        (1, "e1", "2026-02-05T10:00:00+00:00", "run", "run.started", '{"text":"\\u0000\\ud800"}', "ab" * 32),
    ),
    RecordRow("documents", ("escalation", "E1", "open", 2, '{"a": [1, null]}')),
    RecordRow("steps", ("run", "key", "[1.5]")),
    RecordRow("grants", ("g1", "session", "story")),
    RecordRow("counters", ("escalation", 7)),
    RecordRow("cursors", ("jsonl", 1)),
]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "record.jsonl"


def written(file, rows=ROWS):
    write_record(iter(rows), file)
    return file.read_bytes().splitlines(keepends=True)


def refused(file, content):
    file.write_bytes(content)
    with pytest.raises(StorageError) as error:
        list(read_record(file))
    return str(error.value)


def test_rows_come_back_as_they_were(file):
    """The file is readable by its owner only: it holds questions and answers."""
    written(file)
    assert list(read_record(file)) == ROWS
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_there_stays(file):
    file.write_text("mine")
    with pytest.raises(StorageError, match="is there already"):
        write_record(iter(ROWS), file)
    assert file.read_text() == "mine"


def test_an_export_that_fails_leaves_nothing(file):
    def failing():
        yield ROWS[0]
        raise StorageError("the journal cannot be read")

    with pytest.raises(StorageError, match="cannot be read"):
        write_record(failing(), file)
    assert not list(file.parent.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StorageError, match="nothing was exported"):
        write_record(iter(ROWS), tmp_path / "no" / "record.jsonl")


def test_what_was_cut_off_is_refused_wherever_it_was(file):
    """At the end of a line, and in the midst of one."""
    whole = b"".join(written(file))
    for end in range(1, len(whole) - 1, 7):
        said = refused(file, whole[:end])
        assert "cut off" in said or "no export" in said or "not an export" in said
        assert str(file) in said


def test_what_was_changed_is_refused(file):
    """A line that was altered, taken out, added or moved; the message names the line."""
    lines = written(file)
    for changed in (
        [*lines[:2], lines[2].replace(b"e1", b"e2"), *lines[3:]],
        [*lines[:3], *lines[4:]],
        [*lines[:3], lines[3], *lines[3:]],
        [*lines[:2], lines[3], lines[2], *lines[4:]],
        [*lines, lines[3]],
    ):
        assert f"{file}:" in refused(file, b"".join(changed))


@pytest.mark.parametrize(
    "row",
    [
        ["events", 1, "e1"],
        ["strangers", 1],
        ["counters", "a", "1"],
        ["counters", "a", True],
        ["documents", "a", "b", "c", 1, "{"],
        ["documents", "a", "b", "c", 1, '{"size": 1e999}'],
        ["documents", "a", "b", "c", 1, '{"size": NaN}'],
        ["events", 1, "e1", "t", "r", "k", "{}", "xyz"],
        [[]],
        [],
        None,
    ],
)
def test_what_is_no_row_is_named_by_its_line(file, row):
    lines = written(file)
    said = refused(file, b"".join([*lines[:2], json.dumps(row).encode() + b"\n", *lines[2:]]))
    assert f"{file}:3" in said


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]\n", b"hello\n", b'{"kr_journal": "x"}\n'])
def test_another_file_is_no_export(file, content):
    assert "export" in refused(file, content) or "cut off" in refused(file, content)


def test_a_newer_form_is_refused(file):
    assert "written by a newer KR" in refused(file, b'{"kr_journal": 2}\n')


def test_a_file_that_is_not_there_is_named(file):
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        list(read_record(file))
