"""The database gives the candidates among which KR's own look-up finds the same entry as among all."""

import random
from datetime import timedelta

import pytest

from kr_core.knowledge.matching import TIERS
from kr_core.knowledge.topic_lookup import TopicLookup
from kr_core.protocols.lookup import LookupRules
from kr_core.testing import samples
from kr_core.testing.surroundings import DAY
from kr_plugins.postgres.shared_store import SharedStore

WORDS = "timeout timeouts proxy proxies before not retry c++ request Request-Timeout é 日本 set read close session".split()


@pytest.mark.req("K3", "K12")
def test_the_best_match_is_among_them(opened):
    """Also of entries that differ in case, tier, age and spelling of the framework, whatever tiers are allowed."""
    chance, store = random.Random(3), SharedStore(opened())
    for _ in range(220):
        topic = " ".join(chance.choices(WORDS, k=chance.randint(0, 4))) or "!"
        tags = tuple(chance.choices(WORDS, k=chance.randint(0, 3)))
        framework = chance.choice(["parcel", "parcel", "Parcel", "letter"])
        fields = {"tags": tags, "last_accessed": DAY + timedelta(days=chance.randint(0, 3))}
        store.write("# text\n", {}, samples.entry(framework, topic).model_copy(update=fields))
    entries = store.entries()
    found = 0
    for _ in range(250):
        topic = " ".join(chance.choices(WORDS, k=chance.randint(0, 4))) or "?"
        inferred = frozenset({"topic", "tags"}) if chance.random() < 0.5 else frozenset()
        query = samples.query("parcel", topic).model_copy(
            update={"tags": tuple(chance.choices(WORDS, k=chance.randint(0, 3))), "inferred": inferred}
        )
        rules = LookupRules(
            DAY, fuzzy=chance.random() < 0.8, tiers=tuple(chance.sample(TIERS, chance.randint(1, 3)))
        )
        wanted = TopicLookup().find(query, entries, rules)
        assert TopicLookup().find(query, store.candidates(query).entries, rules) == wanted
        found += wanted is not None
    assert found > 100
    store.close()
