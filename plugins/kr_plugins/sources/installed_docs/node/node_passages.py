"""An npm package turned into passages: one for each exported symbol and member, and each section of its texts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.toolkit import IndexedPassage
from kr_plugins.sources.installed_docs.node import options, tsdoc
from kr_plugins.sources.installed_docs.node.declarations import (
    MAX_LINES,
    DeclarationText,
    comment_examples,
    declaration_text,
)
from kr_plugins.sources.installed_docs.node.exported_types import MemberNames, listing, option_paths
from kr_plugins.sources.installed_docs.node.exports import major_of
from kr_plugins.sources.installed_docs.node.mentions import lead_to_sections
from kr_plugins.sources.installed_docs.node.options import default_in
from kr_plugins.sources.installed_docs.node.readmes import sections
from kr_plugins.sources.installed_docs.python import docstrings
from kr_plugins.sources.installed_docs.python.deprecation import folded
from kr_plugins.sources.installed_docs.python.references import recommended_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_plugins.sources.installed_docs.node.declarations import Declaration
    from kr_plugins.sources.installed_docs.node.exports import ExportedName, Exports, File
    from kr_plugins.sources.installed_docs.text_sections import TextFile

_MENTION = re.compile(
    r"([A-Za-z_$][\w$]*+)(?=[(.])|`\.?(?:[\w$]++\.)*+([A-Za-z_$][\w$]*+)(?:\([^`]*+)?`|[A-Za-z_$][\w$]*+"
)
_LONG_SIGNATURE = 14
"""Lines of a signature that are shown; a type of a hundred lines answers nothing."""
_MOST_REPLACED = 8
_MOST_OVERLOADS = 8
_MOST_CALLS = 4
"""Overloads without documentation that are shown with the first one."""
_MOST_PATHS = 4
_MOST_TAKEN = 2_000
"""The limit of types that functions take and a package does not export."""
_MOST_SHOWN = 40
"""Members of a type that are listed with it whole; of a longer one those without documentation."""
_IN_NAMESPACE = 0.6
_DEEPEST = 6
_SPOKEN = {
    "Application": ("app",), "Express": ("app",), "Hono": ("app",), "FastifyInstance": ("fastify", "app"),
    "Request": ("req",), "FastifyRequest": ("request", "req"), "HonoRequest": ("c.req", "req"), "Router": ("router",),
    "Response": ("res",), "FastifyReply": ("reply",), "Context": ("c", "ctx"),
}  # fmt: skip
"""What users call an instance of a type, by the convention of its kind of package."""
_CALLABLE = re.compile(r"[\w$ ]+\??:\s?(?:\(*[^;]{0,200}?=>|[\w.$]*(?:Handler|Matcher|Function|Fn|Method)\b)")
_LONGEST_TYPE = 400
_OPTION = re.compile(
    r"@param\s++(?:\{[^}]*+\}\s*+)?+\[?+[\w$.]++(?:=(\[[^\]]*+\]|[^\]\s]++))?+\]?+\s*+(?:-\s*+)?+(.*)$"
)
"""`@param {boolean} [options.sealed=false] Whether ...`: the default, and the text beside it."""
_TYPED = re.compile(r"(?:readonly\s++)?+[\w$]++\??+:\s*+([A-Z][\w$.]*+)(?:\s*+<|;?+$)")
"""A property whose type is named: `whereIn: WhereIn<TRecord, TResult>;`."""
_TYPE_NAME = re.compile(r"(?<![\w$.'\"])[A-Z][\w$]*+")
_MAJOR = re.compile(r"v(\d{1,4})(?![\w.])")
_MOST_TAKEN_OVER = 50_000
"""Types and members that the types of one package take over from those that nothing exports; a long member counts more."""
_LONG_MEMBER = 200
_LONGEST_NAME = 300
_LONGEST_SIGNATURE = 5_000
_MAX_CONTEXT = 300
_CALLED = frozenset({"function", "class"})
_NO_VALUE = frozenset({"{}", "undefined"})
"""Defaults of a parameter that say nothing of it."""
_WORD = re.compile(r"[\w$]+")


class _Scope(NamedTuple):
    """Where a declaration stands."""

    file: File
    subpath: str
    context: str = ""
    """What the type that it is a member of is about."""
    namespace: str = ""
    """The namespace that holds it; empty for none."""


class PassageMaker:
    """Makes the passages of one package.

    Args:
        exports: what the package offers.
        texts: its README and further texts.
    """

    def __init__(self, exports: Exports, texts: Sequence[TextFile]) -> None:
        self.exports = exports
        self.offered = list(exports.offered())
        self.defaults = {each.name for each in self.offered if each.default}
        self.texts = texts
        self.name_of = {each.key: each.name for each in reversed(self.offered)}
        self.named = self.name_of.keys()
        self.member_names = MemberNames(exports)
        self.by_name: dict[str, list[ExportedName]] = {}
        for each in self.offered:
            self.by_name.setdefault(each.name, []).append(each)
        self.mentions = self._count_mentions()
        self.instances = self._find_instances()
        self.paths = option_paths(exports, self.offered)
        self.made: set[tuple[str, str, int]] = set()
        self.taken_over = 0
        self.listed: dict[str, tuple[_Scope, Declaration]] = {}
        """What is not exported and has the values of an option as its members."""

    def all(self) -> Iterator[IndexedPassage]:
        """Symbols first, so that they win where a name is looked up, then texts and `package.json`."""
        found = [passage for each in self.offered for passage in self.of(each)]
        found += [passage for taken in self.taken_types() for passage in self.taken(*taken)]
        found += [passage for taken in self.listed.values() for passage in self.taken(*taken)]
        yield from with_takers(list(with_replacements(found)))
        members = self.bare_members()
        texts = [passage for text in self.texts for passage in options.named(list(sections(text)), members)]
        yield from lead_to_sections(found, texts)

    def bare_members(self) -> dict[str, set[str]]:
        """Of each exported type, also in a namespace, the members that have no documentation of their own."""
        found: dict[str, set[str]] = {}
        for each in self.offered:
            declared = [(each.name, one) for one in each.declarations]
            declared += [
                (f"{each.name}.{name}", one)
                for outer in each.declarations
                if outer.inner is not None
                for name, inner in outer.inner.declarations.items()
                for one in inner
            ]
            for name, one in declared:
                if one.kind in {"interface", "type"}:
                    bare = (member.name for member in one.members if not member.comment)
                    found.setdefault(name, set()).update(bare)
        return found

    def _count_mentions(self) -> Counter[str]:
        """How often the code of the texts has each name: a measure of use."""
        return Counter(
            name for text in self.texts for match in _MENTION.findall(text.text) for name in match if name
        )

    def _find_instances(self) -> dict[tuple[str, int], list[str]]:
        """Exported objects of a declared type: `axios.get` is how `Axios.get` is called.

        The key is where the type is declared; what it extends counts too.
        """
        found: dict[tuple[str, int], list[str]] = {}
        for each in self.offered:
            kinds = [(each.file, one.type_name) for one in each.declarations if one.type_name]
            made = [_made_by(each.name, one) for one in each.declarations if each.default]
            kinds += [(each.file, name) for name in made if name]
            seen: set[tuple[str, int]] = set()
            for depth in range(_DEEPEST):
                following = []
                for file, name in kinds:
                    known = self.exports.local(file, name) if name else None
                    for one in known.declarations if known else ():
                        if known is None or one.kind not in {"class", "interface", "type"}:
                            continue
                        place = known.file.locator, one.line
                        found.setdefault(place, []).append(each.name)
                        if place not in seen:  # what is a base of many is followed once
                            seen.add(place)
                            following += [(known.file, base) for base in one.bases]
                kinds = following if depth < _DEEPEST else []
        return found

    # -- symbols --

    def of(self, each: ExportedName) -> Iterator[IndexedPassage]:
        """The passages of one export: itself, its members, and what its namespace holds."""
        members = self.member_names.of(self.by_name[each.name])
        each = self.exports.documented(each)
        scope = _Scope(each.file, each.subpath)
        for passage in self.group(scope, each.name, each.declarations, each.aliases):
            named = passage
            if passage.symbol == each.name:
                told = {} if members is None else {"members": sorted(members)}
                named = _renamed(passage, each)
                named = named._replace(data={**named.data, **told})
            if "." in each.name:  # `core.regexes.email`: users write the shorter name beside it
                named = named._replace(prior=round(named.prior * _IN_NAMESPACE, 4))
            yield named if _says_its_name(named) else named._replace(kind="page", symbol=None)

    def taken_types(self) -> Iterator[tuple[_Scope, Declaration]]:
        """The types that exported functions take and nothing exports: users meet their members as options."""
        asked: set[tuple[str, str]] = set()
        taken = (
            (each, parameter.type_name)
            for each in self.offered
            for one in each.declarations[:_MOST_OVERLOADS]
            for parameter in one.parameters
            if parameter.type_name
        )
        for each, name in taken:
            if len(asked) >= _MOST_TAKEN:
                return
            if (each.file.locator, name) in asked:
                continue
            asked.add((each.file.locator, name))
            known = self.exports.local(each.file, name)
            if known is None or known.key in self.named:
                continue
            for declared in known.declarations[:_MOST_OVERLOADS]:
                if declared.members and declared.kind in {"interface", "type"}:
                    yield _Scope(known.file, each.subpath), declared

    def taken(self, scope: _Scope, one: Declaration) -> Iterator[IndexedPassage]:
        """The passages of a type that is not exported, behind those of any other."""
        for passage in self.group(scope, one.name, [one], ()):
            yield passage._replace(prior=round(passage.prior * _IN_NAMESPACE, 4))

    def group(
        self, scope: _Scope, name: str, declarations: Iterable[Declaration], aliases: Sequence[str]
    ) -> Iterator[IndexedPassage]:
        """The passages of what has one name; of overloads those that say something of their own."""
        is_short = len(name) <= _LONGEST_NAME
        listed = [one for one in declarations if is_short and not (one.comment and one.comment.hidden)]
        told = [one for one in listed if one.comment and one.comment.prose]
        shown = told or [one for one in listed if one.kind != "namespace"][:1]
        said = self.deprecation(listed)
        if not told and len(listed) > 1 and shown and shown[0].kind == "function":
            others = [one for one in listed[1:] if one.kind == "function"][:_MOST_CALLS]
            shown = [replace(shown[0], calls=[*shown[0].calls, *others])]
        scripted = self.exports.scripted(self.written([name, *aliases]), listed) if listed else None
        for one in shown:
            place = (scope.file.locator, name, one.line)
            if place not in self.made:
                self.made.add(place)
                if scripted and not told and scripted[1].comment and scripted[1].comment.prose:
                    passage = self.symbol(
                        scope._replace(file=scripted[0]), name, _told_by(one, scripted[1]), aliases
                    )
                else:
                    passage = self.symbol(scope, name, one, aliases)
                if said:
                    data = {**passage.data, "deprecated": said}
                    passage = passage._replace(prior=round(passage.prior * 0.6, 4), data=data)
                yield passage
                yield from self.all_options(scope, name, one, scripted)
        for one in listed:
            if one.inner is not None and name.count(".") < _DEEPEST:
                within = scope._replace(namespace=one.name)
                for inner, declared in one.inner.declarations.items():
                    yield from self.group(within, f"{name}.{inner}", declared, _within(aliases, inner))
            yield from self.members(scope, name, one, one, aliases)
            for file, inherited in self.inherited(scope.file, one):
                yield from self.members(scope._replace(file=file), name, inherited, one, aliases)

    def written(self, names: Sequence[str]) -> list[str]:
        """How a script may call what has these names: `debounce` for `lodash.debounce`."""
        bare = [name.partition(".")[2] for name in names if name.partition(".")[0] in self.defaults]
        return list(dict.fromkeys((*names, *filter(None, bare))))

    def all_options(
        self, scope: _Scope, name: str, one: Declaration, scripted: tuple[File, Declaration] | None
    ) -> Iterator[IndexedPassage]:
        """The options of a function as its declaration tells them, and as a script does where that says more."""
        declared = {passage.symbol: passage for passage in self.told_options(scope, name, one)}
        if scripted:
            for passage in self.told_options(scope._replace(file=scripted[0]), name, scripted[1]):
                known = declared.get(passage.symbol)
                if (passage.symbol or "").rpartition(".")[2] in self.by_name:
                    continue  # `WebSocket`, an option of the server, is hardly what users mean by that name
                if known is None or ("default" in passage.data and "default" not in known.data):
                    declared[passage.symbol] = passage
        yield from declared.values()

    def told_options(self, scope: _Scope, name: str, one: Declaration) -> Iterator[IndexedPassage]:
        """The options that the comment of a function lists: `@param {number} [options.maxWait]`, each by its own name.

        So are parameters with a default, which no signature of a declaration file has.
        """
        for path, lines in one.comment.parameters if one.comment and one.kind in _CALLED else ():
            found = _OPTION.match(lines[0].text)
            is_option = "." in path or (found and found[1] and found[1] not in _NO_VALUE)
            if not is_option or path.count(".") > 2:
                continue
            said = [line.text for line in lines[1:]]
            said = [*([found[2]] if found and found[2] else []), *said]
            text = DeclarationText(lines[0].text, lines[0].number)
            text.add(lines[1:])
            last = path.rpartition(".")[2]
            yield IndexedPassage(
                kind="symbol", title=f"{name}.{last}", text=str(text), locator=f"{scope.file.locator}:{lines[0].number}",
                symbol=f"{name}.{last}", name=f"{name.replace('.', ' ')} {last}", lead=docstrings.lead(said),
                prose="\n".join(said), words="options", prior=self.prior(path, one, 0.7),
                data={
                    "lines": text.runs, "signature": lines[0].text, "what": "attribute", "public": True,
                    "parameters": [], "required": [], "aliases": [f"{name}.{path}"] if "." in path else [], "see": [name],
                    **({"default": found[1]} if found and found[1] else {}),
                    **self.origin(scope.file),
                },
            )  # fmt: skip

    def deprecation(self, listed: Sequence[Declaration]) -> str:
        """The text of `@deprecated`, if each way to call has the tag; one overload does not deprecate the others."""
        told = [one.comment for one in listed if one.kind != "namespace"]
        if not told or not all(comment and comment.deprecated for comment in told):
            return ""
        lines = [line.text for comment in told[:1] if comment for line in comment.deprecation]
        said = folded(lines).partition("@deprecated")[2].strip()
        return "" if "not deprecated" in said else said or "@deprecated"

    def inherited(self, file: File, one: Declaration) -> Iterator[tuple[File, Declaration]]:
        """What a type is made of and nothing exports by a name of its own: its members are then the type's."""
        made_of = (*one.bases, *([one.type_name] if one.type_name else []))
        waiting, seen = [(file, base, 0) for base in made_of], {(file.path, one.line)}
        while waiting and self.taken_over <= _MOST_TAKEN_OVER:
            here, name, depth = waiting.pop(0)
            known = self.exports.local(here, name)
            self.taken_over += 1
            if known is None or known.key in self.named or known.key in seen or depth > _DEEPEST:
                continue
            seen.add(known.key)
            for declaration in known.declarations:
                self.taken_over += sum(map(_size, declaration.members))
                if self.taken_over > _MOST_TAKEN_OVER:
                    return
                if declaration.kind in {"class", "interface", "type"}:
                    yield known.file, declaration
                    waiting += [(known.file, base, depth + 1) for base in declaration.bases]

    def members(
        self, scope: _Scope, name: str, declaring: Declaration, owner: Declaration, aliases: Sequence[str]
    ) -> Iterator[IndexedPassage]:
        """The methods of a class or interface, and those properties that are documented; `owner` may inherit them."""
        called = self.instances.get((scope.file.locator, declaring.line), [])[:4]
        paths = self.paths.get((scope.file.locator, declaring.line), [])[:_MOST_PATHS]
        told = owner.comment or declaring.comment
        context = docstrings.lead([line.text for line in told.prose])[:_MAX_CONTEXT] if told else ""
        inside = scope._replace(context=context)
        groups: dict[str, list[Declaration]] = {}
        for one in (self._callable(scope, each) for each in declaring.members):
            is_told = one.kind == "function" or one.comment or _is_called(one)
            if one.name != "constructor" and (is_told or self.lists_values(scope, one)):
                groups.setdefault(one.name, []).append(one)
        for member, declarations in groups.items():
            names = [f"{name}.{member}", *(f"{other}.{member}" for other in called)]
            if (called and owner.kind != "class") or self._is_default(called):
                names = [*names[1:], names[0]]
            elif paths:
                names = [*_within(paths, member), *names]
            spoken = _within(_SPOKEN.get(name.rpartition(".")[2], ()), member)
            first, *others = dict.fromkeys([*names, *spoken, *_within(aliases, member)])
            yield from self.group(inside, first, declarations, others)

    def _callable(self, scope: _Scope, one: Declaration) -> Declaration:
        """A property as the function that its type makes of it: `whereIn: WhereIn<T>`, where one calls a `WhereIn`."""
        typed = _TYPED.match(one.signature[:_LONGEST_TYPE]) if one.kind == "property" else None
        if typed is None:
            return one
        name = typed[1]
        for written in (f"{scope.namespace}.{name}", name) if scope.namespace else (name,):
            known = self.exports.local(scope.file, written)
            calls = [call for each in known.declarations for call in each.calls] if known else []
            if known is not None and calls and known.file.path == scope.file.path:
                return replace(
                    one,
                    kind="function",
                    parameters=calls[0].parameters,
                    returns=calls[0].returns,
                    calls=calls,
                )
        return one

    def _is_default(self, names: Sequence[str]) -> bool:
        return not self.defaults.isdisjoint(names)

    def symbol(self, scope: _Scope, name: str, one: Declaration, aliases: Sequence[str]) -> IndexedPassage:
        comment = one.comment or tsdoc.TSDocComment()
        signature = _shortened(one.signature)
        own = [member for member in one.members if member.kind == "property"]
        bare = [member for member in own if not member.comment]
        listed = own if one.kind in {"interface", "type"} and len(own) <= _MOST_SHOWN else bare[:MAX_LINES]
        listed = [*listed, *one.calls]
        language = "js" if scope.file.path.suffix.endswith("js") else "ts"
        text = declaration_text(signature, one, comment, listed, language)
        prose = [line.text for line in (*comment.prose, *comment.default)]
        described = [line.text for _name, lines in comment.parameters for line in lines]
        return IndexedPassage(
            kind="symbol",
            title=f"{name} ({self.exports.package.name}/{scope.subpath})" if scope.subpath else name,
            text=str(text),
            locator=f"{scope.file.locator}:{one.line}",
            symbol=name,
            name=" ".join([name.replace(".", " "), *(alias.rpartition(".")[2] for alias in aliases[:2])]),
            lead=docstrings.lead(prose or [line.text.replace("@deprecated", "") for line in comment.deprecation]),
            code=comment_examples(comment),
            prose="\n".join([*prose, *described, *(member.signature for member in bare)]),
            words=" ".join([
                scope.subpath.replace("/", " "), scope.context.partition(". ")[0],
                *(parameter.name for parameter in one.parameters),
            ]),
            prior=self.prior(name, one, self.nearness(scope.subpath)),
            data={
                "lines": text.runs,
                "signature": signature,
                **_called(one, signature),
                **_default(one, prose),
                **_options_of(one, listed),
                **self.types_of(scope.file, one),
                "aliases": list(aliases),
                "public": True,
                **self.origin(scope.file),
            },
        )  # fmt: skip

    def lists_values(self, scope: _Scope, one: Declaration) -> bool:
        """Whether the type of a property lists its values; what has them as its members is read too."""
        for chain in self.listings(scope.file, one):
            for file, declared in chain[1:]:
                if (file.path, declared.line) not in self.named:
                    self.listed.setdefault(declared.name, (scope._replace(file=file), declared))
            return True
        return False

    def listings(self, file: File, one: Declaration) -> Iterator[list[tuple[File, Declaration]]]:
        """Of each type that the declaration of a property names, how it lists its values, if it does."""
        for name in _types_named(one):
            chain = listing(self.exports, file, name)
            if chain:
                yield chain

    def types_of(self, file: File, one: Declaration) -> dict[str, Any]:
        """The exported types that the declaration of a property names, and what has the values of one as its members."""
        known = (self.exports.local(file, name) for name in _types_named(one))
        types = [
            self.name_of[found.key] for found in known if found is not None and found.key in self.name_of
        ]
        for chain in self.listings(file, one):
            types += [self.name_of.get((there.path, each.line), each.name) for there, each in chain]
        return {"types": list(dict.fromkeys(types))} if types else {}

    def origin(self, file: File) -> dict[str, Any]:
        """The address of another package (`@types/express`, what is re-exported); the version stays the one that is asked about."""
        own = self.exports.package
        if file.package.folder == own.folder:
            return {}
        late = file.package.name.startswith("@types/") and major_of(file.package.version) != major_of(
            own.version
        )
        return {"url": file.package.url, **({"version": file.package.version} if late else {})}

    def nearness(self, subpath: str) -> float:
        """How near what one imports is to what most users do; an older major that is still shipped is far (`zod/v3`)."""
        older = _MAJOR.match(subpath)
        ours = major_of(self.exports.package.version)
        if older and ours is not None and int(older[1]) < ours:
            return 0.4
        return 0.8 if subpath else 1.0

    def prior(self, name: str, one: Declaration, base: float) -> float:
        """How likely any user is to ask for a declaration: documented, callable, often used in the README."""
        if one.comment is None or not one.comment.prose:
            base *= 0.65
        if name.startswith("$"):  # what a package is made of, as in `zod`
            base *= _IN_NAMESPACE
        if one.kind in {"interface", "type", "namespace"}:
            base *= 0.8
        elif one.kind in {"property", "constant", "enum"}:
            base *= 0.9
        use = min(1.0, log2(1 + self.mentions[name.rpartition(".")[2]]) / 6)
        return round(base * (0.8 + 0.2 * use), 4)


def with_replacements(passages: Sequence[IndexedPassage]) -> Iterator[IndexedPassage]:
    """The same passages; those of something deprecated name what replaces it, where the package offers that."""
    offered: dict[str, str] = {}
    replaced: dict[str, list[str]] = {}
    marked: list[IndexedPassage] = []
    for passage in passages:
        for name in (passage.symbol, *passage.data.get("aliases", ())):
            if name and passage.symbol and "deprecated" not in passage.data:
                offered.setdefault(name, passage.symbol)
    for passage in passages:
        said, owner = passage.data.get("deprecated"), (passage.symbol or "").rpartition(".")[0]
        named = recommended_names(said) if said else []
        meant = [offered.get(f"{owner}.{name}") or offered.get(name) for name in named]
        found = next((one for one in meant if one and one != passage.symbol), None)
        if found:
            replaced.setdefault(found, []).append(passage.symbol or "")
        marked.append(passage._replace(data={**passage.data, "replacement": found}) if found else passage)
    for passage in marked:
        before = replaced.get(passage.symbol or "", ())[:_MOST_REPLACED]
        yield (
            passage._replace(words=f"{passage.words} {' '.join(before)}".replace(".", " "))
            if before
            else passage
        )


def with_takers(passages: Sequence[IndexedPassage]) -> Iterator[IndexedPassage]:
    """The same passages; the options of a type lead to the first documented function that takes it."""
    takers: dict[str, str] = {}
    for passage in passages:
        if passage.data.get("what") == "function" and passage.lead and passage.symbol:
            for name in passage.data.get("types", ()):
                takers.setdefault(name, passage.symbol)
    for passage in passages:
        owner = (passage.symbol or "").rpartition(".")[0]
        taker = takers.get(owner) if passage.data.get("what") == "attribute" else None
        yield passage._replace(data={**passage.data, "see": [taker]}) if taker else passage


def _told_by(one: Declaration, told: Declaration) -> Declaration:
    """A declaration as a script documents it; its listed members lie in another file."""
    return replace(one, line=told.line, signature=told.signature, comment=told.comment, members=[], calls=[])


def _made_by(name: str, one: Declaration) -> str:
    """The type of what a function of the same name makes: `knex()` makes a `Knex`, which users call `knex` too."""
    made = _WORD.match(one.returns or "") if one.kind == "function" else None
    return made[0] if made and made[0].lower() == name.lower() else ""


def _types_named(one: Declaration) -> list[str]:
    """The types that the declaration of a property names."""
    if one.kind != "property":
        return []
    declared = one.signature[:_LONGEST_TYPE].partition(":")[2]
    return list(dict.fromkeys(_TYPE_NAME.findall(declared)))[:_MOST_OVERLOADS]


def _is_called(one: Declaration) -> bool:
    """Whether a property is a function by its type: `use: ApplicationRequestHandler<this>`."""
    return _CALLABLE.match(one.signature[:_LONGEST_TYPE]) is not None


def _called(one: Declaration, signature: str) -> dict[str, Any]:
    """How a declaration is called, if it can be."""
    is_callable = one.kind == "function"
    named = [each for each in one.parameters if each.name]
    return {
        "what": "function" if is_callable else "attribute",
        "required": [each.name for each in named if each.required],
        "parameters": [("..." * each.rest + each.name, None) for each in named] if is_callable else [],
        "returns": one.returns if is_callable and one.returns and one.returns in signature else None,
    }


def _options_of(one: Declaration, listed: Sequence[Declaration]) -> dict[str, Any]:
    """The types that a callable takes, and the members of a type."""
    if one.kind == "function":
        types = dict.fromkeys(parameter.type_name for parameter in one.parameters if parameter.type_name)
        return {"types": list(types)[:_MOST_OVERLOADS]} if types else {}
    is_type = one.kind in {"interface", "type", "constant"} and listed
    return {"parameters": [(member.name, None) for member in listed]} if is_type else {}


def _default(one: Declaration, said: Sequence[str]) -> dict[str, Any]:
    """The default of a property, if its documentation tells one."""
    value = default_in("\n".join(said)) if one.kind == "property" else None
    return {"default": value} if value is not None else {}


def _renamed(passage: IndexedPassage, each: ExportedName) -> IndexedPassage:
    """A passage with the words that give its symbol the name it is exported by, where they stand in the same file."""
    if each.renamed is None or each.renamed[0].locator != each.file.locator:
        return passage
    _file, line, words = each.renamed
    lines = passage.text.count("\n") + 1
    runs = [*passage.data["lines"], [lines, line - 1]]
    return passage._replace(text=f"{passage.text}\n```ts\n{words}\n```", data={**passage.data, "lines": runs})


def _says_its_name(passage: IndexedPassage) -> bool:
    """Whether the symbol's name stands in the passage; a default export may have none of its own."""
    return (passage.symbol or "").rpartition(".")[2] in _WORD.findall(passage.text)


def _within(names: Iterable[str], member: str) -> tuple[str, ...]:
    return tuple(f"{name}.{member}" for name in names)


def _shortened(signature: str) -> str:
    lines = signature.split("\n")
    return "\n".join(lines[:_LONG_SIGNATURE])[:_LONGEST_SIGNATURE]


def _size(member: Declaration) -> int:
    """1, and more for a member of many characters."""
    comment = member.comment or tsdoc.TSDocComment()
    parts = [comment.prose, comment.deprecation, *(lines for _name, lines in comment.parameters)]
    parts += [example.lines for example in comment.examples]
    said = sum(len(line.text) for lines in parts for line in lines)
    return 1 + (len(member.signature) + said) // _LONG_MEMBER
