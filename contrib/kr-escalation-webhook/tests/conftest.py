"""What several tests use."""

import pytest
from receiver import Service


@pytest.fixture
def service():
    made = Service()
    yield made
    made.close()
