"""What counts as signed."""

import pytest
from receiver import SECRET, signed

from kr_core import ConfigError, RequestError
from kr_escalation_webhook.signing import WINDOW_SECONDS, Signer

NOW = 1_770_283_800
BODY = b'{"text": "/kr confirm E7@2", "by": "ann", "id": "m1"}'


def refusal(headers, body=BODY, now=NOW):
    with pytest.raises(RequestError) as raised:
        Signer(SECRET).verify(headers, body, now)
    assert raised.value.outcome == "blocked"
    assert SECRET.removeprefix("whsec_") not in str(raised.value)
    return raised.value.what


def test_it_is_what_the_libraries_of_standard_webhooks_sign():
    """The id, time, body and signature are those that the format's own libraries are tested with."""
    made = Signer(SECRET).headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b'{"test": 2432232314}')
    assert made == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


@pytest.mark.parametrize("seconds", [NOW, NOW - WINDOW_SECONDS, NOW + WINDOW_SECONDS])
def test_a_signed_call_passes(seconds):
    """Signed within five minutes, by clocks that differ; one of several signatures is enough, as while secrets change."""
    made = signed(BODY, seconds)
    Signer(SECRET).verify(made, BODY, NOW)
    Signer(SECRET.removeprefix("whsec_")).verify(made, BODY, NOW + 0.5 if seconds == NOW else NOW)
    several = made | {"webhook-signature": f"v1a,x {made['webhook-signature']} v1,AAAA"}
    Signer(SECRET).verify(several, BODY, NOW)


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-signature": ""},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "v1,ä\udc80"},
        {"webhook-id": "relay_2"},
        {"webhook-timestamp": str(NOW - 1)},
        {"webhook-timestamp": str(NOW + 10 * WINDOW_SECONDS)},
    ],
)
def test_what_was_not_signed_is_refused(change):
    """Another id, another time, no signature, or none that can be read."""
    assert "not signed" in refusal(signed(BODY, NOW) | change)


def test_another_body_or_secret_is_refused():
    """One byte more is enough."""
    assert "not signed" in refusal(signed(BODY, NOW), BODY + b" ")
    other = Signer("QQ" * 20).headers("relay_1", NOW, BODY)
    assert "not signed" in refusal(other)


@pytest.mark.parametrize("seconds", [NOW - WINDOW_SECONDS - 1, NOW + WINDOW_SECONDS + 1])
def test_a_call_of_another_time_is_refused(seconds):
    """Whoever has kept a call cannot make it again later."""
    assert "more than 300 s ago, or ahead" in refusal(signed(BODY, seconds))


@pytest.mark.parametrize("seconds", ["", "now", "1e9", "-5", "٣", "9" * 5000])
def test_a_time_that_is_none_is_refused(seconds):
    """Whatever stands there is no reason to fail."""
    assert "has no `webhook-id` or no `webhook-timestamp`" in refusal(signed(BODY, seconds))


def test_a_call_without_id_is_refused():
    """It is part of what is signed."""
    assert "has no `webhook-id`" in refusal(signed(BODY, NOW, ""))


@pytest.mark.parametrize(
    "secret", ["", "hunter2", "whsec_", "whsec_c2hvcnQ=", "not base64 at all, but long enough to be"]
)
def test_a_secret_that_is_none_is_refused_and_not_shown(secret):
    """Too short to be one, or not Base64: the message says how to make one."""
    with pytest.raises(ConfigError, match="openssl rand -base64 32") as raised:
        Signer(secret)
    assert not secret.removeprefix("whsec_") or secret.removeprefix("whsec_") not in str(raised.value)
    assert raised.value.__context__ is None or secret not in repr(raised.value.__context__)
