"""A log that keeps to the contract, and keeps only how runs and sources fared."""

from right_log import Lines

from kr_core.plugin import Log, Provider, hookimpl


class Outcomes(Lines):
    def write(self, records):
        super().write(
            [one for one in records if one.event.kind.startswith("run.") or one.event.kind == "source.failed"]
        )


@hookimpl
def kr_log() -> Provider[Log]:
    return Provider(lambda settings, setup: Outcomes(setup.state_folder))
