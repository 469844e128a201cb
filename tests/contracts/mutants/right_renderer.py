"""A renderer that keeps to the contract: short Markdown, a line for each claim."""

from kr_core.plugin import Provider, Renderer, hookimpl


def line(text):
    return " ".join(text.split())


def block(example):
    return f"````{example.language}\n{example.code}\n````\n[{example.citation}]"


class Short:
    def render(self, report):
        draft = report.draft
        lines = [f"# {line(report.query.framework)} - {line(report.query.topic)}", report.mark or ""]
        lines += [line(claim.text) for claim in draft.summary]
        lines += [block(example) for example in draft.summary_code]
        lines += [line(claim.text) for claim in draft.details]
        lines += [line(claim.text) for claim in draft.caveats]
        lines += [block(example) for example in draft.code]
        lines += ["## Source Attribution", "Citations:"] if draft.citations else []
        lines += [f"- [{one.n}] {one.url} {one.locator}" for one in draft.citations]
        lines += ["## Notes", "What the run says:", *(line(note) for note in report.notes)]
        return "\n\n".join(lines) + "\n"


@hookimpl
def kr_renderer() -> Provider[Renderer]:
    return Provider(lambda settings, setup: Short())
