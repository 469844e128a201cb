"""Questions answered from documents that were indexed: which of them are about what was asked, and of which version."""

import json

import pytest

pytestmark = pytest.mark.req("E6")
MANUAL = """<html><head><title>{title} - {product} documentation</title></head><body><main>
<h1>{product} documentation</h1><h2>{title}</h2><p>Added in: v1.0.0</p><p>{text}</p></main></body></html>"""
QUESTION = "How do I limit the number of rows that are fetched?"


@pytest.fixture
def ask(kr_here, project_folder, tmp_path):
    """Ask about a framework over manuals (folder: product, title and text), of which all are indexed."""
    (project_folder / "kr.yaml").write_text("knowledge_research: {sources: [local_docs]}\n")

    def run(framework, manuals):
        for name, (product, title, text) in manuals.items():
            (tmp_path / name).mkdir()
            page = (
                MANUAL.format(product=product, title=title, text=text)
                if product
                else f"# {title}\n\n{text}\n"
            )
            (tmp_path / name / ("page.html" if product else "page.md")).write_text(page)
            assert kr_here("docs", "index", str(tmp_path / name)).code == 0
        done = kr_here("research", QUESTION, "--framework", framework, "--json")
        return json.loads(done.out)

    return run


SQL = ("Postgres 15.2", "Limit rows", "LIMIT gives the number of rows that are fetched, and limits them.")
ORM = ("Ferry 3.1.4", "Limit a query", "A slice limits the number of rows that are fetched by a query.")


def cited(answer):
    return {one["url"] for one in answer["results"]["citations"]}


def test_the_manual_of_another_product_does_not_answer(ask):
    """It says how that one does it; what it calls its version is not a version of what was asked about."""
    answer = ask("ferry", {"sql": SQL, "orm": ORM})
    assert cited(answer) == {"docs:orm/page.html"}
    assert {one["version"] for one in answer["results"]["citations"]} == {"3.1.4"}


def test_with_another_manual_alone_there_is_no_answer(ask):
    """Nothing is better than what is right for something else."""
    assert not ask("ferry", {"sql": SQL})["results"].get("citations")


def test_the_manual_of_a_product_whose_name_begins_alike_does_not_answer(ask):
    """Django's for `django-rest-framework`."""
    assert not ask("ferry-rest-framework", {"orm": ORM})["results"].get("citations")


@pytest.mark.parametrize(
    ("product", "framework"),
    [("Ferry.js 3.1", "ferry"), ("FerryQL 3.1", "ferry"), ("Ferry 3.1", "ferrylang")],
)
def test_a_products_name_is_written_in_several_ways(ask, product, framework):
    """`Node.js` and `node`, `PostgreSQL` and `postgres`."""
    assert cited(ask(framework, {"orm": (product, *ORM[1:])})) == {"docs:orm/page.html"}


def test_what_another_manual_says_of_it_answers_without_that_ones_version(ask):
    """Where there is no manual of its own."""
    product, title, text = SQL
    answer = ask("ferry", {"sql": (product, title, f"{text} Ferry sends it for each slice.")})
    assert cited(answer) == {"docs:sql/page.html"}
    assert {one["version"] for one in answer["results"]["citations"]} == {None}


def test_notes_of_ones_own_answer_beside_a_manual(ask):
    """They are no product's manual, and may be about anything."""
    answer = ask(
        "ferry",
        {"sql": SQL, "orm": ORM, "notes": ("", "Rows", "We limit the number of rows fetched to 500.")},
    )
    assert cited(answer) == {"docs:orm/page.html", "docs:notes/page.md"}


def test_a_manual_of_another_version_is_told(kr, ask, project_folder):
    """What is asked about is the version that the project uses."""
    (project_folder / "requirements.txt").write_text("ferry==5.0.1\n")
    answer = ask("ferry", {"orm": ORM})
    notes = answer["results"]["degradation_notes"]
    assert any("local_docs read 3.1.4, the question is about 5.0.1" in note for note in notes)
