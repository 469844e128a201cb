"""One search of one source: by the same way as research asks it, with its deadline, circuit, rate, egress and budget.

Which engines were down in a cycle: a source that could not look is never read as one that found nothing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.aio import in_thread
from kr_core.config.plugin_names import DOCUMENTS_SOURCE
from kr_core.expedition.survey_plan import plan_of, without_libraries
from kr_core.model import Finding, Outcome, ResearchQuery
from kr_core.protocols import Derived, Selective, Unready
from kr_core.question.topics import topic_and_tags
from kr_core.research.requests import UNKNOWN_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kr_core.model.expedition import SubQuery
    from kr_core.project.project import LocalProject
    from kr_core.protocols import Source
    from kr_core.research.budget import RunBudget
    from kr_core.research.container import Container, SourceSlot

__all__ = [
    "ExpeditionSource",
    "Search",
    "SourceHealth",
    "SourceSearches",
    "affordable",
    "engines_of",
    "query_of",
    "wanted",
]


_RUN_SECONDS = 600.0


class ExpeditionSource(NamedTuple):
    """A source that an expedition may ask."""

    link: SourceSlot
    external: bool
    """Whether a search costs a call."""
    knows: Callable[[ResearchQuery], bool] | None
    """Of which libraries it has anything; None where it takes any question."""


class Search(NamedTuple):
    """One planned search."""

    source: str
    text: str
    framework: str
    survey: bool = False
    """Whether all that there is of a thing is wanted, and not one passage."""


async def engines_of(components: Container) -> tuple[list[ExpeditionSource], list[str]]:
    """The sources that can be asked, in order, and a note for each that cannot be built."""
    found, notes = [], []
    for link in components.sources((DOCUMENTS_SOURCE,)):
        try:
            source = await in_thread(link.build)
            if isinstance(source, Derived) and source.from_expeditions:
                continue  # it would bear witness to itself
            reason = await in_thread(partial(_unready, source))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may raise anything
            from kr_core.errors import ConfigError

            if isinstance(error, ConfigError) and not components.under_bmad:
                raise
            notes.append(f"{link.name}: unavailable: {error}")
            continue
        if reason:
            notes.append(f"{link.name}: not asked: {reason}")
            continue
        knows = _knows(source, components.project) if isinstance(source, Selective) else None
        there = link._replace(build=lambda source=source: source, built=True)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        found.append(ExpeditionSource(there, bool(source.external), knows))
    return found, notes


def _unready(source: Source) -> str:
    """What it lacks before it can be asked; most sources never lack anything, and do not say so."""
    return str(source.unready) if isinstance(source, Unready) else ""


def wanted(
    engines: Sequence[ExpeditionSource],
    queries: Sequence[SubQuery],
    subjects: Sequence[str],
    named: str,
    project: LocalProject,
) -> list[Search]:
    """The searches of a cycle in order, query by query.

    A source that knows only some libraries is asked about each subject that it knows; any other is asked once for each
    query, about the library that the question names. What holds words of the project's own documents leaves the machine only
    to a source that may be sent code.
    """
    found: list[Search] = []
    for query in queries:
        for engine in engines:
            if query.private and engine.external and engine.link.egress != "code":
                continue
            frameworks = [named]
            if engine.knows is not None:
                frameworks = [name for name in subjects if engine.knows(query_of(query.text, name, project))]
            found += [
                Search(engine.link.name, query.text, framework, query.survey)
                for framework in frameworks
                if framework
                or not engine.link.mcp()  # an MCP source has the documentation of libraries alone
            ]
    return found


def affordable(
    searches: Sequence[Search], engines: Mapping[str, ExpeditionSource], calls_left: int
) -> tuple[list[Search], bool]:
    """As many of these searches as calls are left for, in order and each once; and whether any had to be left out."""
    planned: list[Search] = []
    cut = False
    for one in dict.fromkeys(searches):
        engine = engines.get(one.source)
        costs = engine is not None and engine.external
        if costs and calls_left <= 0:
            cut = True
            continue
        calls_left -= costs
        planned.append(one)
    return planned, cut


class SourceSearches:
    """Searches the sources of an expedition, within its budget.

    Args:
        sources: the sources that can be asked.
        components: the pipeline's.
        budget: of calls.
        emit: says what happens, for the logs.
    """

    def __init__(
        self,
        sources: Sequence[ExpeditionSource],
        components: Container,
        budget: RunBudget,
        emit: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self._sources = {source.link.name: source for source in sources}
        self._components = components
        self._budget = budget
        self._emit = emit

    def wanted(self, queries: Sequence[SubQuery], subjects: Sequence[str], named: str) -> list[Search]:
        """The searches for queries, in order."""
        return wanted(list(self._sources.values()), queries, subjects, named, self._components.project)

    def affordable(self, searches: Sequence[Search]) -> tuple[list[Search], bool]:
        """As many of these searches as calls are left for, and whether any had to be left out."""
        return affordable(searches, self._sources, self._budget.remaining)

    async def search(
        self, asked: Search, run: str, subjects: Sequence[str]
    ) -> tuple[Finding, tuple[str, ...]]:
        """Ask a source; whatever becomes of it is an outcome, with the notes on it.

        Args:
            asked: what is searched for.
            run: names the search; one that is made again after a kill is charged once.
            subjects: the libraries that the question is about.
        """
        from kr_core.research.sources import ChainRules, SourceChain

        source = self._sources.get(asked.source)
        if source is None:
            reason = "it is no longer configured"
            return Finding(outcome=Outcome.unavailable, reason=reason, reached=False), ()
        components = self._components
        limit = components.config.settings.knowledge_research.timeout_seconds
        rules = ChainRules(
            lambda _findings: False,
            call_seconds=None if limit is None else float(limit),
            run_seconds=_RUN_SECONDS,
        )
        query = query_of(asked.text, asked.framework, components.project)
        if asked.survey:
            libraries = [name for name in subjects if components.project.version_of(name) is not None]
            query = query.model_copy(update={"survey": without_libraries(plan_of(asked.text), libraries)})
        async with components.gate():
            chain = await SourceChain(
                (source.link,), query, components, self._budget, self._emit, run, rules
            ).go()
        finding = chain.consulted[0].finding
        if finding is None:
            finding = Finding(outcome=Outcome.limited, reason="no call is left in the budget", reached=False)
        return finding, chain.notes


def _knows(source: Selective, project: LocalProject) -> Callable[[ResearchQuery], bool]:
    def known(query: ResearchQuery) -> bool:
        try:
            return source.knows(query, project)
        except Exception:
            return False

    return known


def query_of(text: str, framework: str, project: LocalProject) -> ResearchQuery:
    """A question of an expedition, as a source or the scorer takes it."""
    topic, tags = topic_and_tags(text, framework)
    version = project.version_of(framework) if framework else None
    return ResearchQuery(
        framework=framework,
        framework_version=version[0] if version else UNKNOWN_VERSION,
        topic=topic,
        tags=tags,
        question=text,
        inferred=frozenset({"framework", "framework_version", "topic", "tags"}),
        version_from=version[1] if version else None,
    )


_LOOKED = frozenset({Outcome.ok.value, Outcome.empty.value})


class SourceHealth:
    """What is known of the engines from one cycle to the next.

    An engine that has answered is expected to answer again: if it fails in a whole cycle, the cycle is down. If it fails
    in the repetition too it is given up until it answers again, so that one dead engine among several does not keep an
    expedition from its end. Where nobody could look, the cycle is down in any case.
    """

    def __init__(self) -> None:
        self._answered: set[str] = set()
        self._given_up: set[str] = set()

    def expects(self, source: str) -> bool:
        """Whether an engine has answered before, so that it may do so again."""
        return source in self._answered

    def down(self, outcomes: Iterable[tuple[str, str]], *, again: bool) -> tuple[str, ...]:
        """The engines that were down in a cycle, in order; none where it can be judged.

        Args:
            outcomes: (source, outcome) of each search in the cycle.
            again: whether it is the repetition.
        """
        looked: dict[str, bool] = {}
        for source, outcome in outcomes:
            looked[source] = looked.get(source, False) or outcome in _LOOKED
        failed = [source for source, could in looked.items() if not could]
        self._answered.update(source for source, could in looked.items() if could)
        self._given_up.difference_update(source for source, could in looked.items() if could)
        expected = [source for source in failed if source in self._answered - self._given_up]
        down = failed if looked and len(failed) == len(looked) else expected
        if again:
            self._given_up.update(down)
        return tuple(down)
