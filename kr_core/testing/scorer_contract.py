"""What every scorer keeps to (`kr_core.plugin.Scorer`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kr_core.model import Draft, Finding, Outcome, Score
from kr_core.testing import samples
from kr_core.testing.checks import check_purity, returned
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.samples import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FROM = {"high": 80, "medium": 50, "low": 0}
_UP_TO = {"high": 100, "medium": 79, "low": 49}


class ScorerContract(PluginContract):
    """The rules for scorers, tested with good, empty and hostile answers."""

    noun = "scorer"

    def test_a_score_has_its_level_and_reasons(self, project: Path) -> None:
        """A score is 0 to 100, with the matching level and reasons."""
        for findings, draft in (_answer(), _answer(coverage=0.1), _answer(official=False), ([], Draft())):
            score = self._scored(project, findings, draft)
            assert isinstance(score, Score), (
                f"the scorer returned {type(score).__name__}; return a kr_core.plugin.Score"
            )
            assert _FROM[score.level] <= score.score <= _UP_TO[score.level], (
                f"the scorer gave {score.score} and called it `{score.level}`; "
                "`high` is from 80, `medium` from 50, all else `low`"
            )
            assert score.reasons and all(reason.strip() for reason in score.reasons), (  # noqa: PT018  one message for both
                f"the scorer gave {score.score} without a reason; say in `reasons` what it rests on"
            )

    def test_nothing_found_is_low(self, project: Path) -> None:
        """Without findings, or for a draft without citations, the score is low, not an error."""
        empty = Finding(outcome=Outcome.empty, reason="nothing")
        for findings in ([], [("docs", empty)], [("docs", empty), ("wiki", samples.finding())]):
            score = self._scored(project, findings, Draft())
            assert score.level == "low", (
                f"the scorer gave {score.score} to an answer that cites nothing; "
                "without a citation there is nothing to be sure of: give `low`"
            )

    def test_it_is_pure(self, project: Path) -> None:
        """The same answer gets the same score; the scorer does not change its arguments, and reads nothing else."""
        findings, draft = _answer()
        check_purity(
            "the scorer",
            lambda: self.build(project),
            lambda scorer: self._scored(project, findings, draft, scorer),
            given=[draft, *(finding for _source, finding in findings)],
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_scored(self, project: Path, kind: str) -> None:
        """Any text gets a score."""
        text = HOSTILE[kind]
        findings, draft = _answer(text)
        score = self._scored(project, findings, draft)
        assert _FROM[score.level] <= score.score <= _UP_TO[score.level], (
            f"a hostile text ({kind}) got the score {score.score} and the level `{score.level}`; "
            "`high` is from 80, `medium` from 50, all else `low`"
        )

    def _scored(
        self,
        project: Path,
        findings: Sequence[tuple[str, Finding]],
        draft: Draft,
        scorer: Any = None,
    ) -> Score:
        hint = "give a low score, with the reason, where there is too little to go by"
        scorer = scorer or self.build(project)
        score: Score = returned("the scorer", lambda: scorer.score(samples.query(), findings, draft), hint)
        return score


def _answer(
    text: str = samples.SENTENCE, *, coverage: float = 0.9, official: bool = True
) -> tuple[list[tuple[str, Finding]], Draft]:
    """What the source `docs` found, and the draft made of it."""
    found, draft = samples.finding(text), samples.draft([text])
    passage = found.passages[0].model_copy(update={"coverage": coverage, "official": official})
    citations = tuple(one.model_copy(update={"official": official}) for one in draft.citations)
    return (
        [("docs", found.model_copy(update={"passages": (passage,)}))],
        draft.model_copy(update={"citations": citations, "passages": {1: passage}}),
    )
