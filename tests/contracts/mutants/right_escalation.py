"""A way to a human that keeps to the contract: a folder, in which cases and replies are files."""

from kr_core.plugin import Escalation, HumanReply, PollResult, Provider, hookimpl
from kr_core.toolkit import read_replies


class Folder:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    async def open(self, case, context):
        file = self.folder / f"{case.request.id}@{case.request.revision}.md"
        file.write_text(case.message, "utf-8")
        return str(file)

    async def poll(self, shown, mark, context):
        waiting = [case.escalation_id for case in shown if case.waits]
        closed = [case.escalation_id for case in shown if not case.waits]
        found = []
        files = sorted(file for file in self.folder.glob("*.reply") if file.name > mark)
        for file in files:
            for command in read_replies(file.read_text("utf-8"), waiting, closed).commands:
                response = command.response(by="ada")
                found.append(HumanReply(command.escalation_id, response, f"{file.name}:{command.line}"))
        return PollResult(found, files[-1].name if files else mark)

    async def acknowledge(self, case, notice, context):
        log = self.folder / f"{case.request.id}.log"
        said = log.read_text("utf-8") if log.exists() else ""
        if f"[{notice.id}]" not in said:
            log.write_text(f"{said}[{notice.id}] {notice.message}\n", "utf-8")


@hookimpl
def kr_escalation() -> Provider[Escalation]:
    return Provider(lambda settings, setup: Folder(setup.state_folder / "cases"))
