"""Which listed version is read, and what is told of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_plugins.sources.context7.library_versions import RequestedVersion, newest, reading

LISTED = ["v3.1.0", "v3.1.6", "v2.9.4", "v2.2.0", "v4.0.0-beta.1", "next", "v0.27.0", "v0.28.1"]


@pytest.mark.parametrize(
    ("asked", "tag", "version"),
    [
        ("3.1.6", "v3.1.6", "3.1.6"),
        ("3.1.9", "v3.1.6", "3.1.6"),
        ("3.1.3", "v3.1.0", "3.1.0"),
        ("v3.1.0", "v3.1.0", "3.1.0"),
        ("2.9.0", "v2.9.4", "2.9.4"),
        ("~3.1", "v3.1.6", "3.1.6"),
        ("^3", "v3.1.6", "3.1.6"),
        ("3", "v3.1.6", "3.1.6"),
        ("0.27.2", "v0.27.0", "0.27.0"),
        ("4.0.0", "v4.0.0-beta.1", "4.0.0-beta.1"),
        ("4.0.0-beta.1", "v4.0.0-beta.1", "4.0.0-beta.1"),
    ],
)
def test_the_same_minor_version_is_read_without_a_word(asked, tag, version):
    """The highest that is not above the one in use; else the next; of a range the highest."""
    assert reading(LISTED, asked) == RequestedVersion(tag, version)


@pytest.mark.parametrize(("asked", "tag"), [("3.4.2", "v3.1.6"), ("3.0.0", "v3.1.0"), ("2.5.0", "v2.2.0")])
def test_the_same_major_version_is_read_and_told(asked, tag):
    """All that an earlier version has is there in a later one."""
    found = reading(LISTED, asked)
    assert (found.tag, found.version) == (tag, tag.removeprefix("v"))
    assert found.notes == (f"{tag} is the listed version closest to {asked}",)


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("rel_2_0_30", "2.0.30"),
        ("release-2.0", "2.0"),
        ("widget@2.0.1", "2.0.1"),
        ("widget-v2.0.1", "2.0.1"),
        ("__branch__v2", "2"),
        ("2.0.x", "2.0.x"),
        ("v2.0.0.post1", "2.0.0.post1"),
    ],
)
def test_tags_are_read_as_projects_write_them(tag, version):
    """A prefix, underscores, a package's name."""
    assert reading(["main", tag], "2.0.3") == RequestedVersion(tag, version)


def test_a_release_comes_before_what_led_to_it():
    """Where both are as close."""
    assert reading(["v3.2.0-rc.1", "v3.2.0-rc.2", "v3.1.0"], "3.4.0").tag == "v3.1.0"


@pytest.mark.parametrize("asked", ["latest", "", "unknown", "^1 || ^2", "*"])
def test_without_a_version_the_tracked_branch_is_read(asked):
    """There is nothing to compare with, and nothing to tell."""
    assert reading(LISTED, asked) == RequestedVersion()


def test_a_version_that_is_not_listed_is_told():
    """A list that goes on beyond it tells that something newer is read; one that ends before it tells nothing."""
    newer = reading(["v4.2.0", "v4.0.0", "v3.0.0", "main"], "1.4.0")
    assert (newer.tag, newer.version) == ("", "4.2.0")
    assert newer.notes == (
        "no version close to 1.4.0 is listed (v4.2.0, v4.0.0, v3.0.0); the current documentation was read",
    )
    older = reading(["v1.2.0"], "2.0.0")
    assert (older.tag, older.version) == ("", None)
    assert older.notes == (
        "no version close to 2.0.0 is listed (v1.2.0); the current documentation was read",
    )
    assert reading(["main"], "2.0.0").notes == (
        "no versions are listed, so it may be about another one than 2.0.0",
    )


@pytest.mark.req("K9")
def test_the_newest_release_is_told():
    """Not what leads to one, and nothing where nothing is listed."""
    assert newest(LISTED) == "3.1.6"
    assert newest(["main", "v4.0.0-beta.1"]) is None


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=5), st.text(max_size=30))
def test_no_list_is_too_odd(listed, asked):
    """Tags and versions come from outside: whatever they are, something is read."""
    found = reading(listed, asked)
    assert found.tag in {"", *listed}
