"""What people reply, and what is no reply though it looks like one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kr_core.escalation.commands import HELP, read_replies

pytestmark = pytest.mark.req("H4")

TWO = ("E7", "E12")


def read(text, waiting=TWO, closed=()):
    return read_replies(text, waiting, closed)


def only(text, waiting=("E7",)):
    """The one command of a text that has no fault."""
    found = read(text, waiting)
    assert not found.faults
    (command,) = found.commands
    return command


@pytest.mark.parametrize(
    ("text", "action", "content"),
    [
        ("/kr confirm E7@2", "confirm", ""),
        ("/kr correct E7@2 Use Postgres.", "correct", "Use Postgres."),
        ("/kr context E7@2 We have 40 servers.", "add_context", "We have 40 servers."),
        ("/kr choose E7@2 B", "choose", "B"),
        ("/kr chat E7@2", "chat", ""),
    ],
)
def test_each_command(text, action, content):
    """Each command says which case and which revision it is about."""
    command = only(text)
    assert command == ("E7", 2, action, content, 1)
    response = command.response("ada")
    assert (response.action, response.content, response.by, response.revision) == (action, content, "ada", 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end):
    """Lines end as the program ends them in which a person wrote."""
    text = end.join(["Hello", "", "/kr correct E7@2 First", "second", "/kr confirm E12@1", ""])
    found = read(text)
    assert [(one.escalation_id, one.content, one.line) for one in found.commands] == [
        ("E7", "First\nsecond", 3),
        ("E12", "", 5),
    ]
    assert not found.faults


@pytest.mark.parametrize(
    "text", ["/kr confirm", "/KR CONFIRM", "/kr\tconfirm  ", "/kr Confirm e7", "/kr confirm E7,"]
)
def test_how_it_may_be_written(text):
    """Case does not matter, nor how many blanks; the id may be left out where one case waits."""
    assert only(text).escalation_id == "E7"


def test_a_text_runs_to_the_next_command():
    """Paragraphs, quotes and code belong to the text that they stand in."""
    text = "/kr correct E7@2 One.\n\n> two\n\n```\n/kr confirm E12\n```\n\n/kr choose E12 b"
    first, second = read(text).commands
    assert first.content == "One.\n\n> two\n\n```\n/kr confirm E12\n```"
    assert second.content == "b"


@pytest.mark.parametrize("fence", ["```", "~~~~", "```python"])
def test_a_text_that_is_one_fenced_block(fence):
    """A block stands for what is in it, as it is."""
    closing = fence[:4].rstrip("p")
    assert (
        only(f"/kr correct E7@2\n\n{fence}\n  a\n\n/kr confirm E7\n{closing}\n").content
        == "  a\n\n/kr confirm E7"
    )


def test_two_blocks_are_a_text():
    """What is more than one block is taken whole."""
    text = "```\na\n```\n\n```\nb\n```"
    assert only(f"/kr correct E7@2\n{text}").content == text


@pytest.mark.parametrize(
    "text",
    [
        "this can't be confirmed",
        "confirm E7@2",
        "Please /kr confirm E7@2",
        " /kr confirm E7@2",
        "    /kr confirm E7@2",
        "\t/kr confirm E7@2",
        "- /kr confirm E7@2",
        "> /kr confirm E7@2",
        "  > /kr confirm E7@2",
        ">> /kr confirm E7@2",
        "```\n/kr confirm E7@2\n```",
        "~~~\n/kr confirm E7@2\n```\n/kr confirm E7@2",
        "````\n```\n/kr confirm E7@2\n````",
        "```\n/kr confirm E7@2",
        "<!-- \n/kr confirm E7@2\n-->",
        "a <!-- \n/kr confirm E7@2\n--> b",
        "<!--\n\n/kr confirm E7@2",
        "see `a\n/kr confirm E7@2\nb`",
        "<pre>\n\n/kr confirm E7@2\n</pre>",
        "<blockquote>\n<blockquote></blockquote>\n/kr confirm E7@2\n</blockquote>",
        "/krconfirm E7@2",
        "/kr/confirm E7@2",
        "//kr confirm E7@2",
        "\u2028/kr confirm E7@2",
        "\ufeff/kr confirm E7@2",
        "",
    ],
)
def test_no_reply_at_all(text):
    """A command in talk, a quote, code or a comment is nothing, and is not answered either."""
    assert read(text) == ((), ())


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("/kr confrim E7", "verb", "did you mean `confirm`?"),
        ("/kr", "verb", "say what to do"),
        ("/kr E7 confirm", "verb", "is no command"),
        ("/kr confirm E9@1", "id", "there is no E9; waiting: E7, E12"),
        ("/kr confirm E7@x", "id", "write it as `E7@2`"),
        ("/kr confirm", "which", "say which: E7, E12"),
        ("/kr correct E7@2", "text", "`correct` needs a text"),
        ("/kr context E7@2 \n\n", "text", "`context` needs a text"),
        ("/kr choose E7@2", "text", "`choose` needs which one"),
        ("/kr confirm E7@2 but use TLS", "prose", "nothing was done, since there is more: `but use TLS`"),
        ("/kr confirm E7@2\nbut use TLS", "prose", "nothing was done, since there is more: `but use TLS`"),
        ("/kr choose E7@2 B\nbut use TLS", "prose", "nothing was done"),
        ("/kr chat E7@2 now", "prose", "`chat` stands alone"),
        ("> Use Redis.\n/kr confirm E7@2", "quote", "leave an empty line between"),
    ],
)
def test_faults(text, kind, words):
    """What looks like a command and is none does nothing, and says what to write instead."""
    found = read(text)
    assert not found.commands
    (fault,) = found.faults
    assert fault.kind == kind
    assert words in fault.message


def test_nothing_waits():
    """A command without an id is told so where there is nothing to answer."""
    (fault,) = read("/kr confirm", ()).faults
    assert fault.message == "nothing waits for an answer"
    (fault,) = read("/kr confirm E7", ()).faults
    assert fault.message == "there is no E7; nothing waits"


def test_a_closed_case_is_left_to_be_refused():
    """A command for a case that is decided is one: the refusal says who decided."""
    (command,) = read("/kr confirm E3@1", closed=("E3",)).commands
    assert command.escalation_id == "E3"


def test_talk_behind_a_command_is_talk():
    """Behind an empty line people may thank each other."""
    assert only("/kr confirm E7@2\n\nThanks, well done!").action == "confirm"


def test_a_fault_does_not_hide_its_neighbours():
    """Each command of a text stands for itself."""
    found = read("/kr confirm E7@2\n/kr nonsense\n/kr correct E12@1 x")
    assert [one.line for one in found.commands] == [1, 3]
    assert [one.line for one in found.faults] == [2]


@pytest.mark.req("H8")
@pytest.mark.parametrize(
    "text",
    ["/kr @ada <!-- x", "/kr confirm E7@2 @ada please", "/kr `x` y", "/kr confirm E7@@ada", "/kr \x1b[31mx"],
)
def test_what_is_said_back_is_harmless(text):
    """An answer to a fault mentions nobody and steers no terminal."""
    (fault,) = read(text).faults
    assert "@ada" not in fault.message
    assert "<!--" not in fault.message
    assert "\x1b" not in fault.message
    assert read(fault.message) == ((), ())


def test_the_help_is_no_command():
    """The help is full of commands, and quoted back it is none."""
    assert read(HELP) == ((), ())


WORDS = st.sampled_from(
    ["/kr confirm E7", "/kr correct E7@1 x", "/kr", "use `x", "`", "``", "> q", "```", "~~~", "", "<!--", "-->", "<pre>", "</pre>",
     "- item", "    code", "# T", "text", "<blockquote>", "</blockquote>", "\\`", "\t", "***", "1. a"]
)  # fmt: skip
ANY_LINE = st.one_of(WORDS, st.text(max_size=12))
TEXTS = st.lists(ANY_LINE, max_size=12).map("\n".join)


@given(TEXTS)
def test_quoted_text_never_triggers(text):
    """Whatever stands in it, a text that is quoted line by line is no reply, before and after other talk."""
    lines = text.replace("\r", "\n").split("\n")
    quote = "\n".join(f"> {line}" for line in lines)
    assert read(quote) == ((), ())
    assert read(f"Look:\n\n{quote}\n\nWell?") == ((), ())


@given(TEXTS)
def test_code_never_triggers(text):
    """Neither does one that is indented, or in a fence that it does not close."""
    lines = text.replace("\r", "\n").split("\n")
    assert read("\n".join(f"    {line}" for line in lines)) == ((), ())
    assert read("\n".join(["`" * 40, *lines, "`" * 40])) == ((), ())


@given(
    st.sampled_from(["correct", "context"]),
    st.integers(1, 999),
    st.integers(1, 99),
    st.text(min_size=1, max_size=60).filter(
        lambda text: text.strip() and "\r" not in text and "/" not in text
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_written_is_what_is_read(verb, number, revision, text, end):
    """A command comes back with its case, its revision and its text."""
    if text.strip().startswith(("```", "~~~")):
        return
    written = f"Hello{end}{end}/kr {verb} E{number}@{revision} {text.replace(chr(10), end)}{end}"
    (command,) = read(written, (f"E{number}",)).commands
    assert (command.escalation_id, command.revision) == (f"E{number}", revision)
    assert command.content == text.strip()


MARKDOWN = MarkdownIt("commonmark")


def visible(text):
    """The ids of commands that CommonMark shows as a person's own words: in paragraphs, at the start of a line."""
    found, quotes = set(), 0
    for token in MARKDOWN.parse(text):
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type != "inline" or quotes:
            continue
        begins = True
        for child in token.children:
            if child.type == "text" and begins and child.content.startswith("/kr confirm E"):
                found.add(child.content.split()[2])
            begins = child.type in {"softbreak", "hardbreak"}
    return found


@given(st.lists(st.one_of(WORDS, st.just("/kr confirm E")), max_size=14))
def test_commonmark_agrees(lines):
    """No command is read that a parser of CommonMark shows as a quote, as code or not at all."""
    numbered = [
        f"/kr confirm E{number}" if line == "/kr confirm E" else line.replace("/kr c", "x")
        for number, line in enumerate(lines, 1)
    ]
    text = "\n".join(numbered)
    found = read(text, [f"E{number}" for number in range(1, 15)])
    assert {one.escalation_id for one in found.commands} <= visible(text)


def test_more_than_anybody_reads():
    """So many commands and faults are read; the writer is told from where on the rest was not."""
    found = read("\n\n".join(["/kr confirm E7"] * 300))
    assert len(found.commands) == 100
    assert [(one.kind, one.line) for one in found.faults] == [("many", 201)]
    found = read("\n\n".join(["/kr confirm E99"] * 300))
    assert [one.kind for one in found.faults] == ["id"] * 20 + ["many"]
    assert not read("\n\n".join(["/kr confirm E7"] * 100)).faults


def test_many_cases():
    """Where ten thousand wait the first ones are told, and a long text is read as quickly as another."""
    waiting = [f"E{number}" for number in range(10_000, 0, -1)]
    began = time.process_time()
    found = read("/kr chat E10001\n" * 5_400, waiting)
    assert time.process_time() - began < 5
    told = ", ".join(f"E{number}" for number in range(1, 21))
    assert found.faults[0].message == f"there is no E10001; waiting: {told} and 9980 more"


@pytest.mark.parametrize(
    "text",
    ["`" * 1_000_000, "<!--" * 250_000, "<pre>" * 200_000, ">" * 1_000_000, "\\" * 1_000_000, "a line\n" * 150_000,
     " ".join("`" * length for length in range(1, 1400))],
    ids=["ticks", "comments", "tags", "quotes", "backslashes", "lines", "lengths"],
)  # fmt: skip
def test_a_megabyte(text):
    """A long text takes no longer for what stands in it."""
    began = time.process_time()
    read(f"{text}\n/kr confirm E7@2\n{text}")
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("/kr confrim E12@1", "E12"),
        ("/kr correct e7", "E7"),
        ("> quote\n/kr confirm E12", "E12"),
        ("/kr confirm E99", None),
        ("/kr confirm", None),
    ],
)
def test_a_fault_has_the_case_that_its_line_names(text, about):
    """A channel tells the person at the case that the reply names, not at any other."""
    (fault,) = read(text).faults
    assert fault.escalation_id == about
