# ruff: noqa: INP001  a script, not a package
"""Flag sentences that read as translated; `make check` runs it over the pages, and counts those of the code.

Each marker is a turn of phrase that plain English says with a verb and a subject. A page may quote one in back-ticks, or
messages of the program between `<!-- quoted -->` and `<!-- /quoted -->`.
Pages must have none. Messages, help texts and docstrings may have as many as `CODE_CEILING`: lower it, never raise it.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
CODE_CEILING = 1022
"""How many flagged texts `kr_core` and `plugins` may have."""

MARKERS = {
    r"(?:is|are|was|were|be|been) (?:told|said|kept)\b": "say who does it: KR shows, prints, stores ...",
    r"anew\b": "again",
    r"(?:whoever|whatever|whichever)\b": "name the person or thing",
    r"(?:somebody|nobody)\b": "you, a person, no one",
    r"(?<!there\s)(?:is|are|was|were) no (?!longer\b|more\b|such\b)[a-z]+": "is not a ...",
    r"stands? (?:there|beside|in|for|under|at|on|between|below|above|open)\b": "is, lies, means",
    r"ways? to a human\b": "escalation, channel",
    r"by the way\b": "drop it",
    r"what (?:is|comes|stands|was|has|had|it made) [a-z]+,": "name the thing",
    r"so many\b": "too many, this many",
    r"but for\b": "except",
    r"[,;] else (?:it|a|the|what)\b": "otherwise",
}

_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,}).*?^\1\2\s*$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"<!-- quoted -->.*?<!-- /quoted -->", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_END = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n\s*(?:[-*|#]|\d+\.)\s")
_NEWEST = re.compile(r"^## .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class Flag(NamedTuple):
    """A sentence with a marker in it."""

    file: str
    line: int
    sentence: str
    advice: str


def flags(text: str, file: str = "") -> tuple[list[Flag], int]:
    """The flagged sentences of a Markdown text, and how many sentences it has."""
    plain = text
    for pattern in (_FENCE, _QUOTED):
        plain = pattern.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), plain)
    plain = _CODE.sub(lambda code: "x" * len(code[0]), plain)
    found: list[Flag] = []
    count = start = 0
    for end in [*(match.start() for match in _END.finditer(plain)), len(plain)]:
        sentence = plain[start:end]
        count += len(sentence.split()) > 2
        for marker, advice in MARKERS.items():
            if match := re.search(r"\b" + marker.replace(" ", r"\s+"), sentence, re.IGNORECASE):
                line = plain.count("\n", 0, start + match.start()) + 1
                found.append(Flag(file, line, " ".join(text[start:end].split()), f"{match[0]!r}: {advice}"))
                break
        start = end
    return found, count


def texts(source: str) -> Iterator[tuple[int, str]]:
    """The line and text of each string of a Python module that is a sentence: docstrings, messages, help."""
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inside.update(node.values)
            text = "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            text = node.value
        else:
            continue
        if len(text.split()) > 2:
            yield node.lineno, text


def of_pages(files: list[Path]) -> tuple[list[Flag], int]:
    """The flagged sentences of some pages, and how many sentences they have; of a changelog its newest section."""
    found: list[Flag] = []
    total = 0
    for file in files:
        text = file.read_text("utf-8")
        if file.name == "CHANGELOG.md" and (newest := _NEWEST.search(text)):
            text = "\n" * text.count("\n", 0, newest.start()) + newest[0]
        flagged, count = flags(text, _name(file))
        found, total = found + flagged, total + count
    return found, total


def of_code() -> tuple[list[Flag], int]:
    """The flagged texts of the core and the plugins, and how many texts they have."""
    found: list[Flag] = []
    total = 0
    for file in sorted([*ROOT.glob("kr_core/**/*.py"), *ROOT.glob("plugins/**/*.py")]):
        for line, text in texts(file.read_text("utf-8")):
            flagged, count = flags(text, _name(file))
            found += [flag._replace(line=line + flag.line - 1) for flag in flagged]
            total += count
    return found, total


def pages() -> list[Path]:
    """All pages, those made from docstrings and help texts too."""
    every = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    return every + sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("contrib/*/README.md")])


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else str(file)


def _show(found: list[Flag]) -> None:
    for flag in found:
        print(f"{flag.file}:{flag.line}: {flag.advice}\n    {flag.sentence[:140]}")


def main(arguments: list[str]) -> int:
    """Check the pages named, or all pages and the code; `--code` shows the flagged texts of the code too."""
    named = [Path(name).resolve() for name in arguments if name != "--code"]
    found, sentences = of_pages(named or pages())
    _show(found)
    print(f"pages: {len(found)} of {sentences} sentences flagged")
    if named:
        return int(bool(found))
    flagged, sentences = of_code()
    if "--code" in arguments:
        _show(flagged)
    print(f"code: {len(flagged)} of {sentences} sentences flagged; the ceiling is {CODE_CEILING}")
    return int(bool(found) or len(flagged) > CODE_CEILING)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
