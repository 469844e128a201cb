"""Entries, reports and indexes for the tests of the store `files`."""

from datetime import date

import yaml

from kr_core.model import Entry, ResearchQuery

TODAY = date(2026, 2, 5)
REPORT = "# httpx - retry requests\n\n**Framework:** httpx\n\n## Summary\n\nPass `retries`.\n"
HEADER = "schema_version: 1\nbso_module_version: '1.0.0'\ncreated: '2026-01-01'\nmax_entries: 200\ncache_ttl_days: 30\n"
WILD = """\
- id: "vue-easytable-virtual-scroll"        # Unique identifier (framework-topic kebab-case)
  framework: "vue-easytable"
  framework_version: "2.x"
  topic: "virtual scrolling configuration"
  tags: ["virtual-scroll", "row-height", "performance"]
  path: "frameworks/vue-easytable/virtual-scroll.md"
  created: "2026-01-20"
  last_accessed: "2026-02-05"
  status: "fresh"
"""


def entry(topic="retry requests", framework="httpx", **changes):
    slug = topic.replace(" ", "-")
    values = {
        "id": f"{framework}-{slug}",
        "framework": framework,
        "framework_version": "0.28",
        "topic": topic,
        "tags": tuple(topic.split()),
        "path": f"frameworks/{framework}/{slug}.md",
        "created": TODAY,
        "last_accessed": TODAY,
    }
    return Entry(**(values | changes))


def query(framework="httpx"):
    return ResearchQuery(
        framework=framework,
        framework_version="0.28",
        topic="retry",
        tags=("retry",),
        question="How do I retry?",
    )


def given_index(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "index.yaml").write_text(text, encoding="utf-8")


def given_report(folder, path, text=REPORT):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def files_in(folder):
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def on_disk(folder):
    return yaml.safe_load((folder / "index.yaml").read_text(encoding="utf-8"))
