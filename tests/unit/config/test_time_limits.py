"""How long a human may take: what a configuration may say of it, and what holds for a topic."""

import datetime as dt

import pytest
from pydantic import ValidationError

from kr_core import ConfigError
from kr_core.config import load
from kr_core.model.time_limits import TimeLimits, duration_text

pytestmark = pytest.mark.req("H6")


def configured(folder, text):
    (folder / "kr.yaml").write_text(text)
    return load(folder, environ={})


def test_defaults(tmp_path):
    """Without a word of it there is no time limit, reminders come daily, and nothing is answered by silence."""
    limits = configured(tmp_path, "{}").settings.escalation
    assert (limits.timeout, limits.remind_every, limits.on_timeout) == (None, dt.timedelta(days=1), "block")
    assert limits.tiers == ()


@pytest.mark.parametrize(
    ("written", "seconds"), [("30s", 30), ("30m", 1800), ("24h", 86400), ("7d", 604800), (" 2 H ", 7200)]
)
def test_durations(written, seconds):
    """A number with its unit."""
    assert TimeLimits(timeout=written).timeout.total_seconds() == seconds


@pytest.mark.parametrize(
    "written", ["24", 24, "0m", "-1h", "1h30m", "h", "1.5h", "36501d", "999999999d", "1w", True, [], "٣h"]
)
def test_what_is_no_duration(written):
    """Nothing is guessed: a bare number is neither seconds nor hours."""
    with pytest.raises(ValidationError, match="must be a duration"):
        TimeLimits(timeout=written)


@pytest.mark.parametrize("written", ["off", "no", "none", False])
def test_never(written):
    """Reminders and time limits can be turned off."""
    limits = TimeLimits(timeout=written, remind_every=written)
    assert (limits.timeout, limits.remind_every) == (None, None)


@pytest.mark.parametrize("text", ["30s", "90m", "24h", "25h", "7d", "36h"])
def test_a_duration_is_written_as_it_was_read(text):
    """What messages say is what a configuration may have."""
    assert duration_text(TimeLimits(timeout=text).timeout) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("escalation:\n  timeout: 24\n", ("kr.yaml:2", "`escalation.timeout` is 24", "such as 30m")),
        ("escalation:\n  on_timeout: accept\n", ("kr.yaml:2", "'block' or 'use_answer'")),
        ("escalation:\n  timout: 3h\n", ("kr.yaml:2", "`escalation.timout`", "did you mean `timeout`?")),
        (
            "escalation:\n  tiers:\n    - ask: [ann]\n",
            ("kr.yaml:3", "`escalation.tiers[0].after` is missing"),
        ),
        (
            "escalation:\n  tiers:\n    - after: 4h\n      escalations: [githup]\n",
            ("kr.yaml:4", "`githup`, which is not in `escalations`"),
        ),
        (
            "routing:\n  rules:\n    - topic: a\n      escalation:\n        tiers: [{after: 1h, escalations: [web]}]\n",
            ("kr.yaml:5", "`routing.rules[0].escalation.tiers[0].escalations[0]`"),
        ),
        ("routing:\n  rules:\n    - topic: a\n      escalation:\n", ("kr.yaml:3", "says nothing")),
        (
            "routing:\n  rules:\n    - {topic: '*', escalation: {timeout: 1h}}\n    - {topic: a, escalation: {timeout: 2h}}\n",
            ("kr.yaml:4", "can never apply"),
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, words):
    """File, line, key and what would be right."""
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, text)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_rule_wins_in_what_it_says(tmp_path):
    """The first rule of a topic that has `escalation` holds, and what it leaves out is as for all."""
    config = configured(
        tmp_path,
        "escalation: {timeout: 24h, remind_every: 2h}\n"
        "routing:\n  rules:\n    - {topic: security/*, escalation: {timeout: off, on_timeout: use_answer}}\n"
        "    - {topic: '*', agent: duc}\n",
    )
    whole = config.settings.escalation
    limits = whole.overridden(config.routing.limits("Security/TLS"))
    assert (limits.timeout, limits.on_timeout, limits.remind_every) == (
        None, "use_answer", dt.timedelta(hours=2),
    )  # fmt: skip
    assert whole.overridden(config.routing.limits("billing")) == whole
