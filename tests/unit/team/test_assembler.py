"""Messages of several lines: joined as they come, bounded, and each refused once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.model import Fault
from kr_core.team import assembler as module
from kr_core.team.assembler import MAX_SECONDS, MessageAssembler
from kr_core.team.messages import RESEARCH_REQUEST, ROSTER, TeamMessage

pytestmark = pytest.mark.req("T1", "T2")

SEED = """\
RESEARCH_REQUEST: {
  "story_key": "3-1",
  "requesting_agent": "dev-runner-3-1",
  "queries": [
    {
      "query": "How to configure virtual scrolling with dynamic row heights?",
      "tags": ["virtual-scroll", "a } \\" ] brace"],

      "done": true,
      "priority": null
    }
  ]
}
"""
ROSTER_SEED = """\
{
  "msg_type": "AGENT_ROSTER_BROADCAST",
  "session_id": "sprint-xxx",
  "roster": {
    "residents": ["knowledge-researcher"]
  }
}
"""


def taken(text, assembler=None):
    """What comes of lines, and of their end."""
    assembler = assembler or MessageAssembler()
    found = [one for line in text.splitlines() for one in assembler.take(line)]
    return [*found, *assembler.end()]


def names(found):
    return [one.name if isinstance(one, TeamMessage) else "fault" for one in found]


def test_a_request_over_several_lines_is_one_message():
    """The request and the roster as the agent's own pages print them are one message each."""
    request, roster, status = taken(f"{SEED}\n{ROSTER_SEED}status_request\n")
    assert (request.name, roster.name, status.name) == (RESEARCH_REQUEST, ROSTER, "status_request")
    assert request.body == json.loads(SEED.partition(":")[2])
    assert roster.body == {"session_id": "sprint-xxx", "roster": {"residents": ["knowledge-researcher"]}}


def test_the_json_may_begin_in_the_next_line_and_have_no_indentation():
    flat = "\n".join(line.strip() for line in SEED.splitlines())
    for text in (flat, flat.replace(": {", ":\n{", 1)):
        (request,) = taken(text)
        assert request.body == json.loads(SEED.partition(":")[2])


@pytest.mark.parametrize(
    "begins",
    [
        'RESEARCH_REQUEST: {"queries": []}',
        "  status_request",
        "shutdown_request: now",
        '{"msg_type": "status_request"}',
        "{",
    ],
)
def test_a_line_that_begins_a_new_message_ends_an_unfinished_one(begins):
    """The unfinished one gets its error, then the new one is read."""
    for cut in (2, 3, 9):
        unfinished = "\n".join(SEED.splitlines()[:cut])
        if begins == "{" and unfinished[-1] in "[,:":
            continue  # it may go on so
        found = taken(f"{unfinished}\n{begins}\n")
        assert names(found)[0] == "fault"
        assert f"is not complete after {cut} lines: a new message begins" in found[0].message
        assert len(found) == 2


def test_a_broken_message_of_several_lines_gets_one_error():
    """What is left of a message that was refused gets no error of its own; the next message is read."""
    for broken in (
        SEED.replace('"3-1"', '"3-1'),
        SEED.replace("RESEARCH_REQUEST", "SEARCH_REQUEST"),
        SEED.replace('"3-1"', "NaN"),
        SEED.replace("true", "yes").replace("      yes", "      1 yes"),
        SEED.replace(": {", ":", 1),
        SEED.replace(": {", "\n{", 1),
        SEED.replace("REQUEST:", "REQUEST =", 1),
        SEED.replace("RESEARCH", "@kr RESEARCH"),
        SEED.replace("    }\n", "    }}\n"),
        SEED.replace("with dynamic", "with\ndynamic"),
        SEED.replace('"story_key"', "story_key").replace('"queries"', "queries"),
        'RESEARCH_REQUEST:\n  story_key: "3-1"\n  queries:\n    - query: How?\n      framework: vue\n',
        'RESEARCH_REQUEST:\nstory_key: "3-1"\nqueries:\n- query: How?\n  framework: vue\n',
    ):
        found = taken(f"{broken}status_request\n")
        assert names(found) == ["fault", "status_request"], broken


def test_each_broken_message_gets_its_error():
    """What can begin a message gets an error of its own, also behind one that was refused."""
    one_each = [
        "hello",
        "hello: {}",
        '{"a": 1}',
        '{"a": 1}',
        "SEARCH_REQUEST: {",
        "}",
        "RESEARCH_REQUEST: [1]",
    ]
    assert names(taken("\n".join(one_each))) == ["fault"] * 6


@pytest.mark.parametrize(
    "broken",
    [
        "RESEARCH_REQUEST:\nstory_key: 3-1\nqueries: [\n{query: How?}\n]\ntags: {a: b}\n",
        "RESEARCH_REQUEST: {\nstory_key: 3-1,\nqueries: [\n{query: How?},\n],\n}\n",
        "RESEARCH_REQUEST\nstory_key: 3-1\n\nqueries:\n- query: How?\ntags: [a]\n",
        "RESEARCH_REQUEST:\nqueries: [a, b]\ntags: {a\n",
        'RESEARCH_REQUEST: {"queries": []} thanks\nand please be quick: it is urgent\n',
    ],
)
def test_keys_of_a_broken_message_are_no_messages(broken):
    """Keys without quotes at the beginning of a line, with a bracket behind them, are what is left of it."""
    for after in ("status_request", SEED.strip(), "SEARCH_REQUEST: {}"):
        assert len(taken(f"{broken}{after}\n")) == 2


def test_a_text_gets_one_error_and_loses_no_message():
    """What an agent writes to people, of any lines, gets one error; each message before, in and after it is read."""
    text = "Thanks a lot!\nPlease hurry: we wait.\n\n- for this\n- and that\n"
    assert names(taken(f"{SEED}{text}{SEED}{text}status_request\n")) == [
        RESEARCH_REQUEST, "fault", RESEARCH_REQUEST, "fault", "status_request",
    ]  # fmt: skip
    assert names(taken(f"{text}RESEARCH_REQUEST = {{}}\n{text}shutdown_request\n")) == [
        "fault", "fault", "shutdown_request",
    ]  # fmt: skip


def test_a_message_that_is_a_name_counts_also_in_a_text():
    """It could be meant, and must not be lost; the rest of the text has no second error."""
    broken = 'RESEARCH_REQUEST: {\n"queries": ["first\nshutdown_request\nlast"]\n}\n'
    assert names(taken(f"{broken}{SEED}")) == ["fault", "shutdown_request", RESEARCH_REQUEST]


def test_after_a_pause_a_line_is_no_rest():
    """What comes long after a message that was refused gets an error of its own."""
    now = [0.0]
    assembler = MessageAssembler(lambda: now[0])
    assert names(taken("RESEARCH_REQUEST:\nstory_key: 3-1\nHello.\n", assembler)) == ["fault"]
    now[0] += MAX_SECONDS + 1
    assert names(taken("Are you there?\nHello?\n", assembler)) == ["fault"]


def test_a_fence_around_a_message_is_passed_over():
    """A model that sends its request as a code block has sent a request."""
    for text in (f"```json\n{SEED}```\n", SEED.replace(": {", ":\n```json\n{", 1) + "```\n"):
        assert names(taken(text)) == [RESEARCH_REQUEST]


def test_the_end_of_the_input_ends_an_unfinished_message():
    (fault,) = taken("RESEARCH_REQUEST: {")
    assert "is not complete after 1 line: the input ends" in fault.message


def test_a_sender_that_never_ends_is_refused_once_and_not_kept(monkeypatch):
    """Lines, size and depth of a message are bounded; what comes after the bound is passed over."""
    monkeypatch.setattr(module, "MAX_LINES", 50)
    endless = ["RESEARCH_REQUEST: {", *['"a": 1,'] * 1000]
    assembler = MessageAssembler()
    assert names(taken("\n".join([*endless, "status_request"]), assembler)) == ["fault", "status_request"]
    monkeypatch.setattr(module, "MAX_LINES", 10_000)
    monkeypatch.setattr(module, "MAX_LINE_LENGTH", 2_000)
    assert names(taken("\n".join([*endless, "status_request"]))) == ["fault", "status_request"]
    monkeypatch.setattr(module, "MAX_LINE_LENGTH", 1 << 20)
    deep = ["RESEARCH_REQUEST: [", *["["] * 1000, "status_request"]
    assert names(taken("\n".join(deep))) == ["fault", "status_request"]


def test_a_message_whose_end_does_not_come_in_time_is_refused():
    """Its time counts from its first line; the rest of it, when it comes, is passed over."""
    now = [100.0]
    assembler = MessageAssembler(lambda: now[0])
    assert assembler.seconds_left is None
    first, *rest = SEED.splitlines()
    assert assembler.take(first) == []
    assert assembler.seconds_left == MAX_SECONDS
    now[0] += 1
    assert (assembler.expire(), assembler.seconds_left) == ([], MAX_SECONDS - 1)
    now[0] += MAX_SECONDS
    assert assembler.seconds_left == 0
    assert names(assembler.expire()) == ["fault"]
    assert assembler.seconds_left is None
    assert [one for line in rest for one in assembler.take(line)] == []
    assert names(taken(SEED, assembler)) == [RESEARCH_REQUEST]


def test_a_line_that_cannot_be_read_ends_an_unfinished_message():
    assembler = MessageAssembler()
    assembler.take("RESEARCH_REQUEST: {")
    fault = Fault(type="validation_error", field="message", message="is not UTF-8")
    assert names(assembler.take(fault)) == ["fault", "fault"]
    assert names(assembler.take("}")) == ["fault"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(alphabet='ab"\\{}[]:,\n \u2028', max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=20,
    ),
    st.sampled_from([None, 0, 1, 2, "\t"]),
)
def test_any_json_is_read_however_it_is_indented(value, indent):
    """A request is its JSON, on one line or on many, with another message right behind it."""
    text = f"RESEARCH_REQUEST: {json.dumps({'a': value}, indent=indent)}"
    assembler = MessageAssembler()
    found = [one for line in [*text.split("\n"), "status_request"] for one in assembler.take(line)]
    assert found == [TeamMessage(RESEARCH_REQUEST, {"a": value}), TeamMessage("status_request")]


@given(st.lists(st.text(alphabet='aRESEARCH_QUT: {}[]",\\\t0', max_size=30), max_size=12))
def test_any_lines_are_read(lines):
    """No lines make reading fail, and nothing is left at the end."""
    assembler = MessageAssembler()
    for line in lines:
        assembler.take(line)
    assembler.end()
    assert assembler.seconds_left is None
