"""A knowledge base that is not there yet."""

from datetime import UTC, datetime

import pytest
from support.files_store import TODAY

from kr_plugins.stores.files import Files


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "knowledge-base"


@pytest.fixture
def store(folder):
    return Files(folder, today=lambda: TODAY, now=lambda: datetime(2026, 2, 5, 12, 30, 1, tzinfo=UTC))
