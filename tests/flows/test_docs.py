"""`kr docs`: folders indexed, searched, brought up to date and taken out, as a person and a program meet them."""

import json
import os

import pytest

from kr_core.cli import main
from kr_core.cli.excerpt import excerpt
from kr_core.search import word_vectors
from kr_core.search.documents import sqlite_index

ORDERS = """\
# Order service

Takes orders from the shop.

## Deploy

Merge to `main`; the pipeline deploys within ten minutes.

```sh
make deploy

make smoke-test
```

## Roll back

| step | command |
|---|---|
| find the release | `ship list` |
| go back | `ship back RELEASE` |
"""
PAGE = """<html><head><title>Carriers</title></head><body><nav>Home Deploy Deploy</nav><main>
<h1>Carriers<a class="headerlink" href="#">¶</a></h1><p>Who takes parcels to customers.
<h2 id="insurance">Insurance</h2><p>A parcel above 500 euro is insured by the carrier.<ul><li>ask for the form<li>sign it</ul>
</main><footer>insurance insurance insurance</footer>"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "team" / "services").mkdir(parents=True)
    (tmp_path / "team" / "services" / "orders.md").write_text(ORDERS, "utf-8")
    (tmp_path / "team" / "carriers.html").write_text(PAGE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def kr(project, capsys):
    def run(*arguments):
        code = main(["docs", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def hits(kr, query, *more):
    code, out, _err = kr("search", query, "--json", *more)
    assert code == 0
    (line,) = out.splitlines()
    return json.loads(line)["hits"]


@pytest.mark.req("I1", "E6")
def test_a_folder_is_indexed_and_searched(kr):
    """One JSON line for each query, with path, locator, score and text of each hit, best first."""
    code, out, err = kr("index", "team")
    hint = "note: `kr research` asks them once `knowledge_research.sources` names `local_docs`\n"
    assert (code, err) == (0, hint)
    assert out == "team: team: 2 files read, 0 unchanged; 5 passages new\n"
    assert kr("index", "team")[2] == ""
    code, out, _err = kr("search", "how do I deploy the order service?", "--json")
    assert code == 0
    found = json.loads(out)
    assert list(found) == ["query", "hits"]
    best = found["hits"][0]
    assert list(best) == ["path", "locator", "score", "text"]
    assert (best["path"], best["locator"]) == ("team/services/orders.md", "team/services/orders.md:5")
    assert best["text"].startswith("Order service\n\n## Deploy\n")
    assert "```sh\nmake deploy\n\nmake smoke-test\n```" in best["text"]
    scores = [hit["score"] for hit in found["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_people_see_where_and_what(kr):
    """Path and line, the headings, the first lines; nothing found is exit 4."""
    kr("index", "team")
    code, out, _err = kr("search", "deploy")
    assert code == 0
    assert out.startswith("1. team/services/orders.md:5  (")
    assert "   ## Deploy\n" in out
    assert kr("search", "swallows")[:2] == (4, "nothing was found\n")
    assert kr("search", "swallows", "--json")[:2] == (0, '{"query": "swallows", "hits": []}\n')


def test_queries_of_a_file(kr, project):
    """`--batch` answers each line; blank ones are no query."""
    (project / "queries.txt").write_text("deploy\n\ninsurance of parcels\n", "utf-8")
    kr("index", "team")
    code, out, _err = kr("search", "--batch", "queries.txt", "--limit", "1")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line["query"] for line in lines] == ["deploy", "insurance of parcels"]
    assert [len(line["hits"]) for line in lines] == [1, 1]


def test_html_is_read_without_what_stands_around_it(kr):
    """Its own anchors are the locators; menus and footers are no text; elements need no end."""
    kr("index", "team")
    (best,) = hits(kr, "insurance")
    assert best["locator"] == "team/carriers.html#insurance"
    assert best["text"] == (
        "Carriers\n\n## Insurance\n\nA parcel above 500 euro is insured by the carrier.\n\n- ask for the form\n\n- sign it"
    )


def test_only_what_changed_is_read_again(kr, project):
    """By date and size, then by content; what is gone is taken out."""
    kr("index", "team")
    assert kr("index", "team")[1] == "team: team: 0 files read, 2 unchanged; 0 passages new\n"
    orders = project / "team" / "services" / "orders.md"
    os.utime(orders, (1, 1))
    assert "0 files read, 2 unchanged" in kr("index")[1]
    orders.write_text(ORDERS.replace("ten minutes", "a fortnight"), "utf-8")
    assert "1 file read, 1 unchanged" in kr("index")[1]
    assert hits(kr, "fortnight")[0]["locator"] == "team/services/orders.md:5"
    assert hits(kr, "minutes") == []
    orders.unlink()
    assert "0 files read, 1 unchanged, 1 removed" in kr("index")[1]
    assert hits(kr, "fortnight") == []


def test_what_stands_in_two_files_is_one_hit(kr, project):
    """A manual may have each of its pages once more, in one whole; the place that is free goes to what says something else."""
    pages = [f"## Page {number}\n\nLorries of the depot, number {number}.\n" for number in range(3)]
    (project / "manual").mkdir()
    for number, page in enumerate(pages):
        (project / "manual" / f"page{number}.md").write_text(page)
    (project / "manual" / "whole.md").write_text("\n".join(pages))
    kr("index", "manual")
    found = hits(kr, "lorries")
    assert len(found) == len({one["text"] for one in found}) == 3


def test_list_and_remove(kr):
    """By name; a name that nothing has is told with those there are."""
    kr("index", "team", "--name", "handbook")
    code, out, _err = kr("list", "--json")
    assert (code, json.loads(out)) == (
        0,
        [
            {
                "name": "handbook",
                "paths": [os.path.abspath("team")],
                "files": 2,
                "passages": 5,
                "not_there": [],
            }
        ],
    )
    assert kr("list")[1] == "handbook  2 files  5 passages  team\n"
    code, _out, err = kr("remove", "handbok")
    assert code == 2
    assert "did you mean `handbook`?" in err
    assert kr("remove", "handbook")[:2] == (0, "removed: handbook, 2 files\n")
    assert kr("list")[1] == "nothing is indexed\n"
    assert hits(kr, "deploy") == []


def test_what_cannot_be_done_says_what_to_do(kr, project):
    """No index yet, no such folder, no number."""
    code, _out, err = kr("search", "deploy")
    assert (code, err) == (2, "kr: nothing is indexed yet; `kr docs index PATH` indexes a folder or a file\n")
    code, _out, err = kr("index", "tema")
    assert code == 2
    assert "there is no such file or folder" in err
    assert not (project / ".kr" / "docs.sqlite").exists() or kr("list")[1] == "nothing is indexed\n"
    assert kr("search", "deploy", "--limit", "0")[0] == 2
    (project / ".kr" / "docs.sqlite").unlink(missing_ok=True)
    assert kr("list") == (0, "nothing is indexed\n", "")
    assert kr("list", "--json") == (0, "[]\n", "")


@pytest.mark.req("Z4")
def test_a_name_of_two_lines_is_one_line(kr, project):
    """Nothing in the name of a file passes for a line of KR's own: in a folder it is passed over, by itself shown so."""
    (project / "team" / "a\nnote: all is well").mkdir()
    (project / "team" / "a\nnote: all is well" / "b.md").write_text("# Zebra\n\nStripes.\n", "utf-8")
    (project / "team" / "a\nnote: all is well" / "c.ipynb").write_text("{", "utf-8")
    _code, _out, err = kr("index", "team")
    assert "1 names with control characters" in err
    assert kr("search", "zebra")[1] == "nothing was found\n"
    kr("index", "team/a\nnote: all is well/b.md")
    _code, _out, err = kr("index", "team/a\nnote: all is well/c.ipynb")
    assert "a\N{REPLACEMENT CHARACTER}note: all is well/c.ipynb: cannot be read" in err
    _code, out, _err = kr("search", "zebra")
    assert out.startswith("1. team/a\N{REPLACEMENT CHARACTER}note: all is well/b.md:1  (")


@pytest.mark.req("E6")
def test_a_folder_that_is_gone_stops_no_other(kr, project):
    """It is noted, with what to do; nothing is answered from it, by the index as it was or brought up to date."""
    other = project / "notes"
    other.mkdir()
    (other / "a.md").write_text("# Notes\n\nDeploy by hand.\n", "utf-8")
    kr("index", "team", "notes")
    (project / "team").rename(project / "elsewhere")
    gone = f"note: team: {project}/team is not there, and nothing is answered from it; `kr docs remove team` takes team out of the index\n"
    code, out, err = kr("search", "deploy", "--json")
    assert (code, err) == (0, gone)
    assert [hit["path"] for hit in json.loads(out)["hits"]] == ["notes/a.md"]
    (other / "a.md").write_text("# Notes\n\nDeploy by post.\n", "utf-8")
    code, out, err = kr("index")
    assert (code, out, err) == (0, "notes: notes: 1 file read, 0 unchanged; 1 passage new\n", gone)
    assert [hit["path"] for hit in hits(kr, "deploy")] == ["notes/a.md"]
    assert kr("index", "--name", "team") == (2, "", gone)
    kr("remove", "team")
    assert kr("search", "deploy")[2] == ""


@pytest.mark.req("E6")
def test_a_name_under_which_nothing_is_indexed(kr):
    """Is told with those there are, by `index` as by `remove`."""
    kr("index", "team")
    for arguments in (("index", "--name", "taem"), ("remove", "taem")):
        code, _out, err = kr(*arguments)
        assert code == 2
        assert err.startswith("kr: taem: nothing is indexed under this name; did you mean `team`?")


@pytest.mark.req("E6")
def test_names_that_are_no_text(kr, project):
    """Cannot be kept, and that is said."""
    odd = os.fsdecode(b"caf\xe9")
    try:
        (project / odd).mkdir()
    except OSError:
        pytest.skip("this file system has names in UTF-8 alone")
    for arguments in ((odd,), ("team", "--name", odd)):
        code, _out, err = kr("index", *arguments)
        assert code == 2
        assert "caf\\xe9: is not UTF-8, and cannot be kept in the index" in err


@pytest.mark.req("E6")
def test_what_holds_nothing_is_not_indexed(kr, project):
    """The reason is told, and no name is left; what stands beside it is indexed."""
    (project / "empty").mkdir()
    (project / "photo.png").write_bytes(b"\x89PNG\r\n\0\0\0\0")
    code, _out, err = kr("index", "photo.png")
    assert (code, err.splitlines()[-1]) == (
        2,
        f"kr: {project}/photo.png: nothing in it could be indexed: is no text",
    )
    code, _out, err = kr("index", "empty", "team")
    assert (code, err.splitlines()[-1]) == (
        2,
        f"kr: {project}/empty: nothing in it could be indexed: there is no text in it",
    )
    assert [one["name"] for one in json.loads(kr("list", "--json")[1])] == ["team"]


@pytest.mark.req("E6")
def test_after_another_version_each_collection_that_is_empty_is_named(kr, project, monkeypatch):
    """By a search, and where one other is indexed."""
    (project / "notes").mkdir()
    (project / "notes" / "a.md").write_text("# Notes\n\nDeploy by hand.\n", "utf-8")
    kr("index", "team", "notes")
    monkeypatch.setattr(sqlite_index, "FORMAT", "next")
    said = f"note: team: nothing of {project}/team is indexed; `kr docs index` reads it\n"
    code, _out, err = kr("index", "notes")
    assert (code, err) == (0, said)
    assert kr("search", "deploy")[2] == said
    assert kr("index")[2] == ""


@pytest.mark.req("E6")
def test_what_means_the_same_comes_first_unless_words_alone_are_wanted(kr, project):
    """By the table that comes with KR; `embedder: none` leaves it out."""
    (project / "files.md").write_text(
        "# delete_tree\n\n`delete_tree(path)` deletes a directory tree, one folder at a time.\n"
    )
    (project / "music.md").write_text(
        "# songs\n\n`songs(path)`: those of a folder, and of each folder in that folder.\n"
    )
    kr("index", "files.md", "music.md")
    asked = "how can I remove a folder?"
    assert hits(kr, asked)[0]["path"] == "files.md"
    (project / "kr.yaml").write_text("embedder: none\n")
    assert hits(kr, asked)[0]["path"] == "music.md"


@pytest.mark.req("E6")
def test_a_damaged_table_leaves_the_words(kr, project, monkeypatch):
    """A note says what to do, when documents are indexed and when they are searched."""
    damaged = project / "words.vectors"
    damaged.write_bytes(word_vectors.FILE.read_bytes()[:-1000])
    monkeypatch.setattr(word_vectors, "word_table", lambda: word_vectors.WordTable(damaged))
    said = f"{damaged}: is damaged; install kr-core again"
    code, _out, err = kr("index", "team")
    assert code == 0
    assert f"note: {said}; passages have no vectors, and words alone are searched\n" in err
    code, out, err = kr("search", "deploy", "--json")
    assert code == 0
    assert len(json.loads(out)["hits"]) == 1
    assert err == f"note: embedder: {said}; words alone were searched\n"


@pytest.mark.req("E6")
def test_a_file_that_is_cut_off_is_noted(kr, project):
    """A large one that is named by itself is read as far as others may be."""
    (project / "log.txt").write_bytes(b"a parcel\n\n" + b" " * 20_000_000)
    code, _out, err = kr("index", "log.txt")
    assert code == 0
    assert f"note: {project}/log.txt: larger than 20 MB; what lies beyond is not read\n" in err


@pytest.mark.req("E6")
def test_people_see_the_row_that_matched(kr, project):
    """Wherever it stands in a large passage or a long line, below where the passage belongs; JSON has the whole."""
    rows = "\n".join(f"| `key_{number}` | what number {number} is for |" for number in range(40))
    text = f"# Keys\n\n| key | meaning |\n|---|---|\n{rows}\n\n{'filler ' * 100}needle {'filler ' * 100}\n"
    (project / "keys.md").write_text(text, "utf-8")
    kr("index", "keys.md")
    out = kr("search", "key_23", "--limit", "1")[1]
    assert "   | `key_23` | what number 23 is for |\n" in out
    assert out.splitlines()[1].strip() == "# Keys"
    assert len(out.splitlines()) < 12
    out = kr("search", "needle")[1]
    assert "needle" in out
    assert max(map(len, out.splitlines())) <= 210
    assert len(hits(kr, "key_23")[0]["text"]) > 800


PLANS = """\
# Plans

What each plan may do: the limit of a plan holds for its whole team.

A plan ends with the month in which it is ended.

| plan | limit | burst |
|---|---|---|
| free | 10 | 20 |
| basic | 20 | 40 |
| school | 30 | 60 |
| team | 50 | 100 |
| office | 70 | 140 |
| partner | 100 | 350 |
| company | 200 | 400 |
| state | 300 | 600 |
| world | 400 | 800 |
| space | 500 | 900 |
"""


@pytest.mark.req("E6")
def test_people_see_the_row_that_holds_the_rare_word(kr, project):
    """The row that heads the table holds three words of the question, and is shown above it."""
    (project / "plans.md").write_text(PLANS, "utf-8")
    (project / "more.md").write_text("# Bursts\n\nA burst above the limit of the plan.\n", "utf-8")
    kr("index", "plans.md", "more.md")
    out = kr("search", "What is the burst limit of the partner plan?", "--limit", "1")[1]
    assert [line.strip() for line in out.splitlines()[1:]] == [
        "# Plans",
        "...",
        "| plan | limit | burst |",
        "...",
        "| partner | 100 | 350 |",
        "| company | 200 | 400 |",
        "| state | 300 | 600 |",
        "| world | 400 | 800 |",
        "...",
        "",
    ]


@pytest.mark.req("E6")
def test_people_see_the_rare_word_of_a_long_line(kr, project):
    """Common words at its beginning do not keep it from being shown."""
    text = f"# Belts\n\nThe scanner of a belt {'runs ' * 100} and error E31 of it is a jam {'again ' * 60}\n"
    (project / "belts.md").write_text(text, "utf-8")
    kr("index", "belts.md")
    assert "error E31 of it is a jam" in kr("search", "what does scanner error E31 mean")[1]


def test_people_see_the_head_of_each_form_of_table():
    """A grid's, that of the second of two tables, and none where the table has none."""
    rows = [f"| name{number} | {number} |" for number in range(20)]
    grid = ["# T", "+---+---+", "| who | age |", "+===+===+", *(f"{row}\n+---+---+" for row in rows)]
    second = ["# T", "| a | b |", "|---|---|", "| one | 1 |", "", "| who | age |", "|---|---|", *rows]
    bare = ["# T", "|  |  |", "|---|---|", *rows]
    shown = ["# T", "...", "| who | age |", "...", "| name7 | 7 |"]
    weights = {"name7": 2.0, "ag": 1.0}
    assert excerpt("\n".join(grid), weights)[:4] == ["# T", "| who | age |", "...", "| name7 | 7 |"]
    assert excerpt("\n".join(second), weights)[:5] == shown
    assert "| name7 | 7 |" in excerpt("\n".join(bare), weights)
    assert excerpt("\n".join(second), {"nothing": 1.0})[0] == "# T"


@pytest.mark.req("I1")
@pytest.mark.parametrize("query", ["", "  ", "???"])
def test_a_question_without_a_word_is_none(kr, query):
    """Whatever is indexed; in a file of queries it is one that finds nothing."""
    for _when in ("before", "after"):
        assert kr("search", query) == (2, "", "kr: the question: is empty; write it in words\n")
        kr("index", "team")


def test_a_path_without_a_name_is_not_the_working_folder(kr):
    """It is a variable that is not set, in most cases."""
    assert kr("index", "") == (2, "", "kr: PATH: is empty; name a folder or a file\n")
    assert kr("index", "team", "")[0] == 2
    for name in ("", " "):
        assert kr("index", "team", "--name", name)[0] == 2
    assert kr("index", ".")[0] == 0


def test_a_folder_that_is_gone_is_marked_in_the_list(kr, project):
    """Its name is quoted as a shell needs it, where it is to be taken out."""
    (project / "team" / "services").rename(project / "odd dir ünï")
    kr("index", "odd dir ünï")
    (project / "odd dir ünï").rename(project / "other")
    assert kr("list")[1] == "odd dir ünï  1 file  3 passages  odd dir ünï (not there)\n"
    (listed,) = json.loads(kr("list", "--json")[1])
    assert listed["not_there"] == listed["paths"]
    assert "`kr docs remove 'odd dir ünï'` takes" in kr("search", "orders")[2]
