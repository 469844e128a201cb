"""The compose file of the docs is one that Compose reads, and its commands are KR's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT, blocks

from kr_core.cli.command_options import parser

_KEYS = {
    "image", "build", "environment", "volumes", "healthcheck", "depends_on", "command", "stop_grace_period", "restart",
    "deploy", "ports",
}  # fmt: skip


@pytest.mark.req("S2")
def test_the_compose_file_is_whole() -> None:
    """Each service has an image, knows only services and volumes that there are, and runs a command line of KR."""
    text = "".join(block.text for block in blocks(ROOT / "docs/scale.md") if block.language == "yaml")
    told = yaml.safe_load(text)
    assert set(told) == {"services", "volumes"}
    for name, service in told["services"].items():
        assert set(service) <= _KEYS, name
        assert "image" in service, name
        assert set(service.get("depends_on", {})) <= set(told["services"]), name
        named = {one.partition(":")[0] for one in service.get("volumes", ())} - {"."}
        assert named <= set(told["volumes"]), name
        if "command" in service:
            program, *arguments = service["command"]
            assert program == "kr"
            assert parser().parse_args(arguments).command in {"worker", "serve"}
