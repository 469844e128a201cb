"""YAML of an unknown author: references that grow without end, nesting without end, values that fit no tag."""

from __future__ import annotations

import itertools
import resource

import pytest
from support.clones import FLAT, kr, make_clone

from kr_core import yaml_text

pytestmark = pytest.mark.req("Z8")
QUESTION = ("research", "what does the timeout of Session mean?", "--framework", "parcel")
_LEVELS = "abcdefghij"


def references(width=9):
    """Ten lines in which each refers to the one before nine times: 10^10 texts where they are written out."""
    lines = ["a: &a [" + ", ".join(["lol"] * width) + "]"]
    lines += [
        f"{name}: &{name} [" + ", ".join([f"*{before}"] * width) + "]"
        for before, name in itertools.pairwise(_LEVELS)
    ]
    return "\n".join(lines) + "\n"


HOSTILE = {
    "references to references": references(),
    "merged mappings": "a: &a {x: 1}\n"
    + "\n".join(
        f"{b}: &{b} {{<<: [{', '.join([f'*{a}'] * 9)}], {b}{a}: 1}}" for a, b in itertools.pairwise(_LEVELS)
    ),
    "a long text, referred to": "a: &a " + "x" * 500_000 + "\nb: [*a, *a, *a]\n",
    "a list that holds itself": "a: &a [*a]\n",
    "a mapping that holds itself": "a: &a {b: {c: *a}}\n",
    "nested by references": "a: &a " + "[" * 60 + "]" * 60 + "\nb: &b " + "[" * 60 + "*a" + "]" * 60 + "\n",
    "nested": "a: " + "[" * 10_000 + "]" * 10_000,
    "nested by indentation": "\n".join(" " * depth + "a:" for depth in range(10_000)),
    "very many values": "a: [" + "[]," * 600_000 + "]",
}
NO_VALUES = {
    "an empty number": 'a: !!int ""',
    "a number in sixties": "a: !!int " + ":".join(["1"] * 200_000),
    "a fraction in sixties": "a: !!float " + ":".join(["1"] * 200_000),
    "a long number": "a: " + "1" * 100_000,
    "no truth": "a: !!bool maybe",
    "no date": "a: !!timestamp tomorrow",
    "an impossible date": "a: !!timestamp 2026-02-31",
    "no key": "? [a]\n: b",
    "a program": "a: !!python/object/apply:os.system [ls]",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_grows_without_end_is_refused(case):
    """It is an error with its line, before anything is composed, and no memory is taken for it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (yaml_text.load, yaml_text.node_lines):
        with pytest.raises(yaml_text.YAMLError) as caught:
            read(HOSTILE[case])
        assert yaml_text.error_line(caught.value)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < FLAT


@pytest.mark.parametrize("case", NO_VALUES)
def test_a_value_that_fits_no_tag_is_an_error(case):
    """What safe YAML has no value for is one of two errors, and takes no time."""
    with pytest.raises((yaml_text.YAMLError, ValueError)):
        yaml_text.load(NO_VALUES[case])


def test_references_that_people_write_are_read():
    text = "base: &base {a: 1, b: [x, y]}\none: {<<: *base, c: 2}\nall: [*base, *base]\n"
    assert yaml_text.load(text)["one"] == {"a": 1, "b": ["x", "y"], "c": 2}
    assert (
        yaml_text.load("a: 2 * b\nc: '*d'\ne: **bold**\n".replace("**bold**", "'**bold**'"))["a"] == "2 * b"
    )


@pytest.fixture
def clone(tmp_path):
    make_clone(tmp_path / "clone")
    return tmp_path / "clone"


_ENTRY = "id: parcel-old\nframework: parcel\nframework_version: 1.4.0\ntopic: old\npath: frameworks/parcel/old.md\ncreated: '2099-01-01'\nlast_accessed: '2099-01-01'\nstatus: fresh\n"


@pytest.mark.parametrize(
    "case", ["references to references", "a list that holds itself", "nested", "very many values"]
)
@pytest.mark.parametrize("name", ["index.yaml", "_archived-index.yaml"])
def test_an_index_that_grows_without_end_is_set_aside_and_rebuilt(clone, name, case):
    """It is a miss with a warning; the next report that is kept sets it aside, and nothing is lost of the reports."""
    base = clone / "knowledge-base"
    (base / "frameworks/parcel").mkdir(parents=True)
    (base / "frameworks/parcel/old.md").write_text(
        "# parcel - old\n\n**Framework:** parcel 1.4.0\n\nOld words.\n"
    )
    key = "entries" if name == "index.yaml" else "archived_entries"
    entry = "".join(f"  {line}\n" for line in _ENTRY.splitlines()).replace("  id", "- id", 1)
    (base / name).write_text(
        f"{key}:\n{entry}\nmore:\n" + "".join(f"  {line}\n" for line in HOSTILE[case].splitlines())
    )
    done = kr(clone, *QUESTION)
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    assert done.memory < FLAT
    if name == "index.yaml":
        assert "index.yaml" in done.err
        assert [file.name for file in base.iterdir() if "corrupt" in file.name]
        assert "parcel-old" in (base / name).read_text()
        assert kr(clone, *QUESTION).code == 0
    else:
        assert "_archived-index.yaml" in kr(clone, "cache", "check").out
        assert kr(clone, "cache", "rebuild").code == 0
    assert (base / "frameworks/parcel/old.md").exists()


@pytest.mark.parametrize(
    "case", ["references to references", "nested", "nested by indentation", "very many values"]
)
@pytest.mark.parametrize("place", ["configuration", "request", "pnpm-lock.yaml"])
def test_other_yaml_that_grows_without_end_is_refused(clone, place, case):
    """A configuration, a request, a lock file: each is an error or a note that names it."""
    text = HOSTILE[case]
    if place == "configuration":
        (clone / "kr.yaml").write_text(text)
        done = kr(clone, *QUESTION)
        assert (done.code, "kr.yaml" in done.err) == (2, True)
    elif place == "request":
        (clone / "asked.yaml").write_text(text)
        done = kr(clone, "research", "--request", "asked.yaml")
        assert (done.code, "asked.yaml" in done.err) == (2, True)
    else:
        below = "".join(f"      {line}\n" for line in text.splitlines())
        (clone / place).write_text(
            f"lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n{below}"
        )
        done = kr(clone, "versions")
        assert (done.code, f"note: {place}" in done.err) == (0, True)
    assert "Traceback" not in done.err
    assert done.memory < FLAT
