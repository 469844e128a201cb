"""The results of a team's request, as its tool gives them."""

import json

import pytest

from kr_core.server.mcp.reply_text import is_failure, requested, shortened
from kr_core.server.mcp.text_pages import DEFAULT_TOKENS, tokens


def result(number, letter="z", status="success", **more):
    return {
        "query": f"How do I set the timeout number {number} of a parcel? " + "q" * 200,
        "status": status,
        "report_path": f"frameworks/parcel/how-to-set-the-timeout-number-{number}.md",
        "confidence": "high",
        "summary": letter * 3000,
        "notes": [f"note of {number} " + "n" * 100] * 2,
        **more,
    }


def answer(results, faults=()):
    return {"story_key": "3-1", "results": results, "requesting_agent": "dev", "errors": list(faults)}


@pytest.mark.req("T1", "I2")
@pytest.mark.parametrize("letter", ["z", "字", '"'])
@pytest.mark.parametrize("many", [12, 100])
def test_each_query_keeps_its_line_however_many_there_are(many, letter):
    """Status, report and confidence of each stay; what is missing is counted, and how to read it is said."""
    faults = [{"type": "x", "message": "m" * 900, "field": f"queries[{n}]"} for n in range(many)]
    values = answer([result(number, letter) for number in range(many)], faults)
    made, words = shortened(values), requested(values)
    assert tokens(json.dumps(made, ensure_ascii=False)) <= DEFAULT_TOKENS
    assert tokens(words) <= DEFAULT_TOKENS
    assert len(made["results"]) == many
    for number, (one, was) in enumerate(zip(made["results"], values["results"], strict=True), 1):
        for key in ("status", "report_path", "confidence"):
            assert one[key] == was[key]
        assert was["query"].startswith(one["query"].removesuffix("..."))
        assert was["report_path"] in words
        assert f"{number}. How do I set" in words
    [kept] = {one["summary"].count(letter) for one in made["results"]}  # the same of each
    assert f"{many * (3000 - kept):,} characters of summaries" in made["notes"][0]
    for said in (words, made["notes"][0]):
        assert "are not shown: get_report(" in said
    assert f"and {many - 8} more" in words


@pytest.mark.req("T1", "I2")
def test_what_is_short_stays_whole_and_notes_are_shown():
    values = answer([result(1, summary="So.", query="How?"), result(2, summary="Thus.", query="Why?")])
    assert shortened(values) == values
    words = requested(values)
    assert words.count("Note: note of 1") == words.count("Note: note of 2") == 2
    assert "not shown" not in words


@pytest.mark.req("T3", "I2")
def test_only_where_nothing_was_answered_it_has_failed():
    """One query that is wrong spoils no other."""
    assert not is_failure(answer([result(1), result(2, status="failure")], [{"message": "wrong"}]))
    assert is_failure(answer([result(1, status="failure"), result(2, status="failure")]))
    assert is_failure(answer([], [{"message": "no queries"}]))
