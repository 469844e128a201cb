"""Answers from a folder of notes."""

import asyncio
import os
from pathlib import Path

import pytest

from kr_core import ConfigError
from kr_core.plugin import Outcome, ResearchQuery
from kr_source_example import Notes

ORDERS = """---
owner: orders
---
# Order service

Takes orders from the shop.

## Deploy

Merge to `main`; the release job builds the image.

```sh
./deploy orders --region eu-1
```
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "notes" / "services").mkdir(parents=True)
    (tmp_path / "notes" / "services" / "orders.md").write_text(ORDERS, "utf-8")
    (tmp_path / "notes" / "oncall.md").write_text("On call\n=======\n\nHand-over is on Monday.\n", "utf-8")
    return tmp_path


def ask(source, question):
    query = ResearchQuery(
        framework="shop", framework_version="latest", topic="topic", tags=("tag",), question=question
    )
    return asyncio.run(source.query(query, None))


def notes(project: Path, folder="notes", *, official=False):
    return Notes(project, folder, official=official)


def test_a_passage_is_cited_by_file_and_line(project):
    """Text, title, code and place are those of the section."""
    finding = ask(notes(project), "How do we deploy the order service?")
    assert finding.outcome is Outcome.ok
    first = finding.passages[0]
    assert first.locator == "notes/services/orders.md:8"
    assert first.url == "file:notes/services/orders.md"
    assert first.title == "Order service / Deploy"
    assert first.code == ("./deploy orders --region eu-1",)
    assert first.text == ORDERS[ORDERS.index("## Deploy") :].rstrip()
    assert first.locate("./deploy orders") == "notes/services/orders.md:13"
    assert first.coverage == 1.0


def test_nothing_about_the_question_is_said_to_be_nothing(project):
    """Also where a word of the question happens to stand in a note."""
    for question in ("What is the airspeed of a swallow?", "How do I order a pizza for the team?"):
        finding = ask(notes(project), question)
        assert (finding.outcome, finding.passages) == (Outcome.empty, ())
        assert finding.missing


def test_words_are_found_in_every_form_and_script(project):
    """`deployed` is found by `deploying`; other scripts work, and accents count."""
    (project / "notes" / "部署.md").write_text("# 部署订单服务\n\n先合并到主分支，再运行脚本。\n", "utf-8")
    (project / "notes" / "ru.md").write_text("# Развёртывание\n\nСначала слияние в main.\n", "utf-8")
    source = notes(project)
    assert ask(source, "Deploying orders").passages[0].title == "Order service / Deploy"
    assert ask(source, "如何部署订单服务？").passages[0].title == "部署订单服务"
    assert ask(source, "Развёртывание").passages[0].title == "Развёртывание"


def test_a_change_is_seen_at_the_next_question(project):
    """A note that is new, changed or gone."""
    source = notes(project)
    note = project / "notes" / "pager.md"
    assert ask(source, "Where is the pager?").outcome is Outcome.empty
    note.write_text("# Pager\n\nThe pager lies in the drawer.\n", "utf-8")
    assert "drawer" in ask(source, "Where is the pager?").passages[0].text
    note.write_text("# Pager\n\nThe pager lies on the reception desk.\n", "utf-8")
    assert "desk" in ask(source, "Where is the pager?").passages[0].text
    note.unlink()
    assert ask(source, "Where is the pager?").outcome is Outcome.empty


def test_what_does_not_change_is_not_read_again(project):
    """A file whose time and size stay is taken from memory."""
    source = notes(project)
    note = project / "notes" / "oncall.md"
    status = note.stat()
    assert ask(source, "When is hand-over on call?").outcome is Outcome.ok
    note.write_bytes(b"x" * status.st_size)
    os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert ask(source, "When is hand-over on call?").outcome is Outcome.ok


def test_files_that_cannot_be_read_are_named(project):
    """The others answer all the same."""
    (project / "notes" / "big.md").write_bytes(b"a" * 1_000_001)
    (project / "notes" / "latin.md").write_bytes("Übergabe".encode("latin-1"))
    for number in range(3):
        (project / "notes" / f"z{number}.md").write_bytes(b"\xff")
    finding = ask(notes(project), "How do we deploy the order service?")
    assert finding.outcome is Outcome.ok
    assert finding.notes == (
        "notes/big.md: passed over: larger than 1000 kB",
        "notes/latin.md: passed over: not UTF-8",
        "notes/z0.md: passed over: not UTF-8",
        "2 more files were passed over",
    )


def test_links_hidden_folders_and_other_files_are_passed_over(project, tmp_path_factory):
    """Nothing outside the folder is read, and nothing that is no regular file."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("# Secret\n\nThe secret plan.\n", "utf-8")
    (project / "notes" / "linked").symlink_to(outside)
    (project / "notes" / "secret.md").symlink_to(outside / "secret.md")
    (project / "notes" / ".trash").mkdir()
    (project / "notes" / ".trash" / "old.md").write_text("# Secret\n\nThe secret plan.\n", "utf-8")
    (project / "notes" / "secret.txt").write_text("The secret plan.\n", "utf-8")
    os.mkfifo(project / "notes" / "pipe.md")
    assert ask(notes(project), "What is the secret plan?").outcome is Outcome.empty


def test_a_table_of_contents_says_nothing(project):
    """A list of links within the note is not what is found."""
    links = "".join(f"* [{word} the pump](#{word})\n" for word in ("clean", "repair", "prime"))
    text = f"# Pumps\n\n{links}\n## Prime\n\nTo prime the pump, open the valve.\n"
    (project / "notes" / "pumps.md").write_text(text, "utf-8")
    assert ask(notes(project), "How do I prime the pump?").passages[0].title == "Pumps / Prime"


def test_a_note_without_words(project):
    """A rule alone is a note too."""
    for note in (project / "notes").rglob("*.md"):
        note.unlink()
    (project / "notes" / "rule.md").write_text("***\n", "utf-8")
    assert ask(notes(project), "What is the rule?").outcome is Outcome.ok


def test_a_folder_that_is_not_there(project):
    """The source could not look, which is not the same as having found nothing."""
    finding = ask(notes(project, "wiki"), "How do we deploy the order service?")
    assert (finding.outcome, finding.reason) == (
        Outcome.unavailable,
        "there is no folder wiki in the project",
    )


@pytest.mark.parametrize("folder", ["..", "/", "notes/../..", "way-out"])
def test_a_folder_outside_the_project_is_refused(project, tmp_path_factory, folder):
    """A citation must lead somewhere for everybody who has the project."""
    (project / "way-out").symlink_to(tmp_path_factory.mktemp("outside"))
    with pytest.raises(ConfigError, match="is not in the project"):
        notes(project, folder)


def test_notes_that_are_the_authority(project):
    """`official` is handed on to what rates the answer."""
    question = "How do we deploy the order service?"
    assert not ask(notes(project), question).passages[0].official
    assert ask(notes(project, official=True), question).passages[0].official


def test_questions_at_once(project):
    """Each gets its own answer."""
    source = notes(project)

    async def both():
        asked = ["How do we deploy the order service?", "When is hand-over on call?"] * 10
        queries = [
            ResearchQuery(
                framework="shop", framework_version="latest", topic="topic", tags=("tag",), question=question
            )
            for question in asked
        ]
        return await asyncio.gather(*(source.query(query, None) for query in queries))

    titles = [finding.passages[0].title for finding in asyncio.run(both())]
    assert titles == ["Order service / Deploy", "On call"] * 10
