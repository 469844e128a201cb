"""Sentences of a language model: kept where their passages bear them out, dropped where not."""

import pytest

from kr_core.evidence.citations import Citer
from kr_core.evidence.generated import GeneratedProse, claims_of, unsupported
from kr_core.evidence.summary import compose
from kr_core.model import Finding, Outcome, Passage, ResearchQuery

TIMEOUT = Passage(
    text="httpx.get(url, timeout=5.0)\n\nThe timeout to use for the request, in seconds. The default is 5.0 seconds.\n"
    "A timeout of None never expires. Redirects are not followed.",
    url="pkg:pypi/httpx@0.28.1",
    locator="httpx/_api.py:10",
    official=True,
)
QUERY = ResearchQuery(
    framework="httpx",
    framework_version="0.28.1",
    topic="timeout",
    tags=("timeout",),
    question="set a timeout in httpx",
)
QUOTE = '[1: "The timeout to use for the request, in seconds."]'


def kept(*lines):
    claims, dropped = claims_of(lines, [("docs", TIMEOUT)], Citer())
    return [claim.text for claim in claims], dropped


@pytest.mark.req("R17", "R18")
def test_a_sentence_that_its_passage_bears_out_is_kept_with_its_citation():
    claims, dropped = kept(f"Set the timeout of a request in seconds with `timeout`. {QUOTE}")
    assert claims == ["Set the timeout of a request in seconds with `timeout`. [1]"]
    assert not dropped


@pytest.mark.req("R17", "R18")
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Set the timeout in seconds.", "cites nothing"),
        (f"Set the timeout to 7 seconds for the request. {QUOTE}", "7 stands in none of its quotes"),
        (
            f"Pass `deadline=` for the timeout of the request. {QUOTE}",
            "`deadline=` stands in no cited passage",
        ),
        (
            f"Use httpx.Timeout for the request in seconds. {QUOTE}",
            "httpx.Timeout stands in none of its quotes",
        ),
        ('The timeout is in seconds. [1: "The timeout in milliseconds"]', "the quote is not in passage 1"),
        ('The timeout is in seconds. [2: "The timeout to use"]', "there is no passage 2"),
        ('The timeout is in seconds. [1: "The"]', "quotes too little"),
        (f"The timeout does not hold for the request, in seconds. {QUOTE}", "it denies"),
        ('Redirects are followed. [1: "Redirects are not followed."]', "it denies"),
        (
            f"Napoleon preferred generous timeouts in Russia during winter. {QUOTE}",
            "says more than its quotes",
        ),
        (f"The default is 5.0 for the timeout of the request. {QUOTE}", "5.0 stands in none of its quotes"),
        (
            f"The timeout to use for the request, in leap seconds. {QUOTE}",
            "says more than its passages: leap",
        ),
        (f"Redirects use the timeout for the request, in seconds. {QUOTE}", "Redirects stands in none"),
        ("The timeout [1] is in seconds.", "a citation in it cannot be read"),
        (f"{'The timeout to use for the request. ' * 12}{QUOTE}", "longer than 400 characters"),
    ],
)
def test_a_sentence_without_support_is_dropped_and_told(line, why):
    claims, dropped = kept(line)
    assert claims == []
    assert len(dropped) == 1
    assert why in dropped[0]


STORES = (
    "Memcached stores sessions with a default timeout of one hour. begin - the store of sessions. Redis is another store. "
    "Flask is faster than Django in this test. Call begin before commit. Some prefer Redis over Memcached. "
    "It waits 3 seconds and tries 10 times. 超时时间以秒为单位。"
)


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("sentence", "quote", "fault"),
    [
        ("Memcached stores sessions with a timeout of one hour.", "Memcached stores sessions with a default timeout of one hour.", ""),
        ("In this test Flask is faster than Django.", "Flask is faster than Django in this test.", ""),
        ("Call `begin` before `commit`.", "Call begin before commit.", ""),
        ("Pass `begin`, the store of sessions.", "begin - the store of sessions", ""),
        ("超时时间以秒为单位。", "超时时间以秒为单位。", ""),
        ("Redis stores sessions with a default timeout.", "stores sessions with a default timeout", "Redis stands in none"),
        ("Memcached stores sessions on disk with a timeout of one hour.", "Memcached stores sessions with a default timeout of one hour.", "more than its passages: disk"),
        ("Memcached stores sessions with a timeout of one hour.", "default timeout of one hour", "more than its quotes"),
        ("Django is faster than Flask.", "Flask is faster than Django in this test.", "its quotes have Django"),
        ("Call `commit` before `begin`.", "Call begin before commit.", "compares so: before"),
        ("Call `begin` after `commit`.", "Call begin before commit.", "compares so: after"),
        ("It waits 10 seconds and tries 3 times.", "It waits 3 seconds and tries 10 times", "its quotes have 10 after"),
        ("It waits 3 seconds and tries 10 times.", "It waits 3 seconds and tries 10 times", ""),
        ("Some prefer Memcached over Redis.", "Some prefer Redis over Memcached.", "its quotes have Memcached"),
    ],
)  # fmt: skip
def test_names_and_comparisons_are_those_of_the_quotes(sentence, quote, fault):
    """A name may stand elsewhere in the passage, and two names may both stand in the quote the other way round."""
    said = unsupported(sentence, [STORES], [quote])
    assert fault in said
    assert bool(fault) is bool(said)


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("sentence", "quotes", "fault"),
    [
        ("Aa Bb Aa", ["Aa Bb", "Bb Aa"], ""),
        ("Aa Bb Aa", ["Aa Bb"], "its quotes have Bb after"),
        ("Aa Bb Cc", ["Bb Aa Bb Cc Aa"], ""),
        ("Aa Bb Cc", ["Aa Bb", "Cc"], ""),
        ("Aa Bb", ["Bb Aa", "Aa", "Bb"], "its quotes have Aa after"),
        ("Use aa over bb", ["use bb over aa over bb"], ""),
        ("Use aa over bb", ["use bb over cc over aa"], "compares so: over"),
        ("Release 1.2 is v.1 of it", ["release 1.2.3 is v.1 of it"], ""),
        ("Release 1.2 is it", ["release 1.20 is it"], "1.2 stands in none"),
        ("Release 1.2 is it", ["release v1.2 is it"], "1.2 stands in none"),
        ("Release 1.2 is it", ["release 1.2- 1.2x is it"], ""),
    ],
)  # fmt: skip
def test_order_and_facts_are_those_of_one_of_the_quotes(sentence, quotes, fault):
    said = unsupported(sentence, [" ".join(quotes)], quotes)
    assert fault in said
    assert bool(fault) is bool(said)


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("sentence", "quote", "fault"),
    [
        ("Use aa over bb", "use bb " + "over " * 100_000 + "aa", "compares so: over"),
        ("Aa<Bb Cc" * 45, "Cc Bb Aa " * 50_000, ""),
    ],
)
def test_a_quote_as_long_as_a_file_is_read_once(sentence, quote, fault):
    """What lies before and behind each word of it was compared again: 1 MB took hours."""
    assert fault in unsupported(sentence, [quote], [quote])


@pytest.mark.req("R17")
def test_nothing_is_no_sentence():
    assert kept("", '[1: "The timeout to use for the request"]') == ([], [])


@pytest.mark.req("R18")
def test_support_is_checked_without_any_model_and_repeatably():
    quotes = ["A timeout of None never expires."]
    assert unsupported("A timeout of `None` never expires.", [TIMEOUT.text], quotes) == ""
    assert unsupported("A timeout of `None` expires.", [TIMEOUT.text], quotes)


@pytest.mark.req("R17")
def test_code_and_caveats_stay_verbatim_whoever_wrote_the_sentences():
    finding = Finding(
        outcome=Outcome.ok, passages=(TIMEOUT.model_copy(update={"code": ("httpx.get(url, timeout=5.0)",)}),)
    )
    prose = GeneratedProse(
        (f"Set the timeout of a request in seconds. {QUOTE}",), ('Nothing that stands there. [9: "x"]',)
    )
    draft = compose(QUERY, [("docs", finding)], prose=prose)
    assert [claim.written for claim in draft.summary] == [True]
    assert draft.summary_code[0].code == "httpx.get(url, timeout=5.0)"
    assert draft.details == ()
    assert len(draft.unsupported) == 1
    cited = {number for claim in draft.summary for number in claim.citations} | {
        one.citation for one in draft.summary_code
    }
    assert cited == {citation.n for citation in draft.citations}  # nothing is listed that nobody cites


@pytest.mark.req("R17")
def test_where_nothing_is_left_the_answer_is_composed_by_rule():
    finding = Finding(outcome=Outcome.ok, passages=(TIMEOUT,))
    draft = compose(QUERY, [("docs", finding)], prose=GeneratedProse(("Buy more RAM.",), ()))
    assert draft.summary
    assert not any(claim.written for claim in draft.summary)
    assert len(draft.unsupported) == 1
