"""Whether a version lies in a range, in the words of each ecosystem."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.project.version_ranges import allows

RELEASE = st.tuples(*[st.integers(0, 30)] * 3)


def text(release):
    return ".".join(map(str, release))


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("ecosystem", "wanted", "inside", "outside"),
    [
        ("python", ">=2,<3", "2.9 2.0", "3.0 1.9"),
        ("python", "~=2.1", "2.9", "3.0"),
        ("python", "^0.27", "0.27.5", "0.28.0 1.0"),
        ("python", "==2.*", "2.5", "3.0"),
        ("node", "^1.2.3", "1.2.3 1.9.9", "1.2.2 2.0.0"),
        ("node", "^0.2.3", "0.2.9", "0.3.0 1.0.0"),
        ("node", "^0.0.3", "0.0.3", "0.0.4"),
        ("node", "~1.2", "1.2.9", "1.3.0"),
        ("node", "1.x", "1.0.0 1.9.0", "2.0.0"),
        ("node", "1", "1.0.0 1.9.0", "2.0.0"),
        ("node", "1.2.3", "1.2.3", "1.2.4"),
        ("node", ">=1.2 <2 || ^3", "1.9.9 3.1.0", "2.0.0 4.0.0"),
        ("node", "1.2 - 2.3", "1.2.0 2.3.9", "2.4.0 1.1.9"),
        ("node", ">1.2", "1.3.0", "1.2.9"),
        ("node", "<=1.2", "1.2.9", "1.3.0"),
        ("node", "*", "9.9.9", ""),
        ("node", ">= 1.2.3", "1.2.3", "1.2.2"),
        ("rust", "1.2", "1.9.0", "2.0.0 1.1.0"),
        ("rust", "=1.2.3", "1.2.3", "1.2.4"),
        ("rust", ">=1.2, <1.5", "1.4.9", "1.5.0"),
        ("php", "~1.2", "1.9.0", "2.0.0"),
        ("php", "~1.2.3", "1.2.9", "1.3.0"),
        ("php", "^2.9 || ^3.0", "3.1.0 v2.9.1", "4.0.0"),
        ("php", "1.0|2.0.*", "2.0.5", "2.1.0"),
        ("ruby", "~> 2.2", "2.9.0", "3.0.0"),
        ("ruby", "~> 2.2.1", "2.2.9", "2.3.0"),
    ],
)
def test_a_range_lets_in_what_its_own_tool_would(ecosystem, wanted, inside, outside):
    assert [version for version in inside.split() if allows(wanted, version, ecosystem) is not True] == []
    assert [version for version in outside.split() if allows(wanted, version, ecosystem) is not False] == []


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("wanted", "ecosystem"),
    [
        ("latest", "node"),
        ("dev-main", "php"),
        ("[1.0,2.0)", "java"),
        ("garbage here", "python"),
        ("next", "node"),
        ("1.0", "go"),
    ],
)
def test_what_is_no_range_is_not_judged(wanted, ecosystem):
    assert allows(wanted, "1.2.3", ecosystem) is None


@pytest.mark.req("K9")
@given(RELEASE, RELEASE)
def test_a_caret_lets_in_what_keeps_the_first_number_that_is_not_zero(low, version):
    kept = next((i for i, number in enumerate(low) if number), 2) + 1
    expected = version >= low and version[:kept] == low[:kept]
    assert allows(f"^{text(low)}", text(version), "node") is expected


@pytest.mark.req("K9")
@given(RELEASE, RELEASE, RELEASE)
def test_bounds_and_alternatives_are_what_they_are_for_numbers(low, high, version):
    inside = low <= version < high
    between = f">={text(low)} <{text(high)}"
    assert allows(between, text(version), "node") is inside
    assert allows(f"{between} || {text(version)}", text(version), "node") is True
    assert allows(between.replace(" ", ","), text(version), "python") is inside


@pytest.mark.req("K9")
@given(
    st.text() | st.from_regex(r"[\^~=<>!v0-9.x* ,|+-]{0,30}"),
    st.sampled_from(["python", "node", "rust", "php", "ruby"]),
)
def test_any_text_is_read_without_an_error(wanted, ecosystem):
    assert allows(wanted, "1.2.3", ecosystem) in {True, False, None}
