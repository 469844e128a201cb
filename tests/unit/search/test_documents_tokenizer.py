"""What words of a question find: names as they are written, in a table too; and any question is searched."""

import pytest
from support.documents import found, indexed

from kr_core.search.documents.tokenizer import asked
from kr_core.toolkit import Documents


@pytest.mark.req("E6")
@pytest.mark.parametrize("key", ["use_answer", "escalate_below", "plugins.web.port"])
def test_a_key_of_a_large_table_is_found_by_its_name(docs, tmp_path, key):
    """Even one whose parts say nothing alone; the row is shown with the heading row, and cited by its line."""
    keys = [f"other_{number}.answer_below_use" for number in range(300)]
    keys[200] = key
    rows = "\n".join(f"| `{one}` | not set | What {one} does. |" for one in keys)
    (docs / "configuration.md").write_text(f"# Keys\n\n| key | default | meaning |\n|---|---|---|\n{rows}\n")
    (docs / "use.md").write_text(
        "# Other\n\nAnswer below, where it is of use; a port of the web has plugins.\n"
    )
    indexed(tmp_path, docs)
    with Documents(tmp_path) as documents:
        best = documents.search(key)[0]
    assert best.stored.path == "configuration.md"
    assert f"`{key}`" in best.text
    assert best.text.startswith("Keys\n\n| key | default | meaning |\n|---|---|---|\n| `other_")
    first = int(best.locator[1:])
    assert f"`{keys[first - 5]}`" in best.stored.body.split("\n")[0]


@pytest.mark.req("E6")
def test_a_name_with_one_word_more_is_looked_for_as_a_whole(docs, tmp_path):
    """What has its parts here and there comes behind what has the name, though it is shorter."""
    told = "It is told where. " * 6
    (docs / "run.md").write_text(f"# Programs\n\nTo `process.run` is to wait; there is a timeout. {told}\n")
    (docs / "output.md").write_text("# Output\n\nOf the run of a process; none after a timeout.\n")
    for number in range(10):
        (docs / f"{number}.md").write_text(f"# Other {number}\n\nSome other thing.\n")
    indexed(tmp_path, docs)
    assert found(tmp_path, "process.run timeout")[0] == ("run.md", ":1")


def test_names_in_a_longer_question_are_looked_for_by_their_parts_alone():
    """They are mostly of the asker's own data."""
    assert asked("what does split_df do?").literals == ("split_df",)
    assert asked("what does split_df index?").literals == ("split_df",)
    assert asked("merge dataframes `split_df` and `csv_df`").literals == ()


@pytest.mark.parametrize(
    "question", ["", "   ", "?", '"', "the of and", "NEAR(a b)", "* - ^ :", "x" * 100_000, "ünïcödé", "日本"]
)
def test_any_question_is_searched(docs, tmp_path, question):
    """Nothing in it is taken for a language of queries."""
    (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
    indexed(tmp_path, docs)
    assert found(tmp_path, question) == []
