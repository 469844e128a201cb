"""A program that embeds KR can see how it degrades: with sources that fail on purpose, and a network that does."""

import asyncio
import subprocess
import sys

import httpx
import pytest
from support.projects import Bench, Given, found

from kr_core import Finding, Outcome
from kr_core.testing import FaultySource, FaultyTransport, NetworkFault, SourceFault, __all__

EXPECTED = {
    SourceFault.raises: ("unavailable", "raised on purpose"),
    SourceFault.hangs: ("timeout", "timeout after 0.3 s"),
    SourceFault.ignores_cancellation: ("timeout", "timeout after 0.3 s"),
    SourceFault.wrong_type: ("bad_answer", "returned dict, not a Finding"),
    SourceFault.quota_text: ("limited", "Quota exceeded"),
    SourceFault.connection_refused: ("unavailable", "connection refused on purpose"),
}


class Answering:
    """A source that always gives the same answer."""

    external = False
    timeout_seconds = 7.0
    answer = found()

    async def query(self, query, context):
        return self.answer


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path / "work")
    yield made
    made.close()


@pytest.mark.req("R9", "P4")
@pytest.mark.parametrize("fault", EXPECTED)
def test_a_fault_is_an_outcome_and_a_note(bench, fault):
    """The pipeline answers from the next source, and says what became of the one that failed."""
    faulty = FaultySource(Given(found(), external=True, timeout_seconds=0.3), faults=[fault])
    result = bench.result({"faulty": faulty, "docs": Given(found())})
    outcome, reason = EXPECTED[fault]
    assert result.status == ("timeout" if outcome == "timeout" else "partial")
    assert [one.outcome for one in result.results.sources_consulted] == [outcome, "ok"]
    assert any(note.startswith("faulty: ") and reason in note for note in result.results.degradation_notes)
    assert result.results.citations[0].source == "docs"


@pytest.mark.req("R9")
def test_hostile_text_is_kept_as_data(bench):
    """Hostile text becomes an answer that evaluates nothing and holds no control sequence."""
    answer = bench.ask({"faulty": FaultySource(faults=["hostile_text"])})
    assert answer.result.results.sources_consulted[0].outcome == "ok"
    assert "\x1b" not in answer.report
    assert "51724863" not in answer.report


def test_each_consultation_has_the_next_fault_and_then_the_real_source_answers(monkeypatch):
    """Faults are used up in order."""
    source = FaultySource(Answering(), faults=["raises", "slow"])

    async def ask():
        return await source.query(None, None)

    with pytest.raises(RuntimeError, match="raised on purpose"):
        asyncio.run(ask())
    slept = []

    async def note(seconds):
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", note)
    assert asyncio.run(ask()) is Answering.answer
    assert slept == [1.0]
    assert asyncio.run(ask()) is Answering.answer
    assert (source.external, source.timeout_seconds) == (False, 7.0)


def test_without_a_real_source_nothing_is_found():
    """A faulty source with nothing behind it is external and, once its faults are used up, empty."""
    source = FaultySource()
    assert source.external
    finding = asyncio.run(source.query(None, None))
    assert isinstance(finding, Finding)
    assert finding.outcome is Outcome.empty


def test_a_fault_that_there_is_not_is_refused_at_once():
    """A misspelt fault is an error where it is written, not a fault of another kind."""
    with pytest.raises(ValueError, match="'hang' is not a valid SourceFault"):
        FaultySource(faults=["hang"])
    with pytest.raises(ValueError, match="'http_500' is not a valid NetworkFault"):
        FaultyTransport(["http_500"])


async def _get(transport):
    async with httpx.AsyncClient(transport=transport, timeout=1) as client:
        return await client.get("https://service.example/")


@pytest.mark.req("R9")
@pytest.mark.parametrize(
    ("fault", "error"),
    [("connection_refused", httpx.ConnectError), ("timeout", httpx.ReadTimeout), ("cut_off", httpx.RemoteProtocolError)],
)  # fmt: skip
def test_a_request_fails(fault, error):
    """Faults of the connection come as httpx raises them."""
    with pytest.raises(error):
        asyncio.run(_get(FaultyTransport([fault])))


@pytest.mark.req("R9")
@pytest.mark.parametrize(
    ("fault", "status", "body"),
    [("too_many_requests", 429, "Too many"), ("server_error", 500, "Internal"), ("html", 200, "<!doctype html>"),
     ("empty_body", 200, ""), ("quota_text", 200, "Quota exceeded")],
)  # fmt: skip
def test_a_request_is_answered_wrongly(fault, status, body):
    """Faults of the service come as answers."""
    answer = asyncio.run(_get(FaultyTransport([fault])))
    assert answer.status_code == status
    assert answer.text.startswith(body)
    assert answer.headers.get("Retry-After") == ("30" if status == 429 else None)


def test_a_hanging_request_can_be_cancelled():
    """No answer ever comes, and cancellation works."""

    async def hang():
        async with asyncio.timeout(0.05):
            await _get(FaultyTransport(["hangs"]))

    with pytest.raises(TimeoutError):
        asyncio.run(hang())


def test_when_the_faults_are_used_up_the_real_transport_answers():
    """Requests are noted, and go to the real transport in the end; without one the connection is refused."""
    real = httpx.MockTransport(lambda request: httpx.Response(200, text=str(request.url)))
    transport = FaultyTransport([NetworkFault.server_error], real)

    assert asyncio.run(_get(transport)).status_code == 500
    assert asyncio.run(_get(transport)).text == "https://service.example/"
    assert len(transport.requests) == 2
    with pytest.raises(httpx.ConnectError):
        asyncio.run(_get(FaultyTransport()))


# -- the package itself ----------------------------------------------------------------------------------


def test_the_public_names_are_these():
    """A name is added or taken away on purpose: by changing this list too."""
    assert __all__ == [
        "AgentContract",
        "EmbedderContract",
        "EscalationContract",
        "FaultySource",
        "FaultyTransport",
        "HookContract",
        "JournalContract",
        "LogContract",
        "LookupContract",
        "NetworkFault",
        "PluginContract",
        "RendererContract",
        "RouterContract",
        "RuntimeContract",
        "ScorerContract",
        "SourceContract",
        "SourceFault",
        "StoreContract",
    ]


def test_without_pytest_the_message_says_what_to_install():
    """A program that has no pytest is told what to install."""
    code = "import sys; sys.modules['pytest'] = None\nimport kr_core.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "kr-core[testing]"' in done.stderr


def test_the_kit_needs_no_hypothesis_to_be_imported():
    """Only the contract for stores uses it, when it runs: everybody else starts without."""
    code = "import sys, kr_core.testing; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
