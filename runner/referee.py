"""One session: writes the plan, runs the referee beside a heartbeat, and reads its report.

The referee is ours and trusted, but everything that can go wrong with it (missing, killed, stuck, a report that does
not fit the schema or the plan) is a RefereeError, which becomes the verdict *infrastructure* and never a stack trace.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runner.contract import REPORT_SCHEMA, Cancelled
from runner.strict import StrictError, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from runner.order import Order, Target
    from runner.settings import Settings

PLAN_SCHEMA = "keydrome.plan.v1"
TICK_SECONDS = 0.25
STOP_SECONDS = 3.0
# Between two progress lines lies at most one phase, or generating the programs, or judging them.
SILENCE_SECONDS = 300.0
REPORT_BYTES_MAX = 64 << 20
_LINE_BYTES_MAX = 1 << 16
# How much more time a phase has in verified mode, where a call takes up to some 30 us when threads share processors.
_VERIFIED_PATIENCE = 20
# What a report says of its plan.
_ECHOED = (
    "benchmark",
    "benchmark_version",
    "instance",
    "scale",
    "seed",
    "plain",
    "record",
    "verified",
)


class RefereeError(Exception):
    """The session could not be judged through no fault of the library's; the text says why."""


def build_plan(target: Target, order: Order, seed: str, settings: Settings) -> dict[str, Any]:
    """Return the plan of one session (harness/schema/plan.v1.schema.json)."""
    limits = order.benchmark.limits[order.scale]
    library: dict[str, Any] = {"path": str(target.library)}
    if target.structure is not None:
        library["structure"] = str(target.structure)
    if target.configuration is not None:
        library["configuration"] = target.configuration
    jail: dict[str, Any] = {
        "path": str(settings.jail),
        "slot": settings.slot,
        "require": order.require.value,
        "memory_bytes": limits.memory_bytes,
        "tmpfs_bytes": limits.tmpfs_bytes,
    }
    if order.counters:
        jail["counters"] = True
    if settings.cpus:
        lists = settings.cpus.split(";")
        jail["cpus"] = lists[settings.slot % len(lists)]
    patience = _VERIFIED_PATIENCE if order.verified else 1
    driver = {"driver": str(settings.driver)} if order.verified else {}
    return {
        "schema": PLAN_SCHEMA,
        "benchmark": order.benchmark.name,
        "benchmark_version": order.benchmark.version,
        "instance": order.instance,
        "scale": order.scale.value,
        "parameters": dict(order.overrides),
        "seed": seed,
        "plain": order.plain,
        "record": order.record,
        "verified": order.verified,
        **driver,
        "library": library,
        "player": str(settings.player),
        "jail": jail,
        "limits": {"phase_timeout_ms": limits.phase_timeout_ms * patience},
    }


def history_arguments(order: Order) -> list[str]:
    """Return what the referee is told about keeping recorded histories."""
    if order.histories is None:
        return []
    keep = ["--histories", str(order.histories.resolve())]
    return [*keep, "--all-histories"] if order.all_histories else keep


def run_session(
    plan: dict[str, Any],
    folder: Path,
    settings: Settings,
    tick: Callable[[str, int, int], bool],
    arguments: Sequence[str] = (),
) -> dict[str, Any]:
    """Run one plan in the fresh folder `folder` and return the referee's report, validated.

    `arguments` are further ones for the referee (history_arguments).

    `tick` gets the name of the phase that begins, its number and how many there are, and between progress lines, at
    least every TICK_SECONDS, an empty name and zeros; it returns False to cancel.
    Raises RefereeError, and Cancelled when `tick` returns False; then nothing of the session runs any more.
    """
    plan_path = folder / "plan.json"
    report_path = folder / "report.json"
    plan_path.write_text(json.dumps(plan), encoding="utf-8")
    silence = SILENCE_SECONDS + plan["limits"]["phase_timeout_ms"] / 1000
    errors_path = folder / "referee.err"
    with errors_path.open("wb") as errors:
        files = [str(plan_path), "--report", str(report_path)]
        process = _start(settings.referee, [*files, *arguments], errors.fileno())
        try:
            status = _Watch(process, tick, silence).until_end()
        finally:
            _stop(process)
    if status != 0:
        detail = errors_path.read_bytes()[-2000:].decode("utf-8", "replace").strip()
        raise RefereeError(f"the referee {_fate(status)}: {detail or 'it gave no reason'}")
    return _read_report(report_path, plan, settings)


def _start(referee: Path, arguments: list[str], errors: int) -> subprocess.Popen[bytes]:
    """Start the referee so that it dies with the thread that called: a worker killed -9 leaves nothing behind."""
    command = ["setpriv", "--pdeathsig", "KILL", str(referee), "run", *arguments, "--progress"]
    if not referee.is_file():
        raise RefereeError(f"{referee} is missing: build it (./dev build), or set KEYDROME_BUILD")
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
    except OSError as error:
        raise RefereeError(f"the referee cannot be started: {error}") from error


class _Watch:
    """Reads progress lines while the referee runs and calls `tick` in between."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        tick: Callable[[str, int, int], bool],
        silence_seconds: float,
    ) -> None:
        self._process = process
        self._tick = tick
        self._silence_seconds = silence_seconds
        self._rest = b""

    def until_end(self) -> int:
        """Return the exit status (negative: the signal); RefereeError when it is silent for too long."""
        stream = self._process.stdout
        if stream is None:
            raise RefereeError("the referee has no standard output")
        heard = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            ended = False
            while not ended:
                if selector.select(TICK_SECONDS):
                    data = os.read(stream.fileno(), _LINE_BYTES_MAX)
                    ended = not data
                    heard = time.monotonic()
                    self._hear(data)
                if not self._tick("", 0, 0):
                    raise Cancelled
                if time.monotonic() - heard > self._silence_seconds:
                    raise RefereeError(f"the referee was silent for {self._silence_seconds:.0f} s")
        try:
            return self._process.wait(self._silence_seconds)
        except subprocess.TimeoutExpired as error:
            raise RefereeError("the referee closed its output but does not end") from error

    def _hear(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LINE_BYTES_MAX:
            raise RefereeError("the referee wrote a progress line without an end")
        for line in lines:
            try:
                event = parse_object(line, "progress")
            except StrictError as error:
                raise RefereeError(str(error)) from error
            if event.get("event") == "phase":
                name, index, count = event.get("name"), event.get("index"), event.get("of")
                if not (
                    isinstance(name, str) and isinstance(index, int) and isinstance(count, int)
                ):
                    raise RefereeError(
                        f"the referee wrote a progress line of another form: {event}"
                    )
                if not self._tick(name, index, count):
                    raise Cancelled


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the referee and all that it started; the jail's processes die with the jail."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _fate(status: int) -> str:
    if status < 0:
        return f"was ended by signal {-status}"
    known = {2: "cannot use the plan", 3: "could not write the report"}
    return known.get(status, f"ended with status {status}")


def _read_report(path: Path, plan: dict[str, Any], settings: Settings) -> dict[str, Any]:
    try:
        if path.stat().st_size > REPORT_BYTES_MAX:
            raise RefereeError(f"the report is larger than {REPORT_BYTES_MAX >> 20} MiB")
        report = parse_object(path.read_bytes(), "report")
    except (OSError, StrictError) as error:
        raise RefereeError(f"the referee left no usable report: {error}") from error
    fault = validate_report(report, settings.root)
    if fault:
        raise RefereeError(f"the report does not fit {REPORT_SCHEMA}: {fault}")
    for name in _ECHOED:
        if report.get(name, False) != plan[name]:
            raise RefereeError(
                f"the report is about another session: {name} is {report.get(name)!r}, planned was {plan[name]!r}"
            )
    return report


def validate_report(report: dict[str, Any], root: Path) -> str:
    """Return where `report` departs from harness/schema/report.v1.schema.json; empty when it fits."""
    # Seldom more than one departure matters; the first, by place, is what a person can act on.
    errors = sorted(
        _validator(root).iter_errors(report), key=lambda error: list(map(str, error.path))
    )
    if not errors:
        return ""
    place = "/".join(map(str, errors[0].path)) or "the report"
    return f"{place}: {errors[0].message[:300]}"


@lru_cache(maxsize=4)
def _validator(root: Path) -> Any:  # noqa: ANN401 - jsonschema's protocol has no public name to import cheaply
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import; only runs need it

    path = root / "harness" / "schema" / "report.v1.schema.json"
    return Draft202012Validator(parse_object(path.read_bytes(), str(path)))
