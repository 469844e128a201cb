"""Any program as an agent: it reads the prompt, or a task, from standard input and writes the answer as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from kr_core import RequestError
from kr_core.plugin import Outcome, Provider, Reply, Settings, TaskProgram, hookimpl
from kr_plugins.agents.subprocess_agent import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.plugin import Agent, Job

__all__ = ["Command", "CommandSettings", "kr_agent"]


class CommandSettings(Settings):
    """Settings of `command`."""

    argv: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments; no shell reads them."""
    environment: dict[str, str] = Field(default={})
    """Environment variables in addition to those of every program: PATH, HOME and the language."""


@hookimpl
def kr_agent() -> Provider[Agent]:
    """Provide a program as an agent."""
    return Provider(lambda settings, _: Command(settings), CommandSettings)


class Command:
    """Runs a program for each question, in an empty folder of its own; and for each task, in its worktree."""

    def __init__(self, settings: CommandSettings) -> None:
        self._argv = settings.argv
        self._added = settings.environment

    async def run(self, job: Job) -> Reply:
        """Hand a program the prompt, and take what it writes.

        Raises:
            RequestError: it cannot be started, ends with an error, or writes nothing.
        """
        environ = self._environment(job.name, job.model)
        with tempfile.TemporaryDirectory(prefix="kr-agent-", ignore_cleanup_errors=True) as folder:
            ended = await run_program(
                self._argv, f"{job.system}\n\n{job.prompt}", folder=Path(folder), environ=environ
            )
        if ended.code:
            how = f"ended with code {ended.code}" if ended.code > 0 else f"was ended by signal {-ended.code}"
            raise RequestError(
                Outcome.unavailable, f"{how}: {ended.message}".removesuffix(": "), where=self._argv[0]
            )
        text = ended.out.decode("utf-8", "replace")
        if not text.strip():
            raise RequestError(Outcome.bad_answer, "wrote nothing", where=self._argv[0])
        return Reply(text=text)

    def task_program(self, order: Mapping[str, Any], name: str, model: str | None) -> TaskProgram:
        """The same program, with the task as JSON on its standard input."""
        told = {key: value for key, value in order.items() if key != "scope"}
        return TaskProgram(self._argv, json.dumps(told, ensure_ascii=False), self._environment(name, model))

    def _environment(self, name: str, model: str | None) -> dict[str, str]:
        kept = {variable: os.environ[variable] for variable in _KEPT if variable in os.environ}
        return {**kept, **self._added, "KR_AGENT": name, "KR_MODEL": model or ""}


_KEPT = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR")
