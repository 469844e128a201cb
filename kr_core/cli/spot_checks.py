"""`kr inbox check`: accepted answers that were drawn for a spot check, and the human's verdict, one key each."""

from __future__ import annotations

import os
import sys
import termios
import textwrap
import tty
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from kr_core.cli import output
from kr_core.cli.ask import login_name
from kr_core.cli.terminal import person_is_there, tell
from kr_core.errors import ConfigError
from kr_core.escalation.sanitize import harmless_line
from kr_core.review.spot_check_review import BATCH, SpotCard, SpotChecks
from kr_core.terminal_text import columns, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from kr_core.research import Pipeline
    from kr_core.review.spot_check_review import CheckVerdict

__all__ = ["hint", "run"]

_VERDICTS: dict[str, CheckVerdict] = {
    "r": "right", "right": "right", "w": "wrong", "wrong": "wrong", "c": "unsure", "unsure": "unsure",
}  # fmt: skip
_KEYS = "[r]ight, [w]rong, [c]annot tell, [l]ater, [q]uit"
_WIDTH = 120
_BESIDE = 70
"""From this many columns on, claim and passage are side by side."""
_SHOWN_LINES = 30


class _Verdict(NamedTuple):
    word: CheckVerdict
    by: str
    because: str


def run(pipeline: Pipeline, options: argparse.Namespace) -> int:
    """Show the cards, or put a verdict on the record, and return the exit code."""
    checks = SpotChecks(pipeline)
    by = login_name() if options.by is None else printable(options.by.strip())
    if not by:
        raise ConfigError(
            "is not a name", where=f"--by {options.by!r}", hint="leave it out, or say who you are"
        )
    if options.verdict is not None:
        return _judge(checks, options, _Verdict(_VERDICTS[options.verdict], by, printable(options.why or "")))
    if options.why:
        raise ConfigError(
            "--why without a verdict",
            where="kr inbox check",
            hint="write `kr inbox check ID wrong --why TEXT`",
        )
    cards = checks.cards() if options.id is None else [checks.card(options.id)]
    if options.json:
        print(output.as_json([card.to_dict() for card in cards]))
    elif not cards:
        print("no accepted answer waits for a spot check")
    elif person_is_there():
        _attend(checks, cards, by)
    else:
        print("\n\n".join(_card(card) for card in cards))
    return 0


def hint(pipeline: Pipeline) -> str:
    """What the inbox says of spot checks; empty where none waits."""
    count = len(SpotChecks(pipeline).waiting())
    answers = "1 accepted answer waits" if count == 1 else f"{count} accepted answers wait"
    return f"{answers} for a spot check, which nobody waits for: kr inbox check" if count else ""


def _judge(checks: SpotChecks, options: argparse.Namespace, verdict: _Verdict) -> int:
    notes = checks.judge(options.id, verdict.word, verdict.by, verdict.because)
    if options.json:
        print(output.as_json({"id": options.id.upper(), "verdict": verdict.word, "notes": list(notes)}))
    else:
        print(f"{options.id.upper()}: {verdict.word}")
        output.tell(notes)
    return 0


def _attend(checks: SpotChecks, cards: Sequence[SpotCard], by: str) -> None:
    """Ask about one card after the other, one key each."""
    for number, card in enumerate(cards, 1):
        key = _key(f"{_card(card)}\n\n{number} of {len(cards)}  {_KEYS}: ")
        if key in {"q", ""}:
            return
        if key == "l":
            continue
        try:
            notes = checks.judge(card.id, _VERDICTS[key], by)
        except ConfigError as error:  # somebody else was quicker
            tell(f"kr: {error}")
        else:
            tell(f"{card.id}: {_VERDICTS[key]}\n")
            output.tell(notes)
    left = len(checks.waiting())
    tell(f"{left} more; `kr inbox check` shows up to {BATCH} at a time" if left else "all are judged")


def _key(shown: str) -> str:
    """The next key that means something once this is shown; empty at the end of input."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor, termios.TCSAFLUSH)  # what was typed before the card is no verdict on it
    try:
        tell(shown)
        while (typed := os.read(descriptor, 1)) not in {b"", b"\x04"}:
            key = typed.decode("ascii", "replace").lower()
            if key in {"r", "w", "c", "l", "q"}:
                return key
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    return ""


def _card(card: SpotCard) -> str:
    width = columns(sys.stdout, _WIDTH)
    about = ", ".join(one for one in (card.agent, card.topic) if one)
    lines = [
        f"{card.id}  {harmless_line(card.question, 500)}",
        *([f"    {harmless_line(about, 200)}"] if about else []),
        "",
        *_beside(("Claim", card.claim), (f"Passage ({card.where})", card.passage or "none"), width),
        "",
        f"KR: {harmless_line(card.verdict, 500)}",
    ]
    return "\n".join(lines)


def _beside(left: tuple[str, str], right: tuple[str, str], width: int) -> list[str]:
    """Two texts beside each other, or below each other where the terminal is narrow."""
    if width < _BESIDE:
        return [*_lines(*left, width), "", *_lines(*right, width)]
    half = (width - 3) // 2
    both = zip_longest(_lines(*left, half), _lines(*right, half), fillvalue="")
    return [f"{one:<{half}} | {other}".rstrip() for one, other in both]


def _lines(title: str, text: str, width: int) -> list[str]:
    lines = [harmless_line(title, width)]
    for line in printable(text).splitlines():
        lines += textwrap.wrap(line, width, break_long_words=True) or [""]
    return lines[:_SHOWN_LINES] + (["..."] if len(lines) > _SHOWN_LINES else [])
