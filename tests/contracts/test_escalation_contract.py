"""What the contract for escalations says of a channel that does not end."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from kr_core.testing import escalation_contract

sys.path.insert(0, str(Path(__file__).parent / "mutants"))
from twins import TWINS

pytestmark = pytest.mark.req("P4", "Z8")


async def never(*_):
    await asyncio.Event().wait()


async def blocked(*_):
    threading.Event().wait()


@pytest.mark.parametrize("hang", [never, blocked])
def test_an_open_that_hangs_is_told_what_to_do(tmp_path, monkeypatch, hang):
    """A hanging `open` fails with the advice to show the case and return, whether it awaits or blocks."""
    monkeypatch.setattr(escalation_contract, "_LIMIT_SECONDS", 0.1)
    monkeypatch.setattr(escalation_contract, "_BLOCKED_SECONDS", 0.1)
    trial = TWINS["escalation"]()
    trial.prepare(tmp_path)
    channel = trial.build(tmp_path)
    channel.open = hang
    with pytest.raises(AssertionError) as caught:
        trial._opened(tmp_path, channel, escalation_contract._case())
    assert str(caught.value).startswith("`open` did not return within 0.1 s; show the case, return")
    assert "texts may hold anything" not in str(caught.value)
