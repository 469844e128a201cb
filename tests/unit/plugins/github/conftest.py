import pytest
from support.github_desk import Desk, case
from support.github_server import github_server


@pytest.fixture
def github():
    with github_server() as server:
        server.permissions.update(ann="write", bob="read")
        yield server


@pytest.fixture
def desk(tmp_path, github):
    (tmp_path / "project").mkdir()
    return Desk(tmp_path / "project", github)


@pytest.fixture
def shown(desk):
    """The desk, once a case was shown at it."""
    desk.open(case("E1"))
    return desk
