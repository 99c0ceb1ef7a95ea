"""Adds a spot check to some timed runs: one more session, whose history is certified.

A history is the list of all calls of a session with their results and times. To certify it is to prove that some serial
order of its transactions gives these results. A session whose history is certified is called *recorded*.

A dishonest library could behave correctly only while it is tested, or only in short runs. The spot check is therefore
played exactly like the timed sessions, with a seed of its own. Every session leaves output from which a history can be
made, and the history is made only after the session. So nothing in the jail (sandbox), neither the library nor the
program that calls it, knows which sessions are certified. The times of the spot check are not used. On average one of N
runs has a spot check; N is the setting KEYDROME_RECORD_ONE_IN.

A hash of the run's own secret seeds chooses the runs. A run that is repeated after a machine failure therefore has its
spot check again. When the run has ended, its owner and the organisers see the seeds and can verify the choice. No seed
enters the jail.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.report import Finding
from runner.series import SeriesResult, run_series
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from runner.contract import Progress
    from runner.request import Loadable, Request
    from runner.settings import Settings

_MEANING = "one more session, in which Keydrome checks that some serial order of the transactions explains all results"
# How a reason begins if the library failed in the spot check, and if the spot check could not be judged.
RECORDED = f"spot check ({_MEANING}): "
NOT_CERTIFIED = f"the spot check ({_MEANING}) gave no answer"


def spot_check_seed(seeds: Sequence[str], one_in: int) -> str | None:
    """Return the seed of a run's spot check, or None if the run has no spot check.

    `seeds` are the secret seeds of the run's sessions. The returned seed is derived from these seeds and is secret too.
    On average one of `one_in` runs has a spot check. If `one_in` is 0, no run has one.
    """
    if one_in < 1:
        return None
    # This text must not change, because users verify the choice with the published seeds.
    digest = hashlib.sha256(f"lot of {' '.join(seeds)}".encode()).digest()
    seed, choice = digest[:8], digest[8:]
    return seed.hex() if int.from_bytes(choice) % one_in == 0 else None


def run_with_spot_check(
    candidate: Loadable,
    request: Request,
    settings: Settings,
    folder: Path,
    heartbeat: Callable[[Progress], bool],
    *,
    seed: str | None,
) -> SeriesResult:
    """Run the request's series. If `seed` is given, run the spot check with this seed first.

    If the spot check fails, the run ends. Otherwise its findings are added to the findings of the series. If the spot
    check cannot be judged, for example because the machine fails, the run continues, because such a failure proves
    nothing about the library. An advisory finding (a warning) then says why the spot check was not judged.
    """
    if seed is None:
        return run_series(candidate, request, settings, folder, heartbeat)
    place = folder / "recorded"
    place.mkdir(mode=0o700)
    count = len(request.seeds)
    recorded_request = replace(
        request, seeds=(seed,), control=False, record=True, plain=False, audited_seeds=()
    )

    def recorded_heartbeat(progress: Progress) -> bool:
        return heartbeat(
            replace(progress, sessions=count, fraction=progress.fraction / (count + 1))
        )

    def series_heartbeat(progress: Progress) -> bool:
        return heartbeat(replace(progress, fraction=(1 + count * progress.fraction) / (count + 1)))

    recorded = run_series(candidate, recorded_request, settings, place, recorded_heartbeat)
    unknown = recorded.verdict is Verdict.INFRASTRUCTURE
    if not unknown and recorded.verdict is not Verdict.PASSED:
        return replace(recorded, reason=RECORDED + _explained(recorded), sessions=())
    series = run_series(candidate, request, settings, folder, series_heartbeat)
    findings = list(recorded.findings)
    if unknown:
        suite = request.benchmark.name
        # The spot check has only one session, so its number says nothing.
        why = recorded.reason.removeprefix("session 1: ").removeprefix("could not judge: ")
        text = f"{NOT_CERTIFIED}: {why}. The verdict does not depend on the spot check"
        findings.append(Finding(suite, "not_certified", Severity.ADVISORY, text))
    known = {(finding.suite, finding.name, finding.severity) for finding in series.findings}
    extra = tuple(f for f in findings if (f.suite, f.name, f.severity) not in known)
    return replace(series, findings=series.findings + extra)


def _explained(recorded: SeriesResult) -> str:
    """Return why the library failed. If the reason is what a finding's witness proves, say what the finding means."""
    for finding in recorded.findings:
        witness = finding.witness
        if witness is not None and witness.summary.endswith(recorded.reason):
            return witness.summary
    return recorded.reason
