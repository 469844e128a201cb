"""The cases in the journal: they outlive every process, and any process may go on with them.

A case is `open` until a channel has shown its present revision (`notified`), `resolved` once a human has decided, `expired` where
nobody did in time and the agent's answer is used, `superseded` where its question was asked again instead, and `withdrawn` where a
person said that it needs no answer. Each change names the version that it changes, and is written in one transaction with its events: of two humans who answer at once, one is first.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from kr_core.config.template_trust import template_folders
from kr_core.errors import ConfigError, StorageError
from kr_core.escalation import transitions
from kr_core.escalation.render import shown
from kr_core.escalation.sanitize import harmless_line
from kr_core.escalation.schedule import WAITING, CaseSchedule
from kr_core.escalation.serialization import KIND, LATELY, document_of, plain, read, standing_of
from kr_core.knowledge.wording import wording
from kr_core.protocols import Document, Notice
from kr_core.research.entry_lookup import describe
from kr_core.research.human_review import Review, record_review
from kr_core.research.stage_runner import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kr_core.escalation.case import Case
    from kr_core.model.event import Event
    from kr_core.model.questions import EscalationRequest, Question
    from kr_core.protocols import CaseView, Journal
    from kr_core.research.container import Container
    from kr_core.research.pipeline import Pipeline

__all__ = ["CaseListing", "CaseRepository", "CaseUpdater", "with_report"]

_QUESTION = "escalation.question"
"""Which cases a question has, by a hash of its feature and id: so that nobody reads all of them to find one."""
_WORDING = "escalation.wording"
"""Which cases were opened for a question of the same words, whatever its feature and id, by a hash of the words."""
_MAX_OF_QUESTION = 20
"""So many are listed before those are dropped that are decided."""
_DECIDED = ("resolved", "expired", "superseded", "withdrawn")
_PAGE = 100
"""Cases that are in memory at once; one may have 100 kB."""


class CaseListing(NamedTuple):
    """A case as a list of all has it."""

    id: str
    status: str
    version: int

    @property
    def waits(self) -> bool:
        """Whether no one has decided yet."""
        return self.status in WAITING


class CaseRepository:
    """The cases of a project.

    Args:
        journal: where they are stored.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._standing: dict[str, tuple[int, CaseSchedule]] = {}

    def new_id(self) -> str:
        """The id of the next case; never given twice, also where the journal's counter was set back."""
        while True:
            name = f"E{self._journal.number(KIND)}"
            if self._journal.document(KIND, name) is None:
                return name

    # -- changes --------------------------------------------------------------------------------------------

    def open(self, case: Case, events: Sequence[Event] = ()) -> bool:
        """Keep a new case, so that its question leads to it."""
        question = case.request.question
        self._list(_QUESTION, _key(question.feature_id, question.id), case.request.id)
        self._list(_WORDING, _words(question), case.request.id)
        return self.keep(case, events)

    def keep(self, case: Case, events: Sequence[Event] = ()) -> bool:
        """Keep a case together with its events; False where another process has changed it meanwhile.

        Args:
            case: its `version` is one more than the one that it was made from.
            events: kept only if the case is.
        """
        return self._journal.change(document_of(case), events)

    def supersede(self, case: Case, successor: str) -> bool:
        """End a case because its question was asked anew; on the record. False where somebody has changed it meanwhile.

        Args:
            case: as it waits.
            successor: the exchange in which the question was asked anew.
        """
        request = case.request
        ended = case._replace(status="superseded", version=case.version + 1)
        about = {"escalation_id": request.id, "revision": request.revision, "successor": successor}
        event = transitions.event(case, "escalation.superseded", **about)
        return self.keep(
            ended.ended(Notice(f"{request.id}-ended", "ended", transitions.ending(ended))), [event]
        )

    # -- one ------------------------------------------------------------------------------------------------

    def get(self, escalation_id: str) -> Case:
        """A case by its id, in either case of the letter.

        Raises:
            ConfigError: there is none.
        """
        document = self._journal.document(KIND, escalation_id.strip().upper())
        if document is None:
            raise ConfigError(
                f"there is no escalation `{escalation_id}`", where="inbox", hint="see `kr inbox list`"
            )
        return read(document)

    # -- several, oldest first ------------------------------------------------------------------------------

    def page(self, *, waiting: bool = True, limit: int = 50, after: str = "") -> list[Case]:
        """Some of the cases.

        Args:
            waiting: only those that no one has decided.
            limit: how many at most.
            after: the id of the last one of the page before.
        """
        statuses = WAITING if waiting else ("",)
        found = [one for status in statuses for one in self._journal.documents(KIND, status, limit, after)]
        return [read(one) for one in sorted(found, key=_number)[:limit]]

    def waiting(self) -> list[Case]:
        """The cases that no one has decided; all of them, where there may be thousands."""
        return list(self.each(waiting=True))

    def all(self) -> list[Case]:
        """All cases, where there may be thousands."""
        return list(self.each())

    def each(
        self, *, waiting: bool = False, unreadable: Callable[[StorageError], None] | None = None
    ) -> Iterator[Case]:
        """All cases, or those that no one has decided, one in memory at a time.

        Args:
            waiting: only those that no one has decided.
            unreadable: is called with what is wrong with a case that cannot be read, and the others follow; without it that raises.
        """
        return (case for _, case in self.keyed(waiting=waiting, unreadable=unreadable))

    def keyed(
        self, *, waiting: bool = False, unreadable: Callable[[StorageError], None] | None = None
    ) -> Iterator[tuple[str, Case]]:
        """The same, each with the id under which it is kept: which is its own, if nobody has copied it."""
        for one in self.index():
            document = self._journal.document(KIND, one.id) if one.waits or not waiting else None
            if document is None or (waiting and document.status not in WAITING):
                continue
            try:
                case = read(document)
            except StorageError as error:
                if unreadable is None:
                    raise
                unreadable(error)
                continue
            yield one.id, case

    def index(self) -> list[CaseListing]:
        """Id, status and version of all cases; of ten thousand in some milliseconds."""
        return [
            CaseListing(key, plain(status), version) for key, status, version in self._journal.versions(KIND)
        ]

    def ids(self) -> tuple[list[str], list[str]]:
        """The ids of the cases that wait, and of those that wait no longer: what replies are read with."""
        waiting: list[str] = []
        closed: list[str] = []
        for one in self.index():
            (waiting if one.waits else closed).append(one.id)
        return waiting, closed

    def waiting_of(self, questions: Iterable[tuple[str, str]]) -> list[Case]:
        """The cases that no one has decided of some questions.

        Args:
            questions: by feature and id.
        """
        names: dict[str, None] = {}
        for feature_id, question_id in questions:
            listed = self._journal.document(_QUESTION, _key(feature_id, question_id))
            names.update(dict.fromkeys([] if listed is None else listed.data["cases"]))
        documents = [self._journal.document(KIND, name) for name in names]
        found = [one for one in documents if one is not None and one.status in WAITING]
        return [read(one) for one in sorted(found, key=_number)]

    def latest_of(self, feature_id: str, question_id: str) -> Case | None:
        """The latest case of a question, as far as its cases are listed; None if there is none."""
        listed = self._journal.document(_QUESTION, _key(feature_id, question_id))
        names = [] if listed is None else listed.data["cases"]
        documents = (self._journal.document(KIND, name) for name in reversed(names))
        return next((read(one) for one in documents if one is not None), None)

    def has(self, feature_id: str, question_id: str) -> bool:
        """Whether a question was ever put to a human, as far as its cases are listed."""
        return self._journal.document(_QUESTION, _key(feature_id, question_id)) is not None

    def decided_alike(self, question: Question) -> Case | None:
        """The latest case of the same question that a person has decided, of any feature and id."""
        listed = self._journal.document(_WORDING, _words(question))
        for name in reversed([] if listed is None else listed.data["cases"]):
            document = self._journal.document(KIND, name)
            case = None if document is None or document.status in WAITING else read(document)
            if case is not None and case.decided_by_person:
                return case
        return None

    def standing(self) -> list[CaseSchedule]:
        """The cases that something may be due for: those that wait, and those decided lately.

        What has not changed since the last call is not read again.
        """
        wanted = {*WAITING, *(f"{status}{LATELY}" for status in _DECIDED)}
        listed = [(key, version) for key, status, version in self._journal.versions(KIND) if status in wanted]
        known = self._standing
        changed = [key for key, version in listed if known.get(key, (0,))[0] != version]
        fresh = {}
        for document in self._documents_of(changed, wanted):
            fresh[document.key] = (document.version, standing_of(document))
        self._standing = {
            key: fresh[key] if key in fresh else known[key]
            for key, _ in listed
            if key in fresh or key in known
        }
        return [standing for _, standing in self._standing.values()]

    # -- how they are found ---------------------------------------------------------------------------------

    def _documents_of(self, keys: Sequence[str], statuses: Iterable[str]) -> Iterator[Document]:
        if len(keys) <= _PAGE:
            yield from (one for one in (self._journal.document(KIND, key) for key in keys) if one is not None)
            return
        for status in statuses:
            yield from self._pages(status)

    def _pages(self, status: str) -> Iterator[Document]:
        after = ""
        while page := self._journal.documents(KIND, status, _PAGE, after):
            yield from page
            after = page[-1].key

    def _list(self, kind: str, key: str, name: str) -> None:
        while True:
            listed = self._journal.document(kind, key)
            names = [] if listed is None else list(listed.data["cases"])
            if name in names:
                return
            if len(names) >= _MAX_OF_QUESTION:
                kept = [one for one in names if self._may_wait(one)]
                names = kept if kind == _QUESTION else names[1 - _MAX_OF_QUESTION :]
            data = {"cases": [*names, name]}
            if self._journal.change(
                Document(kind, key, "", 1 if listed is None else listed.version + 1, data)
            ):
                return

    def _may_wait(self, name: str) -> bool:
        """Whether a case waits, or will: it is listed before it is kept."""
        document = self._journal.document(KIND, name)
        return document is None or document.status in WAITING


def _key(feature_id: str, question_id: str) -> str:
    return hashlib.sha256(f"{feature_id}\0{question_id}".encode()).hexdigest()


def _words(question: Question) -> str:
    words = wording(question.text, "") or (question.text,)
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _number(document: Document) -> int:
    return int(document.key[1:])


class CaseUpdater:
    """Keeps the cases of a project.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._folders = template_folders(pipeline.config.root, pipeline.config.environ)
        self._cases: CaseRepository | None = None

    @property
    def cases(self) -> CaseRepository:
        """The cases of the project; the first look opens the journal."""
        if self._cases is None:
            self._cases = CaseRepository(self.pipeline.components.journal)
        return self._cases

    def shown(self, request: EscalationRequest) -> CaseView:
        """A case as people read it."""
        return shown(request, self._folders)

    def keep(self, case: Case, events: Sequence[Event] = ()) -> bool:
        """Keep a case with its events; False where another process was first."""
        kept = self.cases.keep(case, events)
        if kept:
            self.observed(events)
        return kept

    def change(
        self,
        escalation_id: str,
        change: Callable[[Case], tuple[Case, Sequence[Event]] | None],
        known: Case | None = None,
    ) -> Case:
        """Change a case, whoever changes it at the same time; the case as it is then.

        Args:
            escalation_id: the case.
            change: what is to become of it; called anew where somebody was first. It changes nothing itself.
            known: the case as it was read just now, if it was.

        Raises:
            ConfigError: there is no such case.
        """
        while True:
            case = known or self.cases.get(escalation_id)
            made = change(case)
            if made is None:
                return case
            changed = made[0]._replace(version=case.version + 1)
            if self.keep(changed, made[1]):
                if changed.owes_report:
                    self.update_report(escalation_id)
                    return self.cases.get(escalation_id)
                return changed
            known = None

    def update_report(self, escalation_id: str) -> str:
        """Put a human's decision about a research answer into the knowledge base; why not, if it cannot be done now.

        Raises:
            StorageError: the journal cannot be written.
        """
        while (case := self.cases.get(escalation_id)).owes_report:
            try:
                changed, events = with_report(self.pipeline.components, case)
            except Exception as error:  # a store is a plugin; the decision stands, and the worker tries again
                return f"{case.request.id}: its report was not written: {describe(error)}"
            if self.keep(changed._replace(version=case.version + 1), events):
                break
        return ""

    def observed(self, events: Sequence[Event]) -> None:
        """Show observers what was kept together with a case, and so did not go by them."""
        for event in events:
            show(event, self.pipeline.observers)


def with_report(components: Container, case: Case) -> tuple[Case, list[Event]]:
    """The case whose decision the knowledge base has now, and what the record says of it.

    Args:
        components: the project's.
        case: a human has decided it, and it owes the report.

    Raises:
        StorageError: the knowledge base cannot be written.
    """
    request, answer, resolution = case.request, case.answer, case.resolution
    assert request.query is not None, "it is about research"
    assert answer is not None, "it is answered"
    assert resolution is not None, "it is decided"
    confirmed = request.answer is not None and answer.content == request.answer.content
    review = Review(request.id, harmless_line(resolution.by), answer.content, confirmed, resolution.time)
    came = record_review(components, request.query, request.report, review)
    message = "; ".join([came.message, *came.notes])
    events: list[Event] = []
    if came.entry is not None:
        about = {"escalation_id": request.id, "entry": came.entry, "report": came.path, "by": review.by}
        events = [transitions.event(case, "report.reviewed", **about)]
    return case._replace(care=case.care._replace(report=message)), events
