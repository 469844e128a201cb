"""Lock files in TOML: what KR reads of them itself is what tomllib would have read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kr_core.project.lockfiles import UnreadableError
from kr_core.project.lockfiles.parser import parse_packages, parse_toml

LOCKS = Path(__file__).parent / "locks"
FILES = {"uv/uv.lock": True, "cargo/Cargo.lock": True, "poetry/poetry.lock": False, "pdm/pdm.lock": False}
"""Whether the file names members of a workspace."""
TEXTS = {name: (LOCKS / name).read_text() for name in FILES}
TOLD = ("name", "version", "resolution-markers", "category", "groups", "markers", "marker")


def told(data, *, members):
    """What readers look at: all of what is no package, some keys of packages, and the whole of a member."""
    packages = data.get("package", [])
    if isinstance(packages, list):
        keys = (*TOLD, "source", "dependencies") if members else TOLD
        packages = sorted(str({key: each.get(key) for key in keys}) for each in map(no_source, packages))
    return packages, {key: value for key, value in data.items() if key != "package"}


def no_source(package):
    """A package that comes from elsewhere, without its dependencies."""
    source = package.get("source")
    elsewhere = isinstance(source, str) or (source and source.keys() & {"registry", "git", "url"})
    return {key: value for key, value in package.items() if key != "dependencies"} if elsewhere else package


def outcome(read, text, *, members):
    try:
        return told(read(text), members=members)
    except UnreadableError as error:
        return str(error), error.line


@pytest.mark.req("K9")
@pytest.mark.parametrize("name", FILES)
def test_what_tools_wrote_is_read_as_tomllib_reads_it(name):
    """Every package of the samples, and the keys beside the list."""
    text, members = TEXTS[name], FILES[name]
    read = parse_packages(text, members=members)
    assert told(read, members=members) == told(parse_toml(text), members=members)


@pytest.mark.req("K9")
@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(sorted(FILES)),
    at=st.floats(0, 1, exclude_max=True),
    cut=st.integers(0, 60),
    put=st.sampled_from(["", '"', "{", "]", "\n", "\\", "#", "'''", '"""', "a = 1\n", "name = 'x'\n", 'name = "x"\n'])
    | st.sampled_from(["[[package]]\n", "[package]\n", "[package.markers]\n", "package = 1\n", "\r\n", "\t", "é"]),
)  # fmt: skip
def test_what_was_spoilt_is_read_or_refused_as_tomllib_does(name, at, cut, put):
    """A file that lacks a few characters, or has some more, is read or refused, with the same line.

    Only a key that nobody reads may stand twice in a package, where tomllib refuses the whole file.
    """
    text, members = TEXTS[name], FILES[name]
    place = int(at * len(text))
    spoilt = text[:place] + put + text[place + cut :]
    ours = outcome(lambda text: parse_packages(text, members=members), spoilt, members=members)
    reference = outcome(parse_toml, spoilt, members=members)
    if isinstance(reference[0], str) and any(said in reference[0] for said in ("twice", "overwrite")):
        return
    assert ours == reference


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ('name = "b"\n', "overwrite"),
        ('version = "3"\n', "overwrite"),
        ('[package.extras]\nx = ["y"]\nname = "b"\nversion = "1"\n[package.extras]\nz = []\n', "twice"),
    ],
    ids=["name", "version", "line between packages"],
)
def test_a_package_that_is_told_twice_is_refused(spoilt, said):
    """As after a bad merge: no package is passed over in silence."""
    text = f'[[package]]\nname = "a"\nversion = "1"\n{spoilt}[[package]]\nname = "c"\nversion = "2"\n'
    with pytest.raises(UnreadableError, match=said):
        parse_packages(text, members=False)


@pytest.mark.req("K9")
def test_markers_in_a_table_of_their_own_are_read():
    """Poetry writes markers of several groups so."""
    text = (
        '[[package]]\nname = "a"\nversion = "1"\ngroups = ["main", "dev"]\n\n[package.markers]\nmain = "x"\n'
    )
    assert parse_packages(text, members=False)["package"][0]["markers"] == {"main": "x"}


@pytest.mark.req("K9")
def test_what_only_looks_like_a_package_is_none():
    """It stands in a text of several lines."""
    text = '[[package]]\nname = "a"\nversion = "1"\ndescription = """\n[[package]]\nname = "b"\nversion = "2"\n"""\n'
    assert [each["name"] for each in parse_packages(text, members=False)["package"]] == ["a"]
