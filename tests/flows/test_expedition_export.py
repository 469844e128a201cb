"""An expedition as a file to hand on: Markdown, or one page without scripts."""

import pytest
from support.expeditions import Library, research

from kr_core.expedition.export import exported
from kr_core.expedition.service import Expeditions

PAGES = {
    "https://carriers.example/fast": (
        "Fast Carrier",
        "Fast Carrier supports tracking of parcels. It takes <script>alert(1)</script> for granted.",
    )
}
ASKED = "Which carriers support tracking of parcels?"


@pytest.mark.req("E9", "E10")
@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_the_report_with_its_quotes(bench, tmp_path, name):
    """It has the report, each fact with its quote, and how it came out; what sources say is text, and never HTML."""
    pipeline = bench.pipeline({"web": Library(PAGES)})
    research(pipeline, ASKED)
    expeditions = Expeditions(pipeline)
    text = exported(expeditions.get("X1"), expeditions, tmp_path / name)
    assert ASKED in text
    assert "What each fact rests on" in text
    assert "Fast Carrier supports tracking of parcels." in text
    assert "Answered. Stopped after 2 rounds" in text
    assert "<script>" not in text or name.endswith(".md")


@pytest.mark.req("E10")
def test_the_command_and_another_ending(kr_here, project_folder):
    """The file is written where it was named; a name with another ending is refused."""
    (project_folder / "kr.yaml").write_text("knowledge_research: {sources: [installed_docs]}\n")
    kr_here("expedition", "run", "How long does parcel wait for a carrier?", "-q")
    done = kr_here("expedition", "show", "X1", "--export", "out/report.html")
    assert done.code == 0, done
    assert (project_folder / "out" / "report.html").read_text().startswith("<!doctype html>")
    wrong = kr_here("expedition", "show", "X1", "--export", "report.pdf")
    assert wrong.code == 2
    assert "ends in neither .md nor .html" in wrong.err
