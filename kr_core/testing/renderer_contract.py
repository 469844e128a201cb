"""What every renderer keeps to (`kr_core.plugin.Renderer`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kr_core.evidence.verification import verify
from kr_core.model import SKELETON_MARK
from kr_core.research.report import evidence_of
from kr_core.testing import samples
from kr_core.testing.checks import check_purity, returned
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.samples import EVALUATED, HOSTILE, PLAIN

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.model import Report

_CLAIMS = ("Pass one number to `send`.", "The default is five seconds.")
_FORM = (
    "print the title `# {framework} - {topic}` first; each text of `draft.summary`, `draft.details` and `draft.caveats` on "
    "a line of its own; code in a fence of backticks with its citation, `[1]`, alone on the line below; and "
    "`draft.citations` as `- [1] {url} {locator}` below the line `Citations:` under `## Source Attribution`. Whatever else "
    "is printed stands under a heading of its own, without a citation mark"
)
"""Where `kr verify` looks."""


class RendererContract(PluginContract):
    """The rules for renderers, tested with complete, empty and hostile reports."""

    noun = "renderer"

    def test_claims_and_code_are_printed(self, project: Path) -> None:
        """Each claim, code example and note of every part appears in the report unchanged."""
        report = samples.report(_CLAIMS)
        text, draft = self._rendered(project, report), report.draft
        assert report.query.topic in text, "the report does not name its topic; print `report.query.topic`"
        for part in ("summary", "details", "caveats"):
            for claim in getattr(draft, part):
                assert claim.text in text, (
                    f"the claim {claim.text!r} is not in the report as it stands; print each `draft.{part}` text "
                    "unchanged, so that `kr verify` finds it again"
                )
        for part in ("summary_code", "code"):
            for example in getattr(draft, part):
                assert example.code in text, (
                    f"the code example {example.code!r} is not in the report; print `draft.{part}` unchanged"
                )
        for note in report.notes:
            assert note in text, (
                f"the note {note!r} is not in the report; print `report.notes`: they say what could not be looked up"
            )

    def test_what_is_printed_can_be_verified(self, project: Path) -> None:
        """`kr verify` accepts the report: it finds everything it checks."""
        report = samples.report(_CLAIMS)
        self._verified(report, self._rendered(project, report))

    def test_citations_are_printed(self, project: Path) -> None:
        """Each citation appears in the report, with its number, URL and locator."""
        report = samples.report(_CLAIMS)
        text = self._rendered(project, report)
        for citation in report.draft.citations:
            for said in (f"[{citation.n}]", citation.url, citation.locator):
                assert said in text, (
                    f"{said!r} of citation {citation.n} is not in the report; "
                    "print `n`, `url` and `locator` of each of `draft.citations`"
                )

    def test_it_is_pure(self, project: Path) -> None:
        """The same report gives the same text; the renderer does not change it, and writes and sends nothing."""
        report = samples.report(_CLAIMS)
        check_purity(
            "the renderer",
            lambda: self.build(project),
            lambda renderer: self._rendered(project, report, renderer),
            given=[report],
            kinds=("writes", "network", "process"),
            hint="a renderer only reads templates: the store keeps the text",
        )

    def test_an_empty_report_is_a_skeleton(self, project: Path) -> None:
        """A report without content gives a text that says so."""
        text = self._rendered(project, samples.report((), mark=SKELETON_MARK))
        assert samples.report().query.topic in text, (
            "an empty report is rendered without its topic; render the head also where the draft is empty"
        )
        assert SKELETON_MARK in text, (
            f"an empty report does not say that it is one; print `report.mark` where there is one ({SKELETON_MARK})"
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_data(self, project: Path, kind: str) -> None:
        """The renderer prints any text from sources and never evaluates it."""
        hostile = HOSTILE[kind]
        report = samples.report((hostile, *_CLAIMS), topic=f"timeout {hostile}", note=hostile)
        text = self._rendered(project, report)
        assert EVALUATED not in text, (
            f"the renderer evaluated `7191 * 7193`, which stood in a claim ({kind}); "
            "hand texts to a template as values, never as a part of it"
        )
        for claim in _CLAIMS:
            assert claim in text, (
                f"a hostile claim ({kind}) took the claim {claim!r} with it; print each claim by itself"
            )
        if kind in PLAIN:
            assert hostile in text, (
                f"the claim {hostile!r} is not in the report as it stands; print it unchanged: not as a format, "
                "not as a template, not as a part of either"
            )
            self._verified(report, text)

    def _verified(self, report: Report, text: str) -> None:
        """`kr verify` finds nothing false in a text."""
        problems = verify(text, evidence_of(report, report.query, "report.md"))
        said = "".join(f"\n- {problem.where}: {problem.what}" for problem in problems)
        assert not problems, f"`kr verify` would call the report false:{said}\n{_FORM}"

    def _rendered(self, project: Path, report: Report, renderer: Any = None) -> str:
        hint = "every report is rendered, also an empty one and one with hostile text"
        renderer = renderer or self.build(project)
        text = returned("the renderer", lambda: renderer.render(report), hint)
        assert isinstance(text, str), f"the renderer returned {type(text).__name__}; return the text"
        assert text.strip(), "the renderer returned an empty text; render the head at least"
        return text
