"""Definitions turned into passages: one for each symbol, each parameter and each section.

Clones (the same documentation under many names) become one passage that names the others, and "See X" is
followed, so that five copies of a pointer never crowd out what it points to.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING, Any

from kr_core.toolkit import IndexedPassage, allowed_values
from kr_plugins.sources.installed_docs.code_blocks import code_blocks
from kr_plugins.sources.installed_docs.compound_words import joined_words, spread
from kr_plugins.sources.installed_docs.duplicates import MAX_SITES, collapse, shown_name
from kr_plugins.sources.installed_docs.parameters import (
    ParameterDoc,
    advises_against,
    declared_values,
    described_outside,
    description,
    documented_parameters,
    misnamed_parameters,
    site_of,
    takes_no_other,
    with_site,
)
from kr_plugins.sources.installed_docs.python import deprecation, docstrings
from kr_plugins.sources.installed_docs.python.keywords import ArgumentTakers, owner_of
from kr_plugins.sources.installed_docs.python.references import Links, Replacements, recommended_names
from kr_plugins.sources.installed_docs.python.symbol_text import MAX_TEXT, deprecation_lines, symbol_text
from kr_plugins.sources.installed_docs.reading_budget import BudgetSpent
from kr_plugins.sources.installed_docs.text_sections import TextFile, text_passages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module, Parameter
    from kr_plugins.sources.installed_docs.python.deprecation import Deprecation
    from kr_plugins.sources.installed_docs.python.public_names import PublicName, PublicNames
    from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

_MENTION = re.compile(
    r"([A-Za-z_]\w*+)(?=\()|`~?\.?(?:\w++\.)*+([A-Za-z_]\w*+)(?:\(\))?`|\b([a-z_]\w*+)=|[A-Za-z_]\w*+"
)
_OLD = re.compile(r"\.(?:v1|legacy|deprecated|compat|_?compatibility)\.")
_INSTANCE = re.compile(r"([A-Za-z_][\w.]*+)\(")
_CALLED = re.compile(r"[A-Za-z_][\w.]*+\([^()]*?\w\s*+=\s*+[\w\"'\[{(]")
"""A call with an argument by name: `html = create_markdown(plugins=["table"])` shows how it is given."""
_OF_TOP_CLASS = 2
"""Dots in the name of a member of a class that the package itself offers: `flask.Request.form`."""
_MAX_CONTEXT = 500
"""Characters of what a class, a module or a function says first, by which its members are found too."""
_MOST_FORWARDED = 100
"""Functions that pass their arguments on to the same callable, and are named beside its parameters."""
_MAX_LINES = 500
"""Lines of the description of one parameter."""


def make(
    modules: Mapping[str, Module],
    names: PublicNames,
    budget: ReadingBudget,
    texts: Sequence[TextFile] = (),
    limited: Callable[[Iterator[IndexedPassage]], Iterator[IndexedPassage]] = iter,
) -> list[IndexedPassage]:
    """Make the passages of a distribution that the budget allows, and collapse clones; `limited` may leave some out."""
    try:
        maker = budget.portion(lambda: _Maker(modules, names, texts))
    except BudgetSpent:
        budget.left_out.append("all definitions")
        maker = _Maker({}, names, ())
    made = list(limited(maker.all(budget.half(), texts)))
    try:
        return budget.portion(lambda: _collapsed(maker, made))
    except BudgetSpent:
        return made


def _collapsed(maker: _Maker, made: Sequence[IndexedPassage]) -> list[IndexedPassage]:
    passages = [maker.with_pointers(passage) for passage in collapse(made)]
    split = joined_words(passages)
    return [passage._replace(name=spread(passage.name, split)) for passage in passages]


class _Maker:
    def __init__(self, modules: Mapping[str, Module], names: PublicNames, texts: Sequence[TextFile]) -> None:
        self.modules = modules
        self.names = names
        self.texts = texts
        self.links = Links(modules, names)
        self.takers = ArgumentTakers(modules, names, self.links)
        self.replacements = Replacements(modules, names)
        self.mentions = self._count_mentions()
        self.pointers: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        self.forwarded: Counter[str] = Counter()
        """How many functions pass their arguments on to each callable."""
        self.described: dict[tuple[str, str], frozenset[str]] = {}
        """The parameters that the documentation of each callable describes."""

    def with_pointers(self, passage: IndexedPassage) -> IndexedPassage:
        """Name the functions whose documentation points here for this parameter ("See `httpx.request`")."""
        pointing = self.pointers.get((passage.symbol or "", passage.parameter or ""))
        if not pointing:
            return passage
        sites = [*pointing, *passage.data.get("sites", [])][:MAX_SITES]
        shown = " ".join([passage.words, *(shown_name(site["symbol"]) for site in sites)])
        return passage._replace(
            words=shown, data={**passage.data, "sites": sites, "also": [site["symbol"] for site in sites]}
        )

    def all(self, budget: ReadingBudget, texts: Sequence[TextFile]) -> Iterator[IndexedPassage]:
        """The passages of all modules and texts, of each as many as the budget allows."""
        for module in self.modules.values():
            yield from budget.up_to(module.path, self.of_module(module))
        for text in texts:
            yield from budget.up_to(text.path, text_passages(text))

    def of_module(self, module: Module) -> Iterator[IndexedPassage]:
        """The passages of a module and of what it defines."""
        if module.origin is None:
            yield from self.module(module)
        for definition in module.definitions.values():
            found = self.definition(module, definition)
            if module.origin is None:
                yield from found
            elif self.hands_on(module, definition):
                yield from (_of_dependency(passage, *module.origin) for passage in found)

    def hands_on(self, module: Module, definition: Definition) -> bool:
        """Whether something that a dependency defines has a name of the package's own, or is inherited by a class on its top."""
        name = self.names.of(definition).name
        top = module.definitions.get(definition.qualname.partition(".")[0], definition)
        if not self.names.is_own(name):
            return False
        return self.names.is_own(self.names.of(top).name) or name.count(".") == _OF_TOP_CLASS

    def _count_mentions(self) -> Counter[str]:
        """How often each identifier occurs in code and backticks of the documentation: a measure of use."""
        counter: Counter[str] = Counter()
        docs = [
            definition.doc for module in self.modules.values() for definition in module.definitions.values()
        ]
        docs += [module.doc for module in self.modules.values()]
        for doc in docs:
            if doc is not None:
                counter.update(
                    {name for match in _MENTION.findall("\n".join(doc.lines)) for name in match if name}
                )
        for text in self.texts:
            counter.update(name for match in _MENTION.findall(text.text) for name in match if name)
        return counter

    # -- modules --

    def module(self, module: Module) -> Iterator[IndexedPassage]:
        if module.doc is None or len(" ".join(module.doc.lines).split()) < 8:
            return
        private = any(part.startswith("_") for part in module.name.split("."))
        text = TextFile(module.name, module.path, "\n".join(module.doc.lines), module.doc_line)
        for passage in text_passages(text, docstring=True):
            yield passage._replace(
                prior=0.55 if private else 0.85,
                symbol=module.name,
                name=f"{module.name.rpartition('.')[2]} {passage.name}",
            )

    # -- symbols --

    def definition(self, module: Module, definition: Definition) -> Iterator[IndexedPassage]:
        definition = self.as_called(definition)
        naming = self.names.of(definition)
        name = definition.name
        dunder = name.startswith("__") and name.endswith("__")
        if dunder and name not in {"__call__", "__enter__", "__aenter__"}:
            return
        is_handed = (definition.module, definition.qualname) in self.takers.handed
        if not (naming.public or is_handed) and definition.doc is None and definition.kind != "constant":
            return
        if definition.kind in {"attribute", "constant"} and definition.doc is None:
            meant = self.names.resolve(definition.module, definition.qualname)
            is_alias = meant is not None and meant.kind in {"function", "class"}
            if not is_alias and (definition.kind == "constant" or not naming.public):
                yield self.constant(definition, naming)
            return
        prior = self.prior(definition, naming)
        doc = definition.doc
        text, lines = symbol_text(definition)
        links = self.links.spoken_of(module, definition)
        yield IndexedPassage(
            kind="symbol",
            title=naming.name,
            text=text,
            locator=f"{definition.path}:{definition.line}",
            symbol=naming.name,
            name=shown_name(naming.name),
            lead=doc.lead if doc else definition.deprecated.said if definition.deprecated else "",
            code=_code_in(text, doc),
            prose="\n".join([*(doc.lines if doc else ()), *deprecation_lines(definition)]),
            words=" ".join(
                [
                    _context(owner_of(module, definition), module),
                    *(parameter.name for parameter in definition.parameters),
                ]
            ),
            prior=prior,
            data={
                "lines": lines,
                "what": definition.kind,
                "signature": definition.signature,
                "required": [parameter.name for parameter in definition.parameters if parameter.required],
                "parameters": [
                    (
                        f"{parameter.star}{parameter.name}",
                        parameter.default,
                    )
                    for parameter in definition.parameters
                    if parameter.source
                ],
                "returns": definition.returns,
                "default": definition.short_value if definition.kind == "constant" else None,
                **({"body": lines[-1][0]} if definition.body[1] else {}),
                **self.takers.keywords(definition),
                **self.takers.takers(definition),
                "aliases": list(naming.also),
                "public": naming.public,
                "see": self.links.see(module, definition),
                **links,
                **self.deprecated(definition),
            },
        )
        yield from self.parameters(module, definition, naming, prior)

    def as_called(self, definition: Definition) -> Definition:
        """A constant that holds an instance which is called (`fail = _Fail()`) as the function that it serves as."""
        if definition.kind != "constant" or definition.doc is not None:
            return definition
        made = _INSTANCE.match(definition.value or "")
        cls = self.names.resolve(definition.module, made[1]) if made else None
        call = self.modules[cls.module].definitions.get(f"{cls.qualname}.__call__") if cls else None
        if cls is None or call is None or (call.doc or cls.doc) is None:
            return definition
        documented = call if call.doc is not None else cls
        return replace(
            call,
            module=definition.module,
            qualname=definition.qualname,
            doc=documented.doc,
            doc_line=documented.doc_line,
        )

    def deprecated(self, definition: Definition) -> dict[str, str]:
        """The note of a symbol's deprecation, and the public name of its replacement."""
        said = definition.deprecated
        if said is None:
            return {}
        replacement = self.replacements.of(definition, said.said)
        return {"deprecated": said.said, **({"replacement": replacement} if replacement else {})}

    def deprecated_parameter(
        self, definition: Definition, name: str, parameter: Parameter | None, doc: ParameterDoc
    ) -> Deprecation | None:
        """What the signature, a decorator, a warning or the documentation says of the deprecation of a parameter."""
        said = parameter.deprecated if parameter is not None else None
        if said is None and doc.lines and "eprecated" in "\n".join(doc.lines):
            said = deprecation.in_description(doc.lines, name, description(doc.lines, doc.type_text, name))
        if said is None or said.instead:
            return said
        names = {one.name for one in definition.parameters if one.source} - {name}
        new = next((one for one in recommended_names(said.said) if one in names), "")
        return said._replace(instead=new)

    def standing(self, definition: Definition) -> float:
        """How public the place of a public definition is: re-exported by a package, in a module of its own, or in a module that the package itself is made of."""
        top = self.modules[definition.module].definitions.get(
            definition.qualname.partition(".")[0], definition
        )
        if self.names.is_offered(top):
            return 1.0
        return 0.88 if self.names.is_part(definition.module) else 0.95

    def prior(self, definition: Definition, naming: PublicName) -> float:
        """How likely any user is to ask for a definition; public, documented, near the top, much mentioned."""
        depth = naming.name.count(".") - (1 if "." in definition.qualname else 0)
        base = self.standing(definition) if naming.public else 0.4
        if definition.doc is None:
            base *= 0.65
        if definition.kind in {"attribute", "constant"}:
            base *= 0.85
        owner = owner_of(self.modules[definition.module], definition)
        if definition.deprecated or (owner and owner.deprecated) or _OLD.search(naming.name):
            base *= 0.6
        if definition.doc is not None and advises_against("\n".join(definition.doc.lines)):
            base *= 0.6
        use = min(1.0, log2(1 + self.mentions[definition.name]) / 6)
        return round(base * (0.8 + 0.2 * use) * (0.97 ** max(0, depth - 1)), 4)

    def constant(self, definition: Definition, naming: PublicName) -> IndexedPassage:
        said = self.deprecated(definition)
        return IndexedPassage(
            kind="constant",
            title=naming.name,
            text=definition.signature,
            locator=f"{definition.path}:{definition.line}",
            symbol=naming.name,
            name=shown_name(naming.name),
            code=(definition.signature,) if naming.public and _CALLED.match(definition.value or "") else (),
            prior=0.5 if naming.public else 0.3,
            data={
                "lines": [[0, definition.line]],
                "what": definition.kind,
                "public": naming.public,
                "default": definition.short_value,
                **said,
            },
        )

    # -- parameters --

    def parameters(
        self, module: Module, definition: Definition, naming: PublicName, prior: float
    ) -> Iterator[IndexedPassage]:
        documented = documented_parameters(module, definition)
        signature = {parameter.name: parameter for parameter in definition.parameters}
        pointed = self.links.targets(module, definition) if not documented else []
        misnamed = misnamed_parameters(list(documented), definition)
        for said, (entry, written) in documented.items():
            assert written.doc is not None
            name = misnamed.get(said, said)
            parameter = signature.pop(name, None)
            if parameter is None and (takes_no_other(definition) or entry.is_attribute):
                continue
            lines = written.doc.lines[entry.line : min(entry.end, entry.line + _MAX_LINES)]
            doc = ParameterDoc.of(lines, written.doc_line + entry.line, entry.type_text, entry.default)
            yield self.parameter(module, definition, naming, name, parameter, doc, prior)
        for name, parameter in signature.items():
            if parameter.doc is not None:  # a field with a docstring of its own
                doc = ParameterDoc.of(parameter.doc.lines, parameter.doc_line)
                yield self.parameter(module, definition, naming, name, parameter, doc, prior)
                continue
            target = next((target for target in pointed if name in self.describes(target)), None)
            if target is not None:
                self.point(target, name, definition, naming, parameter)
            elif naming.public and definition.kind in {"function", "class"} and not name.startswith("_"):
                doc = described_outside(definition, name)
                share = 1.0 if doc.lines else 0.8
                yield self.parameter(module, definition, naming, name, parameter, doc, prior * share)
        if naming.public:
            for keyword in definition.class_keywords:
                doc = described_outside(definition, keyword.name)
                yield self.parameter(module, definition, naming, keyword.name, keyword, doc, prior)
            self.forward(module, definition, naming)

    def forward(self, module: Module, definition: Definition, naming: PublicName) -> None:
        """Note that a function takes what it passes on: `yaml.dump(**kwds)` takes `sort_keys` of `dump_all`."""
        forwards = definition.forwards or self.links.passed_to(definition)
        if forwards is None:
            return
        head, _dot, rest = forwards.partition(".")
        owner = owner_of(module, definition)
        name = f"{owner.qualname}.{rest}" if owner is not None and head in {"self", "cls"} else forwards
        target = self.links.find(module, name)
        if target is None or target is definition:
            return
        self.forwarded[self.names.of(target).name] += 1
        if self.forwarded[self.names.of(target).name] > _MOST_FORWARDED:
            return
        own = {parameter.name for parameter in definition.parameters}
        taken: dict[str, Parameter | None] = dict.fromkeys(self.described_alone(target))
        taken.update({parameter.name: parameter for parameter in target.parameters if not parameter.star})
        for name, parameter in taken.items():
            if name not in own:
                self.point(target, name, definition, naming, parameter)

    def described_alone(self, target: Definition) -> list[str]:
        """The parameters that only the documentation of a callable names, since it passes them on itself."""
        if not any(parameter.star == "**" for parameter in target.parameters):
            return []
        own = {parameter.name for parameter in target.parameters}
        return sorted(name for name in self.describes(target) if name.isidentifier() and name not in own)

    def point(
        self,
        target: Definition,
        name: str,
        definition: Definition,
        naming: PublicName,
        parameter: Parameter | None,
    ) -> None:
        """Note that a function takes a parameter whose documentation stands elsewhere."""
        pointing = self.pointers[self.names.of(target).name, name]
        if len(pointing) < MAX_SITES:
            pointing.append(site_of(definition, naming, parameter))

    def describes(self, target: Definition) -> frozenset[str]:
        """The parameters that the documentation of a callable describes."""
        key = (target.module, target.qualname)
        if key not in self.described:
            entries = target.doc.parameters if target.doc is not None else ()
            self.described[key] = frozenset(entry.name for entry in entries)
        return self.described[key]

    def parameter(
        self, module: Module, definition: Definition, naming: PublicName, name: str, parameter: Parameter | None,
        doc: ParameterDoc, prior: float,
    ) -> IndexedPassage:  # fmt: skip
        lines = _dedented(doc.lines)
        said = self.deprecated_parameter(definition, name, parameter, doc)
        if said is not None and said.lines and said.said not in deprecation.folded(lines):
            if not lines:
                doc = doc._replace(line=said.line)
            lines += ["", *said.lines] if lines else said.lines
        body = "\n".join(lines)
        site = site_of(definition, naming, parameter)
        text, runs = with_site(body[:MAX_TEXT], doc.line, site)
        use = min(1.0, log2(1 + self.mentions[name]) / 6)
        of_its_own = parameter is not None and parameter.doc is not None
        is_described = parameter is not None and bool(parameter.doc)
        is_keyword = any(one is parameter for one in definition.class_keywords)
        what = "keyword" if is_keyword else "field" if of_its_own and definition.fields else definition.kind
        return IndexedPassage(
            kind="parameter",
            title=f"{naming.name}({name})",
            text=text,
            locator=f"{definition.path}:{runs[0][1]}",
            symbol=naming.name,
            parameter=name,
            name=f"{shown_name(naming.name)} {name}",
            lead=docstrings.lead(doc.lines) if is_described else description(doc.lines, doc.type_text, name),
            code=tuple(block.code for block in code_blocks(lines)),
            prose=body,
            words=" ".join(
                [
                    definition.doc.lead[:_MAX_CONTEXT] if definition.doc else "",
                    module.name.replace(".", " "),
                    *allowed_values((parameter and parameter.annotation) or ""),
                ]
            ),
            prior=round(
                prior
                * (0.9 + 0.1 * use)
                * (1.0 if doc.lines else 0.8)
                * (0.6 if said or advises_against("\n".join(lines)) else 1.0),
                4,
            ),
            data={
                "what": what,
                "doc": body[:MAX_TEXT],
                "doc_line": doc.line,
                "site": site,
                **declared_values(parameter, doc),
                "aliases": [f"{alias}({name})" for alias in naming.also],
                "public": naming.public,
                **self.links.spoken_of(module, definition, parameter),
                **({} if parameter is not None else self.takers.declared(definition, name)),
                **({"deprecated": said.said} if said else {}),
                **({"replacement": said.instead} if said and said.instead else {}),
            },
        )


def _of_dependency(passage: IndexedPassage, url: str, version: str) -> IndexedPassage:
    """A passage under the name by which it is handed on, with the package that holds it."""
    return passage._replace(data={**passage.data, "url": url, "version": version})


def _dedented(lines: list[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def _context(owner: Definition | None, module: Module) -> str:
    """Words by which a member is found though it does not say them itself: what its class or module is about."""
    leads = [
        doc.lead.partition(". ")[0][:_MAX_CONTEXT]
        for doc in (owner.doc if owner else None, module.doc)
        if doc is not None
    ]
    return " ".join([module.name.replace(".", " ").replace("_", " "), *leads])


def _code_in(text: str, doc: docstrings.Docstring | None) -> tuple[str, ...]:
    """The code of a docstring that its passage shows: what explains a parameter is left to the passage about that."""
    blocks = doc.code if doc else ()
    return tuple(block.code for block in blocks if block.code.partition("\n")[0].strip() in text)
