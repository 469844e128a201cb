"""Services as they answer over the wire, on loopback: what a test says of each is in its `mode`."""

from __future__ import annotations

from support.loopback import Answer

SNIPPET = {
    "codeTitle": "Set a timeout for a parcel",
    "codeDescription": "Pass `timeout` to `send` to set the timeout for a parcel, in seconds.",
    "codeLanguage": "python",
    "codeId": "https://github.com/acme/parcel/blob/main/docs/timeouts.md#_snippet_0",
    "pageTitle": "Timeouts",
    "codeList": [{"language": "python", "code": "send('Paris', timeout=2.0)  # a timeout for a parcel"}],
}
INFO = {
    "pageId": "https://github.com/acme/parcel/blob/main/docs/timeouts.md",
    "breadcrumb": "Guide > Timeouts",
    "content": "A parcel is given up when its timeout is over. Set the timeout for a parcel with `timeout=`; None waits for ever.",
}
LIBRARY = {
    "id": "/acme/parcel", "title": "Parcel", "description": "Parcels sent and followed.", "branch": "main", "state": "finalized",
    "totalSnippets": 412, "stars": 9021, "trustScore": 9, "benchmarkScore": 87.5, "versions": ["v1.4.0", "v0.9.0"],
}  # fmt: skip


class Context7:
    """Answers as Context7's REST API does."""

    def __init__(self, mode="ok"):
        self.mode = mode

    def __call__(self, asked):
        if asked.path == "/api/v2/libs/search":
            return {"results": [LIBRARY], "searchFilterApplied": False}
        assert asked.path == "/api/v2/context", asked
        return {
            "ok": {"codeSnippets": [SNIPPET], "infoSnippets": [INFO]},
            "prose": {"codeSnippets": [], "infoSnippets": [INFO]},
            "empty": {"codeSnippets": [], "infoSnippets": []},
            "pending": Answer(202, {"error": "library_not_finalized", "message": "Not finalized yet."}),
            "blocked": Answer(403, {"error": "access_denied", "message": "No access."}),
            "limited": Answer(429, {"error": "rate_limit_exceeded", "message": "Too many."}),
            "unavailable": Answer(503, {"error": "internal_error", "message": "Down."}),
            "bad_answer": Answer(200, "<html>", {"Content-Type": "text/html"}),
        }[self.mode]
