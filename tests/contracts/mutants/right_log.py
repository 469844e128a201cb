"""A log that keeps to the contract: a line of text for each event."""

from kr_core.plugin import Log, Provider, hookimpl
from kr_core.toolkit import lock


class Lines:
    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "events.txt"

    def write(self, records):
        with lock(self.folder):
            last = self.last()
            with self.file.open("a", encoding="ascii") as file:
                for record in records:
                    if record.number > last:
                        file.write(f"{record.number} {record.event.kind} {record.event.data!a}\n")

    def last(self):
        lines = self.file.read_text("ascii").splitlines() if self.file.exists() else []
        return int(lines[-1].split()[0]) if lines else 0


@hookimpl
def kr_log() -> Provider[Log]:
    return Provider(lambda settings, setup: Lines(setup.state_folder))
