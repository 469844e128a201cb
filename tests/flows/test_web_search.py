"""The web searched as a user does it: the command, a real searx on loopback, and pages of sites on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from support.loopback import Answer, Server
from support.projects import QUESTION
from support.webpages import BLOG, DOCS, OTHER, page

PYTHON = Path("/usr/bin/python3")
HTML = {"Content-Type": "text/html; charset=utf-8"}
SETTINGS = """\
general: {debug: false, instance_name: searx, contact_url: false, enable_stats: false}
brand: {git_url: "", git_branch: "", issue_url: "", docs_url: "", public_instances: "", wiki_url: "", twitter_url: ""}
search: {safe_search: 0, autocomplete: "", default_lang: "", ban_time_on_fail: 1, max_ban_time_on_fail: 1, formats: [html, json]}
server: {port: PORT, bind_address: 127.0.0.1, secret_key: a-secret-of-thirty-characters-0, base_url: false, image_proxy: false,
         http_protocol_version: "1.0", method: GET, default_http_headers: {}}
ui: {static_path: /usr/share/python3-searx/static, templates_path: /usr/share/python3-searx/templates, default_theme: oscar,
     default_locale: "", theme_args: {oscar_style: logicodev}}
outgoing: {request_timeout: 1.0, useragent_suffix: "", pool_connections: 10, pool_maxsize: 10}
engines:
  - {name: behind, engine: json_engine, shortcut: be, categories: general, search_url: "BEHIND/s?q={query}", results_query: hits,
     url_query: url, title_query: title, content_query: content, timeout: 1.0, enable_http: true}
locales: {en: English}
doi_resolvers: {oadoi.org: "https://oadoi.org/"}
default_doi_resolver: oadoi.org
"""


class Sites:
    """A web server for each site, at an address of its own, and the engine that finds their pages."""

    def __init__(self, stack):
        self.pages = {}
        self.says = None
        self.engine = self._server(stack, "127.0.0.1", self._find)
        for number, (title, body) in enumerate(
            (("Timeouts of parcels", DOCS), ("Recipes", BLOG), ("Taps", OTHER)), 2
        ):
            served = page(title, body)
            server = self._server(
                stack, f"127.0.0.{number}", lambda asked, served=served: self._say(asked, served)
            )
            self.pages[f"{server.url}/page"] = title

    @staticmethod
    def _server(stack, address, answer):
        server = Server(answer, address)
        stack.callback(server.close)
        return server

    @staticmethod
    def _say(asked, served):
        return Answer(404) if asked.path == "/robots.txt" else Answer(200, served, HTML)

    def _find(self, asked):
        assert asked.path == "/s", asked
        self.asked = asked.query["q"][0]
        if self.says is not None:
            return self.says
        return {"hits": [{"url": url, "title": title, "content": "x"} for url, title in self.pages.items()]}

    @property
    def hosts(self):
        return [url.split("/")[2] for url in self.pages]


@pytest.fixture(scope="module")
def sites():
    with ExitStack() as stack:
        yield Sites(stack)


@contextmanager
def running(folder, sites):
    """A real searx."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    written = SETTINGS.replace("PORT", str(port)).replace("BEHIND", sites.engine.url)
    (folder / "settings.yml").write_text(written)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PYTHON, "-m", "searx.webapp"], cwd=folder, stdout=log, stderr=log,
            env={"SEARX_SETTINGS_PATH": str(folder / "settings.yml"), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        )  # fmt: skip
    try:
        _wait_for(process, f"http://127.0.0.1:{port}/", folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(process, url, log):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def searx(sites, tmp_path_factory):
    """A real searx that answers in JSON."""
    _require_searx()
    with running(tmp_path_factory.mktemp("searx"), sites) as url:
        yield url


def _require_searx():
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('searx') is None)"
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", code], check=False).returncode:
        pytest.skip("Debian's searx is not installed (apt-get install --no-install-recommends searx)")


@pytest.fixture
def research(kr_here, tmp_path, sites):
    """Ask the web alone, and read the result."""
    folder = tmp_path / "asking"
    folder.mkdir()
    sites.says = None

    def asked(url, *arguments, allow=None, question=QUESTION):
        settings = {"url": url, "allow_hosts": sites.hosts if allow is None else allow}
        config = {"knowledge_research": {"sources": ["web_search"]}, "plugins": {"web_search": settings}}
        (folder / "kr.yaml").write_text(json.dumps(config))
        trusted = {"KR_TRUST": "all"}  # for `allow_hosts`
        return kr_here("research", question, "--framework", "parcel", *arguments, cwd=folder, env=trusted)

    return asked


@pytest.mark.req("R13", "R18")
def test_an_answer_from_the_web(research, searx, sites, tmp_path):
    """Sites that agree give an answer to act on, rated `medium`, with its pages; each request is shown, and the quotes hold."""
    done = research(searx, "-v")
    assert done.code == 0, done
    assert "Confidence: medium" in done.out
    assert 'send("Paris", timeout=2.0)' in done.out
    assert "Pass the argument" not in done.out
    assert (
        "Pass `timeout` to `send()` to set a timeout for one parcel. The default is 5 seconds. [1]"
        in done.out
    )
    assert f"GET {searx}/search (q=" in done.err
    assert "): 200, " in done.err
    assert all(f"GET http://{host}/page: 200" in done.err for host in sites.hosts)
    assert sites.asked == QUESTION
    evidence = json.loads(next((tmp_path / "asking").rglob("*.evidence.json")).read_text())
    assert "2 independent places agree" in json.dumps(evidence)


@pytest.mark.req("R7", "R20")
def test_asked_again_within_a_day(research, searx, sites):
    """What the web answered is remembered; that it had nothing, too."""
    sites.says = {"hits": []}
    first = research(searx, "--json")
    assert [line["outcome"] for line in first.json["results"]["sources_consulted"]] == ["empty"]
    sites.says = Answer(500)
    again = research(searx, "--json")
    assert "asked within a day" in json.dumps(again.json["results"]["degradation_notes"])


@pytest.mark.req("R9")
def test_the_engine_behind_it_is_down(research, sites, tmp_path):
    """A searx whose engine fails has found nothing, and that is no answer; nor a moment later, when it leaves the engine alone."""
    _require_searx()
    (tmp_path / "searx").mkdir()
    with running(
        tmp_path / "searx", sites
    ) as searx:  # of its own: it leaves the engine alone for other tests, too
        _twice_unavailable(research, searx, sites)


def _twice_unavailable(research, searx, sites):
    sites.says = Answer(500)
    for _ in range(2):
        done = research(searx, "--json")
        assert [line["outcome"] for line in done.json["results"]["sources_consulted"]] == ["unavailable"], (
            done
        )
        assert "behind (" in json.dumps(done.json["results"]["degradation_notes"])


@pytest.mark.req("Z2")
def test_private_pages_are_not_read(research, searx, sites):
    """Without `allow_hosts` no page of this machine is read, whatever the engine found; the notes say why."""
    done = research(searx, "--json", allow=[])
    assert [line["outcome"] for line in done.json["results"]["sources_consulted"]] == ["blocked"], done
    assert "only the ports 80 and 443 are fetched" in json.dumps(done.json["results"]["degradation_notes"])


@pytest.mark.req("R9")
def test_without_an_engine(research):
    """The answer says what to set; nothing is sent and no budget spent."""
    done = research("", "--json")
    results = done.json["results"]
    assert done.json["status"] == "degraded"
    assert results["budget_remaining"] == 3
    assert "plugins.web_search.url" in json.dumps(results["degradation_notes"])


@pytest.mark.req("E1", "E3", "E7")
def test_an_expedition_over_the_web(research, kr_here, searx, sites, tmp_path):
    """A real searx finds pages for each cycle; every axiom is a signal of the web whose quote stands in the page that was read."""
    research(searx)  # writes the configuration
    folder, trusted = tmp_path / "asking", {"KR_TRUST": "all"}
    done = kr_here("expedition", "run", QUESTION, "--json", "--max-calls", "3", cwd=folder, env=trusted)
    assert done.out, done
    lines = [json.loads(line) for line in done.out.splitlines()]
    finished = lines[-1]
    assert finished["type"] == "finished", done
    assert finished["axioms"], done
    signals = [signal for axiom in finished["axioms"] for signal in axiom["signals"]]
    assert {signal["type"] for signal in signals} == {"WEB"}
    assert {signal["source"] for signal in signals} <= set(sites.pages)
    assert len([one for one in lines if one["type"] == "source_hit"]) <= 3
    shown = kr_here("expedition", "show", "X1", "--json", cwd=folder, env=trusted)
    assert shown.json["unsupported"] == []
