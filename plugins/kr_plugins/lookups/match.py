"""The look-up `match`: the entry on the same topic answers while it is fresh and for the version in use."""

from __future__ import annotations

import kr_core
from kr_core.plugin import Provider
from kr_core.toolkit import TopicLookup


@kr_core.hookimpl
def kr_lookup() -> Provider[kr_core.plugin.Lookup]:
    """Provide the look-up; it has no settings, but follows the keys `cache_*`, `max_age_days` and `version_match`."""
    return Provider(lambda _settings, _setup: TopicLookup())
