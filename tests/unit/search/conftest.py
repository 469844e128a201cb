"""What the tests of indexed documents share."""

import pytest


@pytest.fixture
def docs(tmp_path):
    """An empty folder for documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder
