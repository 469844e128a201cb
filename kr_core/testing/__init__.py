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

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kr_core._door import names_of, value_of

if TYPE_CHECKING:
    from kr_core.testing.agent_contract import AgentContract as AgentContract
    from kr_core.testing.embedder_contract import EmbedderContract as EmbedderContract
    from kr_core.testing.escalation_contract import EscalationContract as EscalationContract
    from kr_core.testing.faults import FaultySource as FaultySource
    from kr_core.testing.faults import FaultyTransport as FaultyTransport
    from kr_core.testing.faults import NetworkFault as NetworkFault
    from kr_core.testing.faults import SourceFault as SourceFault
    from kr_core.testing.hook_contract import HookContract as HookContract
    from kr_core.testing.journal_contract import JournalContract as JournalContract
    from kr_core.testing.log_contract import LogContract as LogContract
    from kr_core.testing.lookup_contract import LookupContract as LookupContract
    from kr_core.testing.plugin_contract import PluginContract as PluginContract
    from kr_core.testing.renderer_contract import RendererContract as RendererContract
    from kr_core.testing.router_contract import RouterContract as RouterContract
    from kr_core.testing.runtime_contract import RuntimeContract as RuntimeContract
    from kr_core.testing.scorer_contract import ScorerContract as ScorerContract
    from kr_core.testing.source_contract import SourceContract as SourceContract
    from kr_core.testing.store_contract import StoreContract as StoreContract

if find_spec("pytest") is None:
    raise ImportError(
        'kr_core.testing needs pytest and hypothesis; install them with `pip install "kr-core[testing]"`'
    )

if "pytest" in sys.modules:
    import pytest

    # Before they are imported: without it an author sees a bare AssertionError in place of the values compared.
    homes = {home for home, _ in names_of(__name__).values()} - {f"{__name__}.faults"}
    shared = (
        "counters",
        "document_store",
        "event_log",
        "opened_journal",
        "service_contract",
        "store_machine",
    )
    pytest.register_assert_rewrite(*sorted(homes), *(f"{__name__}.{name}" for name in shared))


if not TYPE_CHECKING:  # imported on first use: a second process of a contract needs none of them, nor pytest

    def __getattr__(name: str) -> object:
        return value_of(__name__, name)

    def __dir__() -> list[str]:
        return sorted(names_of(__name__))
