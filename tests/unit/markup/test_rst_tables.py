"""Rows of the tables of reStructuredText, which say in cells what others say in sentences."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.evidence.citations import holds
from kr_core.markup import rst_tables
from kr_core.markup.rst_tables import rest_rows, without_lists

RULED = """\
=====  ==========
Name   How
       often
=====  ==========
wait   ten times
       at most
stop   never
=====  ==========
"""
FRAMED = """\
  +-------+------------+
  | Name  | How often  |
  +=======+============+
  | wait  | ten times  |
  |       | at most    |
  +-------+------------+
  | over both columns  |
  +-------+------------+
  | stop  | never      |
  +-------+------------+
"""
LISTED = """\
.. list-table:: How often
   :widths: auto
   :header-rows: 1

   * - Name
     - How often
   * - wait
     - ten times

       at most
   * - one cell
   * - stop
     - never
"""


@pytest.mark.req("E5")
@pytest.mark.parametrize("table", [RULED, FRAMED, LISTED])
def test_rows_of_each_form(table):
    """A row has its cells below its headings, lines of one cell joined, and stands in the text; what spans columns is left out."""
    text = f"Carriers\n========\n\n{table}\nOwls sleep by day.\n"
    rows = rest_rows(text)
    assert [row.message for row in rows] == [
        "Name: wait; How often: ten times at most",
        "Name: stop; How often: never",
    ]
    assert all(holds(text, row.line) for row in rows)
    assert "Owls" not in rows[-1].line


@pytest.mark.parametrize(
    "table",
    [
        FRAMED.replace("=", "-"),
        LISTED.replace("   :header-rows: 1\n", ""),
        LISTED.replace("rows: 1", "rows: 9"),
        LISTED.replace("list-table", "hlist"),
        "+--+\n|ab|\n+==+\n|cd|\n+--+\n",
        "=====  =====\n\n=====  =====\n",
    ],
)
def test_tables_without_headings(table):
    """They have no rows that say something: nobody knows of what."""
    assert rest_rows(table) == []


def test_a_list_that_is_a_table_is_no_prose():
    """Its cells go, and what stands around it stays on its line."""
    text = f"Before.\n\n{LISTED}\nBehind.\n"
    left = without_lists(text)
    assert left.split() == ["Before.", "Behind."]
    assert left.count("\n") == text.count("\n")


@given(
    st.lists(
        st.sampled_from([*RULED.split("\n"), *FRAMED.split("\n"), *LISTED.split("\n"), "|", "+-+", "* -"])
    )
)
def test_whatever_lines_there_are(lines):
    """Tables that are broken anywhere are read without a fault, and what is read stands there."""
    text = "\n".join(lines)
    assert all(holds(text, row.line) and len(row.heads) == len(row.cells) > 1 for row in rest_rows(text))


@pytest.mark.req("Z7")
@pytest.mark.parametrize(
    "text",
    ["=" * 100_000, "= " * 50_000, "+-" * 50_000 + "+", "+-+-+\n" * 50_000, "== ==\n" * 50_000, "* - " * 50_000,
     ".. list-table::\n" * 50_000, "   * - x\n" * 50_000, LISTED * 2_000],
)  # fmt: skip
def test_endless_ones(text):
    """They are read in time."""
    began = time.process_time()
    rest_rows(text)
    without_lists(text)
    assert time.process_time() - began < 2


@pytest.mark.req("Z8")
@pytest.mark.parametrize("columns", [12, 13])
def test_a_frame_has_as_many_columns_as_a_row(columns):
    """Each line of a frame was held as all its cells: 80 kB took 3 GB."""
    edge, line = "+" + "-+" * columns, "|" + "a|" * columns
    text = "\n".join([edge, line, edge.replace("-", "="), line, edge])
    assert [len(row.cells) for row in rest_rows(text)] == [12][: 13 - columns]


@pytest.mark.req("Z8")
@pytest.mark.parametrize("columns", [12, 13])
def test_a_simple_table_has_as_many_columns_as_a_row(monkeypatch, columns):
    """Each line below a rule was held as all its cells."""
    split, made = rst_tables._cells, []
    monkeypatch.setattr(rst_tables, "_cells", lambda line, spans: made.append(line) or split(line, spans))
    rule, line = "=  " * columns, "a  " * columns
    text = f"{rule}\n{line}\n{rule}\n{line}\n{rule}"
    assert [len(row.cells) for row in rest_rows(text)] == [12][: 13 - columns]
    assert len(made) == (2 if columns == 12 else 0)


@pytest.mark.req("Z8")
def test_a_row_of_very_many_lines_is_joined_once(monkeypatch):
    """A row that goes on was joined again with each of its lines."""
    joined, made = rst_tables._joined, []
    monkeypatch.setattr(rst_tables, "_joined", lambda parts: made.append(len(parts)) or joined(parts))
    (row, other) = rest_rows("== ==\na  b\n== ==\nc  d\n" + "   e\n" * 500 + "f  g\n== ==\n")
    assert (row.cells, row.line.count("\n"), other.cells) == (("c", "d" + " e" * 500), 500, ("f", "g"))
    assert sum(made) < 510
