"""A check of a knowledge base in which links, pipes and folders stand where reports are expected."""

import os

import pytest
from support.files_store import REPORT, entry

from kr_plugins.stores.files import reports

pytestmark = pytest.mark.req("K2", "Z3")


def flawed(store):
    return sorted((flaw.kind, flaw.location) for flaw in store.check())


def test_only_files_of_this_folder_are_reports(store, folder):
    """A link to a report inside is one; what leads out, a pipe, a folder and what is too large are not, and no check waits."""
    for topic in ("linked", "out", "pipe", "folder", "large", "plain"):
        store.write(REPORT, {}, entry(topic))
    places = {one.topic: folder / one.path for one in store.entries()}
    secret = folder.parent / "secret.md"
    secret.write_text(REPORT, "utf-8")
    for topic in ("linked", "out", "pipe", "folder"):
        places[topic].unlink()
    places["linked"].symlink_to(places["plain"])
    places["out"].symlink_to(secret)
    os.mkfifo(places["pipe"])
    places["folder"].mkdir()
    with places["large"].open("r+b") as file:
        file.truncate(20_000_001)
    found = [("dangling", f"httpx-{topic}") for topic in ("folder", "large", "pipe")]
    assert flawed(store) == found


def test_each_report_is_shown_once_with_its_entry(store, folder, monkeypatch):
    """An inspection reads a report once, tells the same faults as the check, and shows neither what is gone nor what was archived."""
    for topic in ("kept", "gone", "archived"):
        store.write(f"# httpx - {topic}\n", {}, entry(topic))
    store.archive(lambda entries: [one for one in entries if one.topic == "archived"])
    (folder / "frameworks/httpx/gone.md").unlink()
    read = []
    plain = reports.plain_content
    monkeypatch.setattr(reports, "plain_content", lambda place: read.append(place) or plain(place))
    shown = []
    flaws = store.inspect(lambda one, report: shown.append((one.topic, report)))
    assert shown == [("kept", "# httpx - kept\n")]
    assert [place.rpartition("/")[2] for place in read] == ["kept.md", "archived.md"]
    assert flaws == store.check()
    assert [flaw.location for flaw in flaws] == ["httpx-gone", "frameworks/httpx/gone.evidence.json"]


@pytest.mark.parametrize("name", ["frameworks", "frameworks/httpx"])
def test_a_folder_of_reports_may_be_a_link_inside(store, folder, name):
    """Reports below a linked folder are found; where the link leads out, there are none."""
    store.write(REPORT, {}, entry("timeouts"))
    (folder / "kept").mkdir()
    (folder / name).rename(folder / "kept/inside")
    (folder / name).symlink_to(folder / "kept/inside")
    assert flawed(store) == []
    (folder / "kept/inside").rename(folder.parent / "outside")
    (folder / name).unlink()
    (folder / name).symlink_to(folder.parent / "outside")
    assert flawed(store) == []


def test_a_hidden_folder_holds_no_report_of_an_entry(store, folder):
    """What an entry names there is said once, as a path, and is not looked for."""
    store.write(REPORT, {}, entry("timeouts"))
    hidden = folder / "frameworks/httpx/.old"
    hidden.mkdir()
    (folder / "frameworks/httpx/timeouts.md").rename(hidden / "timeouts.md")
    index = folder / "index.yaml"
    index.write_text(index.read_text("utf-8").replace("httpx/timeouts.md", "httpx/.old/timeouts.md"), "utf-8")
    assert [kind for kind, _location in flawed(store)] == ["orphan", "path"]
