"""Failures that are dressed as an answer are told from answers."""

from __future__ import annotations

import pytest

from kr_core import Outcome
from kr_core.evidence.soft_errors import refusal

pytestmark = pytest.mark.req("R9", "R20")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Monthly quota exceeded. Create an API key to go on.", Outcome.limited),
        ("Rate limit reached, try again in a minute.", Outcome.limited),
        ("429 Too Many Requests", Outcome.limited),
        ("Upgrade your plan to continue.", Outcome.limited),
        ("Unauthorized: log in first", Outcome.blocked),
        ("Invalid API key.", Outcome.blocked),
        ("Error: the API key is missing", Outcome.blocked),
        ("The request timed out.", Outcome.timeout),
        ("This library is still being indexed. Come back later.", Outcome.pending),
        ("Documentation not found or not finalized for this library.", Outcome.empty),
        ("No results found for 'parcel'.", Outcome.empty),
        ("No documentation available.", Outcome.empty),
        ("0 matches", Outcome.empty),
        ("Nothing was found.", Outcome.empty),
        ("Error: page not found.", Outcome.empty),
        ("Sorry, I couldn't find anything about swallows.", Outcome.empty),
        ("The provided code snippets do not contain information about swallows.", Outcome.empty),
        ("There is no mention of swallows in this repository.", Outcome.empty),
        ("", Outcome.empty),
        (" \n", Outcome.empty),
    ],
)
def test_what_says_that_there_is_no_answer_is_none(text, outcome):
    """Each has the outcome that it means."""
    assert refusal(text, "How fast is a swallow?") is outcome


@pytest.mark.parametrize(
    "text",
    [
        "Pass `timeout=None` to `send` to wait for ever.",
        "Use `limits` to set a rate limit for all requests.",
        "`send` raises TimeoutError where the carrier is not found.",
        "The queue is a table.\n\nA quota exceeded there is an error.",
        "No result is kept: the function returns None.",
        "A parcel could not be found" + " and the carrier says why" * 40,
        "Too many requests lead to a delay. " + "The carrier waits longer each time. " * 30,
    ],
)
def test_an_answer_is_none_of_them(text):
    """Code, length and where something is said tell them apart."""
    assert refusal(text, "How do I send a parcel?") is None


def test_what_was_asked_about_is_no_failure():
    """An answer about rate limits speaks of them."""
    said = "The rate limit of the carrier is ten parcels a second."
    assert refusal(said, "What is the rate limit of the carrier?") is None
    assert refusal(said, "How do I send a parcel?") is Outcome.limited


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Error executing tool ask: 1 validation error", Outcome.unavailable),
        ("Repository not found", Outcome.unavailable),
        ("", Outcome.unavailable),
        ("HTTP 429 from upstream " + "x" * 1000, Outcome.limited),
        ("the token is invalid", Outcome.blocked),
        ("upstream timed out", Outcome.timeout),
    ],
)
def test_what_a_server_calls_a_failure_is_one_in_any_case(text, outcome):
    """That something was not found may be a wrong setting, so it is not remembered as `nothing found`."""
    assert refusal(text, "anything", is_error=True) is outcome
