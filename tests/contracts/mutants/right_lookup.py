"""A look-up that keeps to the contract: the same topic, researched within ninety days for this very version."""

from kr_core.plugin import EntryMatch, Lookup, LookupDecision, Provider, hookimpl


class Strict:
    def find(self, query, entries, rules):
        for entry in entries:
            if (entry.framework, entry.topic) == (query.framework, query.topic):
                return EntryMatch(entry, "topic", 1.0, exact=True)
        return None

    def judge(self, query, match, report, rules):
        since = report.researched or match.entry.created
        age = (rules.today - since).days
        if match.entry.framework_version != query.framework_version:
            return LookupDecision("miss", ("it is for another version",))
        if age > 90:
            return LookupDecision("stale", (f"it is {age} days old",))
        return LookupDecision("hit")


@hookimpl
def kr_lookup() -> Provider[Lookup]:
    return Provider(lambda settings, setup: Strict())
