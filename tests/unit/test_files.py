"""Files read within bounds, and written whole or not at all."""

import os
import socket
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from kr_core.files import lies_within, lock, make_state_folder, read_bytes, read_text, write_atomically


@pytest.mark.req("K8")
def test_a_file_is_replaced_whole(tmp_path):
    """The new text stands under the name, and nothing else is left in the folder."""
    file = tmp_path / "a.txt"
    write_atomically(file, "one\n")
    write_atomically(file, "two\r\nthree")
    assert file.read_bytes() == b"two\r\nthree"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.req("K8")
def test_a_failure_changes_nothing(tmp_path):
    """A text that cannot be written leaves the old one, and no temporary file."""
    file = tmp_path / "a.txt"
    write_atomically(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "\ud800")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "folder", "text")
    assert file.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "folder"]


def test_permissions_stay(tmp_path):
    """A file keeps its permissions, and a new one gets those that the umask leaves."""
    file = tmp_path / "a.txt"
    file.write_text("old")
    file.chmod(0o640)
    write_atomically(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    (tmp_path / "plain").touch()
    write_atomically(tmp_path / "b.txt", "new")
    assert (tmp_path / "b.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_umask_is_not_touched_by_writing(tmp_path, monkeypatch):
    """Writing never sets the umask, which another thread's new file would meet."""
    monkeypatch.setattr(os, "umask", lambda _mask: pytest.fail("the umask was set"))
    write_atomically(tmp_path / "a.txt", "new")


@pytest.mark.req("K8")
def test_a_new_folder_is_synced_into_its_parent(tmp_path, monkeypatch):
    """Not only the file: each new folder on its way is made durable in the one that holds it."""
    synced = []
    real = os.fsync

    def noted(handle):
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        real(handle)

    monkeypatch.setattr(os, "fsync", noted)
    write_atomically(tmp_path / "a/b/c.txt", "text")
    assert [str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a/b")] == [
        path for path in synced if ".tmp" not in path
    ]


def test_the_state_folder_stays_out_of_git(tmp_path):
    """The folder of KR's own state ignores itself; what a person wrote there stays."""
    make_state_folder(tmp_path / "x/.kr")
    assert (tmp_path / "x/.kr/.gitignore").read_text().startswith("*\n")
    (tmp_path / "x/.kr/.gitignore").write_text("mine\n")
    make_state_folder(tmp_path / "x/.kr")
    assert (tmp_path / "x/.kr/.gitignore").read_text().startswith("mine\n# mark: ")
    (tmp_path / "x/.kr/journal.sqlite").write_text("")
    (tmp_path / "x/.kr/.gitignore").write_text("mine\n")
    make_state_folder(tmp_path / "x/.kr")
    assert (tmp_path / "x/.kr/.gitignore").read_text() == "mine\n"


@pytest.mark.req("K8")
def test_the_state_folder_is_marked_before_anything_is_in_it(tmp_path):
    """A process that looks while another makes the folder never sees content without the user's mark."""
    program = (
        "import os, sys; from pathlib import Path; from kr_core.files import make_state_folder\n"
        "def watch(event, args):\n"
        "    if event == 'os.mkdir' and str(args[0]).endswith('locks'):\n"
        "        print((Path(args[0]).parent / '.gitignore').exists())\n"
        "sys.addaudithook(watch); make_state_folder(Path(sys.argv[1], '.kr/locks'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


@pytest.mark.req("K8")
def test_one_at_a_time(tmp_path):
    """Who holds the lock of a folder is alone in it, and no lock file appears."""
    inside, most = [], []

    def work():
        for _ in range(20):
            with lock(tmp_path / "kb"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert os.listdir(tmp_path / "kb") == []


class TestReading:
    """What a file may be that KR did not write."""

    def test_a_file_is_read_whole(self, tmp_path):
        """A file up to the limit is read; a text without its byte order mark and with newlines."""
        file = tmp_path / "a.txt"
        file.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
        assert read_bytes(file, limit=10) == b"\xef\xbb\xbfa\r\nb\rc\n"
        assert read_text(file, limit=10) == "a\nb\nc\n"

    def test_a_large_file_is_refused(self, tmp_path):
        """A file larger than the limit is refused unread, also one whose size the system does not know."""
        file = tmp_path / "a.txt"
        file.write_bytes(b"x" * 11)
        with pytest.raises(OSError, match="larger than 10 bytes"):
            read_bytes(file, limit=10)
        with pytest.raises(OSError, match="larger than 3 bytes"):
            read_bytes(Path("/proc/self/status"), limit=3)

    def test_what_is_no_regular_file_is_refused_at_once(self, tmp_path):
        """A pipe, a socket, a device, a folder, and links to them are refused without waiting."""
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "device").symlink_to("/dev/zero")
        (tmp_path / "again").symlink_to("device")
        with closing(socket.socket(socket.AF_UNIX)) as listening:
            listening.bind(str(tmp_path / "socket"))
            for name in ("pipe", "device", "again", "socket"):
                with pytest.raises(OSError, match="not a regular file"):
                    read_bytes(tmp_path / name, limit=10)
        with pytest.raises(IsADirectoryError):
            read_bytes(tmp_path, limit=10)

    def test_a_link_that_leads_outside_is_refused(self, tmp_path):
        """With a folder given, a link out of it is refused, also one through another link or a linked folder."""
        (tmp_path / "secret").write_text("key")
        inside = tmp_path / "inside"
        (inside / "deep").mkdir(parents=True)
        (inside / "real").write_text("mine")
        (inside / "fine").symlink_to("real")
        (inside / "first").symlink_to("deep/second")
        (inside / "deep" / "second").symlink_to("../../secret")
        (inside / "up").symlink_to("..")
        (tmp_path / "inside-not").write_text("a folder's name is not a prefix of text")
        (inside / "beside").symlink_to("../inside-not")
        assert read_bytes(inside / "fine", limit=10, within=inside) == b"mine"
        for name in ("first", "deep/second", "up/secret", "beside"):
            with pytest.raises(OSError, match="leads out of"):
                read_bytes(inside / name, limit=100, within=inside)
        assert lies_within(inside / "fine", inside)
        assert not lies_within(inside / "up" / "not there", inside)
        (tmp_path / "linked").symlink_to(inside)
        assert read_bytes(tmp_path / "linked" / "real", limit=10, within=tmp_path / "linked") == b"mine"
