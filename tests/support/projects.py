"""Sources that fail on purpose, pipelines to give them to, and a small documented package to install."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
from datetime import date
from typing import Any

from kr_core import Finding, Outcome, Passage, Pipeline
from kr_core.config import load
from kr_core.project.project import LocalProject
from kr_core.toolkit import lock

DAY = date(2026, 2, 5)
QUESTION = "How do I set a timeout for a parcel?"
PARCEL = '''\
"""Parcels sent and followed."""

__all__ = ["send", "track"]


def send(address, *, timeout=5.0, insured=False):
    """Send a parcel to an address and wait for the carrier.

    Args:
        address: Where the parcel goes.
        timeout: Seconds to wait for the carrier before a parcel is given up; None waits for ever.
        insured: Whether the parcel is insured against loss.

    Example:
        >>> send("Paris", timeout=2.0)
    """


def track(number):
    """Follow a parcel by its number.

    Args:
        number: The number that the carrier gave it.
    """
'''
TEXT = "Pass `timeout=` to `send` to set the timeout for a parcel.\n\n    send('Paris', timeout=2.0)\n"


def passage(text=TEXT, **values):
    """A passage that is about the question, unless told otherwise."""
    known = {"url": "https://docs.example/parcel", "locator": "Timeouts", "title": "Timeouts", "coverage": 0.9, "official": True,
             "code": ("send('Paris', timeout=2.0)",) if text == TEXT else ()}  # fmt: skip
    return Passage(text=text, **{**known, **values})


def found(text=TEXT, **values):
    """A finding that answers."""
    one = passage(text, **values)
    return Finding(outcome=Outcome.ok, passages=(one,), url=one.url)


class Given:
    """A source that does what it was given: return a value, raise an error, or await a function."""

    def __init__(self, answer, *, external=False, timeout_seconds=5.0):
        self.answer = answer
        self.external = external
        self.timeout_seconds = timeout_seconds
        self.asked = 0
        self.deadline = None

    async def query(self, query, context):
        self.asked += 1
        self.deadline = context.deadline - asyncio.get_running_loop().time()
        if isinstance(self.answer, BaseException):
            raise self.answer
        if callable(self.answer):
            return await self.answer(query, context)
        return self.answer


async def forever(_query, _context):
    """Never answer."""
    await asyncio.sleep(3600)


def install(site, name, version, files):
    """A distribution with these files in a site-packages folder."""
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "RECORD").write_text("".join(f"{path},,\n" for path in [*files, f"{folder.name}/METADATA"]))
    return folder


def make_environment(folder):
    """A virtual environment with nothing in it; returns its site-packages."""
    site = folder / ".venv/lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (folder / ".venv/pyvenv.cfg").write_text(f"home = {folder}/nowhere\nversion_info = 3.12.4\n")
    return site


class Bench:
    """Pipelines in one folder, as many as asked for, on one knowledge base and one journal."""

    def __init__(self, folder):
        self.folder = folder
        self.folder.mkdir(exist_ok=True)
        self.day = DAY
        self.events = []
        self._open = []

    def configure(self, text):
        (self.folder / "kr.yaml").write_text(text)

    def pipeline(self, sources=None, **components):
        config = load(self.folder, environ={"KR_CACHE_DIR": str(self.folder.parent / "cache")})
        pipeline = Pipeline(
            config,
            project=LocalProject(config.root, self.folder, {}, own_prefix=None),
            sources=sources,
            today=lambda: self.day,
            on_event=self.events.append,
            **components,
        )
        self._open.append(pipeline)
        return pipeline

    def ask(self, sources=None, request=None, **components):
        """Research one request in the published form; returns the whole answer."""
        pipeline = self.pipeline(sources, **components)
        return pipeline.research(pipeline.read_request(self.request() if request is None else request))

    def result(self, *arguments, **components):
        return self.ask(*arguments, **components).result

    @staticmethod
    def request(story="3-1", session="s1", overrides=None, **query):
        known = {"framework": "parcel", "framework_version": "1.4.0", "topic": "timeout of a parcel",
                 "tags": ["timeout"], "question": QUESTION}  # fmt: skip
        made = {
            "story_key": story,
            "mode": "research",
            "session_id": session,
            "research_query": {**known, **query},
        }
        return made if overrides is None else {**made, "config_overrides": overrides}

    @property
    def index(self):
        import yaml

        return yaml.safe_load((self.folder / "knowledge-base/index.yaml").read_text())["entries"]

    @property
    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())

    def kinds(self):
        return [event.kind for event in self.events]

    def close(self):
        for pipeline in self._open:
            pipeline.close()


def shared_folder(tmp_path_factory, name):
    """A folder for what is made once in a run of the tests, shared by its processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / name
    folder.mkdir(exist_ok=True)
    return folder


def made_once(tmp_path_factory, name, make):
    """What takes long to make: one process of a run of the tests makes it, and the others read it."""
    folder = shared_folder(tmp_path_factory, name)
    kept = folder / "made"
    with lock(folder):
        if not kept.exists():
            kept.write_bytes(pickle.dumps(make()))
    return pickle.loads(kept.read_bytes())


class Done:
    """What a command printed and how it ended."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode()
        self.err = process.stderr.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n--- out\n{self.out}--- err\n{self.err}"
