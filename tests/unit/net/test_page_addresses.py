"""Pages are fetched from the public internet alone, wherever a name, a number or a redirect leads (Z2)."""

import pytest
from support.loopback import serving
from support.sites import Loop, Site, leading_to, page

from kr_core.net.page_fetcher import MAX_REDIRECTS, allowed_hosts

pytestmark = pytest.mark.req("Z2")

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]",
     "[::ffff:7f00:1]", "169.254.169.254", "[fe80::1]", "10.0.0.1", "[64:ff9b::7f00:1]", "0"],
)  # fmt: skip
@pytest.mark.parametrize("redirected", [False, True])
def test_no_private_address(fetch, host, redirected):
    """However it is written, an address of this machine or its network is refused, at once or after a redirect."""
    if redirected:
        with serving(Site(page=leading_to(f"http://{host}/secret"))) as server:
            fetched = fetch(f"{server.url}/page", [server.host])
            assert "/secret" not in [asked.path for asked in server.asked]
    else:
        fetched = fetch(f"http://{host}/secret")
    assert fetched.outcome == "blocked" or (redirected and fetched.outcome == "bad_answer"), fetched.error
    assert len(fetched.loop.connected) == 2 * redirected  # for the first page and its robots.txt


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "file:///etc/passwd", "ftp://example.com/x", "data:text/html,x", "//example.com/", "example.com", "",
     "http://", "http://user:secret@example.com/", "http://example.com:22/", "https://example.com:8443/", "http://exa mple.com:x/",
     f"https://example.com/{'x' * 3000}", f"https://example.com/?q={'x' * 100_000}", "http://example.com\r\nHost: evil/"],
)  # fmt: skip
def test_no_address_of_a_page(fetch, url):
    """Other schemes and ports, passwords, and addresses without end are refused before anything is looked up."""
    fetched = fetch(url)
    assert fetched.outcome == "blocked"
    assert "secret" not in str(fetched.error)
    assert len(str(fetched.error)) < 500
    assert fetched.loop.connected == []


def test_a_name_that_leads_inside(fetch):
    """A name is as good as the addresses that it has; where some are public, those alone are connected to."""
    with serving(Site(page=page())) as server:
        port = int(server.host.rpartition(":")[2])
        inside = Loop({"evil.example": [["127.0.0.1", "10.0.0.7"]]})
        assert fetch("http://evil.example/page", loop=inside).outcome == "blocked"
        assert inside.connected == []
        both = Loop({"half.example": [["10.0.0.7", PUBLIC]]}, {PUBLIC: ("127.0.0.1", port)})
        assert fetch("http://half.example/page", loop=both).outcome == "ok"
        assert set(both.connected) == {PUBLIC}


def test_an_answer_that_changes(fetch):
    """The address that was vetted is the one that is connected to, whatever the next look-up would say (DNS rebinding)."""
    with serving(Site(page=page())) as server:
        port = int(server.host.rpartition(":")[2])
        loop = Loop({"twice.example": [[PUBLIC], ["127.0.0.1"]]}, {PUBLIC: ("127.0.0.1", port)})
        fetched = fetch("http://twice.example/page", loop=loop)
        # the first connection, for robots.txt, goes to the public address; the second look-up is vetted anew
        assert (fetched.outcome, loop.connected) == ("blocked", [PUBLIC])
        assert loop.looked_up == ["twice.example"] * 2
        assert [asked.path for asked in server.asked] == ["/robots.txt"]


def test_each_redirect_is_vetted(fetch):
    """A page on the public internet that leads to a name with a private address leads nowhere."""
    with serving(Site(page=leading_to("http://inside.example/secret"), secret=page("secret"))) as server:
        port = int(server.host.rpartition(":")[2])
        loop = Loop(
            {"outside.example": [[PUBLIC]], "inside.example": [["127.0.0.1"]]}, {PUBLIC: ("127.0.0.1", port)}
        )
        fetched = fetch("http://outside.example/page", loop=loop)
        assert fetched.outcome == "blocked"
        assert "allow_hosts" in str(fetched.error)
        assert "/secret" not in [asked.path for asked in server.asked]


def test_redirects_end(fetch):
    """A few are followed, relative ones too; not more, and none in a circle."""
    site = Site(
        a=leading_to("/b"),
        b=leading_to("c"),
        c=leading_to("?d"),
        circle=leading_to("/circle"),
        off=leading_to("http://here:there/"),
    )
    with serving(site) as server:
        site.paths["/c"] = page("there")
        assert fetch(f"{server.url}/a", [server.host]).page.url == f"{server.url}/c"
        before = len(server.asked)
        assert fetch(f"{server.url}/circle", [server.host]).outcome == "bad_answer"
        assert len(server.asked) - before == MAX_REDIRECTS + 1
        assert fetch(f"{server.url}/off", [server.host]).outcome == "bad_answer"


def test_hosts_are_allowed_as_they_are_written(fetch):
    """`allow_hosts` compares host and port as the URL says them, never what they lead to."""
    with serving(Site(page=page())) as server:
        port = server.host.rpartition(":")[2]
        assert fetch(f"http://localhost:{port}/page", [server.host]).outcome == "blocked"
        assert fetch(f"http://127.0.0.1:{port}/page", ["127.0.0.1"]).outcome == "blocked"
        assert fetch(f"http://127.0.0.1:{port}/page", ["127.0.0.1:1"]).outcome == "blocked"
        assert fetch(f"http://LOCALHOST:{port}/page", [f"localhost:{port}"]).outcome == "ok"


def test_how_hosts_are_named():
    """A host alone is meant at the usual ports; a name in another script is the one that is asked for."""
    assert allowed_hosts(["Docs.Example"]) == [("docs.example", 80), ("docs.example", 443)]
    assert allowed_hosts(["[::1]:8080", "bücher.example:81"]) == [
        ("::1", 8080),
        ("xn--bcher-kva.example", 81),
    ]
    assert allowed_hosts(["docs.example:80"]) == [("docs.example", 80)]
    for wrong in ("http://docs.example", "docs.example/path", "a b", "", "user@docs.example", "::1"):
        with pytest.raises(ValueError, match="host:port"):
            allowed_hosts([wrong])
