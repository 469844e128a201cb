"""The text of a declaration's passage: signature, comment, examples and members, with their lines in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.code_blocks import fenced_code
from kr_plugins.sources.installed_docs.node import tsdoc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_plugins.sources.installed_docs.node.declarations import Declaration

MAX_LINES = 120
_MEMBER_LINES = 6


class DeclarationText:
    """The text of a passage in the making, with the line of the file on which each run begins."""

    def __init__(self, signature: str, line: int) -> None:
        self.parts = signature.split("\n")
        self.runs = [[0, line]]

    def add(self, lines: Sequence[tsdoc.CommentLine]) -> None:
        previous = None
        for line in lines[:MAX_LINES]:
            if previous is None or line.number != previous + 1:
                self.runs.append([len(self.parts), line.number])
            self.parts.append(line.text)
            previous = line.number

    def fence(self, lines: Sequence[tsdoc.CommentLine], before: int, language: str) -> None:
        """Code that has no fences of its own, between fences; `before` is the line of the file for the first."""
        self.runs.append([len(self.parts), before])
        self.parts.append(f"```{language}")
        self.add(lines)
        self.parts.append("```")

    def __str__(self) -> str:
        return "\n".join(self.parts)


def declaration_text(
    signature: str,
    one: Declaration,
    comment: tsdoc.TSDocComment,
    bare: Sequence[Declaration],
    language: str = "ts",
) -> DeclarationText:
    """The signature, what the comment says, each `@param` as a paragraph, the examples, and the members without a comment."""
    text = DeclarationText(signature, one.line)
    text.add(comment.deprecation)
    text.add(comment.prose)
    text.add(comment.default)
    for _parameter, lines in comment.parameters:
        text.runs.append([len(text.parts), lines[0].number - 1])
        text.parts.append("")
        text.add(lines)
    for example in comment.examples:
        if example.fenced:
            text.add(example.lines)
        else:
            text.fence(example.lines, example.tag_line, language)
    listed = [
        tsdoc.CommentLine(member.line + offset, line)
        for member in bare
        for offset, line in enumerate(member.signature.split("\n")[:_MEMBER_LINES])
    ]
    if listed:
        text.fence(listed, max(1, listed[0].number - 1), language)
    return text


def comment_examples(comment: tsdoc.TSDocComment) -> tuple[str, ...]:
    found = [block.code for block in fenced_code([line.text for line in comment.prose])]
    for example in comment.examples:
        lines = [line.text for line in example.lines]
        if example.fenced:
            found += [block.code for block in fenced_code(lines)]
        elif any(line.strip() for line in lines):
            found.append("\n".join(lines))
    return tuple(found)
