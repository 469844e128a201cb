"""Answers from installed documentation, for the version in use: docstrings, signatures, README.

It imports and runs nothing, and nothing leaves the machine. It parses sources, indexes each package and version once in
the user's cache folder, and searches there.

- Python: the docstrings and signatures of the packages in the project's environment, and of the standard library.
- What only the code knows by name: environment variables, keys of a configuration, options of the command line,
  options handed on as keywords, the values of constants. From the metadata: versions of Python, extras, dependencies.
- npm: the README, the declarations (`.d.ts`) and the `package.json` of the packages in the nearest `node_modules`; for
  a package without declarations, those of `@types`, also of the major version before, or else the comments (JSDoc) in
  its code. Comments in its scripts add defaults and descriptions that the declarations lack; KR passes over bundled and
  minified files. KR looks for a pasted message in the code. A name in both Python and npm means the one that the project
  depends on.
- Both: migration guides, changelog, `docs`, `dist/docs`, `llms.txt`, `AGENTS.md` and skills that a package ships. Texts
  for agents are quoted; KR follows no instruction in them.
- Dependencies: what a package re-exports is answered under its own name. Where a package does not answer, KR asks its
  direct dependencies too (for npm: their READMEs, to depth 2), and says which one the answer is from.
- Built documentation: HTML pages beside an `objects.inv` of Sphinx, among the files of an installed distribution or below
  the `folders` of the settings (Debian's `python3-doc` and the like). Pages for another major version are left out.
- The project's own README and `docs`.
- Limits: KR reads a package in at most 20 s of processor time and 6 s more for each MB, 40 s in all, and
  its dependencies together in 15 s. A file that takes too long is left out, and the answer says so.
"""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

import kr_core
from kr_core.plugin import Finding, Outcome, Provider
from kr_core.toolkit import LocalProject
from kr_plugins.sources.installed_docs.changes import earlier_index
from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer
from kr_plugins.sources.installed_docs.dependency_answers import is_answered, merge, name_of
from kr_plugins.sources.installed_docs.index_answer import answer
from kr_plugins.sources.installed_docs.material import PageFolders, find
from kr_plugins.sources.installed_docs.node.node_material import NO_DECLARATIONS, NodeMaterial
from kr_plugins.sources.installed_docs.package_index import Material, made_for, open_index
from kr_plugins.sources.installed_docs.reading_budget import BudgetSpent, Cancelled, ReadingBudget
from kr_plugins.sources.installed_docs.survey import survey

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from kr_core import Passage
    from kr_core.plugin import Project, ResearchQuery, Setup, SourceContext, SurveyPlan
    from kr_core.toolkit import PassageIndex
    from kr_plugins.sources.installed_docs.material import LocatedMaterial


_DEPENDENCIES_SECONDS = 15.0
"""Of processor time that reading all dependencies of a package may take."""


class InstalledDocsSettings(kr_core.Settings):
    """Settings of the source `installed_docs`."""

    folders: tuple[str, ...] = ()
    """Folders of built HTML documentation. KR reads the pages beside each `objects.inv` of Sphinx in or below them
    (four levels), under the project that it names. Relative to the project root; `~` is the home folder. Pages inside
    the project are cited by their paths, and count as official documentation only after `kr trust`.
    """
    vouching = ("folders",)


class InstalledDocs:
    """The source: one index for each package and version, made on first use.

    Args:
        cache_folder: where KR stores the indexes.
        folders: where built documentation is looked for.
        budget: makes what reading one package may cost, from whether the consultation was given up.
        vouched: whether built documentation in the project counts as what it calls itself.
    """

    external = False
    timeout_seconds = 120.0

    def __init__(
        self,
        cache_folder: Path,
        folders: Sequence[Path] = (),
        budget: Callable[[Callable[[], bool]], ReadingBudget] = ReadingBudget,
        *,
        vouched: bool = True,
    ) -> None:
        self._cache_folder = cache_folder
        self._budget = budget
        self._folders = PageFolders(tuple(folders), vouched)

    def knows(self, query: ResearchQuery, project: Project) -> bool:
        """Whether the framework is installed here (or is Python, or the project itself)."""
        return isinstance(project, LocalProject) and find(query.framework, project, self._folders) is not None

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Search the installed documentation in a thread that stops soon after the call is cancelled."""
        given_up = threading.Event()
        try:
            return await asyncio.to_thread(self._consult, query, context, given_up)
        finally:
            given_up.set()

    def _consult(self, query: ResearchQuery, context: SourceContext, given_up: threading.Event) -> Finding:
        project = context.project
        found = find(query.framework, project, self._folders) if isinstance(project, LocalProject) else None
        if found is None:
            return Finding(
                outcome=Outcome.unavailable, reason=f"{query.framework} is not installed here", reached=False
            )
        if found.material.empty:
            return Finding(outcome=Outcome.empty, reason=f"{found.material.label} has {found.material.empty}")

        def progress(done: int, total: int) -> None:
            context.emit("index.progress", {"package": found.material.label, "done": done, "total": total})

        surveyed = self._survey(query, found, progress, given_up)
        if surveyed is not None:
            return surveyed
        return self._answer(query, found, progress, given_up)

    def _answer(
        self,
        query: ResearchQuery,
        found: LocatedMaterial,
        progress: Callable[[int, int], None],
        given_up: threading.Event,
    ) -> Finding:
        """What the index and those of its dependencies say to a question."""
        notes: list[str] = []

        def asked(
            located: LocatedMaterial, names: Sequence[str] = (), seconds: float | None = None
        ) -> tuple[IndexAnswer, list[str]]:
            modules, searched = located.modules_in(query.question), (*located.names, *names)
            notes: list[str] = []
            try:
                with self._budget(given_up.is_set) as budget:
                    if seconds is not None:
                        budget.limit(seconds)
                    index, notes = open_index(self._cache_folder, located.material, progress, budget)
                    with closing(index):
                        material = located.material
                        in_code = (
                            {"in_code": partial(material.messages, check=budget.check)}
                            if isinstance(material, NodeMaterial)
                            else {}
                        )
                        search = partial(
                            answer,
                            index,
                            query.question,
                            searched,
                            located.origin,
                            modules,
                            query.names,
                            **in_code,
                        )
                        return budget.portion(search), notes
            except BudgetSpent:
                costly = f"{located.material.label}: the search takes more processor time than it may; ask in fewer words"
                return IndexAnswer((), (), ()), [costly, *notes]

        def of_dependencies() -> Iterator[IndexAnswer]:
            began = thread_time()
            for one in found.dependencies():
                left = _DEPENDENCIES_SECONDS - (thread_time() - began)
                if left <= 0:
                    notes.insert(
                        0,
                        f"{found.material.label}: left out some of its dependencies: they take too long to read",
                    )
                    return
                yield asked(one, found.names, left)[0]

        try:
            answered, told = asked(found)
            notes += told
            if not is_answered(answered, query.names, hands_on=isinstance(found.material, NodeMaterial)):
                answered = merge(answered, of_dependencies(), query.framework, query.names)
        except Cancelled:
            return Finding(outcome=Outcome.timeout, reason="given up while the index was being made")
        if answered.unresolved and isinstance(found.material, Material) and found.material.has_models():
            own = tuple(one for one in answered.unresolved if one.name.partition(".")[0] in found.names)
            notes[:0] = [] if own else [f"{found.material.label}: {RUN_TIME}"]
            answered = answered._replace(unresolved=own)
        answered = _without_claims(answered, notes)
        notes[:0] = _late_types(answered, found)
        theirs = _of_repository((*answered.passages, *answered.support), found)
        notes = [
            *found.notes,
            *theirs.values(),
            *notes[:3],
            *([f"{len(notes) - 3} more files could not be read"] if len(notes) > 3 else []),
        ]
        if not answered.passages:
            return Finding(
                outcome=Outcome.empty,
                reason=f"nothing about the question in {found.material.label} {found.material.version}",
                url=found.origin.url, version=found.origin.version, version_from=found.where,
                missing=answered.missing, unresolved=answered.unresolved, notes=tuple(notes),
            )  # fmt: skip
        return Finding(
            outcome=Outcome.ok,
            passages=_not_official(answered.passages, theirs),
            support=_not_official(answered.support, theirs),
            url=found.origin.url,
            version=found.origin.version,
            version_from=found.where,
            missing=answered.missing,
            unresolved=answered.unresolved,
            notes=tuple(notes),
        )

    def _survey(
        self,
        query: ResearchQuery,
        found: LocatedMaterial,
        progress: Callable[[int, int], None],
        given_up: threading.Event,
    ) -> Finding | None:
        """What there is of the kind that a survey asks for; None where none is asked for, or the index has nothing of it."""
        if query.survey is None:
            return None
        try:
            with self._budget(given_up.is_set) as budget:
                index, notes = open_index(self._cache_folder, found.material, progress, budget)
                with closing(index), ExitStack() as opened:
                    earlier = self._earlier(query.survey, found)
                    if earlier is not None:
                        opened.enter_context(closing(earlier[1]))
                    of_index = partial(
                        survey,
                        index,
                        query,
                        query.survey,
                        found.names,
                        found.origin,
                        found.modules_in(query.question),
                        earlier,
                    )
                    surveyed = budget.portion(of_index)
        except BudgetSpent:
            return None
        except Cancelled:
            return Finding(outcome=Outcome.timeout, reason="given up while the index was being made")
        if not surveyed.passages:
            return None
        theirs = _of_repository(surveyed.passages, found)
        return Finding(
            outcome=Outcome.ok,
            passages=_not_official(surveyed.passages, theirs),
            overview=True,
            families=surveyed.families,
            url=found.origin.url,
            version=found.origin.version,
            version_from=found.where,
            notes=(*found.notes, *theirs.values(), *notes[:3]),
        )

    def _earlier(self, plan: SurveyPlan, found: LocatedMaterial) -> tuple[str, PassageIndex] | None:
        """The index of the version that a question about changes begins with, where KR has kept it."""
        material = found.material
        if plan.kind != "changes" or not plan.versions:
            return None
        first = min(
            plan.versions, key=lambda version: [int(part[:9]) for part in re.findall(r"\d+", version)]
        )
        return earlier_index(self._cache_folder, material.label, first, material.version, made_for(material))


RUN_TIME = "methods that it makes at run time from data files, as boto3's clients do, were not read"
"""What is noted where a name that was not found may be one of them."""


def _without_claims(answered: IndexAnswer, notes: Sequence[str]) -> IndexAnswer:
    """The answer that claims no word to be nowhere, where the code that may have it was not read."""
    return answered._replace(missing=()) if any(NO_DECLARATIONS in note for note in notes) else answered


def _of_repository(passages: Sequence[Passage], found: LocatedMaterial) -> dict[str, str]:
    """The package URLs of dependencies that came with the project's repository and say some of these, each with its note."""
    others = {one.url: name_of(one) for one in passages if one.url != found.origin.url}
    said = found.came_along(others.values()) if others and found.origin.official else {}
    return {url: note for url, note in said.items() if url in others}


def _not_official(passages: Sequence[Passage], theirs: Collection[str]) -> tuple[Passage, ...]:
    """Passages, those of some package URLs as not official."""
    return tuple(one.model_copy(update={"official": False}) if one.url in theirs else one for one in passages)


def _late_types(answered: IndexAnswer, found: LocatedMaterial) -> list[str]:
    """A note where the answer comes from declarations for another major version than the installed one."""
    material = found.material
    if not isinstance(material, NodeMaterial):
        return []
    types = {
        f"{name} {one.version}"
        for one in answered.passages
        if (name := name_of(one)).startswith("@types/") and one.version != found.origin.version
    }
    return [
        f"{one} declares another major version than {material.package.name} {material.version}, which is installed"
        for one in sorted(types)
    ]


@kr_core.hookimpl
def kr_source() -> Provider[kr_core.Source]:
    """The documentation that is installed."""

    def build(settings: InstalledDocsSettings, setup: Setup) -> InstalledDocs:
        folders = [setup.project.root / Path(folder).expanduser() for folder in settings.folders]
        return InstalledDocs(setup.cache_folder, folders, vouched=setup.trusted)

    return Provider(build, InstalledDocsSettings)
