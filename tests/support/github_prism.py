"""GitHub's own OpenAPI description between KR and the GitHub on loopback: Prism refuses what either of them says wrongly.

The description is `@octokit/openapi`; of its 800 paths those are taken that KR uses, with all that they refer to.
"""

from __future__ import annotations

import json
from contextlib import contextmanager

from support import mcp_servers

_DESCRIPTION = "@octokit/openapi@23.0.2"
_PRISM = "@stoplight/prism-cli@5.16.0"
_PATHS = {
    "/user": ("get",),
    "/repos/{owner}/{repo}/issues": ("get", "post"),
    "/repos/{owner}/{repo}/issues/comments": ("get",),
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ("get", "patch", "delete"),
    "/repos/{owner}/{repo}/issues/{issue_number}": ("get", "patch"),
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ("get", "post"),
    "/repos/{owner}/{repo}/collaborators/{username}/permission": ("get",),
    "/orgs/{org}/teams/{team_slug}/memberships/{username}": ("get",),
}
_MEDIA = "application/vnd.github+json"


@contextmanager
def prism(github, folder):
    """Prism before a GitHub on loopback; yields its address.

    Args:
        github: the server; its URLs then lead to Prism.
        folder: where the part of the description is written.
    """
    description = folder / "github.json"
    description.write_text(json.dumps(part(_whole())))
    index = mcp_servers.npm("prism", _PRISM) / "dist/index.js"
    command = [
        mcp_servers.newer_node(),
        str(index),
        "proxy",
        "--errors",
        "-h",
        "127.0.0.1",
        "-p",
        "{port}",
        str(description),
        github.url,
    ]
    with mcp_servers.program(command) as address:
        github.public = address
        yield address


def _whole():
    package = mcp_servers.npm("github-openapi", _DESCRIPTION)
    return json.loads((package / "generated/api.github.com.json").read_text("utf-8"))


def part(whole):
    """The part of a description that has the paths KR uses.

    Two things are added that GitHub says elsewhere: its answers come as the media type that was asked for, and a conditional
    request is answered with 304.
    """
    paths = {
        path: {name: told for name, told in whole["paths"][path].items() if name in (*methods, "parameters")}
        for path, methods in _PATHS.items()
    }
    taken, left = {}, [paths]
    while left:
        for name in _references(left.pop()):
            if name not in taken:
                kind, key = name.rsplit("/", 2)[1:]
                taken[name] = whole["components"][kind][key]
                left.append(taken[name])
    components = {}
    for name, told in taken.items():
        kind, key = name.rsplit("/", 2)[1:]
        components.setdefault(kind, {})[key] = told
    described = {"openapi": whole["openapi"], "info": whole["info"], "paths": paths, "components": components}
    described = json.loads(json.dumps(described))
    _both_media(described)
    described["paths"]["/repos/{owner}/{repo}/issues/comments"]["get"]["responses"]["304"] = {
        "description": "as it was"
    }
    return described


def _references(value):
    """The names that a value refers to."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _references(one)


def _both_media(value):
    if isinstance(value, dict):
        if "application/json" in value and isinstance(value["application/json"], dict):
            value.setdefault(_MEDIA, value["application/json"])
        for one in list(value.values()):
            _both_media(one)
    elif isinstance(value, list):
        for one in value:
            _both_media(one)
