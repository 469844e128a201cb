"""A way to a human that keeps to the contract: a folder, in which cases and replies are files."""

from kr_core import Escalation, HumanReply, Provider, hookimpl, read_replies


class Folder:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    async def open(self, case):
        file = self.folder / f"{case.request.id}@{case.request.revision}.md"
        file.write_text(case.said, "utf-8")
        return str(file)

    async def poll(self, cases):
        waiting = [case.request.id for case in cases]
        found = []
        for file in sorted(self.folder.glob("*.reply")):
            for command in read_replies(file.read_text("utf-8"), waiting).commands:
                response = command.response(by="ada")
                found.append(HumanReply(command.escalation_id, response, f"{file.name}:{command.line}"))
        return found

    async def acknowledge(self, case, said):
        with (self.folder / f"{case.request.id}.log").open("a", encoding="utf-8") as log:
            log.write(f"{said}\n")


@hookimpl
def kr_escalation() -> Provider[Escalation]:
    return Provider(lambda settings, setup: Folder(setup.state_folder / "cases"))
