"""The conformance kit: contracts that a plugin's own tests inherit, and sources that fail on purpose.

    from kr_core.testing import SourceContract

    class TestNotes(SourceContract):
        module = "kr_source_example"
        known = "How do we deploy the order service?"
        unknown = "What is the airspeed of a swallow?"

        def prepare(self, project):
            (project / "notes").mkdir()
            (project / "notes/deploy.md").write_text("...")

The classes are plain: pytest collects what they have, without a plugin of its own. `pip install "kr-core[testing]"`
brings pytest and hypothesis.
"""

try:
    import pytest
except ModuleNotFoundError as error:
    raise ImportError(
        'kr_core.testing needs pytest and hypothesis; install them with `pip install "kr-core[testing]"`'
    ) from error

# Before they are imported: without it an author sees a bare AssertionError in place of the values compared.
pytest.register_assert_rewrite(
    *(f"kr_core.testing.{name}" for name in ("plugin", "source", "store", "journal", "log", "scorer")),
    "kr_core.testing.renderer",
    "kr_core.testing.store_machine",
)

from kr_core.testing.faults import FaultySource, FaultyTransport, NetworkFault, SourceFault  # noqa: E402
from kr_core.testing.journal import JournalContract  # noqa: E402
from kr_core.testing.log import LogContract  # noqa: E402
from kr_core.testing.plugin import PluginContract  # noqa: E402
from kr_core.testing.renderer import RendererContract  # noqa: E402
from kr_core.testing.scorer import ScorerContract  # noqa: E402
from kr_core.testing.source import SourceContract  # noqa: E402
from kr_core.testing.store import StoreContract  # noqa: E402

__all__ = [
    "FaultySource",
    "FaultyTransport",
    "JournalContract",
    "LogContract",
    "NetworkFault",
    "PluginContract",
    "RendererContract",
    "ScorerContract",
    "SourceContract",
    "SourceFault",
    "StoreContract",
]
