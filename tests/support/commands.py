"""The command `kr` in the process of a test: it takes a tenth of the time, and only what a process is for needs one."""

from __future__ import annotations

import io
import os
import sys
import time
from types import SimpleNamespace

from kr_core.cli import main, replay
from support.projects import Done


def environment_of(folder):
    """The variables of a person with this home folder, who has no settings of KR, git or Python environments."""
    foreign = ("KR_", "VIRTUAL_ENV", "CONDA", "GIT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    own = {"HOME": "", "KR_CACHE_DIR": "cache", "XDG_STATE_HOME": "state"}
    return {**kept, **{name: str(folder / place) for name, place in own.items()}, "NO_COLOR": "1"}


def run_here(monkeypatch, capsys, arguments, *, cwd, environ, input=b"", may_repeat=False):  # noqa: A002  as in subprocess
    """Run `kr` in a folder and with this environment alone; the process is afterwards as it was.

    With `may_repeat` it keeps results and shows them again as a process does that starts now. Otherwise it keeps none,
    since the files of a test are younger than the test's process.
    """
    with monkeypatch.context() as patch:
        if may_repeat:
            patch.setattr(replay, "STARTED", time.time_ns())
        for name in os.environ.keys() - environ.keys():
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.chdir(cwd)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input)))
        capsys.readouterr()
        code = main([*map(os.fsdecode, arguments)])
    out, err = capsys.readouterr()
    return Done(SimpleNamespace(returncode=code, stdout=out.encode(), stderr=err.encode()))
