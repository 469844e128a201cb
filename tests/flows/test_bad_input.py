"""Bad input of every kind: one clear error or a noted degradation, the exit code as designed, nothing lost."""

import json
import re
import subprocess

import pytest
import yaml
from support.projects import PARCEL, Given, found, install

ASK = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel")


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


def only_line(done):
    """The one line on standard error."""
    (line,) = done.err.splitlines()
    assert line.startswith("kr: ")
    return line


@pytest.mark.req("R2")
@pytest.mark.parametrize(
    "question", ["", " \n\t", "?" * 20_000, "x" * 100_000], ids=["none", "blank", "marks", "100 kB"]
)
def test_questions(kr, project_folder, question):
    """An empty or endless question is refused in one line, and nothing is written."""
    done = kr("research", question, "--framework", "parcel")
    assert (done.code, done.out) == (2, "")
    assert len(only_line(done)) < 200
    assert not (project_folder / ".kr").exists()


@pytest.mark.req("R2", "Z1")
@pytest.mark.parametrize(
    ("framework", "code"),
    [("../../etc", 2), ("/etc", 2), ("a\\b", 2), ("x" * 300, 2), ("a\nb", 2), (b"\xff\xfe", 2), ("", 2), ("🦄", 4), ("..", 2)],
)  # fmt: skip
def test_frameworks(kr, tmp_path, project_folder, framework, code):
    """A framework that is a path, no text or too long is refused; a strange one is simply not known."""
    done = kr("research", "a timeout?", "--framework", framework)
    assert done.code == code, done
    assert "Traceback" not in done.err
    if code == 2:
        assert "framework" in only_line(done)
        assert not (project_folder / ".kr").exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"project", "cache", "state"}


@pytest.mark.req("R2")
@pytest.mark.parametrize(
    "command",
    [
        ("docs", "index", "{}"),
        ("-C", "{}", "log"),
        ("versions", "{}"),
        ("verify", "{}"),
        ("cache", "show", "{}"),
    ],
)
def test_names_of_300_characters(kr, command):
    """A name that no file can have is refused in one line that says so, or is simply not there."""
    done = kr(*(part.format("x" * 300) for part in command))
    assert done.code in {2, 4}, done
    assert "unforeseen" not in done.err


@pytest.mark.req("R2")
@pytest.mark.parametrize(
    "text",
    [b"{", b"a: [", b"a: b: c", b"\tkey: 1", b"- " * 100_000, b"[" * 100_000, b"\xff\xfe", b"\x00", b"a: &a [*a]",
     b"!!python/object/apply:os.system [ls]", b"", b"7", b"[]", b"&a [*a, *a]"],
    ids=["json", "cut", "colons", "tab", "deep items", "deep", "utf-16", "nul", "itself", "python", "empty", "number",
         "list", "aliases"],
)  # fmt: skip
def test_requests(kr, project_folder, text):
    """A request that is malformed ends with 2 and one line; nothing is written."""
    done = kr("research", "--request", "-", input=text)
    assert (done.code, done.out) == (2, ""), done
    assert done.err.startswith("kr: ")
    assert "Traceback" not in done.err
    assert not (project_folder / ".kr").exists()


@pytest.mark.parametrize("text", [b'{"question": ', b"\xff", b"[" * 100_000], ids=["cut", "binary", "deep"])
def test_batches(kr, text):
    """A line of a batch that is no JSON is told with its number, before anything is asked."""
    done = kr("research", "--batch", "-", input=b'{"question": "a timeout?", "framework": "parcel"}\n' + text)
    assert (done.code, done.out) == (2, "")
    assert "-:2: " in only_line(done) or text == b"\xff"


@pytest.mark.req("Q11")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("knowledge_research: {surces: [a]}", "kr.yaml:1"),
        ("knowledge_research:\n  sources: [instaled_docs]", "kr.yaml:2"),
        ("knowledge_research:\n  max_calls_per_story: many", "kr.yaml:2"),
        ("store: sqlite", "sqlite"),
        ("journal: nothing", "kr.yaml:1"),
        ("- a", "kr.yaml:1"),
        ("a: [", "kr.yaml:"),
        ("[" * 100_000, "nested too deeply"),
        ("\x00", "kr.yaml:1"),
        ("plugins: {files: {folder: x}}", "kr.yaml:1"),
    ],
    ids=["key", "plugin", "type", "kind", "journal", "list", "cut", "deep", "nul", "setting"],
)
def test_configurations(kr, project_folder, text, said):
    """A configuration that is wrong ends with 2, and one line with file, line and what would be right."""
    (project_folder / "kr.yaml").write_text(text)
    done = kr(*ASK)
    assert (done.code, done.out) == (2, ""), done
    assert said in only_line(done)
    assert not (project_folder / "knowledge-base").exists()


@pytest.mark.parametrize(
    ("path", "code"),
    [("kr.yaml", 2), (".kr", 3), (".kr/journal.sqlite", 3), ("knowledge-base/index.yaml", 0), ("uv.lock", 0),
     ("pyproject.toml", 0), (".kr/log.jsonl", 0), (".kr/hits", 0)],
)  # fmt: skip
def test_the_wrong_kind_of_file(kr, project_folder, path, code):
    """A folder where a file should be, or a file where a folder should be: one line, and an answer where possible."""
    wrong = project_folder / path
    wrong.parent.mkdir(exist_ok=True)
    if path in {".kr", ".kr/hits"}:
        wrong.write_text("a file")
    else:
        wrong.mkdir()
    done = kr(*ASK, "--json")
    assert done.code == code, done
    assert "unforeseen" not in done.err
    assert "Traceback" not in done.err
    if code:
        assert path.rpartition("/")[2] in only_line(done)
    else:
        status = done.json["status"]
        assert status == ("partial" if path.endswith("index.yaml") else "success")
        assert "timeout" in done.json["results"]["summary"]
    assert wrong.is_dir() != (path in {".kr", ".kr/hits"})


@pytest.mark.req("K7")
def test_a_folder_where_the_report_should_be(kr, project_folder):
    """A folder with the name of a report makes the report take another name; nothing is lost."""
    first = kr(*ASK, "--json").json["results"]["report_path"]
    base = project_folder / "knowledge-base"
    (base / first).unlink()
    (base / first).mkdir()
    (base / first / "mine.txt").write_text("mine")
    done = kr(*ASK, "--json")
    assert done.json["status"] == "success", done
    assert done.json["results"]["report_path"] != first
    assert (base / first / "mine.txt").read_text() == "mine"


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "text", ["{", "\x00", "[" * 100_000, "just text"], ids=["cut", "nul", "deep", "text"]
)
def test_a_corrupt_index(kr, project_folder, text):
    """A corrupt index is noted, set aside, and rebuilt from the reports; listing it is one clear error until then."""
    kr(*ASK)
    index = project_folder / "knowledge-base/index.yaml"
    index.write_text(text)
    listed = kr("cache", "list")
    assert listed.code == 1
    assert "the index cannot be read" in only_line(listed)
    done = kr("research", "How do I follow a parcel by its number?", "--framework", "parcel")
    assert done.code == 0, done
    assert re.search(r"index\.yaml(?::\d+)? cannot be read", done.err)
    entries = yaml.safe_load(index.read_text())["entries"]
    assert len(entries) == 2
    assert len(list(index.parent.glob("index.yaml.corrupt-*"))) == 1


@pytest.mark.req("K7")
@pytest.mark.parametrize("content", [b"", b"\xff\x00\xfe", b" \n"], ids=["empty", "binary", "blank"])
def test_a_spoilt_report(kr, project_folder, content):
    """A report that is empty or no text is researched again, and says so; what cannot be read is not overwritten."""
    base = project_folder / "knowledge-base"
    path = base / kr(*ASK, "--json").json["results"]["report_path"]
    path.write_bytes(content)
    done = kr(*ASK, "--json")
    assert (done.code, done.json["status"]) == (0, "success")
    said = "cannot be read: not text" if content.strip() else "is gone or empty; the entry is dropped"
    assert f"its report {said}" in str(done.json["results"]["degradation_notes"])
    assert (base / done.json["results"]["report_path"]).read_text().startswith("# parcel")
    assert path.read_bytes() == content or not content


@pytest.fixture
def mounted(project_folder):
    """Mount a small file system as the knowledge base: `mounted(options)`; skips where that is not permitted."""
    folder = project_folder / "knowledge-base"
    folder.mkdir()

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")
        return folder

    yield mount
    if folder.is_mount():
        subprocess.run(["umount", folder], check=True)


@pytest.mark.req("R15", "K8")
def test_a_read_only_knowledge_base(kr, mounted):
    """What is there is still found; what is new is answered, with the report in the result and what to do."""
    folder = mounted("size=1m")
    kr(*ASK)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    assert kr(*ASK, "--json", "--tag", "x").json["status"] == "cache-hit"
    done = kr("research", "How do I follow a parcel by its number?", "--framework", "parcel", "--json")
    assert done.code == 0, done
    assert done.json["status"] == "partial"
    assert not done.json["results"]["index_updated"]
    assert done.json["results"]["report"].startswith("# parcel")
    assert "make the folder writable" in only_line(done)
    (fault,) = done.json["errors"]
    assert fault["type"] == "write_error"
    people = kr("research", "How do I follow a parcel by its number?", "--framework", "parcel")
    assert "KR could not store the report. This is the full text:" in people.out


@pytest.mark.req("R15", "K8")
def test_a_full_disk(kr, mounted):
    """On a full disk the answer is given, what is there stays whole, and it is kept once there is room."""
    folder = mounted("size=64k")
    assert kr(*ASK).code == 0
    ballast = folder / "ballast"
    with pytest.raises(OSError, match="No space left"):
        ballast.write_bytes(b"x" * 64 * 1024)
    second = ("research", "How do I follow a parcel by its number?", "--framework", "parcel", "--json")
    done = kr(*second)
    assert (done.code, done.json["status"]) == (0, "partial"), done
    assert "make room on the disk" in only_line(done)
    assert kr(*ASK, "--json", "--tag", "x").json["status"] == "cache-hit"
    ballast.unlink()
    assert kr(*second).json["status"] == "success"
    assert len(kr("cache", "list", "--json").json) == 2


@pytest.mark.req("R15")
def test_a_hit_that_cannot_be_noted(bench):
    """A hit whose date of use cannot be written is a hit, with the fault listed."""

    class ReadOnly:
        def __init__(self, store):
            self.store = store

        def __getattr__(self, name):
            return getattr(self.store, name)

        def touch(self, _entry, _today):
            raise PermissionError("read-only")

    bench.ask({"a": Given(found())})
    result = bench.result({}, store=ReadOnly(bench.pipeline().store))
    assert result.status == "cache-hit"
    assert not result.results.index_updated
    assert result.errors[0].message == "PermissionError: read-only"


class TestPackages:
    @pytest.fixture
    def package(self, project_folder):
        """Replace the files of the installed package."""
        site = project_folder / ".venv/lib/python3.12/site-packages"

        def make(files):
            (site / "parcel/__init__.py").unlink()
            install(site, "parcel", "1.4.0", files)

        return make

    @pytest.mark.req("R9")
    def test_source_that_does_not_parse(self, kr, package):
        """A module that is no Python is passed over with a note; the others still answer."""
        package({"parcel/__init__.py": "from parcel.sending import send\n", "parcel/sending.py": PARCEL,
                 "parcel/broken.py": "def broken(:\n"})  # fmt: skip
        done = kr(*ASK, "--json")
        assert done.code == 0, done
        assert "timeout" in done.json["results"]["summary"]
        assert "broken.py" in str(done.json["results"]["degradation_notes"])

    @pytest.mark.req("R9")
    @pytest.mark.parametrize(
        "files",
        [
            {"parcel/__init__.py": "def broken(:\n"},
            {"parcel/__init__.py": ""},
            {"parcel/core.cpython-312-x86_64-linux-gnu.so": "\x7fELF"},
            {"parcel/__init__.py": "x = " + "(" * 5000},
            {"parcel/__init__.py": "x = " + "-" * 50_000 + "1"},
            {"parcel/__init__.py": "\x00\x01"},
        ],
        ids=["broken", "empty", "compiled", "parentheses", "minus signs", "binary"],
    )
    def test_nothing_to_read(self, kr, package, files):
        """A package that says nothing readable is an honest no: a skeleton, exit 4, no index entry."""
        package(files)
        done = kr(*ASK, "--json")
        assert (done.code, done.json["status"]) == (4, "degraded"), done
        assert done.json["results"]["confidence"] == "low"
        assert done.json["results"]["index_count"] == 0
        json.dumps(done.json)

    @pytest.mark.req("R9", "R8")
    def test_thirty_megabytes_in_one_file(self, kr, package):
        """One file of 30 MB does not hold up the answer from the others."""
        table = "TABLE = [\n" + "    (1, 2, 3, 'four'),\n" * 1_300_000 + "]\n"
        package({"parcel/__init__.py": PARCEL, "parcel/table.py": table})
        done = kr(*ASK, "--json")
        assert done.code == 0, done
        assert "timeout" in done.json["results"]["summary"]
