"""The source `context7` against a service on loopback: what it asks for, and what it makes of each answer."""

import subprocess

import pytest
from support.loopback import Answer
from support.projects import install, make_environment

from kr_core import ConfigError, Outcome, RequestError
from kr_core.testing.surroundings import build

from .conftest import code_snippet, info_snippet, library, refusal

PAGE = "https://context7.com/acme/widget"


def first(results):
    """A function that gives the results one after the other, the last one again and again."""
    left = list(results)
    return lambda _asked: left.pop(0) if len(left) > 1 else left[0]


# -- the two requests ------------------------------------------------------------------------------------


@pytest.mark.req("R13", "R18")
def test_an_answer_has_passages_that_can_be_cited(ask, backend):
    """The text is verbatim, code between fences of its language, and each passage names its page."""
    finding = ask()
    assert (finding.outcome, finding.url) == (Outcome.ok, PAGE)
    best = finding.passages[0]
    assert best.text == (
        "Set the height of all rows with the `rowHeight` option.\n\n"
        "```ts\nnew Widget(element, {\n  rowHeight: 40,\n});\n```"
    )
    assert best.url == "https://github.com/acme/widget/blob/main/docs/rows.md"
    assert (best.locator, best.title) == ("Rows", "Set the row height")
    assert best.code == ("new Widget(element, {\n  rowHeight: 40,\n});",)
    assert (best.official, best.coverage) == (True, 1.0)
    prose = finding.passages[1]
    assert (prose.text, prose.locator) == (info_snippet()["content"], "Guide > Rows")


def test_the_two_requests_are_those_of_the_api(ask, backend):
    """Library and question are looked up, then the documentation is asked for as JSON; a key goes along."""
    ask(key="ctx7sk-of-a-test")
    search, context = backend.server.asked
    assert search.query == {"libraryName": ["widget"], "query": ["How do I set the row height?"]}
    assert context.query == {
        "libraryId": ["/acme/widget"], "query": ["How do I set the row height?"], "type": ["json"],
    }  # fmt: skip
    for asked in (search, context):
        assert asked.headers["authorization"] == "Bearer ctx7sk-of-a-test"
        assert asked.headers["user-agent"].startswith("kr-core/")


def test_without_a_key_none_is_sent(ask, backend):
    """The service answers anonymous questions too."""
    ask()
    assert all("authorization" not in asked.headers for asked in backend.server.asked)


@pytest.mark.parametrize(
    "question",
    ["row height " * 200, "\N{GRINNING FACE}" * 400, "x" * 1000, "\ud800row height", "row\0height"],
    ids=["words", "pairs", "one word", "surrogate", "nul"],
)
def test_a_question_is_cut_to_what_the_service_takes(ask, backend, question):
    """It counts 500 characters as JavaScript does; a longer query would be refused."""
    ask(question=question)
    for asked in backend.server.asked:
        assert 0 < len(asked.query["query"][0].encode("utf-16-le")) <= 1000


@pytest.mark.req("R20")
def test_what_is_not_about_the_question_is_dropped(ask):
    """Where nothing is left, nothing was found, and it is told where."""
    finding = ask(question="How do I export to PDF?")
    assert (finding.outcome, finding.passages, finding.url) == (Outcome.empty, (), PAGE)
    assert finding.reason == "of 2 snippets that Context7 chose in /acme/widget, none is about the question"


def test_a_word_that_no_snippet_holds_makes_an_answer_doubtful(ask):
    """What sets the height of a row does not set its colour, however many of the words it holds."""
    finding = ask(question="How do I set the background of a row?")
    assert all(passage.coverage < 0.61 for passage in finding.passages)
    assert "background" in finding.missing


def test_a_library_of_another_name_is_not_read(ask, backend):
    """The service offers what is similar; reading that would answer about something else."""
    backend.libraries = {"results": [library("/acme/widget-kit", title="Widget Kit")]}
    finding = ask()
    assert finding.outcome is Outcome.empty
    assert finding.reason == "Context7 has no library called widget; it offers Widget Kit"
    assert backend.places == []


def test_the_installed_package_tells_which_library_it_is(ask, backend, tmp_path):
    """By the repository in its metadata: `widget2` is made in `acme/widget`, whatever else is called so."""
    metadata = install(make_environment(tmp_path), "widget2", "3.1.0", {"widget2.py": ""}) / "METADATA"
    metadata.write_text(f"{metadata.read_text()}Project-URL: Source, https://github.com/acme/widget\n")
    backend.libraries = {"results": [library("/stranger/widget2", title="Widget2"), library()]}
    assert ask(framework="widget2").outcome is Outcome.ok
    assert backend.places == ["/acme/widget"]


@pytest.mark.req("Z8")
def test_a_package_of_the_project_s_repository_does_not_tell_which_library_it_is(ask, backend, tmp_path):
    """Its author may have handed in his own; the service's list decides, and a note says why."""
    metadata = install(make_environment(tmp_path), "widget", "3.1.0", {"widget.py": ""}) / "METADATA"
    metadata.write_text(f"{metadata.read_text()}Project-URL: Source, https://github.com/evil/widget\n")
    for arguments in (("init", "-q"), ("add", "-f", ".venv")):
        subprocess.run(["git", "-C", tmp_path, *arguments], check=True)
    backend.libraries = {"results": [library("/evil/widget", trustScore=5), library()]}
    finding = ask()
    assert backend.places == ["/acme/widget"]
    assert "`.venv` is part of this repository: KR does not use the address that it gives for widget" in finding.notes  # fmt: skip


@pytest.mark.req("K9", "Z4")
@pytest.mark.parametrize(("trust", "newest"), [(9, "3.1.0"), (1, None)])
def test_a_new_version_is_told_by_the_maker_alone(ask, backend, trust, newest):
    """What it says marks earlier answers stale: a stranger's list may not do that."""
    backend.libraries = {"results": [library(trustScore=trust)]}
    assert ask().newest == newest


# -- what is remembered ----------------------------------------------------------------------------------


def test_the_library_is_looked_up_once(ask, backend):
    """Its id is remembered from one question to the next, whatever is asked and however the name is written."""
    ask()
    assert ask(question="What is the height of a row?", framework="Widget").outcome is Outcome.ok
    assert backend.searches == ["widget"]
    assert backend.places == ["/acme/widget"] * 2


@pytest.mark.req("K11")
def test_what_is_remembered_is_of_the_package_that_is_installed(ask, backend, tmp_path):
    """What is called `widget` in another project is made elsewhere, and so another library."""
    ask()
    package = tmp_path / "node_modules" / "widget" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"name": "widget", "version": "3.1.0", "repository": "github:other/widget"}')
    backend.libraries = {"results": [library(), library("/other/widget")]}
    ask()
    assert backend.places == ["/acme/widget", "/other/widget"]


def test_a_library_that_was_not_there_is_looked_up_again(ask, backend):
    """Only what was found is remembered by the source."""
    backend.libraries = {"results": []}
    assert ask().outcome is Outcome.empty
    ask()
    assert backend.searches == ["widget"] * 2


def test_a_library_that_has_moved_is_asked_for_there(ask, backend):
    """Once in a question, and from then on at once."""

    def moved(asked):
        if asked.query["libraryId"] == ["/acme/widget"]:
            return refusal(301, "library_redirected", redirectUrl="/new/widget")
        return {"codeSnippets": [code_snippet(codeId=None)], "infoSnippets": []}

    backend.context = moved
    finding = ask()
    assert (finding.outcome, finding.url) == (Outcome.ok, "https://context7.com/new/widget")
    assert finding.passages[0].url == "https://context7.com/new/widget"
    ask()
    assert backend.places == ["/acme/widget", "/new/widget", "/new/widget"]
    assert backend.searches == ["widget"]


@pytest.mark.parametrize(
    "target", ["/new/widget", "https://evil.example/", "/a", "", None, 7, "/a/b/c/d", "/a b/c"]
)
def test_a_redirect_leads_to_a_library_or_nowhere(ask, backend, target):
    """It is followed once, and only to what can be an id."""
    backend.context = refusal(301, "library_redirected", redirectUrl=target)
    finding = ask()
    assert finding.outcome is Outcome.unavailable
    assert backend.places == ["/acme/widget", *(["/new/widget"] if target == "/new/widget" else [])]


def test_a_remembered_library_that_is_gone_is_looked_up_anew(ask, backend):
    """The service says that there is none of this id: it is forgotten, and looked for once more."""
    ask()
    gone = refusal(404, "library_not_found")
    good = backend.context
    backend.libraries = {"results": [library("/acme/widget-next", title="Widget")]}
    backend.context = lambda asked: gone if asked.query["libraryId"] == ["/acme/widget"] else good
    assert ask().url == "https://context7.com/acme/widget-next"
    assert ask().url == "https://context7.com/acme/widget-next"
    assert backend.searches == ["widget", "widget"]


def test_a_library_that_is_listed_and_gone_is_not_found(ask, backend):
    """And it is looked up again next time."""
    backend.context = refusal(404, "library_not_found", "There is no such library.")
    finding = ask()
    assert (finding.outcome, finding.url) == (Outcome.empty, PAGE)
    ask()
    assert backend.searches == ["widget", "widget"]


# -- versions --------------------------------------------------------------------------------------------


def test_the_version_in_use_is_read_where_it_is_listed(ask, backend):
    """The tag of the same major and minor version is asked for, and said."""
    finding = ask(version="3.1.4")
    assert backend.places == ["/acme/widget/v3.1.0"]
    assert (finding.version, finding.notes) == ("3.1.0", ())
    assert {passage.version for passage in finding.passages} == {"3.1.0"}


def test_another_minor_version_is_told(ask, backend):
    """The closest of the same major version is read."""
    finding = ask(version="2.4.0")
    assert backend.places == ["/acme/widget/v2.9.4"]
    assert (finding.version, finding.notes) == ("2.9.4", ("v2.9.4 is the listed version closest to 2.4.0",))


def test_a_tag_that_is_gone_is_asked_for_without_once(ask, backend):
    """The answer is then about nobody knows which version, and says so."""
    good = backend.context
    gone = refusal(404, "tag_not_found", "Available: v9.0.0")
    backend.context = lambda asked: good if asked.query["libraryId"] == ["/acme/widget"] else gone
    finding = ask(version="3.1.4")
    assert backend.places == ["/acme/widget/v3.1.0", "/acme/widget"]
    assert (finding.outcome, finding.version) == (Outcome.ok, None)
    assert finding.notes == ("the listed version v3.1.0 is not there; its current documentation was read",)
    backend.context = gone
    assert ask(version="3.1.4").outcome is Outcome.empty
    assert len(backend.places) == 4


def test_a_redirect_keeps_the_version(ask, backend):
    """The library has moved, its tags with it."""
    backend.context = first([refusal(301, "library_redirected", redirectUrl="/new/widget"), backend.context])
    assert ask(version="3.1.4").version == "3.1.0"
    assert backend.places == ["/acme/widget/v3.1.0", "/new/widget/v3.1.0"]


# -- refusals --------------------------------------------------------------------------------------------

REFUSALS = [
    (202, "library_not_finalized", "pending", "the library is still being prepared there: No."),
    (
        400,
        "validation_error",
        "bad_answer",
        "it takes the request for invalid, which is a fault of KR's: No.",
    ),
    (
        400,
        "invalid_library_id",
        "bad_answer",
        "it takes the request for invalid, which is a fault of KR's: No.",
    ),
    (401, "invalid_api_key", "blocked", "the key was refused: check `plugins.context7.api_key`: No."),
    (402, "spending_limit_exceeded", "limited", "the spending limit of the account is reached: No."),
    (403, "access_denied", "blocked", "access to this library is denied: No."),
    (403, "forbidden", "blocked", "access to this library is denied: No."),
    (404, "no_snippets_found", "empty", "HTTP 404: No."),
    (422, "library_too_large", "unavailable", "HTTP 422: No."),
    (422, "no_code_found", "empty", "HTTP 422: No."),
    (429, "rate_limit_exceeded", "limited", "too many requests: No."),
    (500, "internal_error", "unavailable", "HTTP 500: No."),
    (503, "search_failed", "unavailable", "HTTP 503: No."),
    (504, "internal_error", "unavailable", "HTTP 504: No."),
    (418, "teapot", "unavailable", "HTTP 418: No."),
]


@pytest.mark.req("R6", "R9")
@pytest.mark.parametrize("stage", ["libraries", "context"])
@pytest.mark.parametrize(("status", "code", "outcome", "reason"), REFUSALS, ids=lambda value: str(value)[:24])
def test_each_refusal_has_its_outcome_and_is_told(ask, backend, stage, status, code, outcome, reason):
    """By either request: never an answer, never an error for the caller."""
    setattr(backend, stage, refusal(status, code))
    finding = ask(seconds=0.2)  # no time to ask again
    assert (finding.outcome, finding.reason, finding.passages) == (outcome, reason, ())
    assert finding.url == (PAGE if stage == "context" else None)


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        (Answer(301, "", {"Location": "https://elsewhere.example/"}), "unavailable", "HTTP 301; is"),
        (Answer(302, "", {"Location": "http://127.0.0.1:1/"}), "unavailable", "is `plugins.context7.base_url` right?"),
        (Answer(404, "<h1>Not Found</h1>", {"Content-Type": "text/html"}), "unavailable", "base_url"),
        (Answer(429, "slow down", {"Retry-After": "86400"}), "limited", "asks to wait 86400 s"),
        (Answer(429, "", {"Retry-After": "Fri, 31 Dec 2038 23:59:59 GMT"}), "limited", "until Fri, 31 Dec 2038"),
        (Answer(403, "<h1>Blocked</h1>"), "blocked", "denied"),
        (Answer(200, {"error": "rate_limit_exceeded", "message": "Slow down."}), "limited", "Slow down."),
        (Answer(200, {"message": "Monthly quota exceeded. Upgrade your plan."}), "limited", "Monthly quota"),
        (Answer(200, "Rate limited or quota exceeded. Upgrade your plan."), "limited", "quota exceeded"),
        (Answer(200, '"Monthly quota exceeded"'), "limited", "Monthly quota"),
        (Answer(200, {"error": "library_not_finalized", "message": "Wait."}), "pending", "Wait."),
        (Answer(200, {"error": "strange", "message": "Something."}), "bad_answer", "it says: Something."),
        (Answer(500, {"error": "internal_error", "message": "Index not found."}), "unavailable", "not found"),
        (Answer(500, {"message": "Monthly quota exceeded."}), "limited", "quota"),
        (Answer(200, '""'), "bad_answer", "its answer is a JSON str, not an object"),
        (Answer(200, {}), "bad_answer", "its answer has no results"),
        (Answer(200, []), "bad_answer", "its answer is a JSON list, not an object"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
@pytest.mark.parametrize("stage", ["libraries", "context"])
def test_what_is_no_answer_is_told(ask, backend, stage, answer, outcome, said):
    """Pages of proxies, quotas that come with status 200, JSON of another shape."""
    setattr(backend, stage, answer)
    finding = ask(seconds=0.5)
    assert (finding.outcome, finding.passages) == (outcome, ())
    assert said in finding.reason


@pytest.mark.parametrize("stage", ["libraries", "context"])
@pytest.mark.parametrize("body", ["<h1>Please sign in</h1>", "[" * 100_000, '{"results": [', b"\xff\xfe\x00"])
def test_what_is_no_json_is_a_bad_answer(ask, backend, stage, body):
    """The error that says so passes to the engine, which types it."""
    setattr(backend, stage, Answer(200, body))
    with pytest.raises(RequestError) as raised:
        ask()
    assert raised.value.outcome == "bad_answer"


@pytest.mark.parametrize("stage", ["libraries", "context"])
def test_fifty_megabytes_are_a_bad_answer(ask, backend, stage):
    """It is not read to its end."""
    setattr(backend, stage, Answer(200, b'{"results": ["' + b"x" * 50_000_000 + b'"]}'))
    with pytest.raises(RequestError, match="longer than 8 MB"):
        ask()


@pytest.mark.parametrize(
    "body", ["", "  \n", {"codeSnippets": [], "infoSnippets": []}, {"infoSnippets": [], "rules": {}}]
)
def test_no_documentation_is_nothing_found(ask, backend, body):
    """Neither is it an answer, nor a failure."""
    backend.context = Answer(200, body)
    assert ask().outcome is Outcome.empty


def test_a_search_that_answers_nothing_at_all_has_not_looked(ask, backend):
    """An empty body is no empty list: it must not be remembered as "there is no such library"."""
    backend.libraries = Answer(200, "")
    with pytest.raises(RequestError):
        ask()


@pytest.mark.req("R9")
def test_a_quota_text_among_the_snippets_is_none(ask, backend):
    """It comes from no page; documentation that speaks of limits does."""
    said = "Monthly quota exceeded. Set a row height after you upgrade your plan."
    backend.context = {"codeSnippets": [], "infoSnippets": [{"content": said}]}
    finding = ask()
    assert (finding.outcome, finding.reason) == (Outcome.limited, said)
    backend.context = {"codeSnippets": [], "infoSnippets": [info_snippet(content=said)]}
    assert ask().outcome is Outcome.ok


def test_a_failure_in_passing_is_asked_again(ask, backend):
    """The client does it: one 503 is no failure."""
    backend.context = first([Answer(503, ""), backend.context])
    assert ask().outcome is Outcome.ok


def test_a_key_that_the_service_repeats_is_not_told(ask, backend):
    """Reasons stand in reports and logs."""
    backend.libraries = refusal(403, "forbidden", "The key ctx7sk-of-a-test may not do this.")
    assert ask(key="ctx7sk-of-a-test").reason.endswith("The key [key] may not do this.")


def test_nothing_is_asked_without_a_framework(ask, backend):
    """It costs no call."""
    finding = ask(framework="  ")
    assert (finding.outcome, finding.reached, backend.server.asked) == (Outcome.unavailable, False, [])


# -- settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["ctx7sk-\ud800", "ctx7sk\nX-Other: 1", "two words", "schl\u00fcssel"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(tmp_path, key):
    """A client would show it in its message."""
    with pytest.raises(ConfigError) as raised:
        build("kr_plugins.sources.context7", "source", {"api_key": key}, tmp_path)
    assert key not in str(raised.value)


def test_blanks_around_a_key_do_not_count(tmp_path):
    """As a file or a shell leaves them."""
    assert (
        build("kr_plugins.sources.context7", "source", {"api_key": " ctx7sk-x\n"}, tmp_path)._api_key
        == "ctx7sk-x"
    )


@pytest.mark.parametrize(
    "url", ["context7.com/api", "ftp://context7.com", "https://", "https://x.example/a?b=c"]
)
def test_a_base_url_is_one_of_the_web(tmp_path, url):
    """Wrong ones are told before anything is asked."""
    with pytest.raises(ValueError, match="base_url"):
        build("kr_plugins.sources.context7", "source", {"base_url": url}, tmp_path)


def test_a_slash_at_the_end_of_the_base_url_does_not_count(ask, backend):
    """The paths below it are the same."""
    assert ask(base_url=f"{backend.server.url}/api/").outcome is Outcome.ok
