"""What the page and the API show of expeditions: those that ran here, and one as it stands, while it runs too."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import ConfigError
from kr_core.expedition import provenance as tree
from kr_core.expedition.service import Expeditions
from kr_core.server.web.problems import RequestRefused, able

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.expedition.service import StoredExpedition
    from kr_core.model.expedition import Axiom, CycleReport

__all__ = ["ALL", "ExpeditionBrowser", "ExpeditionDetail", "ExpeditionPage", "ExpeditionRow"]

ALL = "all"
"""In place of an id: the list."""
_SHOWN = 50
_ID = re.compile(r"[Xx]?[0-9]{1,9}")


class ExpeditionRow(NamedTuple):
    """An expedition in the list."""

    kept: StoredExpedition
    cycles: int
    axioms: int


class ExpeditionPage(NamedTuple):
    """A part of the list, newest first."""

    rows: Sequence[ExpeditionRow]
    total: int
    before: str | None
    """The id behind which the list goes on; None at its end."""
    mark: str
    """Another one whenever the list is another one."""


class ExpeditionDetail(NamedTuple):
    """An expedition as it is looked at."""

    kept: StoredExpedition
    reports: Sequence[CycleReport]
    axioms: Sequence[Axiom]
    disagreeing: Sequence[tuple[Axiom, Axiom]]
    """Axioms that say otherwise of the same, each pair once."""
    faults: Mapping[str, Sequence[str]]
    """By axiom: which of its signals do not say it."""
    mark: str


class ExpeditionBrowser:
    """Looks at the expeditions of a service.

    Args:
        service: the project's.
    """

    def __init__(self, service: AsyncKnowledgeRouterService) -> None:
        self._expeditions = Expeditions(service.pipeline)

    async def listed(self, before: str = "", limit: int = _SHOWN) -> ExpeditionPage:
        """Expeditions, newest first.

        Raises:
            Refused: `before` is no id, or the journal cannot be read.
        """
        if before and not _ID.fullmatch(before):
            raise RequestRefused("refused", f"`{before[:20]}` is not an id; write it as `X7`")
        return await able(lambda: self._list(before.upper(), limit))

    async def seen(self, key: str) -> ExpeditionDetail:
        """One expedition.

        Raises:
            Refused: there is none of this id, or the journal cannot be read.
        """
        return await able(lambda: self._look(key))

    async def tree(self, key: str) -> dict[str, Any]:
        """One expedition as plain values, as `kr expedition show ID --json` prints it.

        Raises:
            Refused: there is none of this id, or the journal cannot be read.
        """
        return await able(lambda: tree.as_data(self._get(key), self._expeditions))

    async def mark(self, which: str) -> str:
        """What is another one whenever what is shown of an expedition, or of the list (`all`), is.

        Raises:
            Refused: there is none of this id, or the journal cannot be read.
        """
        if which == ALL:
            return (await self.listed()).mark
        return await able(lambda: self._mark(self._get(which)))

    def _list(self, before: str, limit: int) -> ExpeditionPage:
        kept, total = self._expeditions.latest(limit + 1, before)
        rows = [self._row(one) for one in kept[:limit]]
        marks = " ".join(f"{row.kept.id} {row.kept.status} {row.cycles} {row.axioms}" for row in rows)
        return ExpeditionPage(rows, total, rows[-1].kept.id if len(kept) > limit else None, _digest(marks))

    def _row(self, kept: StoredExpedition) -> ExpeditionRow:
        if kept.finished is not None:
            return ExpeditionRow(kept, kept.finished.cycles, len(kept.finished.axioms))
        done = self._expeditions.progress(kept)
        return ExpeditionRow(kept, done.reports[-1].cycle if done.reports else 0, len(done.axioms))

    def _look(self, key: str) -> ExpeditionDetail:
        kept = self._get(key)
        mark = self._mark(kept)  # before the rest is read: what comes meanwhile is news
        axioms = self._expeditions.found(kept)
        faults: dict[str, list[str]] = {}
        for axiom, said in self._expeditions.unsupported(axioms):
            faults.setdefault(axiom.id, []).append(said)
        reports = self._expeditions.progress(kept).reports
        return ExpeditionDetail(kept, reports, axioms, self._disagreeing(axioms), faults, mark)

    def _disagreeing(self, axioms: Sequence[Axiom]) -> list[tuple[Axiom, Axiom]]:
        pairs: dict[frozenset[str], tuple[Axiom, Axiom]] = {}
        for axiom in axioms:
            for name in axiom.conflicts:
                other = self._expeditions.axioms.get(name)
                if other is not None:
                    pairs.setdefault(frozenset((axiom.id, name)), (axiom, other))
        return list(pairs.values())

    def _mark(self, kept: StoredExpedition) -> str:
        done = self._expeditions.progress(kept)
        return _digest(f"{kept.status} {len(done.reports)} {' '.join(done.axioms)}")

    def _get(self, key: str) -> StoredExpedition:
        if not _ID.fullmatch(key):
            raise RequestRefused("unknown", f"there is no expedition `{key[:20]}`")
        try:
            return self._expeditions.get(key)
        except ConfigError as error:
            raise RequestRefused("unknown", error.what) from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
