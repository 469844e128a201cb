"""Documents of a few kilobytes that would take minutes or gigabytes to read."""

from __future__ import annotations

import re
import zlib

import pytest

from kr_core.markup import html_blocks
from kr_core.search.documents import loaders
from kr_core.search.documents import pdf as pdf_reader
from kr_core.search.documents.loaders import SkippedFile, read
from kr_core.search.documents.worker_pool import ReadJob, read_all

pytestmark = [pytest.mark.req("Z8"), pytest.mark.req("E6")]
_FONTS = b"/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R>>>>"


def _pdf(contents: bytes, form: bytes) -> bytes:
    """A document of one page, whose drawing may draw the form `X`."""
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R" + _FONTS + b">>",
        contents,
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        form,
    ]
    made, places = b"%PDF-1.7\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Root 1 0 R/Size 7>>\nstartxref\n%d\n%%%%EOF" % len(made)
    return made + b"xref\n0 7\n0000000000 65535 f \n" + table + trailer


def _stream(text: bytes, filters: bytes = b"/FlateDecode", more: bytes = b"") -> bytes:
    data = zlib.compress(text, 9)
    return b"<<%s/Length %d/Filter %s>>stream\n%s\nendstream" % (more, len(data), filters, data)


def _said(name: str, data: bytes) -> str:
    with pytest.raises(SkippedFile) as passed:
        list(read(name, data).pieces)
    return str(passed.value)


_WORDS = _stream(b"BT /F1 12 Tf (stripes) Tj ET")
_FORM = b"/Type/XObject/Subtype/Form" + _FONTS


@pytest.mark.parametrize("inside", ["page", "form"])
def test_a_stream_in_ascii85_is_decoded_up_to_a_limit(inside):
    """Twelve kilobytes that unpack to twelve megabytes of ASCII85 are refused; Python would take a gigabyte to decode them."""
    pytest.importorskip("pypdf")
    bomb = b"z" * 12_000_000
    filters = b"[/FlateDecode/ASCII85Decode]"
    page, form = (_stream(bomb, filters), _WORDS) if inside == "page" else (_stream(b"/X Do"), None)
    data = _pdf(page, form or _stream(bomb, filters, _FORM))
    assert len(data) < 20_000
    assert "more than 10 MB in ASCII85" in _said("a.pdf", data)


def test_the_limit_of_ascii85_is_kr_s_alone():
    """A program that embeds KR decodes what it likes; a small stream is read as ever."""
    filters = pytest.importorskip("pypdf.filters")
    drawn = b"<~6:ubZHVQ2SBPVmjDfTZ)6:ubZ~>"
    list(read("a.pdf", _pdf(_stream(b"BT /F1 12 Tf (stripes) Tj ET"), _WORDS)).pieces)
    assert filters.ASCII85Decode.decode(drawn)
    assert len(filters.ASCII85Decode.decode(b"z" * 10_000_001)) == 40_000_004


def test_a_page_that_draws_one_form_very_often_is_passed_over(monkeypatch):
    """The time of a document ends inside of a page, too, and a small document has less of it than a book."""
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf_reader, "_MIN_SECONDS", 0.2)
    form = _stream(b"BT /F1 12 Tf " + b"(a) Tj 1 0 Td " * 20_000 + b"ET", more=_FORM)
    data = _pdf(_stream(b"/X Do " * 2_000), form)
    assert "it takes more than 0." in _said("a.pdf", data)


def test_small_documents_share_the_time_beyond_what_their_size_earns(monkeypatch, tmp_path):
    """Small documents that each draw one form very often have the time of one between them; others are read."""
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf_reader, "_MIN_SECONDS", 1.0)
    monkeypatch.setattr(pdf_reader, "_SHARED_SECONDS", 1.0)
    form = _stream(b"BT /F1 12 Tf " + b"(a) Tj 1 0 Td " * 20_000 + b"ET", more=_FORM)
    for number in range(8):
        (tmp_path / f"a{number}.pdf").write_bytes(_pdf(_stream(b"/X Do " * 2_000 + b"%%%d" % number), form))
    (tmp_path / "z.pdf").write_bytes(_pdf(_stream(b"BT /F1 12 Tf (stripes) Tj ET"), _WORDS))
    jobs = [
        ReadJob(str(tmp_path), str(file), file.name, file.stat().st_size, 0)
        for file in sorted(tmp_path.iterdir())
    ]
    found = [prepared for _job, prepared in read_all(jobs, processes=0)]
    granted = [re.search(r"it takes more than ([\d.e-]+) seconds", prepared.note) for prepared in found]
    assert [one is not None for one in granted] == [True] * 8 + [False]
    assert sum(float(one[1]) for one in granted if one) < 2
    assert found[-1].blocks


def test_a_notebook_of_very_many_empty_values_is_passed_over():
    """Ten megabytes of empty cells would be a gigabyte in memory."""
    data = b'{"cells":[' + b"{}," * 1_600_000 + b"{}]}"
    assert "it has more than 3,000,000 values" in _said("a.ipynb", data)


@pytest.mark.parametrize(
    ("name", "line"), [("a.md", b"# a\n\nb\n\n"), ("a.c", b"int f(\n"), ("a.html", b"<h1>a</h1><p>b</p>")]
)
def test_a_file_of_very_many_passages_is_passed_over(monkeypatch, name, line):
    """A text made of headings alone would take minutes to write into the index."""
    monkeypatch.setattr(loaders, "_MAX_PASSAGES", 1_000)
    assert len(list(read(name, line * 900).pieces)) == 900
    assert "it has more than 1,000 passages" in _said(name, line * 1_100)


def test_a_page_with_an_endless_id_is_read_without_it():
    """Each block had the last `id` above it as its place: half a megabyte took five gigabytes."""
    before = '<h1 id="use">Use</h1>\n<p>one\n'
    given = f'{before}<p id="{"a" * 3_000}">two\n' + "<p>three\n" * 200 + "</p>"
    places = [block.location for block in html_blocks.blocks(given)]
    assert places == ["#use"] * 203
    assert len({id(place) for place in places}) == 1


@pytest.mark.parametrize("mark", ['<p id="">', '<a name="">', '<a id="" name="there">', "<a name=there>"])
def test_an_empty_id_is_no_place(mark):
    """The page is read, and a block is known by its line, or by its name where it has one."""
    places = [block.location for block in html_blocks.blocks(f"<p>one</p>\n{mark}two</p>")]
    assert places == [":1", "#there" if "there" in mark else ":2"]


@pytest.mark.parametrize(
    "page",
    ["<dl><dt id=a>x<dd>y" * 3_000, "<dl><dt class=sig>x<dd>" * 3_000],
    ids=["definitions", "definitions of nothing"],
)
def test_definitions_within_each_other_are_a_few_levels(page):
    """Each had all of those around it above it: 1 MB took minutes."""
    levels = {block.level for block in html_blocks.blocks(page) if block.kind == "heading"}
    assert 10 < len(levels) < 30


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "class {}:\n    def walk():\n        pass\n    def ride():\n        pass\n"),
        ("a.js", "function {}() {{\n}}\n"),
        ("a.md", "# {}\n\nwords\n\n## Below\n\nwords\n"),
        ("a.rst", ".. function:: {}\n\n   words\n"),
        ("a.html", "<dl><dt id=a>{}<dd>words<dt id=b>b<dd>words</dl>"),
        ("a.txt", "{}\n===\n\nwords\n"),
    ],
)
def test_a_passage_has_a_short_name(name, text):
    """A name of half a megabyte was written with each passage below it, and took gigabytes."""
    found = list(read(name, text.format("a" * 50_000).encode()).pieces)
    assert found
    assert max(len(one) for piece in found for one in (piece.name, piece.outer)) <= 200


def test_the_innermost_of_a_long_name_of_code_is_kept():
    """A method of a class with a long name is still found by its own."""
    text = f"class {'a' * 300}:\n    def walk():\n        pass\n"
    assert [piece.name[-6:] for piece in read("a.py", text.encode()).pieces] == ["aaaaaa", "a.walk"]
