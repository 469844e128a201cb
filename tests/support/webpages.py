"""A small web: a search engine and pages of several sites, as text or as answers to requests."""

from __future__ import annotations

import httpx

SEARCH = "http://search.example"
DOCS = """\
<p>Parcels are sent with this library by thousands of shops every day.</p>
<h2>Set a timeout</h2>
<p>Pass <code>timeout</code> to <code>send()</code> to set a timeout for one parcel. The default is 5 seconds.</p>
<div class="highlight-python"><pre><span>from</span> parcel import send

send("Paris", timeout=2.0)</pre></div>
<h2>Insurance</h2><p>Send it insured, and nothing is lost for you.</p>
"""
BLOG = """\
<p>Some recipes that I collected over the years while I was sending things with parcel.</p>
<h2>A parcel that takes too long</h2>
<p>To set a limit for a parcel, give <code>send()</code> a <code>timeout=</code> of some seconds; it waits 5 seconds otherwise.</p>
<pre>parcel.send(address, timeout=10)</pre>
"""
OTHER = "<p>Flowers need water. Set a timeout for the tap, or the garden is flooded before you are back.</p>"


def page(title, body):
    """A page of a site, with what surrounds the text on such pages."""
    return (
        f"<!doctype html><html><head><title>{title}</title><script>track()</script></head><body><nav><a href='/'>Home</a>"
        f"<a href='/all'>All articles</a></nav><main><h1>{title}</h1>{body}</main><footer>Copyright, all rights</footer></body></html>"
    )


WEB = {
    "https://docs.parcel.example/timeouts": page("Timeouts of parcels", DOCS),
    "https://blog.example/recipes": page("Recipes", BLOG),
    "https://mirror.example/timeouts": page("Timeouts of parcels", DOCS),
    "https://garden.example/taps": page("Taps", OTHER),
}


class Web:
    """Answers requests: `respond(request)`.

    Attributes:
        results: what the engine finds, or the whole answer.
        pages: text or answer by address.
        asked: the addresses that were asked for.
    """

    def __init__(self, pages=None, results=None):
        self.pages = dict(WEB if pages is None else pages)
        self.results = list(self.pages) if results is None else results
        self.asked = []

    @property
    def queries(self):
        """What the engine was asked."""
        return [httpx.URL(url).params["q"] for url in self.asked if url.startswith(SEARCH)]

    def respond(self, request):
        url = str(request.url)
        self.asked.append(url)
        if url.startswith(f"{SEARCH}/search?"):
            if not isinstance(self.results, list):
                return self.results if isinstance(self.results, httpx.Response) else self.results(request)
            found = [{"url": one, "title": f"Result {number}"} for number, one in enumerate(self.results)]
            return httpx.Response(200, json={"results": found, "unresponsive_engines": []})
        said = self.pages.get(url, httpx.Response(404))
        if callable(said):
            return said(request)
        return said if isinstance(said, httpx.Response) else httpx.Response(200, html=said)
