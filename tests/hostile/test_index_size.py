"""An index of many crafted entries is archived by steps that grow with it, not with its square."""

import sys
import time

import pytest
from support.files_store import entry, given_report

from kr_core import StorageError
from kr_plugins.stores.files import Files

pytestmark = pytest.mark.req("Z8", "K6")

_PATIENCE_SECONDS = 60
"""Far more than it takes on a slow machine; before, it took minutes."""
_HEAD = "schema_version: 1\nmax_entries: 200\ncache_ttl_days: 30\nentries:\n"
_ITEM = """- id: {id}
  framework: Evil_Pkg
  framework_version: '1.0'
  topic: {topic}
  tags:
  - timeout
  path: {path}
  created: '2026-01-01'
  last_accessed: '2026-01-01'
  status: fresh
"""
_KINDS = {
    "of one report": {"topic": "the same", "path": "frameworks/evil/same.md"},
    "of one id": {"id": "evil-same", "path": "frameworks/evil/e{n}.md"},
    "of one report and id": {"id": "evil-same", "path": "frameworks/evil/same.md"},
    "of many reports": {"path": "frameworks/evil/e{n}.md"},
}


def _store(folder, kind, count):
    form = _ITEM.format(**{"id": "evil-{n}", "topic": "topic {n}"} | _KINDS[kind])
    folder.mkdir()
    (folder / "index.yaml").write_text(_HEAD + "".join(form.format(n=n) for n in range(count)))
    return Files(folder)


def _calls(work):
    """How many functions are called while the work is done; generators count at each step."""
    count = 0

    def note(_frame, kind, _argument):
        nonlocal count
        count += kind in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", _KINDS)
def test_archiving_takes_steps_in_proportion(tmp_path, kind):
    """Four times as many entries take about four times as many steps to archive, and to list, whatever they share."""
    steps = []
    for count in (100, 400):
        store = _store(tmp_path / str(count), kind, count)
        steps.append(_calls(lambda store=store: store.archive(lambda entries: entries[1:])))
        steps.append(_calls(Files(tmp_path / str(count)).archived))
    for few, many in zip(steps[:2], steps[2:], strict=True):
        assert many < 6 * few


def test_marking_takes_steps_in_proportion(tmp_path):
    """Four times as many entries of one report take about four times as many steps to mark as stale."""
    few, many = (
        _calls(lambda store=store: store.mark_stale(lambda entries: entries))
        for store in (_store(tmp_path / str(count), "of one report", count) for count in (100, 400))
    )
    assert many < 6 * few


def test_twins_go_to_the_archive_as_one(tmp_path):
    """Of entries that are the same but for a value the archive has one, the last; others keep their own."""
    store = Files(tmp_path / "kb")
    given_report(tmp_path / "kb", entry().path)
    twin = entry().model_copy(update={"tags": ("other",)})
    other = entry("timeouts")
    index = tmp_path / "kb/index.yaml"
    form = _ITEM.replace("Evil_Pkg", "httpx")
    index.write_text(
        _HEAD
        + "".join(
            form.replace("timeout", one.tags[0]).format(id=one.id, topic=one.topic, path=one.path)
            for one in (entry(), twin, other)
        )
    )
    gone = store.archive(lambda entries: entries).entries
    assert len(gone) == 3
    assert [(one.id, one.tags) for one in store.archived()] == [
        (twin.id, ("other",)),
        (other.id, ("timeouts",)),
    ]


def _text(kind):
    """An index that would take minutes, or more than a gigabyte, to read."""
    form = _ITEM.format(id="evil-{n}", topic="topic {n}", path="frameworks/evil/e{n}.md")
    return (
        _HEAD
        + {
            "entries": lambda: "".join(form.format(n=n) for n in range(60_001)),
            "tags": lambda: form.format(n=1).replace("- timeout\n", "- timeout\n" + "  - a\n" * 800_000),
            "entries that cannot be cut": lambda: (
                "".join(form.format(n=n) for n in range(5_000)) + "- &x a\n- &x b\n"
            ),
            "one broken entry of long lines": lambda: (
                "- {a: b,\n" + "  c: [" + "d, " * 6_000_000 + "],\n" + "  c: d,\n" * 50
            ),
            "broken entries": lambda: ("- {a: b,\n" + "  c: d,\n" * 58) * 3_000,
        }[kind]()
    )


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("entries", "more than 60,000 entries"),
        ("tags", "more than 800,000 lines"),
        ("entries that cannot be cut", "more than 1,000,000 characters in another form"),
        ("one broken entry of long lines", "more than 1,000,000 characters in another form"),
        ("broken entries", "more than 1,000,000 characters in another form"),
    ],
)
def test_an_index_that_is_too_large_is_refused_and_rebuilt(tmp_path, kind, said):
    """A read ends at once with the reason; the rebuilding keeps a copy, and tries a limited number of pieces."""
    folder = tmp_path / "kb"
    given_report(folder, entry().path)
    text = _text(kind)
    (folder / "index.yaml").write_text(text)
    store = Files(folder)
    with pytest.raises(StorageError, match=said):
        store.entries()
    started = time.process_time()
    store.rebuild()
    assert time.process_time() - started < _PATIENCE_SECONDS
    assert entry().path in {one.path for one in store.entries()}
    assert [one.read_text() == text for one in folder.glob("index.yaml.*")] == [True]
