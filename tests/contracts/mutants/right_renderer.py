"""A renderer that keeps to the contract: plain text, a line for each claim."""

from kr_core import Provider, Renderer, hookimpl


class Plain:
    def render(self, report):
        draft = report.draft
        lines = [f"{report.query.framework} - {report.query.topic}", report.mark or ""]
        lines += [claim.text for claim in draft.summary]
        lines += [example.code for example in draft.summary_code]
        lines += [f"[{one.n}] {one.url} {one.locator}" for one in draft.citations]
        return "\n".join(lines) + "\n"


@hookimpl
def kr_renderer() -> Provider[Renderer]:
    return Provider(lambda settings, setup: Plain())
