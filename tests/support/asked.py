"""Agents that say what they are told to, and services that ask them."""

import asyncio
import json
from contextlib import contextmanager
from typing import get_type_hints

from kr_core import EVENTS, KnowledgeRouterService, Pipeline
from kr_core.plugin import Reply


def said(answer="Use Redis.", confidence=90, reasons=(), rationale="It expires keys by itself.", **more):
    """A reply in the form that is asked for."""
    fields = {
        "answer": answer,
        "rationale": rationale,
        "confidence": confidence,
        "uncertainty_reasons": list(reasons),
    }
    return Reply(text=json.dumps({**fields, **more}))


class Says:
    """An agent that gives its replies in turn, the last one for ever; raises what is an error, asks what can be called."""

    def __init__(self, *replies, seconds=0.0):
        self.replies = list(replies) or [said()]
        self.seconds = seconds
        self.jobs = []

    async def run(self, job):
        self.jobs.append(job)
        await asyncio.sleep(self.seconds)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        reply = reply(job) if callable(reply) else reply
        if isinstance(reply, BaseException):
            raise reply
        return reply

    @property
    def prompts(self):
        return [job.prompt for job in self.jobs]


@contextmanager
def service(folder, config=None, on_event=None, **agents):
    """A service in a folder, whose agents are these objects."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kr.yaml").write_text(json.dumps(config or {}))
    from kr_core.config import load

    loaded = load(folder, environ={"KR_CACHE_DIR": str(folder / "cache")})
    with KnowledgeRouterService(Pipeline(loaded, agents=agents, on_event=on_event)) as made:
        yield made


def record(made, feature="general"):
    """What the record has of a feature, as (kind, data)."""
    return [(entry.kind, entry.data) for entry in made.get_qa_log(feature)]


def of_kind(made, kind):
    """The data of the entries of a kind; each has the fields that are documented."""
    found = [data for one, data in record(made) if one == kind]
    assert all(set(data) == set(get_type_hints(EVENTS[kind])) for data in found), found
    return found


def kinds(made, feature="general"):
    return [kind for kind, _ in record(made, feature)]
