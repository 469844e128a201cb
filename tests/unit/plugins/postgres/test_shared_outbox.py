"""What was posted to GitHub is known to all machines that share a record."""

import pytest

from kr_plugins.escalations.github.outbox import Outbox, PostedItem
from kr_plugins.journals.sqlite.sqlite_journal import SQLite
from kr_plugins.postgres.shared_journal import SharedJournal

pytestmark = pytest.mark.req("S2", "S3")

PLACE = "https://api.github.com/acme/shop"
POSTED = PostedItem(1, 901, "https://github.com/acme/shop/issues/1#issuecomment-901", "2026-02-05T12:00:00Z")


@pytest.fixture
def machine(tmp_path, opened):
    """The outbox of a machine, with a folder of its own; and its journal."""
    made = []

    def open_it(name):
        made.append(SharedJournal(opened()))
        return Outbox(tmp_path / name, PLACE, made[-1]), made[-1]

    yield open_it
    for one in made:
        one.close()


def test_each_machine_knows_what_the_others_have_posted(machine):
    """They sign alike, and what one is about to post, or has posted, another one finds."""
    (first, _), (second, _) = machine("a"), machine("b")
    assert first.signature("E1@1") == second.signature("E1@1")
    first.will_post("E1@1", 1, "2026-02-05T11:59:00Z")
    second.refresh()
    assert second.intent("E1@1").issue == 1
    first.is_posted("E1@1", POSTED)
    second.refresh()
    assert (second.posted("E1@1"), second.intent("E1@1")) == (POSTED, None)


def test_what_was_posted_first_stays(machine):
    """Who was stopped before it posted, and goes on when another one has, posts a second time: that one is removed."""
    (first, _), (second, _) = machine("a"), machine("b")
    second.is_posted("E1@1", POSTED)
    first.is_posted("E1@1", POSTED._replace(id=902))
    assert first.posted("E1@1") == POSTED


def test_the_outbox_moves_with_the_project(tmp_path, machine):
    """A machine's own file is taken over by the shared record, and comes back where the record was moved back."""
    own = Outbox(tmp_path / "a", PLACE)
    own.is_posted("E1@1", POSTED)
    shared, journal = machine("a")
    assert shared.posted("E1@1") == POSTED
    shared.is_posted("E2@1", POSTED._replace(id=902))
    alone = SQLite(tmp_path / "moved")
    alone.restore(journal.dump())
    back = Outbox(tmp_path / "moved", PLACE, alone)
    alone.close()
    assert back.signature("E1@1") == own.signature("E1@1")
    assert (back.posted("E1@1").id, back.posted("E2@1").id) == (901, 902)
