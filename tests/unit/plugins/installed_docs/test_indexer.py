"""The index of what is installed, made on first use."""

import errno
import os
import subprocess
import sys
import threading

import pytest

from kr_core.search import passage_index as search_index
from kr_plugins.sources.installed_docs import package_index
from kr_plugins.sources.installed_docs.material import find
from kr_plugins.sources.installed_docs.package_index import Material, open_index, python_files
from kr_plugins.sources.installed_docs.reading_budget import Cancelled, ReadingBudget

BOX = {
    "box/__init__.py": '''\
        """Boxes, and how things are put into them and taken out."""

        def put(thing, *, timeout=5.0):
            """Put a thing into the box.

            Args:
                thing: What is put in.
                timeout: Seconds to wait for room.
            """
        '''
}


class Making:
    """Opens the index of a distribution, and counts how many files were read for it."""

    def __init__(self, project, cache):
        self.project = project
        self.cache = cache
        self.read = 0
        self.stop_after = None

    def __call__(self, framework="box"):
        self.read = 0
        found = find(framework, self.project())
        index, notes = open_index(self.cache, found.material, self.progress, ReadingBudget(self.cancelled))
        self.titles = [hit.passage.title for hit in index.get(range(1, index.size + 1))]
        index.close()
        return notes

    def progress(self, done, total):
        self.read = done

    def cancelled(self):
        return self.stop_after is not None and self.read >= self.stop_after

    @property
    def files(self):
        return sorted(path.name for path in (self.cache / "installed").glob("*"))


@pytest.fixture
def making(project, tmp_path):
    return Making(project, tmp_path / "cache")


@pytest.mark.req("R5")
def test_an_index_is_made_once(install, making):
    """The second time nothing is read, and the file is as it was."""
    install("box", BOX)
    assert making() == []
    first = making.titles
    assert (making.read, len(making.files)) == (1, 1)
    stamp = (making.cache / "installed" / making.files[0]).stat().st_mtime_ns
    assert making() == []
    assert (making.read, making.titles) == (0, first)
    assert (making.cache / "installed" / making.files[0]).stat().st_mtime_ns == stamp


@pytest.mark.parametrize("change", ["version", "record", "format", "reader"])
def test_a_change_makes_a_new_index(install, making, monkeypatch, change):
    """Another version, another installation of the same one, or another KR reads anew."""
    install("box", BOX)
    making()
    if change == "version":
        install("box", BOX, version="1.3.0", record=["box/__init__.py"])
        for file in (
            making.cache.parent / ".venv/lib/python3.12/site-packages/box-1.2.0.dist-info"
        ).iterdir():
            file.unlink()
        (making.cache.parent / ".venv/lib/python3.12/site-packages/box-1.2.0.dist-info").rmdir()
    elif change == "record":
        install("box", BOX, record=["box/__init__.py", "box/other.py"])
    else:
        monkeypatch.setattr(
            package_index, {"format": "INDEX_FORMAT", "reader": "READER_FORMAT"}[change], 9999
        )
    making()
    assert (making.read, len(making.files)) == (1, 2)


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "older", "a folder"])
def test_a_damaged_index_is_made_anew(install, making, damage):
    """A file that is no index, or one of another format, is replaced, and never an error."""
    install("box", BOX)
    making()
    good = making.titles
    file = making.cache / "installed" / making.files[0]
    if damage == "older":
        import sqlite3

        with sqlite3.connect(file) as connection:
            connection.execute("update meta set value = '1' where key = 'format'")
        connection.close()
    elif damage == "a folder":
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(
            {"empty": b"", "text": b"not an index\n" * 99, "cut": file.read_bytes()[:1000]}[damage]
        )
    notes = making()
    assert (making.read, making.titles) == (1, good)
    assert bool(notes) == (damage == "a folder")
    making()
    assert making.read == (1 if damage == "a folder" else 0)


@pytest.mark.req("R9")
@pytest.mark.parametrize("case", ["a file", "read-only", "full"])
def test_without_a_cache_folder_the_index_is_in_memory(install, making, case, monkeypatch):
    """A cache that cannot be written costs time, not the answer; a note says so."""
    install("box", BOX)
    if case == "a file":
        making.cache.write_text("")
    elif case == "read-only":
        making.cache.mkdir()
        making.cache.chmod(0o500)
        if os.access(making.cache, os.W_OK):  # root may write anywhere
            making.cache = type(making.cache)("/proc/kr-cache")
    else:
        with_limit = search_index.tempfile.mkstemp

        def full(*arguments, **named):
            handle, _name = with_limit(*arguments, **named)
            os.close(handle)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(search_index.tempfile, "mkstemp", full)
    notes = making()
    assert "box.put(timeout)" in making.titles
    assert [note.startswith("index of box kept in memory only: ") for note in notes] == [True]
    making.cache.chmod(0o700) if case == "read-only" and making.cache.is_dir() else None


@pytest.mark.req("R8")
@pytest.mark.parametrize("stop_after", [0, 1, 2])
def test_a_cancelled_index_leaves_nothing(install, making, stop_after):
    """Given up before, between or after the files: no file is left, and the next time all is read."""
    install("box", {**BOX, "box/a.py": "def a(): 'Do it so.'\n"})
    making.stop_after = stop_after
    with pytest.raises(Cancelled):
        making()
    assert making.files == []
    making.stop_after = None
    making()
    assert "box.a.a" in making.titles


def test_a_disk_that_fills_up_leaves_nothing(tmp_path):
    """What breaks off while the index is written leaves no partial file."""

    def breaking():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield

    with pytest.raises(OSError, match="No space"):
        search_index.build(tmp_path / "x.sqlite", breaking())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("K8")
def test_two_processes_may_make_one_index(install, making, tmp_path):
    """Both get a whole index, and one file is left."""
    install("box", {**BOX, **{f"box/m{n}.py": f"def f{n}(): 'Do the thing of {n}.'\n" for n in range(40)}})
    program = f"""
import sys
from pathlib import Path
from kr_core.toolkit import LocalProject
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget
from kr_plugins.sources.installed_docs.package_index import open_index
from kr_plugins.sources.installed_docs.material import find
root = Path({str(tmp_path)!r})
found = find("box", LocalProject(root, root, {{}}, own_prefix=None))
print("ready", flush=True)
sys.stdin.readline()
index, notes = open_index(Path({str(making.cache)!r}), found.material, lambda done, total: None, ReadingBudget())
print(index.size, notes)
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=30)[0] for process in processes]
    assert said[0] == said[1] == "44 []\n"
    assert len(making.files) == 1


def test_two_threads_may_make_one_index(install, making):
    install("box", BOX)
    threads = [threading.Thread(target=Making(making.project, making.cache)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(making.files) == 1


def test_what_cannot_be_read_is_noted(install, making):
    """A broken file costs itself only, and the note is kept with the index."""
    install("box", {**BOX, "box/broken.py": "def (:\n", "box/data.py": b"\0\1\2"})
    expected = ["box/broken.py: does not parse (SyntaxError)", "box/data.py: does not parse (SyntaxError)"]
    assert making() == expected
    assert making() == expected
    assert (making.read, "box.put" in making.titles) == (0, True)


def test_tests_and_vendored_copies_are_not_parsed(install, site):
    """Folders of tests, examples and copies of others, and files of tests, are skipped before they are read."""
    skipped = [
        "tests/a.py",
        "_vendor/b.py",
        "examples/c.py",
        "test_d.py",
        "conftest.py",
        "__main__.py",
        "two words/e.py",
        "f-g.py",
    ]
    install(
        "box",
        {**BOX, **{f"box/{path}": "def (:" for path in skipped}, "box/testing.py": "", "box/sub/deep.py": ""},
    )
    assert sorted(name for _file, name in python_files(site / "box", "box")) == [
        "box",
        "box.sub.deep",
        "box.testing",
    ]


def test_a_stub_is_read_only_without_source(install, site):
    install(
        "box",
        {"box/__init__.py": "", "box/a.py": "", "box/a.pyi": "", "box/fast.pyi": "", "box/fast.so": b""},
    )
    assert [file.name for file, _name in python_files(site / "box", "box")] == [
        "__init__.py",
        "a.py",
        "fast.pyi",
    ]


def test_a_folder_that_is_gone_holds_nothing(tmp_path):
    assert list(python_files(tmp_path / "gone", "gone")) == []


def test_links_in_circles_end(install, site, making):
    """A folder that holds a link to itself is read once; a file that is a link to itself is noted."""
    install("box", BOX)
    (site / "box/again").symlink_to(site / "box")
    (site / "box/self").symlink_to(site / "box/self")
    (site / "box/loop.py").symlink_to(site / "box/loop.py")
    assert [name for _file, name in python_files(site / "box", "box")] == ["box", "box.loop"]
    assert making() == ["box/loop.py: Too many levels of symbolic links, not read"]


def test_the_file_name_tells_what_it_is(install, project):
    """Label and version stand in the name of the cache file, whatever they hold."""
    install("box", BOX)
    material = find("box", project()).material
    odd = Material("../box", "1/0\0", material.base, material.roots, [], "x")
    assert package_index._file_name(material).startswith("box-1.2.0-")
    assert package_index._file_name(odd).startswith(".._box-1_0_-")


def _indexed(folder, files):
    """The passages of the package `box`."""
    (folder / "box").mkdir()
    for name, text in files.items():
        (folder / "box" / name).write_text(text)
    material = Material("box", "1.0", folder, [(folder / "box", "box")], [], "f")
    return material.passages(lambda _done, _total: None, ReadingBudget())[0]


@pytest.mark.req("A7")
def test_a_stub_beside_a_module_says_what_its_compiled_part_takes(tmp_path):
    """Names that the module takes from a compiled one have the signature of the stub; its own stay its own."""
    found = _indexed(tmp_path, {
        "__init__.py": "",
        "json.py": "from ._core import json_decode as decode\nfrom ._own import load\n\ndef dump(box):\n    '''Dump a box.'''\n",
        "json.pyi": (
            "from typing import Any, overload\n@overload\ndef decode(buf: bytes, *, strict: bool = True) -> Any: ...\n"
            "@overload\ndef decode(buf: bytes, type: Any, *, strict: bool = True) -> Any: ...\ndef dump(other): ...\ndef load(x): ...\n"
        ),
        "_own.py": "def load(box):\n    '''Load a box.'''\n",
    })  # fmt: skip
    decode = next(one for one in found if one.symbol == "box.json.decode")
    assert decode.locator == "box/json.pyi:3"
    assert decode.data["required"] == ["buf"]
    assert next(one for one in found if one.symbol == "box.json.dump").locator == "box/json.py:4"
    assert not [
        one for one in found if one.locator.startswith("box/json.pyi") and one.symbol != "box.json.decode"
    ]


@pytest.mark.req("A1")
def test_members_of_an_enum_that_a_loop_gives_to_the_module_are_names_of_it(tmp_path):
    found = _indexed(tmp_path, {
        "__init__.py": "",
        "Image.py": (
            "import enum, sys\nclass Resampling(enum.IntEnum):\n    '''Filters.'''\n    NEAREST = 0\n    LANCZOS = 1\n\n"
            "for one in (Resampling, Other):\n    for item in one:\n        setattr(sys.modules[__name__], item.name, item.value)\n"
        ),
    })  # fmt: skip
    lanczos = next(one for one in found if one.symbol == "box.Image.LANCZOS")
    assert (lanczos.locator, lanczos.text) == ("box/Image.py:5", "LANCZOS = 1")


@pytest.mark.req("A1")
def test_a_fixture_of_pytest_is_known_by_the_name_that_tests_write(tmp_path):
    found = _indexed(tmp_path, {
        "__init__.py": "",
        "_tmp.py": (
            "from pytest import fixture\nimport pytest\n@fixture\ndef tmp_box(request):\n    '''A box for one test.'''\n\n"
            "@pytest.fixture(name='crate')\ndef _crate():\n    '''A crate for one test.'''\n"
        ),
    })  # fmt: skip
    named = {one.symbol: one for one in found if one.kind == "symbol"}
    assert (named["tmp_box"].data["public"], named["tmp_box"].data["parameters"]) == (True, [])
    assert named["crate"].data["aliases"] == ["box._tmp._crate"]
