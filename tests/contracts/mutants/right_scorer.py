"""A scorer that keeps to the contract: by coverage and kind of source."""

from kr_core.plugin import Provider, Score, Scorer, hookimpl


class Cautious:
    def score(self, query, findings, draft):
        if not draft.citations:
            return Score(score=0, level="low", reasons=("nothing is cited",))
        best = max(finding.passages[0].coverage for source, finding in findings if finding.passages)
        value = round(100 * best) if draft.citations[0].official else 30
        level = "high" if value >= 80 else "medium" if value >= 50 else "low"
        return Score(score=value, level=level, reasons=(f"it covers {best:.0%}",))


@hookimpl
def kr_scorer() -> Provider[Scorer]:
    return Provider(lambda settings, setup: Cautious())
