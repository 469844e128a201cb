"""A store that keeps to the contract: an index in JSON, in which archived entries stay, and a file for each report."""

import json

from kr_core import StorageError
from kr_core.plugin import Candidates, ChangeResult, Entry, Provider, Store, WriteResult, hookimpl
from kr_core.toolkit import fold_name, inside, lock, write_atomically


class Folder:
    def __init__(self, folder):
        self.folder = folder
        self.index = folder / "index.json"

    def items(self):
        return json.loads(self.index.read_text("utf-8")) if self.index.exists() else {}

    def keep(self, items):
        write_atomically(self.index, json.dumps(items))

    def listed(self, archived):
        entries = [Entry.model_validate(item) for item in self.items().values()]
        return [entry for entry in entries if (entry.status == "archived") == archived]

    def entries(self):
        return self.listed(archived=False)

    def archived(self):
        return self.listed(archived=True)

    def archived_of(self, framework):
        return [entry for entry in self.archived() if fold_name(entry.framework) == fold_name(framework)]

    def candidates(self, query):
        asked = fold_name(query.framework)
        same = [entry for entry in self.entries() if fold_name(entry.framework) == asked]
        return Candidates(same, files=(self.index,))

    def read(self, entry):
        file = inside(self.folder, entry.path)
        if file is None or not file.is_file():
            return None
        kept = json.loads(file.read_text("utf-8"))
        return kept["report"], kept["evidence"]

    def write(self, report, evidence, entry, *, index=True):
        file = inside(self.folder, entry.path)
        if file is None:
            raise StorageError("the report would lie outside the knowledge base", where=entry.path)
        with lock(self.folder):
            items = self.items()
            if index or not file.exists():
                write_atomically(file, json.dumps({"report": report, "evidence": dict(evidence)}))
            if not index:
                return WriteResult(None, entry.path, len(self.entries()))
            if items.get(entry.id, {}).get("status") == "archived":
                items.pop(entry.id)
            items[entry.id] = entry.model_dump(mode="json")
            self.keep(items)
            return WriteResult(entry, entry.path, len(self.entries()))

    def touch(self, entry, today):
        with lock(self.folder):
            items = self.items()
            items[entry.id]["last_accessed"] = today.isoformat()
            self.keep(items)
            return len(self.entries())

    def drop(self, entry):
        with lock(self.folder):
            items = self.items()
            items.pop(entry.id, None)
            self.keep(items)

    def mark_stale(self, choose):
        return self.change(choose, "stale")

    def write_over(self, before, report, evidence, entry):
        file = inside(self.folder, entry.path)
        with lock(self.folder):
            if self.read(entry) != before:
                return None
            write_atomically(file, json.dumps({"report": report, "evidence": dict(evidence)}))
            return WriteResult(entry, entry.path, len(self.entries()))

    def archive(self, choose):
        return self.change(choose, "archived")

    def change(self, choose, status):
        with lock(self.folder):
            items = self.items()
            chosen = [entry.model_copy(update={"status": status}) for entry in choose(self.entries())]
            for entry in chosen:
                items.pop(entry.id) if status == "archived" else None
                items[entry.id] = entry.model_dump(mode="json")
            self.keep(items)
            return ChangeResult(chosen)

    def restore(self, entry):
        with lock(self.folder):
            items = self.items()
            if items.get(entry.id, {}).get("status") != "archived":
                raise StorageError("it is not in the archive", where=entry.id)
            items.pop(entry.id)
            items[entry.id] = entry.model_dump(mode="json")
            self.keep(items)
            return WriteResult(entry, entry.path, len(self.entries()))


@hookimpl
def kr_store() -> Provider[Store]:
    return Provider(lambda settings, setup: Folder(setup.knowledge_base))
