"""Declaration files (`.d.ts`) read without a JavaScript runtime: what they declare, export and import, with lines.

This is a scanner, not a grammar: it knows comments, strings, brackets and where a declaration begins and ends. What it
cannot make sense of is passed over, and the next declaration is read.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.node.declarations import (
    Declaration,
    DeclarationKind,
    DeclaredParameter,
    ModuleDeclarations,
    Reexport,
)
from kr_plugins.sources.installed_docs.node.lexer import TokenStream

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


_MAX_PARAMETERS = 1000
"""Of one callable; the longest signatures that people write have two hundred."""
_MOST_CALLS = 4
"""The limit of ways to call an object of one type."""
_MODIFIERS = frozenset({"export", "declare", "default", "abstract", "async"})
_MEMBER_MODIFIERS = frozenset(
    "public protected private static readonly abstract declare get set async override accessor".split()
)
_STARTERS = frozenset(
    "export declare import function interface type class const let var enum namespace module abstract global".split()
)
_AFTER_NAME = frozenset({"(", "<", "?", ":", "!", ";", ",", "}", "="})
_GOES_ON = frozenset(
    {"|", "&", "=", "=>", ":", ",", "?", "<", ".", "extends", "keyof", "typeof", "infer", "is", "in", "..."}
)
"""After one of these a type goes on in the next line."""
_GOES_ON_WITH = frozenset({"|", "&", "=", "=>", ":", ",", "?", ">", ".", ")", "]", "extends", "is"})
_CHANGES = frozenset(
    "Omit Pick Partial Required Readonly Except Simplify Merge SetOptional SetRequired ReadonlyDeep NonNullable".split()
)
"""Types of TypeScript and type-fest that have the members of their arguments."""
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_REFERENCE = re.compile(r"^///[ \t]*+<reference[ \t]++path=[\"']([^\"'\n]{1,200})[\"']", re.MULTILINE)
_MAX_REFERENCES = 100
_HEAD = 20_000
"""Characters of a file in which it names others that belong to it."""
_DEEPEST = 12
"""Namespaces in namespaces are followed so far."""


def read(text: str) -> ModuleDeclarations:
    """Read the text of a declaration file; its lines end with a line feed alone."""
    found = _Scanner(text).statements(0, None, inside=False)
    found.references = _REFERENCE.findall(text[:_HEAD])[:_MAX_REFERENCES]
    return found


class _Scanner:
    """Finds what the words of a file declare."""

    def __init__(self, text: str) -> None:
        self.file = TokenStream(text)
        self.words = self.file.words

    # -- statements --

    def statements(self, first: int, end: int | None, *, inside: bool, depth: int = 0) -> ModuleDeclarations:
        """What stands between two words; `inside` a namespace everything is exported."""
        found = ModuleDeclarations()
        end = len(self.words) if end is None else end
        number = first
        while number < end:
            following = self.statement(number, end, found, inside, depth)
            number = following if following > number else number + 1
        return found

    def statement(self, first: int, end: int, found: ModuleDeclarations, inside: bool, depth: int) -> int:
        number, modifiers = first, set()
        while self.file.at(number) in _MODIFIERS and number < end:
            modifiers.add(self.file.at(number))
            number += 1
        word = self.file.at(number)
        if word == "const" and self.file.at(number + 1) == "enum":
            number, word = number + 1, "enum"
        declared = self.with_body(first, number, word, end, depth, found)
        if declared is None:  # a body ends a declaration; to search for `;` after each would be quadratic
            last = self.end(number, end)
            if self.names_others(number, last, found, modifiers, inside=inside):
                return last
            declared = self.without_body(first, number, word, last)
            if declared is None:
                if "default" in modifiers and _NAME.fullmatch(word):
                    found.assigned = found.assigned or word
                return last
        declaration, following = declared
        if declaration is not None:
            found.declarations.setdefault(declaration.name, []).append(declaration)
            if "default" in modifiers:
                found.assigned = declaration.name
            elif inside or "export" in modifiers:
                found.exports.setdefault(declaration.name, declaration.name)
        return following

    def names_others(
        self, number: int, last: int, found: ModuleDeclarations, modifiers: Collection[str], *, inside: bool
    ) -> bool:
        """Read a statement that imports or exports what is declared elsewhere; whether it is one."""
        word, following = self.file.at(number), self.file.at(number + 1)
        exported = "export" in modifiers
        if word == "import" or (word == "{" and (inside or exported)) or (word in {"*", "="} and exported):
            self.module_statement(number, last, found, exported=exported)
        elif word == "type" and following in {"{", "*"}:
            self.module_statement(number + 1, last, found, exported=True)
        else:
            return word == "as" and following == "namespace"
        return True

    def end(self, number: int, end: int) -> int:
        """The word after a statement: after its `;`, or before a line that begins another."""
        first = number
        while number < end:
            word = self.words[number]
            if word == ";":
                return number + 1
            starts = number > first and word in _STARTERS and self.file.new_line(number)
            # No type goes on with these two: what stands before them is done, or broken.
            if starts and (word in {"export", "declare"} or self.words[number - 1] not in _GOES_ON):
                return number
            number = self.file.jump(number, end)
        return end

    def without_body(
        self, first: int, number: int, word: str, last: int
    ) -> tuple[Declaration | None, int] | None:
        """Read a declaration that ends with `;`; returns it and the word after it, or None if none begins here."""
        named = _NAME.fullmatch(self.file.at(number + 1))
        if word == "function":
            return self.function(first, number, last), last
        if word == "type" and named:
            return self.alias(first, number, last), last
        if word in {"const", "let", "var"} and named:
            return self.constant(first, number, last), last
        return None

    def with_body(
        self, first: int, number: int, word: str, end: int, depth: int, found: ModuleDeclarations
    ) -> tuple[Declaration | None, int] | None:
        """Read a declaration with a body in braces; returns it and the word after it, or None if none begins here."""
        name = self.file.at(number + 1)
        if word in {"class", "interface"} and _NAME.fullmatch(name):
            return self.body_of(first, number, word, end)
        if word == "enum" and _NAME.fullmatch(name) and self.file.at(number + 2) == "{":
            closing = self.file.closing.get(number + 2, end - 1)
            made = self.made("enum", name, first, number + 2)
            made.members = self.enum_members(number + 3, min(closing, end))
            return made, closing + 1
        if word in {"namespace", "module", "global"}:
            return self.block(first, number, end, depth, found)
        return None

    def made(self, kind: DeclarationKind, name: str, first: int, last: int) -> Declaration:
        return Declaration(
            kind, name, self.file.line(first), self.file.verbatim(first, last), self.file.comment(first)
        )

    def alias(self, first: int, number: int, last: int) -> Declaration:
        """A type; if it is made of braces it has members, and the types that it joins to them are its bases."""
        begin = self.file.jump(number + 2, last) if self.file.at(number + 2) == "<" else number + 2
        pieces = [place for place in self.outermost(begin, last) if place in self.file.closing]
        braces = [place for place in pieces if self.words[place] == "{"]
        head = braces[0] if braces and pieces[0] == braces[0] else last
        made = self.made("type", self.words[number + 1], first, head)
        made.bases = self.names(begin, last)
        for place in braces:
            self.members(made, place + 1, self.file.closing[place])
        return made

    def outermost(self, first: int, end: int) -> Iterator[int]:
        """The words between two, each bracket as one; but the arguments of what only changes a type (`Omit`) are gone into."""
        while first < end:
            yield first
            changes = self.words[first] == "<" and self.words[first - 1] in _CHANGES
            first = first + 1 if changes else self.file.jump(first, end)

    def names(self, first: int, end: int) -> tuple[str, ...]:
        """The names of the types that a type is made of; what an import is called stays before a name (`core.Request`)."""
        found: list[str] = []
        for place in self.outermost(first, end):
            word = self.words[place]
            if not _NAME.fullmatch(word) or word in _CHANGES:
                continue
            if found and place > first + 1 and self.words[place - 1] == ".":
                found[-1] = f"{found[-1]}.{word}"
            else:
                found.append(word)
        return tuple(found)

    def function(self, first: int, number: int, last: int) -> Declaration | None:
        name, opening = self.file.at(number + 1), number + 2
        if not _NAME.fullmatch(name):
            if name not in {"(", "<"}:
                return None
            name, opening = "default", number + 1  # `export default function (a: string): void`
        made = self.made("function", name, first, last)
        self.call(made, opening, last)
        return made

    def call(self, made: Declaration, number: int, last: int, mark: str = ":") -> bool:
        """Fill in the parameters and the type of what is returned, from the `(` or `<` on."""
        if self.file.at(number) == "<":
            number = self.file.jump(number, last)
        if self.file.at(number) != "(" or number not in self.file.closing:
            return False
        closing = self.file.closing[number]
        if mark == "=>" and self.file.at(closing + 1) != "=>":
            return False
        made.parameters = tuple(self.parameters(number + 1, closing))
        if self.file.at(closing + 1) == mark:
            made.returns = self.file.verbatim(closing + 2, last) or None
        return True

    def parameters(self, first: int, closing: int) -> list[DeclaredParameter]:
        found = []
        for begin, end in islice(self.file.split(first, closing, ","), _MAX_PARAMETERS):
            rest = self.file.at(begin) == "..."
            name = self.file.at(begin + 1 if rest else begin)
            if name == "this":
                continue
            destructured = name in {"{", "["}
            after = self.file.jump(begin, end) if destructured else begin + (2 if rest else 1)
            optional = rest or (after < end and self.file.at(after) in {"?", "="})
            typed = [place for place in range(after, min(after + 3, end)) if self.file.at(place) == ":"]
            type_name = self.file.at(typed[0] + 1) if typed and typed[0] + 1 < end else ""
            plain = _NAME.fullmatch(type_name) and (
                typed[0] + 2 >= end or self.file.at(typed[0] + 2) in {"<", "="}
            )
            found.append(
                DeclaredParameter(
                    "" if destructured else name, not optional, rest, type_name if plain else ""
                )
            )
        return found

    def constant(self, first: int, number: int, last: int) -> Declaration:
        name = self.file.at(number + 1)
        made = self.made("constant", name, first, last)
        if self.file.at(number + 2) == ":":
            if self.call(made, number + 3, last, "=>"):
                made.kind = "function"
            elif self.file.at(number + 3) == "{" and number + 3 in self.file.closing:
                self.members(made, number + 4, self.file.closing[number + 3])
            elif (
                _NAME.fullmatch(self.file.at(number + 3))
                and self.file.at(number + 4) in {"", ";", "<"} | _STARTERS
            ):
                made.type_name = self.file.at(number + 3)
            elif self.file.at(number + 4) == "." and self.file.at(number + 6) in {"", ";"} | _STARTERS:
                made.type_name = "".join(self.words[number + 3 : number + 6])
        return made

    def body_of(self, first: int, number: int, word: str, end: int) -> tuple[Declaration | None, int]:
        opening = number + 2
        while opening < end and self.words[opening] != "{":
            if self.words[opening] == ";":
                return None, opening + 1
            opening = self.file.jump(opening, end)
        closing = self.file.closing.get(opening)
        if closing is None or closing > end:
            return None, opening + 1
        made = self.made(
            "class" if word == "class" else "interface", self.file.at(number + 1), first, opening
        )
        made.bases = self.bases(number + 2, opening)
        self.members(made, opening + 1, closing)
        return made, closing + 1

    def bases(self, first: int, end: int) -> tuple[str, ...]:
        """The names after `extends`, with their type arguments (`Omit<Options, "url">`)."""
        while first < end and self.words[first] != "extends":
            first = self.file.jump(first, end)
        last = first
        while last < end and self.words[last] != "implements":
            last = self.file.jump(last, end)
        return self.names(first + 1, last)

    # -- members --

    def members(self, owner: Declaration, first: int, end: int) -> None:
        number = first
        while number < end:
            last = self.member_end(number, end)
            made = self.member(owner, number, last)
            if made is not None:
                owner.members.append(made)
            number = max(last, number + 1)

    def member_end(self, number: int, end: int) -> int:
        first = number
        while number < end:
            word = self.words[number]
            if word in {";", ","}:
                return number + 1
            if (
                number > first and self.file.new_line(number) and word not in _GOES_ON_WITH
                and self.words[number - 1] not in _GOES_ON | _MEMBER_MODIFIERS
            ):  # fmt: skip
                return number
            number = self.file.jump(number, end)
        return end

    def member(self, owner: Declaration, first: int, last: int) -> Declaration | None:
        number, modifiers = first, set()
        while self.file.at(number) in _MEMBER_MODIFIERS and self.file.at(number + 1) not in _AFTER_NAME:
            modifiers.add(self.file.at(number))
            number += 1
        name = self.file.at(number)
        if name[:1] in {'"', "'"}:
            name = name[1:-1]
        elif not _NAME.fullmatch(name):
            owner.is_open |= name == "[" and self.file.at(number + 2) in {":", "in"}
            called = self.made("function", owner.name, first, last)
            if name in {"(", "<"} and len(owner.calls) < _MOST_CALLS and self.call(called, number, last):
                owner.calls.append(called)
            return None
        if not name or name.startswith("_") or modifiers & {"private", "protected", "set"} or number >= last:
            owner.further.add(name)
            return None
        after = number + 2 if self.file.at(number + 1) in {"?", "!"} else number + 1
        made = self.made("property", name, first, last)
        if "get" not in modifiers and self.file.at(after) in {"(", "<"} and self.call(made, after, last):
            made.kind = "function"
        return made

    def enum_members(self, first: int, end: int) -> list[Declaration]:
        pieces = self.file.split(first, end, ",")
        return [
            self.made("property", self.file.at(begin).strip("\"'"), begin, last) for begin, last in pieces
        ]

    # -- modules --

    def block(
        self, first: int, number: int, end: int, depth: int, found: ModuleDeclarations
    ) -> tuple[Declaration | None, int] | None:
        """`namespace A.B { ... }`, `declare module "x" { ... }`, `declare global { ... }`."""
        word, name = self.file.at(number), self.file.at(number + 1)
        opening = number + 1
        while opening < end and self.words[opening] != "{":
            if self.words[opening] == ";" or opening > number + 12:
                return None
            opening += 1
        closing = self.file.closing.get(opening)
        if closing is None or closing > end:
            return None
        if word == "global" or depth > _DEEPEST:
            return None, closing + 1
        quoted = name[:1] in {'"', "'"}
        inner = self.statements(opening + 1, closing, inside=True, depth=depth + 1)
        if quoted:
            found.modules[name[1:-1]] = inner
            return None, closing + 1
        if not _NAME.fullmatch(name):
            return None, closing + 1
        made = self.made("namespace", name, first, opening)
        made.inner = inner
        return made, closing + 1

    def module_statement(self, number: int, last: int, found: ModuleDeclarations, *, exported: bool) -> None:
        """`import`, `export { ... }`, `export * ...`, `export =`."""
        words = [word for word in self.words[number:last] if word != ";"]
        source = next((word[1:-1] for word in reversed(words) if word[:1] in {'"', "'"}), None)
        if words[:1] == ["="]:
            if len(words) > 1:
                found.assigned = words[1]
        elif words[:1] == ["import"]:
            self.import_statement(words, source, found, exported=exported)
        elif words[:1] == ["*"]:
            if source is None:
                return
            if words[1:2] == ["as"]:
                found.reexports.append(Reexport(source, "*", words[2]))
            else:
                found.stars.append(source)
        else:
            self.note_names(number, last, found)
            for name, other in _named(words):
                if source is not None:
                    found.reexports.append(Reexport(source, name, other))
                elif other == "default":
                    found.assigned = found.assigned or name
                else:
                    found.exports[other] = name

    def note_names(self, first: int, last: int, found: ModuleDeclarations) -> None:
        """Note where `local as exported` stands."""
        for place in range(first + 2, last):
            if self.words[place - 1] == "as":
                exported = self.words[place]
                begin, end = self.file.starts[place - 2], self.file.starts[place] + len(exported)
                if "\n" not in self.file.text[begin:end]:
                    found.renamed.setdefault(exported, (self.file.line(place), self.file.text[begin:end]))

    def import_statement(
        self, words: list[str], source: str | None, found: ModuleDeclarations, *, exported: bool
    ) -> None:
        rest = [word for word in words[1:] if word != "type"] if words[1:2] == ["type"] else words[1:]
        if not rest:
            return
        if source is None:  # `import x = a.b`
            if exported and rest[1:2] == ["="] and len(rest) == 3:
                found.exports[rest[0]] = rest[2]
            return
        if rest[0] == "*" and rest[1:2] == ["as"]:
            found.imports[rest[2]] = source, "*"
            return
        if _NAME.fullmatch(rest[0]):
            found.imports[rest[0]] = source, "*" if "require" in rest else "default"
        for name, other in _named(rest):
            found.imports[other] = source, name


def _named(words: list[str]) -> list[tuple[str, str]]:
    """The pairs of `{ name, name as other }`."""
    if "{" not in words:
        return []
    end = words.index("}") if "}" in words else len(words)
    found: list[tuple[str, str]] = []
    current: list[str] = []
    for word in [*words[words.index("{") + 1 : end], ","]:
        if word != ",":
            current.append(word)
            continue
        if len(current) > 1 and current[0] == "type" and current[1] != "as":
            del current[0]
        if current:
            found.append((current[0], current[-1]))
        current = []
    return found
