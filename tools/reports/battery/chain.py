"""Runs one attack through the whole chain: upload service, queue, worker, runner, referee, jail, verdict, board.

The worker takes the run, a request to judge the library, from the queue. It calls the runner, which starts the referee.
The referee judges the library, which runs in the jail (a sandbox). A board is a ranking.

All parts are those of a real site. Only the sizes are smaller: few transactions, little memory, short deadlines. On a
real site, a library must also pass correctness benchmarks (gates) before a board ranks it. Here these runs are marked
as passed without being executed. So the run of the attack alone decides whether the library gets on the board.
"""

from __future__ import annotations

import io
import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from django.utils import timezone

from leaderboard import services
from leaderboard.catalogue import Target
from leaderboard.machines import registry
from leaderboard.models import BoardEntry, RunDetail, State
from leaderboard.queue.claims import Slot
from leaderboard.worker import Worker
from runner.execute import execute
from runner.slots import hold_local_slot
from runner.terms import Verdict
from tools.reports.battery import leftovers
from tools.reports.battery.cases import Case
from tools.reports.battery.files import FORGED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.contrib.auth.models import User

    from leaderboard.models import Run
    from runner.contract import Job, Progress, RunReport
    from runner.settings import Settings

BOARD = Target("sigmod2009", "preliminary1")
SIZES = {"threads": 4, "inserts_per_thread": 60, "tests_per_thread": 60, "indices": 3}
DEADLINE_MS = 30_000
MEMORY_BYTES = 448 << 20
TMPFS_BYTES = 16 << 20
HOLE = "HOLE"  # begins the line that a library logs if its attack succeeded
_JAILS_AT_ONCE = 4


@dataclass(frozen=True)
class Got:
    """The actual result of a case. `faults` lists its differences from the expected result."""

    verdict: str
    reason: str = ""
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


@dataclass
class Chain:
    """A site with one user and one bench worker. `folder` receives manifests with the battery's limits."""

    user: User
    place: Settings
    folder: Path

    def play(self, case: Case) -> Got:
        """Run a case, compare its result with the expected one, and look for things left on the machine."""
        before = leftovers.look([self.place.slot], [self.place.work])
        started = time.monotonic()
        faults: list[str] = []
        verdict, reason = "", ""
        if case.many_jails:
            faults = self._start_jails(case.many_jails)
            verdict = "nothing is left" if not faults else "left"
        else:
            for _ in range(case.runs):
                run = self._run(case)
                verdict, reason = run.verdict, run.reason
                faults += _judge(case, run)
        faults += before.faults()
        return Got(verdict, reason, time.monotonic() - started, faults)

    def honest_faults(self, when: str) -> list[str]:
        """Run an honest library, which must pass and be ranked; return what went wrong, or an empty list.

        `when` says when this happens, and begins the message.
        """
        name = "faulty/honest"
        run = self._run(Case("E05", "an honest library", library=name))
        if run.verdict == Verdict.PASSED and run.eligible:
            return []
        passed = run.verdict == Verdict.PASSED
        got = "is not ranked" if passed else f"has the verdict {run.verdict or run.state}"
        because = run.reason or run.why_not
        return [
            (
                f"{when}: the honest library lib/{name}.so must pass and be ranked, but its run {got}; the run's "
                f'reason: "{because}"'
            )
        ]

    def _run(self, case: Case) -> Run:
        """Upload the library of a case, let the worker execute its run, and return the stored run."""
        submission = services.submit(
            owner=self.user,
            file=io.BytesIO(self._content(case)),
            file_name=f"{case.id}.so",
            description=case.title,
            targets=[BOARD],
            scale="smoke",
            sessions=1,
        )
        target = BOARD if case.benchmark == BOARD.benchmark else gate(case.benchmark)
        runs = submission.runs.filter(benchmark=target.benchmark, instance=target.instance)
        others = submission.runs.filter(state=State.QUEUED).exclude(pk__in=runs)
        others.update(state=State.DONE, verdict=Verdict.PASSED, finished_at=timezone.now())
        if case.seed:
            runs.update(seeds=[case.seed])

        def small(job: Job, beat: Callable[[Progress], bool]) -> RunReport:
            sizes = (SIZES if target == BOARD else {}) | case.parameters
            asked = replace(job, parameters=tuple(sizes.items()), recorded_seed=None)
            return execute(asked, beat, replace(self.place, root=self._limits(case.deadline_ms)))

        # Each case has its own machine name. The site computes the noise of a machine from all runs with its name. Runs
        # of this size vary so much that it would take a common machine for noisy.
        machine = registry.seen(f"battery {case.id}", "battery", {})
        worker = Worker(Slot(machine, self.place.slot), small)
        if runs.get().state == State.QUEUED and not worker.run_one():
            raise RuntimeError(
                f"{case.id}: the run is queued, but the worker found no run to claim"
            )
        return runs.select_related("submission").get()

    def _content(self, case: Case) -> bytes:
        if case.file in FORGED:
            return FORGED[case.file](self._built("faulty/honest"))
        return self._built(case.path or f"battery/{case.file}")

    def _built(self, name: str) -> bytes:
        return (self.place.build / "lib" / f"{name}.so").read_bytes()

    def _limits(self, deadline_ms: int) -> Path:
        """Return a folder like the repository, in which copies of the manifests have the battery's limits.

        Everything else in the folder is a symbolic link to the repository.
        """
        root = self.folder / f"root-{deadline_ms}"
        if root.exists():
            return root
        root.mkdir(parents=True)
        for name in ("harness", "runtime", "indexes", "structures"):
            (root / name).symlink_to(self.place.root / name)
        for path in sorted((self.place.root / "benchmarks").glob("*/benchmark.json")):
            manifest = json.loads(path.read_text())
            for limits in manifest["limits"].values():
                if manifest["name"] == BOARD.benchmark:
                    limits |= {"memory_bytes": MEMORY_BYTES, "tmpfs_bytes": TMPFS_BYTES}
                    limits["phase_timeout_ms"] = deadline_ms or DEADLINE_MS
                elif deadline_ms:
                    limits["phase_timeout_ms"] = deadline_ms
            copy = root / "benchmarks" / path.parent.name / path.name
            copy.parent.mkdir(parents=True)
            copy.write_text(json.dumps(manifest))
        return root

    def _start_jails(self, count: int) -> list[str]:
        """Start `count` jails one after the other, then `count` jails in four slots at once; return the faults.

        A slot is a number that gives a jail its own user and control group.
        """
        with ExitStack() as held:
            slots = [held.enter_context(hold_local_slot()) for _ in range(_JAILS_AT_ONCE)]
            before = leftovers.look(slots, [])
            faults = [fault for _ in range(count) for fault in self._start_jail(slots[0])]
            with ThreadPoolExecutor(len(slots)) as pool:
                each = count // len(slots)
                for found in pool.map(lambda s: [self._start_jail(s) for _ in range(each)], slots):
                    faults += [fault for faults_of_one in found for fault in faults_of_one]
            return sorted(set(faults)) + before.faults()

    def _start_jail(self, slot: int) -> list[str]:
        """Start a jail with the player, which ends at once because it has no referee; return the faults."""
        command = [str(self.place.jail), "--slot", str(slot), "--meta-fd", "1"]
        command += ["--bind", f"{self.place.player}:/player", "--", "/player"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        fine = done.returncode == 0 and "status:exited" in done.stdout.splitlines()
        if fine:
            return []
        return [
            (
                "a jail with only the player must end with exit code 0 and print status:exited, "
                f"but this jail ended with exit code {done.returncode} and printed: {done.stdout}{done.stderr}"
            )
        ]


def gate(benchmark: str) -> Target:
    """Return the instance of a correctness benchmark that has the name of the benchmark."""
    return Target(benchmark, benchmark)


def _judge(case: Case, run: Run) -> list[str]:
    """Return the differences between a run and the expected result of its case."""
    detail = RunDetail.objects.get(run=run)
    names = {finding["name"] for finding in detail.findings}
    lines = detail.log.splitlines()
    faults = [
        f"the jail did not refuse an attempt of the library as it must; the library logged: {line}"
        for line in lines
        if line.startswith(HOLE)
    ]
    if run.verdict not in case.expect:
        wanted = " or ".join(case.expect)
        faults.append(
            f"the verdict is {run.verdict or run.state} instead of {wanted}: {run.reason}"
        )
    faults += [
        f"the expected finding {name} is missing" for name in case.findings if name not in names
    ]
    if case.findings_any and not names & set(case.findings_any):
        faults.append(
            f"expected one of the findings {', '.join(case.findings_any)}, but got {', '.join(names) or 'no finding'}"
        )
    if case.words not in run.reason:
        faults.append(f"the reason {run.reason!r} does not contain {case.words!r}")
    faults += [
        f"the log does not contain {words!r}" for words in case.must_say if words not in lines
    ]
    attempts = 0 if run.verdict == Verdict.REFUSED else 1
    if run.state != State.DONE:
        faults.append(f"the run has the state {run.state} instead of done")
    if run.attempt != attempts:
        faults.append(f"the number of the run's attempt is {run.attempt} instead of {attempts}")
    if run.verdict != Verdict.PASSED and (
        run.eligible or BoardEntry.objects.filter(run=run).exists()
    ):
        faults.append("the run is ranked although it did not pass")
    return faults
