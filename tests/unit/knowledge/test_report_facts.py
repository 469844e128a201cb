"""The day of the research as reports in the wild write it."""

from datetime import date

import pytest

from kr_core.knowledge.report_facts import report_facts

DAY = date(2026, 2, 5)
WRITTEN = """2026-02-05; 2026-02-05 (revised); 2026/02/05; 2026.02.05 - Ada; 05.02.2026, Ada; 5. 2. 2026; 5 February 2026
February 5, 2026; Feb. 5th, 2026; 5 Feb 2026, by Ada; 5 février 2026; 5 fevrier 2026; 5 févr. 2026; 5. Februar 2026
5 de febrero de 2026; 5 FEBRUARY 2026; February 5 2026"""


def researched(label, value):
    return report_facts(
        f"# vue - slots\n\n**Framework:** vue\n**{label}:** {value}\n\n## Summary\n"
    ).researched


@pytest.mark.req("K5")
@pytest.mark.parametrize("label", ["Research Date", "Researched", "Date", "Recherchiert am"])
@pytest.mark.parametrize("written", [one.strip() for line in WRITTEN.splitlines() for one in line.split(";")])
def test_a_day_in_figures_or_with_the_name_of_the_month(label, written):
    """English, French, German and Spanish; what stands behind it is a remark."""
    assert researched(label, written) == DAY


@pytest.mark.req("K5")
@pytest.mark.parametrize(
    ("first", "of_year"),
    [
        ("1er août", (8, 1)),
        ("3. März", (3, 3)),
        ("4 Maerz", (3, 4)),
        ("1 mayo", (5, 1)),
        ("31 Dez.", (12, 31)),
    ],
)
def test_names_of_months(first, of_year):
    """With and without accents, and shortened."""
    assert researched("Date", f"{first} 2026") == date(2026, *of_year)


@pytest.mark.req("K5")
@pytest.mark.parametrize(
    "written",
    [
        "soon",
        "2026",
        "February 2026",
        "02/03/2026",
        "31 February 2026",
        "2026-99-99",
        "5 Vue 2026",
        "12026-02-05",
        "",
    ],
)
def test_what_is_no_day(written):
    """What is not a day, or may be one of two, is none."""
    assert researched("Research Date", written) is None


@pytest.mark.req("K5")
@pytest.mark.parametrize(
    "value", ["released 5 February 2026", "2.10 since 2026-02-05", "2026-02-05T10 is an id"]
)
def test_a_day_within_a_sentence_of_another_line_is_none_of_the_research(value):
    """Only a line that begins with a day, or whose label says so, tells one."""
    assert researched("Notes", value) is None
