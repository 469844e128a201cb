"""KR's contract for sources."""

from pathlib import Path

from kr_core.testing import SourceContract


class TestNotes(SourceContract):
    module = "kr_source_example"
    settings = {"folder": "notes"}
    known = "How do we deploy the order service?"
    unknown = "What is the airspeed of a swallow?"

    def prepare(self, project: Path) -> None:
        note = "# Order service\n\n## Deploy\n\nMerge to `main` and wait for the release job.\n"
        (project / "notes").mkdir()
        (project / "notes" / "orders.md").write_text(note, "utf-8")
