"""Versions read loosely, and the gap between two of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.project.version_gaps import Loose, gap, parse


@pytest.mark.req("K4")
@pytest.mark.parametrize(
    ("text", "major", "minor"),
    [
        ("2.x", 2, None),
        ("v2", 2, None),
        ("2.1.3", 2, 1),
        ("2.10", 2, 10),
        ("^2.1", 2, None),
        ("~=2.1", 2, None),
        ("~=2.1.0", 2, 1),
        ("~2.1", 2, 1),
        ("~> 2.1.0", 2, 1),
        (">=2,<3", 2, None),
        (">=2.1,<3", 2, None),
        ("<3,>=2.1", 2, None),
        (">=2.1,<2.2", 2, 1),
        (">= 2.1", 2, None),
        ("2.1 - 2.5", 2, None),
        ("==2.1.*", 2, 1),
        ("17+", 17, None),
        ("2.0.0-rc.1", 2, 0),
        ("2.0rc1", 2, 0),
        ("5.3.0.RELEASE", 5, 3),
        ("2.1.0+cu118", 2, 1),
        ("2024.1", 2024, 1),
        ("Python 3.11", 3, 11),
        ("V2.1", 2, 1),
        ("2", 2, None),
        ("=1.2.3", 1, 2),
        ("2.1 || 2.1.5", 2, 1),
        ("2.1|2.2", 2, None),
        (">=1.2 <1.3", 1, 2),
        ("1.2 - 1.2.9", 1, 2),
        ("~2.x", 2, None),
        ("2.1@beta", 2, 1),
        ("v2.0.0+incompatible", 2, 0),
        ("v3.1.0-0.20211004125949-5bd84dd9b33b", 3, 1),
        ("~> 2.2", 2, None),
        ("~> 2.2.1", 2, 2),
        ("33.2.0-jre", 33, 2),
        ("1.0-SNAPSHOT", 1, 0),
        ("2.0.0.Final", 2, 0),
        ("[1.0,2.0)", 1, None),
        ("[2.1,2.2)", 2, 1),
        ("]2.1,2.2[", 2, 1),
        ("[1.5]", 1, 5),
        ("[2.1,)", 2, None),
        ("(>=2.1,<3)", 2, None),
        ("1.+", 1, None),
        ("2.1.+", 2, 1),
        ("20240101", 20240101, None),
        ("2024-05-01", 2024, None),
        ("24.04 LTS", 24, 4),
    ],
)
def test_a_version_names_its_numbers_as_far_as_they_are_certain(text, major, minor):
    assert parse(text) == Loose((0, major), minor)


@pytest.mark.req("K4")
@pytest.mark.parametrize(
    ("text", "major"),
    [
        ("0.28.1", (0, 0, 28)),
        ("^0.28.1", (0, 0, 28)),
        ("~0.28", (0, 0, 28)),
        (">=0.27,<0.28", (0, 0, 27)),
        (">=0.27", (0, 0)),
        ("[0.27,0.28)", (0, 0, 27)),
        ("v0.3.8-0.20211004125949-5bd84dd9b33b", (0, 0, 3)),
        ("~> 0.3.1", (0, 0, 3)),
        ("0.1.x", (0, 0, 1)),
        ("0.x", (0, 0)),
        ("1!2.0", (1, 2)),
    ],
)
def test_the_minor_number_counts_as_the_major_of_0_y_and_an_epoch_belongs_to_it(text, major):
    assert parse(text).major == major


@pytest.mark.req("K4")
@pytest.mark.parametrize(
    "text",
    [
        "latest",
        "stable",
        "*",
        "x",
        "",
        "garbage",
        "7f3a9c2",
        "<3",
        "!=2.0",
        "^1 || ^2",
        "🎉",
        "latest.release",
        "dev-main",
        "^2.9 || ^3.0",
        "1|2",
        "(,1.0]",
        "[1,2),[2,3)",
        "next",
        "7" * 40,
        "[" * 5000,
    ],
)
def test_what_names_no_version_is_unknown(text):
    assert parse(text) == Loose(None, None)
    assert gap(text, "2.0") is None
    assert gap("2.0", text) is None


@pytest.mark.req("K4")
@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("1.4", "2.0", "major"),
        ("2.1", "2.10", "minor"),
        ("2.1.0", "2.1.9", None),
        ("2.x", "2.7", None),
        ("^2.1", "2.9", None),
        (">=2,<3", "2.9", None),
        (">=2,<3", "3.0", "major"),
        ("~2.1", "2.2", "minor"),
        ("0.27.0", "0.28.1", "major"),
        ("0.28.0", "0.28.1", None),
        ("0.x", "0.28", None),
        ("0.9", "1.0", "major"),
        ("2024.1", "2024.2", "minor"),
        ("2.0.0-rc.1", "2.0.0", None),
        ("1!2.0", "2.0", "major"),
    ],
)
def test_the_gap_is_the_first_number_that_differs(ours, theirs, expected):
    assert gap(ours, theirs) == gap(theirs, ours) == expected


@pytest.mark.req("K4")
@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [("0.27", "0.28", None), ("2.1", "2.10", None), ("0.9", "1.0", "major"), ("1.4", "2.0", "major")],
)
def test_the_mode_major_compares_major_numbers_alone(ours, theirs, expected):
    assert gap(ours, theirs, mode="major") == expected


@pytest.mark.req("K4")
@given(st.text() | st.from_regex(r"[\^~=<>!v0-9.x* ,|+-]{0,20}"))
def test_any_text_is_read_without_an_error_and_has_no_gap_to_itself(text):
    parse(text)
    assert gap(text, text) is None


@pytest.mark.req("K9")
def test_the_metadata_of_a_distribution_is_believed_before_the_name_of_its_folder(
    tmp_path, project, make_environment, install
):
    """As pip and importlib.metadata have it; what differs is told."""
    site = make_environment(tmp_path / ".venv")
    (install(site, "box", "1.0") / "METADATA").write_text("Name: box\nVersion: 2.0\n\nVersion: 3.0\n")
    (install(site, "evil", "9.9") / "METADATA").write_text("Name: other\nVersion: 9.9\n")
    (install(site, "bare", "1.5") / "METADATA").unlink()
    opened = project()
    assert opened.version_of("box") == ("2.0", ".venv")
    assert opened.version_of("evil") is None
    assert opened.version_of("bare") == ("1.5", ".venv")
    assert {name: version for name, version, _where in opened.versions()} == {"bare": "1.5", "box": "2.0"}
    assert len([note for note in opened.warnings if "by its METADATA" in note]) == 2


@pytest.mark.req("Z8")
def test_half_of_a_character_in_a_version_is_not_a_version(tmp_path, project):
    """No text of UTF-8 can show it: an installed package is passed over, a lock file is left out with its line."""
    (tmp_path / "node_modules/a").mkdir(parents=True)
    (tmp_path / "node_modules/a/package.json").write_text('{"name": "a", "version": "1.0.\\ud800"}')
    (tmp_path / "package-lock.json").write_text(
        '{"packages": {\n"node_modules/b": {"version": "1.\\ud800"}}}'
    )
    opened = project()
    assert opened.versions() == []
    assert opened.version_of("a") is None
    assert [note for note in opened.warnings if note.startswith("package-lock.json:2: half of a character")]
