"""The page that writes the grammar down says what the parser does."""

import random
import re
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from kr_core.toolkit import CommandFault, read_replies

pytestmark = pytest.mark.req("H4")

PAGE = (Path(__file__).parents[3] / "docs/reference/replies.md").read_text("utf-8")
TWO = ("E7", "E12")
MANY = 500
"""Texts of each rule that are tried."""
EXPLAINED = {
    "blank": [" ", "\t", "  \t "],
    "newline": ["\n"],
    "number": ["7"],
    "choice": ["B", "Use Redis.", "2"],
    "words": ["Use Postgres.", "> a quote", "", "see /kr confirm", "    code"],
    "talk": ["Hello,", "", "Let us confirm E7.", "yes"],
    "fence": ["```\n/kr confirm E7\n```", "~~~~ text\n  a\n\n/kr chat\n~~~~\n"],
}
"""What the page explains in words."""


def read_rules():
    """The rules of the page by name, each as its tokens."""
    (block,) = re.findall(r"```text\n(message.*?)```", PAGE, re.DOTALL)
    rules = dict(re.findall(r"^(\w+) += (.*?) ;$", block, re.MULTILINE))
    return {name: re.findall(r'"[^"]*"|\w+|[][{}()|,]', rule) for name, rule in rules.items()}


class Deriving:
    """Makes texts that the rules derive, another one for each seed."""

    def __init__(self, rules, seed):
        self._rules = rules
        self._random = random.Random(seed)

    def rule(self, name):
        if name in EXPLAINED:
            return self._random.choice(EXPLAINED[name])
        return self._alternatives(self._rules[name])

    def _alternatives(self, tokens):
        return "".join(map(self._factor, split(self._random.choice(split(tokens, "|")), ",")))

    def _factor(self, tokens):
        first = tokens[0]
        if first in {"[", "{", "("}:
            least, most = {"[": (0, 1), "{": (0, 2), "(": (1, 1)}[first]
            times = self._random.randint(least, most)
            return "".join(self._alternatives(tokens[1:-1]) for _ in range(times))
        if first.startswith('"'):
            word = first.strip('"')
            return self._random.choice([word, word.upper(), word.lower()])
        return self.rule(first)


def split(tokens, mark):
    """The parts between marks that stand in no brackets."""
    places, depth = [-1], 0
    for place, token in enumerate(tokens):
        depth += (token in {"[", "{", "("}) - (token in {"]", "}", ")"})
        if token == mark and not depth:
            places.append(place)
    return [tokens[begin + 1 : end] for begin, end in pairwise([*places, len(tokens)])]


def derived(name):
    """Texts that a rule of the page derives."""
    rules = read_rules()
    return [Deriving(rules, seed).rule(name) for seed in range(MANY)]


def rows(heading):
    """The rows of a section's table; what is written in it as it is typed."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return [(row[0].strip("`").replace("⏎", "\n").replace("␣", " "), *row[1:]) for row in cells]


def test_what_the_grammar_derives_is_a_command():
    """Each is read as one command about E7, with nothing to say against it; but a text has to say something."""
    actions = set()
    for text in derived("command"):
        found = read_replies(text, ["E7"])
        action = text.split()[1].lower().replace("context", "add_context")
        if re.fullmatch(r"/kr\s+(correct|context)(\s+E7(@7)?[:,]?)?\s*", text, re.IGNORECASE):
            assert [fault.kind for fault in found.faults] == ["text"], text
        else:
            assert not found.faults, text
            assert [(one.escalation_id, one.action) for one in found.commands] == [("E7", action)], text
            actions.add(action)
    assert actions == {"confirm", "correct", "add_context", "choose", "chat"}


def test_a_message_is_read_command_by_command():
    """Talk before them is nothing; each is read, or refused for what it says itself or for the quote above it."""
    for text in derived("message"):
        lines = text.split("\n")
        found = read_replies(text, ["E7"])
        assert found.commands or found.faults, text
        for fault in found.faults:
            above = "\n".join(lines[: fault.line - 1]).rpartition("\n\n")[2]
            assert fault.kind == "text" or (fault.kind == "quote" and ">" in above), text


@pytest.mark.parametrize(("text", "_why"), rows("What is not a command"))
def test_what_is_said_to_be_no_command(text, _why):
    """Neither a command nor a fault, whether one case waits or two."""
    for waiting in (TWO, TWO[:1]):
        assert read_replies(text, waiting) == ((), ())


@pytest.mark.parametrize(("text", "kind", "_why", "said"), rows("What KR refuses"))
def test_what_is_said_to_be_refused(text, kind, _why, said):
    """One fault of that kind, with these words; an invisible character keeps names from being mentions."""
    found = read_replies(text, TWO)
    assert not found.commands
    (fault,) = found.faults
    assert (f"`{fault.kind}`", fault.message.replace("\N{ZERO WIDTH SPACE}", "")) == (kind, said)


@pytest.mark.parametrize(("line", "most"), [("/kr confirm E7", 100), ("/kr approve E7", 20)])
def test_how_much_of_a_message_is_read(line, most):
    """As the page says."""
    assert re.search("After 100 commands, or 20 that are refused, .*`many`", PAGE)
    found = read_replies(f"{line}\n" * (most + 5), TWO)
    assert len(found.commands) + len(found.faults) == most + 1
    assert (found.faults[-1].kind, found.faults[-1].line) == ("many", most + 1)


def test_the_page_knows_every_kind_of_refusal():
    """A new one has to be written down."""
    kinds = get_args(get_type_hints(CommandFault)["kind"])
    assert {row[1].strip("`") for row in rows("What KR refuses")} | {"many"} == set(kinds)
