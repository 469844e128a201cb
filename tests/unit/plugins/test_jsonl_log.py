"""The log of JSON lines."""

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.errors import StorageError
from kr_core.hookspecs import Settings
from kr_core.model import Event
from kr_core.protocols import LogRecord
from kr_plugins.logs.jsonl import JSONLines, kr_log

TIME = datetime(2026, 2, 5, 10, tzinfo=UTC)


def records(*numbers, journal="a", text=""):
    return [
        LogRecord(
            n,
            Event(kind="keep.finished", run="r1", id=f"{journal}{n}", time=TIME, data={"n": n, "text": text}),
        )
        for n in numbers
    ]


def lines(folder):
    text = (folder / "log.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def ids(folder):
    return [line["id"] for line in lines(folder)]


@pytest.mark.req("G2")
def test_form(tmp_path):
    """An event is one line of JSON; the state folder keeps itself out of git."""
    folder = tmp_path / ".kr"
    JSONLines(folder).write(records(7, text="虚拟\n\u2028"))
    (line,) = (folder / "log.jsonl").read_bytes().split(b"\n")[:-1]
    assert "虚拟" in line.decode()
    assert list(json.loads(line).items()) == [
        ("number", 7),
        ("id", "a7"),
        ("time", "2026-02-05T10:00:00+00:00"),
        ("run", "r1"),
        ("kind", "keep.finished"),
        ("data", {"n": 7, "text": "虚拟\n\u2028"}),
    ]
    assert (folder / ".gitignore").read_text().startswith("*\n")


def test_nothing(tmp_path):
    """Writing nothing makes nothing."""
    JSONLines(tmp_path / ".kr").write([])
    assert not (tmp_path / ".kr").exists()


@pytest.mark.req("G3")
def test_once(tmp_path):
    """Events that come again, because a cursor was not advanced, are skipped."""
    log = JSONLines(tmp_path)
    log.write(records(1, 2, 3))
    log.write(records(1, 2, 3))
    log.write(records(2, 3, 4, 5))
    log.write(records(1))
    assert ids(tmp_path) == ["a1", "a2", "a3", "a4", "a5"]


@pytest.mark.req("G3")
def test_a_new_journal(tmp_path):
    """Events of a new journal, which counts from 1 again, are not taken for those of the old one."""
    log = JSONLines(tmp_path)
    log.write(records(*range(1, 50)))
    log.write(records(1, 2, journal="b"))
    log.write(records(2, 3, journal="b"))
    assert ids(tmp_path)[48:] == ["a49", "b1", "b2", "b3"]


@pytest.mark.req("Z7", "G3")
@pytest.mark.parametrize("torn", [b'{"number": 3, "id": "a', b"\0\0\0\0", b'{"number"\n\0\0\n', b"\n\n"])
def test_a_torn_tail(tmp_path, torn):
    """What a killed process left at the end is removed before the next event is written."""
    log = JSONLines(tmp_path)
    log.write(records(1, 2))
    with (tmp_path / "log.jsonl").open("ab") as file:
        file.write(torn)
    log.write(records(2, 3))
    assert ids(tmp_path) == ["a1", "a2", "a3"]


@pytest.mark.req("Z7")
def test_only_a_newline_is_missing(tmp_path):
    """A last record that lacks only its newline is kept."""
    log = JSONLines(tmp_path)
    log.write(records(1, 2))
    os.truncate(tmp_path / "log.jsonl", (tmp_path / "log.jsonl").stat().st_size - 1)
    log.write(records(3))
    assert ids(tmp_path) == ["a1", "a2", "a3"]


@given(st.integers(0, 10), st.integers(0, 2000), st.sampled_from(["", "x" * 70_000, "虚"]))
@pytest.mark.req("Z7", "G3")
def test_cut_anywhere(count, cut, text):
    """Wherever the file was cut off, delivering again completes it: each event once, in order."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        log = JSONLines(folder)
        log.write(records(*range(1, count + 1), text=text))
        if count:
            size = (folder / "log.jsonl").stat().st_size
            os.truncate(folder / "log.jsonl", max(0, size - cut))
        log.write(records(*range(1, count + 2), text=text))
        assert ids(folder) == [f"a{n}" for n in range(1, count + 2)]


def test_half_a_character(tmp_path):
    """Text that UTF-8 has no form for does not stop the log."""
    JSONLines(tmp_path).write([LogRecord(1, Event(kind="k", run="r", data={"text": "\udc80"}))])
    assert lines(tmp_path)[0]["data"] == {"text": "\udc80"}


@pytest.mark.req("K8", "G3")
def test_writers_at_once(tmp_path):
    """Several that deliver the same events at once deliver each of them once."""
    batches = [records(*range(start, start + 10)) for start in range(1, 191, 10)]

    def deliver():
        log = JSONLines(tmp_path)
        for batch in batches:
            log.write(batch)

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ids(tmp_path) == [f"a{n}" for n in range(1, 191)]


@pytest.mark.req("G3")
def test_a_folder_where_the_file_should_be(tmp_path):
    """A log that cannot be written is an error that says where."""
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(StorageError, match="Is a directory") as caught:
        JSONLines(tmp_path).write(records(1))
    assert caught.value.where == str(tmp_path / "log.jsonl")


def test_hook():
    """The hook hands over a provider without settings of its own."""
    assert kr_log().settings is Settings
