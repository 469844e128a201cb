"""KR's source and the vendor's own server (`@upstash/context7-mcp`), asked the same of one backend, say the same."""

from __future__ import annotations

import asyncio
import re

import pytest
from support import mcp_servers
from support.loopback import Answer

from kr_core import Outcome
from kr_core.net.shared_resources import SharedResources
from kr_core.net.source_context import ConsultationContext

from .conftest import QUESTION, Backend, code_snippet, info_snippet, library, refusal


@pytest.fixture(scope="module")
def shared():
    """One backend and the vendor's server on it: it starts in most of a second."""
    backend = Backend()
    direct = {"HTTP_PROXY": "", "HTTPS_PROXY": "", "http_proxy": "", "https_proxy": ""}
    try:
        with mcp_servers.program(
            mcp_servers.context7(), CONTEXT7_API_URL=f"{backend.server.url}/api", **direct
        ) as url:
            yield backend, f"{url}/mcp"
    finally:
        backend.server.close()


@pytest.fixture
def backend(shared):
    """The backend as it is at first; `ask` asks it too."""
    made, _url = shared
    made.reset()
    return made


@pytest.fixture
def vendor(shared, backend, tmp_path):
    """Call a tool of the vendor's server; its text, and whether it says that this is an error."""

    def call(tool, **arguments):
        async def called():
            outside = SharedResources(tmp_path / "vendor")
            deadline = asyncio.get_running_loop().time() + 20.0
            context = ConsultationContext(None, lambda _kind, _data: None, deadline, outside, "vendor")
            try:
                return await context.call_tool(shared[1], tool, arguments)
            finally:
                await context.close()
                outside.close()

        result = asyncio.run(called())
        return result.text, result.is_error

    return call


def as_text(asked):
    """The context of the backend in both of its forms: JSON, and the text that models are given."""
    codes, infos = [code_snippet(), code_snippet(codeTitle="By row", codeDescription=None)], [info_snippet()]
    if asked.query.get("type") == ["json"]:
        return {"codeSnippets": codes, "infoSnippets": infos, "rules": {}}
    blocks = [
        f"### {one['codeTitle']}\n\nSource: {one['codeId']}\n\n"
        + "\n\n".join([
            *([one["codeDescription"]] if one["codeDescription"] else []),
            *(f"```{part['language']}\n{part['code']}\n```" for part in one["codeList"]),
        ])
        for one in codes
    ]  # fmt: skip
    blocks += [f"### {one['breadcrumb']}\n\nSource: {one['pageId']}\n\n{one['content']}" for one in infos]
    return Answer(200, "\n\n--------------------------------\n\n".join(blocks))


OFFERED = [
    library("/other/widget-kit", title="Widget Kit", trustScore=10),
    library("/copy/widget", trustScore=3, stars=2),
    library("/acme/widget"),
    library("/llmstxt/widget_example", trustScore=7),
]


def test_of_what_both_are_offered_the_one_with_the_name_and_the_reputation_is_read(ask, backend, vendor):
    """The vendor's server lists, and tells a model to prefer exact names and high reputation; KR does that itself."""
    backend.libraries = {"results": OFFERED}
    text, is_error = vendor("resolve-library-id", libraryName="widget", query=QUESTION)
    listed = re.findall(r"- Title: (.*)\n- Context7-compatible library ID: (\S+)", text)
    reputations = re.findall(r"- Source Reputation: (\w+)", text)
    assert (is_error, [one for _title, one in listed]) == (False, [one["id"] for one in OFFERED])
    named = [
        (name, reputation)
        for (title, name), reputation in zip(listed, reputations, strict=True)
        if title == "Widget"
    ]
    first = next(name for name, reputation in named if reputation == "High")
    ask()
    assert backend.places == [first] == ["/acme/widget"]


def test_where_none_has_the_name_the_vendor_lists_and_kr_reads_none(ask, backend, vendor):
    """A model may take the nearest; KR would then answer with confidence about another library."""
    backend.libraries = {"results": OFFERED[:1]}
    text, _is_error = vendor("resolve-library-id", libraryName="widget", query=QUESTION)
    assert "/other/widget-kit" in text
    assert ask().outcome is Outcome.empty
    assert backend.places == []


def test_what_kr_quotes_stands_in_the_text_that_the_vendor_gives(ask, backend, vendor):
    """Of the same question to the same library: each piece of each passage, and the page it comes from."""
    backend.context = as_text
    text, _is_error = vendor("query-docs", libraryId="/acme/widget", query=QUESTION)
    finding = ask()
    assert len(finding.passages) == 3
    for passage in finding.passages:
        assert passage.url in text
        assert all(piece in text for piece in passage.text.split("\n\n```", 1))
        assert all(code in text for code in passage.code)


def test_both_ask_the_backend_the_same(ask, backend, vendor):
    """The same paths and parameters, but for the form of the answer."""
    ask()
    ours = list(backend.server.asked)
    vendor("resolve-library-id", libraryName="widget", query=QUESTION)
    vendor("query-docs", libraryId="/acme/widget", query=QUESTION)
    theirs = backend.server.asked[len(ours) :]
    assert [(one.path, one.query) for one in theirs] == [
        (one.path, {name: value for name, value in one.query.items() if name != "type"}) for one in ours
    ]


@pytest.mark.req("R9")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (refusal(429, "rate_limit_exceeded", "Monthly quota exceeded."), Outcome.limited),
        (refusal(202, "library_not_finalized", "Not finalized."), Outcome.pending),
        (refusal(301, "library_redirected", "Moved."), Outcome.unavailable),
        (refusal(403, "access_denied", "No."), Outcome.blocked),
        (Answer(200, ""), Outcome.empty),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_the_vendor_gives_as_an_answer_is_none_to_kr(ask, backend, vendor, answer, outcome):
    """Its server hands failures on as text that is no error: why KR asks the REST API."""
    backend.context = answer
    text, is_error = vendor("query-docs", libraryId="/acme/widget", query=QUESTION)
    assert text
    assert not is_error
    assert ask().outcome is outcome
