"""A tool of an MCP server as a source: its settings, its arguments, and what its answers mean."""

from __future__ import annotations

import json
import re

import pytest
from pydantic import ValidationError

from kr_core.config.trust_policy import AddressPolicy, sensitive_in
from kr_core.plugin import Outcome, ResearchQuery, ToolResult
from kr_core.testing.surroundings import setup_for
from kr_plugins.sources.mcp import Tool, ToolSettings, filled, texts_of, told
from kr_plugins.sources.sections import LONGEST_NAME, MOST_SECTIONS

QUERY = ResearchQuery(
    framework="parcel", framework_version="1.4.0", topic="timeouts", tags=("wait", "carrier"),
    question="Is {version} in {0} or {tags!r}?",
)  # fmt: skip
URL = "https://mcp.example/"


def answer(text="", structured=None, *, is_error=False, patterns=(), question="How do I set the timeout?"):
    compiled = [re.compile(pattern) for pattern in patterns]
    return told(ToolResult(text, structured, is_error), question, compiled, "ask", URL)


# -- settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tool": "ask"}, "say either `command` or `url`"),
        ({"tool": "ask", "command": ["a"], "url": URL}, "say either `command` or `url`"),
        ({"url": URL}, "tool"),
        ({"tool": "ask", "url": "mcp.example"}, "give the address of a server"),
        ({"tool": "ask", "url": URL, "failure_patterns": ["("]}, "'(' is not a regular expression"),
        ({"tool": "ask", "url": URL, "failure_patterns": ["a{99999999999}"]}, "is not a regular expression"),
        ({"tool": "ask", "url": URL, "failure_patterns": ["a"] * 51}, "are more than 50"),
        ({"tool": "ask", "url": URL, "failure_patterns": ["a" * 501]}, "is longer than 500 characters"),
        ({"tool": "ask", "failure_patterns": [r"(?i)[\0-\uffff]" * 20_000]}, "say either `command` or `url`"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, said):
    """Each with what to write."""
    with pytest.raises(ValidationError, match=re.escape(said)):
        ToolSettings.model_validate(settings)


@pytest.mark.req("Z8")
def test_what_it_runs_and_where_it_sends_secrets_is_seen_by_its_names():
    """`kr trust` asks for a program, its environment, and an address, also on this machine."""
    policy = AddressPolicy(calls_are_chosen=ToolSettings.calls_are_chosen)

    def sensitive(settings):
        return [found.does for found in sensitive_in(settings, ("plugins", "docs"), policy)]

    program = {"use": "mcp", "command": ["npx", "server"], "environment": {"KEY": {"env": "KEY"}}}
    told = {found.key[-1]: found.does for found in sensitive_in(program, ("plugins", "docs"))}
    assert told["command"] == "runs `npx server`"
    assert "environment" in told
    address = {"use": "mcp", "url": URL, "tool": "ask", "headers": {"Authorization": {"env": "KEY"}}}
    assert sensitive(address) == [f"sends KEY to `{URL}`"]
    address.pop("headers")
    for url in (URL, "http://localhost:8000/mcp"):
        assert sensitive(address | {"url": url}) == [f"sends calls of this file's choice to `{url}`"]


def test_a_citation_has_no_secret_of_the_address(tmp_path):
    """A program's answers are cited by the source's name and the tool's."""
    by_url = ToolSettings(tool="ask", url="https://ann:pw@mcp.example/mcp?key=hush")
    assert Tool(by_url, setup_for(tmp_path, "docs"))._url == "https://mcp.example/mcp"
    by_program = ToolSettings(tool="ask", command=("server", "--key", "hush"))
    assert Tool(by_program, setup_for(tmp_path, "docs"))._url == "mcp:docs/ask"


# -- arguments -------------------------------------------------------------------------------------------


@pytest.mark.req("Z4")
def test_the_question_stands_where_a_place_is_kept_for_it():
    """In nested values too; what comes from the question is data, and other braces stay as they are."""
    template = {
        "query": "{question}",
        "library": "{framework}@{version}",
        "filter": {"any": ["{topic}", "{tags}", 7, None], "{topic}": True},
        "format": "{json} {{question}} {}",
    }
    assert filled(template, QUERY) == {
        "query": "Is {version} in {0} or {tags!r}?",
        "library": "parcel@1.4.0",
        "filter": {"any": ["timeouts", "wait, carrier", 7, None], "{topic}": True},
        "format": "{json} {Is {version} in {0} or {tags!r}?} {}",
    }


# -- answers ---------------------------------------------------------------------------------------------


def test_a_text_is_an_answer_of_low_standing():
    """Not official, and one place."""
    finding = answer("Pass `timeout` to set the timeout.\n\n```python\nsend(timeout=2)\n```\n")
    assert finding.outcome is Outcome.ok
    (passage,) = finding.passages
    assert (passage.official, passage.agreement, passage.url, finding.url) == (False, 1, URL, URL)
    assert passage.code == ("send(timeout=2)",)


@pytest.mark.req("R9")
@pytest.mark.parametrize(
    ("finding", "outcome", "reason"),
    [
        (answer("1 validation error for ask", is_error=True), Outcome.unavailable, "1 validation error for ask"),
        (answer("", is_error=True), Outcome.unavailable, "it said nothing"),
        (answer("Monthly quota exceeded."), Outcome.limited, "Monthly quota exceeded."),
        (answer("E17: the timeout service is asleep", patterns=["E[0-9]+:"]), Outcome.unavailable, "E17"),
        (answer("No results."), Outcome.empty, "No results."),
        (answer(""), Outcome.empty, "it said nothing"),
        (answer("{}"), Outcome.ok, ""),
        (answer(json.dumps({"error": "Too many requests, come back later"})), Outcome.limited, "Too many requests"),
        (answer("", {"answer": "No documentation found for it."}), Outcome.empty, "No documentation found"),
    ],
)  # fmt: skip
def test_a_failure_is_told_from_an_answer(finding, outcome, reason):
    """By what the server says, by the configured patterns, and by how services refuse."""
    assert finding.outcome is outcome
    assert reason in finding.reason
    assert bool(finding.passages) is (outcome is Outcome.ok)


def test_texts_of_structured_content_are_read():
    """Each called by its title or its place; a text block that gives the same again counts once."""
    structured = {
        "results": [
            {"title": "Timeouts", "body": "Pass timeout to send a parcel.", "state": "done", "rank": 1},
            {"body": "A parcel waits five seconds by default."},
        ]
    }
    expected = [
        ("Timeouts", "Pass timeout to send a parcel."),
        ("ask.results[1].body", "A parcel waits five seconds by default."),
    ]
    for text in ("", json.dumps(structured), json.dumps(structured["results"]).join(["", ""])):
        found = [(one.name, one.text) for one in texts_of(ToolResult(text, structured, False), "ask")]
        assert [said for _name, said in found] == [said for _name, said in expected]
    assert [(one.name, one.text) for one in texts_of(ToolResult("", structured, False), "ask")] == expected


def test_structured_content_that_the_text_holds_is_not_told_twice():
    """As FastMCP and the SDK wrap a tool's text."""
    text = "Pass `timeout` to set the timeout.\nIt is in seconds."
    assert [one.text for one in texts_of(ToolResult(text, {"result": text}, False), "ask")] == [text]
    more = {"result": text, "hint": "Ask the carrier about insurance first."}
    found = [one.text for one in texts_of(ToolResult(text, more, False), "ask")]
    assert found == [text, more["hint"]]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ', "{not json} but an answer about the timeout"])
def test_what_only_looks_like_json_is_a_text(text):
    """However deep it is nested."""
    assert [one.text for one in texts_of(ToolResult(text, None, False), "ask")] == [text]


def test_structured_content_without_end_is_read_to_a_depth():
    """And no further."""
    deep = "a text that is far too deep"
    for _ in range(2000):
        deep = [deep]
    assert texts_of(ToolResult("", deep, False), "ask") == []
    assert answer("", deep).outcome is Outcome.empty


@pytest.mark.req("Z8")
@pytest.mark.parametrize("key", ["title", "x" * 400_000])
def test_long_titles_and_keys_over_many_texts_cost_little(key):
    """Each text has the title or the keys above it in its name: 0.6 MB took gigabytes."""
    data = {key: {key: "a crane lifts", "texts": ["a crane lifts a crate"] * 20_000}}
    data[key]["title"] = "a long title " * 30_000
    for result in (ToolResult(json.dumps(data), None, False), ToolResult("", data, False)):
        found = texts_of(result, "ask")
        assert 0 < len(found) <= MOST_SECTIONS + 1
        assert max(len(one.name) for one in found) <= LONGEST_NAME
