"""How far an entry may still be trusted."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from kr_core.knowledge.retention import FreshnessLimits, judge
from kr_core.model import Entry

TODAY = date(2026, 11, 21)
VERSIONS = [
    "2.x", "v2", "2.1.3", "^2.1", ">=2,<3", "2.0.0-rc.1", "2026.11.1", "latest", "~> 2.1", "[1.0,2.0)", "v2.0.0+incompatible",
    "0.4", "^0.4.1", "1!2.0", "^1 || ^2", "", "nonsense", "🎉", "2" * 400, "..", "-1", "\ud800",
]  # fmt: skip


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def entry(idle=0, *, version="1.4", status="fresh", created=0) -> Entry:
    return Entry(
        id="x", framework="f", framework_version=version, topic="t", tags=("t",), path="p.md",
        created=ago(created), last_accessed=ago(idle), status=status,
    )  # fmt: skip


@pytest.mark.req("K5")
@pytest.mark.parametrize(
    ("idle", "state"),
    [(0, "fresh"), (30, "fresh"), (31, "stale"), (60, "stale"), (61, "expired"), (-5, "fresh")],
)
def test_an_entry_is_stale_after_30_days_without_use_and_a_miss_after_60(idle, state):
    assert judge(entry(idle), TODAY, "1.4", TODAY).state == state


@pytest.mark.req("K5")
@pytest.mark.parametrize(("age", "state"), [(180, "fresh"), (181, "stale"), (-10, "fresh")])
def test_a_report_in_daily_use_is_stale_180_days_after_its_research(age, state):
    assert judge(entry(), ago(age), "1.4", TODAY).state == state


@pytest.mark.req("K5")
def test_the_age_limit_can_be_off():
    assert judge(entry(), ago(900), "1.4", TODAY, FreshnessLimits(max_age_days=None)).state == "fresh"


@pytest.mark.req("K5")
def test_a_report_of_unknown_date_is_as_old_as_its_entry():
    assert judge(entry(created=200), None, "1.4", TODAY).reasons == ("researched 200 days ago",)


@pytest.mark.req("K4")
def test_another_major_version_is_stale_and_says_so():
    judged = judge(entry(), TODAY, "2.0", TODAY)
    assert judged == ("stale", ("written for 1.4, you run 2.0 (another major version)",))


@pytest.mark.req("K4")
def test_another_minor_version_is_stale_unless_only_the_major_counts():
    assert judge(entry(), TODAY, "1.10", TODAY).reasons == (
        "written for 1.4, you run 1.10 (another minor version)",
    )
    assert judge(entry(), TODAY, "1.10", TODAY, FreshnessLimits(version_match="major")).state == "fresh"


@pytest.mark.req("K5")
def test_all_reasons_are_told():
    judged = judge(entry(42, status="stale"), ago(200), "2.0", TODAY)
    assert judged.reasons == (
        "marked stale",
        "written for 1.4, you run 2.0 (another major version)",
        "not used for 42 days",
        "researched 200 days ago",
    )


@pytest.mark.req("K5", "K6")
def test_an_archived_entry_is_a_miss():
    assert judge(entry(status="archived"), TODAY, "1.4", TODAY) == ("expired", ("archived",))


@pytest.mark.req("K5")
def test_limits_of_one_day_read_well():
    judged = judge(entry(1), TODAY, "1.4", TODAY, FreshnessLimits(cache_ttl_days=0))
    assert judged.reasons == ("not used for 1 day",)


@pytest.mark.req("K4")
@pytest.mark.parametrize("ours", VERSIONS)
@pytest.mark.parametrize("theirs", VERSIONS)
def test_any_two_version_texts_can_be_judged(ours, theirs):
    """Ranges, calendar versions, names and nonsense: no text is an error, and the gap is the same from both sides."""
    state = judge(entry(version=ours), TODAY, theirs, TODAY).state
    assert state in {"fresh", "stale"}
    assert state == judge(entry(version=theirs), TODAY, ours, TODAY).state
    if ours == theirs:
        assert state == "fresh"


@pytest.mark.req("K4")
@pytest.mark.parametrize("text", ["latest", "", "main", "nonsense", "🎉", "v", "..", "999999999999999999999"])
def test_a_text_that_names_no_version_makes_nothing_stale(text):
    """What is no version cannot be another one."""
    assert judge(entry(version=text), TODAY, "2.0", TODAY).state == "fresh"


@pytest.mark.req("K5")
def test_dates_of_the_future_count_as_today():
    """A clock that ran ahead makes an entry neither stale nor immortal: once its day has come, it ages."""
    ahead = entry(-400, created=-400)
    assert judge(ahead, ago(-400), "1.4", TODAY).state == "fresh"
    later = TODAY + timedelta(days=400 + 61)
    assert judge(ahead, ago(-400), "1.4", later).state == "expired"
