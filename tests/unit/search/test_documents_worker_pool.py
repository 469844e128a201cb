"""Files read by other processes: the same index as without them, whatever becomes of those."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

import kr_core
from kr_core.search.documents import indexer, worker_pool
from kr_core.search.documents import sqlite_index as store_module
from kr_core.search.documents.indexer import update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.documents.worker_pool import ReadJob, prepared, read_all

COUNT = 700
"""So many that others are asked to read: each counts as 8,000 bytes at least."""
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Many files: with titles, with passages of one name, in other encodings, of no text."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(COUNT):
        if number % 100 == 98:
            (folder / f"{number:03}.md").write_bytes(b"\0\1\2" * 100)
        elif number % 100 == 99:
            (folder / f"{number:03}.md").write_bytes("# Übersicht\n\nGrüße\n".encode("cp1252"))
        elif number % 2:
            (folder / f"{number:03}.html").write_text(
                f"<title>Parcel {number}</title><h1>A</h1><p>weight{number}"
            )
        else:
            (folder / f"{number:03}.md").write_text(f"# Parcel {number}\n\nweight{number}\n")
    return folder


def jobs(folder):
    for path in sorted(folder.iterdir()):
        status = path.stat()
        yield ReadJob(str(folder), str(path), path.name, status.st_size, status.st_mtime_ns)


def running():
    """(process, its parent) of all that run."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                _name, _paren, rest = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            state, parent = rest.split()[:2]
            if state != "Z":
                yield int(entry.name), int(parent)


def children(pid):
    return [one for one, parent in running() if parent == pid]


def gone(pids):
    until = monotonic() + 20
    while {one for one, _parent in running()} & set(pids):
        if monotonic() > until:
            return False
        sleep(0.01)
    return True


def rows(path):
    with sqlite3.connect(path) as connection:
        files = connection.execute("select path, hash, title, note from files order by id").fetchall()
        blocks = connection.execute("select id, file, count, data from blocks order by id").fetchall()
        words = connection.execute("select rowid from postings where postings match 'weight400'").fetchall()
    connection.close()
    return files, blocks, words


@pytest.mark.req("E6")
def test_the_index_is_the_same_with_and_without_them(folder, tmp_path):
    made = []
    for count in (0, 3):
        state = tmp_path / str(count)
        store = DocumentStore(state / FILE_NAME, writable=True)
        done = update(store, folder, "docs", processes=count)
        store.close()
        made.append((done, rows(state / FILE_NAME)))
    assert made[0] == made[1]
    assert made[0][0].read == COUNT
    assert len(made[0][0].notes) == 14


@needs_proc
@pytest.mark.req("E6")
def test_others_read_where_there_is_much(folder):
    read = []
    before = set(children(os.getpid()))
    taking = read_all(jobs(folder), 2)
    most: set[int] = set()
    for _job, one in taking:
        read.append(one)
        if len(read) == COUNT - 50:
            most = set(children(os.getpid())) - before
    assert len(most) == 2
    assert gone(most)
    assert read == [prepared(job) for job in jobs(folder)]


@needs_proc
@pytest.mark.req("E6")
@pytest.mark.parametrize("killed", [1, 2])
def test_a_reader_that_is_killed_loses_nothing(folder, killed):
    read = []
    before = set(children(os.getpid()))
    for _job, one in read_all(jobs(folder), 2):
        read.append(one)
        if len(read) == COUNT - 100:
            for pid in sorted(set(children(os.getpid())) - before)[:killed]:
                os.kill(pid, signal.SIGKILL)
    assert read == [prepared(job) for job in jobs(folder)]


@pytest.mark.req("E6")
@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false", "/bin/echo", "waits", "", None])
def test_where_none_can_be_started_this_process_reads(folder, monkeypatch, tmp_path, program):
    """As in a program that brings its own Python; such a one may start, and never say anything."""
    if program == "waits":
        program = str(tmp_path / "waits")
        Path(program).write_text("#!/bin/sh\nexec sleep 60\n")
        Path(program).chmod(0o755)
        monkeypatch.setattr(worker_pool, "_HELLO_SECONDS", 0.1)
    monkeypatch.setattr(worker_pool.sys, "executable", program)
    assert [one for _job, one in read_all(jobs(folder), 2)] == [prepared(job) for job in jobs(folder)]


@pytest.mark.req("E6")
def test_no_reader_is_of_another_kr(folder, tmp_path, monkeypatch):
    """It would put other words into the index, which could not be taken out."""
    whole = tmp_path / "other" / "kr_core"
    shutil.copytree(Path(kr_core.__file__).parent, whole, ignore=shutil.ignore_patterns("__pycache__"))
    packing = whole / "search" / "documents" / "encoding.py"
    packing.write_text(packing.read_text().replace("return searchable(f", "return 'other' + searchable(f"))
    monkeypatch.setenv("PYTHONPATH", str(whole.parent))
    assert [one for _job, one in read_all(jobs(folder), 2)] == [prepared(job) for job in jobs(folder)]
    monkeypatch.setattr(worker_pool.sys, "path", [str(whole.parent), *sys.path])
    assert [one for _job, one in read_all(jobs(folder), 2)] == [prepared(job) for job in jobs(folder)]


@pytest.mark.req("E6")
def test_long_names_and_large_files_block_nobody(tmp_path):
    """Neither waits for the other while it is itself waited for, however little a pipe takes."""
    deep = tmp_path.joinpath(*["x" * 240] * 12)
    deep.mkdir(parents=True)
    for number in range(400):
        (deep / f"{number:03}.md").write_text(f"# Parcel {number}\n\n" + f"weight{number} " * 3000)
    assert [one for _job, one in read_all(jobs(deep), 2)] == [prepared(job) for job in jobs(deep)]


@pytest.mark.req("E6")
def test_what_another_process_has_written_meanwhile_is_not_written_again(folder, tmp_path, monkeypatch):
    """Files are read ahead of what is written, and others may write between two transactions."""
    state = tmp_path / FILE_NAME
    met = []

    class Polite(DocumentStore):
        def _commit(self):
            super()._commit()
            if not met and self.size > 760:
                met.append(update(other, folder, "docs", processes=0))

    store, other = Polite(state, writable=True), DocumentStore(state, writable=True)
    monkeypatch.setattr(indexer, "_SECONDS", -1.0)  # a transaction for each file, one behind the other
    monkeypatch.setattr(store_module, "_PAUSE", 0.0)
    done = update(store, folder, "docs", processes=3)
    assert met[0].read > 0
    assert done.read + met[0].read == COUNT
    assert done.read + done.unchanged == COUNT
    assert store.size == sum(len(block.words) for job in jobs(folder) for block in prepared(job).blocks)
    store._connection.execute("insert into postings (postings) values ('integrity-check')")
    other.close()
    store.close()


@needs_proc
@pytest.mark.req("E6")
def test_they_end_with_the_one_that_asked(folder):
    """Killed as it is, it can end nobody."""
    code = (
        "import sys, time, pathlib\n"
        "from kr_core.search.documents.worker_pool import ReadJob\n"
        "from kr_core.search.documents.worker_pool import read_all\n"
        "paths = sorted(pathlib.Path(sys.argv[1]).iterdir())\n"
        "for count, _one in enumerate(read_all((ReadJob('', str(p), p.name, 1, 1) for p in paths), 2)):\n"
        "    if count == 650:\n"
        "        print('there', flush=True)\n"
        "        time.sleep(60)\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert asking.stdout.readline() == "there\n"
        reading = children(asking.pid)
        assert len(reading) == 2
    finally:
        asking.kill()
        asking.communicate()
    assert gone(reading)


@needs_proc
@pytest.mark.req("E6")
@pytest.mark.parametrize("platform", ["linux", "another"])
def test_one_that_is_busy_ends_with_the_one_that_asked(platform):
    """One file may keep it for a minute; Linux ends it, elsewhere it sees that its input has ended."""
    busy = (
        "import sys, time\n"
        "from kr_core.search.documents import worker_pool\n"
        f"sys.platform = {platform!r}\n"
        "def prepared(*_):\n"
        "    sys.stderr.write('busy\\n')\n"
        "    while True: pass\n"
        "worker_pool.prepared = prepared\n"
        "worker_pool.serve()\n"
    )
    code = (
        "import pickle, subprocess, sys\n"
        "reader = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdin=-1, stdout=-1, stderr=-1)\n"
        "pickle.dump([None], reader.stdin)\n"
        "reader.stdin.flush()\n"
        "print(reader.pid, reader.stderr.readline(), flush=True)\n"
        "reader.wait()\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", code, busy], stdout=subprocess.PIPE, text=True)
    try:
        reader, said = asking.stdout.readline().split(None, 1)
        assert "busy" in said
    finally:
        asking.kill()
        asking.communicate()
    assert gone([int(reader)])
