"""The knowledge base under killed writers, many writers, full disks and read-only ones."""

import os
import random
from datetime import date

import pytest

from kr_core.errors import StorageError
from kr_core.model import Entry
from kr_plugins.stores.files import Files

pytestmark = pytest.mark.faults

DAY = date(2026, 2, 5)


def entry(topic):
    return Entry(
        id=f"httpx-{topic}",
        framework="httpx",
        framework_version="0.28",
        topic=topic,
        tags=("a",),
        path=f"frameworks/httpx/{topic}.md",
        created=DAY,
        last_accessed=DAY,
    )


def whole_entries(folder):
    """The ids in the index; each report is there to its last line, with its evidence."""
    store = Files(folder)
    ids = []
    for found in store.entries():
        report, evidence = store.read(found)
        assert report.startswith(f"# httpx - {found.topic}\n")
        assert report.endswith("\nend\n")
        assert evidence
        ids.append(found.id)
    assert len(set(ids)) == len(ids)
    return set(ids)


def leftovers(folder):
    return [file.name for file in folder.rglob("*") if file.name.endswith(".tmp")]


@pytest.mark.req("K8")
def test_killed_writers(driver, killed, tmp_path):
    """While one writer works and others are killed at random instants, no entry and no report is lost or torn."""
    folder = tmp_path / "knowledge-base"
    instants = random.Random(4)
    kept = set()
    steady = driver("keep", folder, "steady", 1_000_000)
    for number in range(30):
        kept.update(killed(instants.uniform(0, 0.12), "keep", folder, f"w{number % 4}", 1_000_000))
        assert kept <= whole_entries(folder)
    assert steady.poll() is None
    steady.kill()
    out, _ = steady.communicate()
    kept.update(out.decode().rpartition("\n")[0].split())
    assert kept <= whole_entries(folder)
    Files(folder).write("# httpx - last\nend\n", {"n": 1}, entry("last"))
    assert leftovers(folder) == []


@pytest.mark.req("K8")
def test_many_writers(driver, tmp_path):
    """Four processes that keep 25 entries each at once keep a hundred."""
    processes = [driver("keep", tmp_path, f"w{n}", 25) for n in range(4)]
    outcomes = [process.communicate(timeout=300) for process in processes]
    assert [error for _, error in outcomes] == [b""] * 4
    assert len(whole_entries(tmp_path)) == 100
    assert {found.last_accessed for found in Files(tmp_path).entries()} == {date(2026, 2, 1)}
    assert leftovers(tmp_path) == []


@pytest.mark.req("K8", "R15")
def test_full_disk(mounted):
    """On a full disk a write fails with what to do, tears nothing, and works again once there is room."""
    folder = mounted("128k")
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * 30_000)
    store = Files(folder / "kb")
    kept = set()

    def fill():
        for number in range(100):
            one = entry(str(number))
            store.write(f"# httpx - {number}\n" + "x" * 5000 + "\nend\n", {"n": number}, one)
            kept.add(one.id)

    with pytest.raises(StorageError, match="make room on the disk"):
        fill()
    assert kept
    assert leftovers(folder) == []
    assert whole_entries(folder / "kb") == kept
    ballast.unlink()
    store.write("# httpx - last\nend\n", {"n": 1}, entry("last"))
    assert whole_entries(folder / "kb") == kept | {"httpx-last"}


@pytest.mark.req("K7", "K8")
def test_full_disk_while_the_index_is_rebuilt(mounted):
    """A broken index stays in its place until the rebuilt one is whole; there is never none."""
    folder = mounted("512k")
    store = Files(folder / "kb")
    topics = [f"{number}-{'x' * 200}" for number in range(30)]  # the index needs more room than a report
    for topic in topics:
        store.write(f"# httpx - {topic}\nend\n", {"n": 1}, entry(topic))
    index = folder / "kb/index.yaml"
    index.write_text("{")
    ballast = folder / "ballast"
    with pytest.raises(OSError, match="No space left"):
        ballast.write_bytes(b"x" * 512 * 1024)
    os.truncate(ballast, ballast.stat().st_size - 2 * 4096)
    with pytest.raises(StorageError, match="the report was kept"):
        store.write("# httpx - again\nend\n", {"n": 1}, entry(topics[0]))
    assert index.read_text() == "{"
    ballast.unlink()
    store.write("# httpx - again\nend\n", {"n": 1}, entry(topics[0]))
    assert sorted(found.topic for found in store.entries()) == sorted(topics)


@pytest.mark.req("K8", "R15")
def test_read_only(mounted, read_only):
    """A read-only knowledge base is read as ever; writing says what to do."""
    folder = mounted("256k")
    store = Files(folder / "kb")
    store.write("# httpx - one\nend\n", {"n": 1}, entry("one"))
    read_only(folder)
    assert whole_entries(folder / "kb") == {"httpx-one"}
    for change in (
        lambda: store.write("# httpx - two\nend\n", {"n": 1}, entry("two")),
        lambda: store.touch(entry("one"), date(2026, 2, 6)),
        lambda: Files(folder / "new").write("# x\n", {}, entry("two")),
    ):
        with pytest.raises(StorageError, match="make the folder writable"):
            change()
    assert whole_entries(folder / "kb") == {"httpx-one"}
