from kr_core.testing import SourceContract


class TestDecisions(SourceContract):
    module = "kr_decisions"
    known = "Why is the order queue a SQLite table?"
    unknown = "What is the airspeed of a swallow?"

    def prepare(self, project):
        (project / "decisions").mkdir()
        text = "# Use SQLite for the order queue\n\nThe order queue is a SQLite table, because one machine serves the shop.\n"
        (project / "decisions" / "0007-use-sqlite.md").write_text(text)
