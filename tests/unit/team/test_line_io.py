"""Lines off a descriptor and onto one: as they come, within bounds, and nobody waits for a slow reader."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.team import line_io
from kr_core.team.line_io import LineWriter, OverlongLine

pytestmark = pytest.mark.req("T1")


def read(*chunks):
    """What is read of a pipe into which these chunks are written, one after the other."""
    inlet, end = os.pipe()
    woken, wake = os.pipe()

    def write():
        for chunk in chunks:
            os.write(end, chunk)
        os.close(end)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        return list(line_io.lines(inlet, woken))
    finally:
        writing.join()
        for one in (inlet, woken, wake):
            os.close(one)


@given(
    st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"").rstrip(b"\r"))),
    st.integers(1, 9),
)
def test_however_they_are_cut_lines_are_whole(wanted, size):
    text = b"".join(line + b"\r\n"[number % 2 :] for number, line in enumerate(wanted))
    assert read(*(text[at : at + size] for at in range(0, len(text), size))) == wanted


def test_a_last_line_without_an_end_is_a_line():
    assert read(b"one\ntwo") == [b"one", b"two"]


@pytest.mark.req("T2")
def test_a_line_that_is_too_long_is_passed_over_and_not_kept(monkeypatch):
    monkeypatch.setattr(line_io, "MAX_LINE_LENGTH", 10)
    assert read(b"x" * 10 + b"\n", b"y" * 11, b"y" * 50_000 + b"\n", b"z\n", b"w" * 11) == [
        b"x" * 10, OverlongLine(50_011), b"z", OverlongLine(11)
    ]  # fmt: skip


@pytest.mark.req("T2")
def test_a_line_that_does_not_come_in_time_is_said_to_be_waited_for():
    """None stands in its place, also while bytes come that end no line; what came of it is kept."""
    inlet, end = os.pipe()
    woken, wake = os.pipe()
    patience = iter([0.001, 0, 0, None, None])
    found = line_io.lines(inlet, woken, lambda: next(patience))
    try:
        assert next(found) is None
        os.write(end, b"ha")
        assert next(found) is None
        os.write(end, b"l")
        assert next(found) is None
        os.write(end, b"f\n")
        os.close(end)
        assert list(found) == [b"half"]
    finally:
        for one in (inlet, woken, wake):
            os.close(one)


def test_woken_it_ends_though_nothing_comes():
    inlet, end = os.pipe()
    woken, wake = os.pipe()
    os.write(end, b"one\n")
    coming = line_io.lines(inlet, woken)
    assert next(coming) == b"one"
    os.close(wake)
    assert list(coming) == []
    for one in (inlet, end, woken):
        os.close(one)


@pytest.mark.req("T2")
def test_an_outlet_nobody_reads_is_full_until_somebody_does():
    end, descriptor = os.pipe()
    room = threading.Event()
    outlet = LineWriter(descriptor, 200_000, room.set)
    for _ in range(40):
        outlet.put("x" * 9_999)
    assert outlet.full
    assert outlet.waiting >= 20
    outlet.close(0)
    assert outlet.waiting
    with os.fdopen(end, "rb") as reader:
        assert [len(reader.readline()) for _ in range(40)] == [10_000] * 40
    assert room.wait(30)
    outlet.close(30)
    assert not outlet.full
    assert outlet.waiting == 0
    os.close(descriptor)


def test_an_outlet_whose_reader_has_gone_keeps_nothing():
    end, descriptor = os.pipe()
    gone = threading.Event()
    outlet = LineWriter(descriptor, 100, gone.set)
    os.close(end)
    outlet.put("one")
    assert gone.wait(30)
    outlet.put("x" * 1_000)
    assert (outlet.gone, outlet.full, outlet.waiting) == (True, False, 0)
    outlet.close(30)
    os.close(descriptor)
