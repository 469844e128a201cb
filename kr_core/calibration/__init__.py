"""How sure is sure: what a confidence turned out to be worth, and the measures of how well it holds."""

TYPE_CHECKING = False  # as in `kr_core`: the score of each answer imports one module of these, and no more
if TYPE_CHECKING:
    from kr_core.calibration.audits import Accepted as Accepted
    from kr_core.calibration.audits import Estimate as Estimate
    from kr_core.calibration.audits import audit_probability as audit_probability
    from kr_core.calibration.audits import certified_accuracy as certified_accuracy
    from kr_core.calibration.audits import estimate_accuracy as estimate_accuracy
    from kr_core.calibration.calibrator import MINIMUM_VERDICTS as MINIMUM_VERDICTS
    from kr_core.calibration.calibrator import Calibrator as Calibrator
    from kr_core.calibration.calibrator import fit as fit
    from kr_core.calibration.metrics import aurc as aurc
    from kr_core.calibration.metrics import auroc as auroc
    from kr_core.calibration.metrics import brier as brier
    from kr_core.calibration.metrics import brier_parts as brier_parts
    from kr_core.calibration.metrics import ece as ece
    from kr_core.calibration.metrics import reliability as reliability
    from kr_core.calibration.metrics import risk_coverage as risk_coverage

if not TYPE_CHECKING:  # type checkers know the names above, and report any other

    def __getattr__(name: str) -> object:
        from kr_core._door import value_of

        return value_of(__name__, name)
