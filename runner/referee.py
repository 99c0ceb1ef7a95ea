"""Runs one library in one session: writes plan.json, runs the referee, reports its progress, and reads report.json.

The referee is the trusted process that runs a library in the jail (sandbox) and judges it. The plan tells the referee
what to run, and the report says what it measured and found. The referee may fail: it may be missing, be killed, hang,
or write a wrong report. In each of these cases this module raises RefereeError, which becomes the verdict
*infrastructure*.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runner.contract import Cancelled, RefereeError
from runner.report import REPORT_SCHEMA, Report
from runner.settings import BUILD_FIRST
from runner.strict import StrictError, json_name, parse_object
from runner.terms import REPEAT_THEN_REPORT, REPORT_ERROR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from jsonschema import ValidationError

    from runner.request import Loadable, Request
    from runner.settings import Settings

_OTHER_VERSION = "run ./dev build, because the referee may be of another version"
# How the reason begins if the runtime cannot use a structure (runtime/instance/structure_library.cc). The structure has
# this path in the jail.
_STRUCTURE_REJECTED = "the library refused its configuration: the structure /structure.so "
PLAN_SCHEMA = "keydrome.plan.v1"
TICK_SECONDS = 0.25
# After SIGTERM, the referee may take this long to end. Then it is killed.
STOP_SECONDS = 3.0
# The referee's exit status if it could not write the report or a history (all calls, with results).
_NOT_WRITTEN = 3
# The referee prints a progress line when a phase begins. A phase is a part of a session, such as create or test. The
# referee prints nothing while it generates operations, runs a phase or judges results. Generating or judging may take
# this many seconds. The time limit of a phase is added to this number.
SILENCE_SECONDS = 300.0
REPORT_BYTES_MAX = 64 << 20
# A message quotes a wrong value of the report only if it is not longer.
_VALUE_CHARACTERS_MAX = 120
_LINE_BYTES_MAX = 1 << 16
# In verified mode another process makes every call. A call then takes up to 30 us if threads share CPUs. Therefore this
# factor multiplies the time limit of a phase.
_VERIFIED_TIMEOUT_FACTOR = 20
# The keywords of a schema for an array with a fixed number of parts.
_LISTED = {"type", "prefixItems", "minItems", "maxItems"}
# Fields that the report copies from the plan.
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


def build_plan(
    loadable: Loadable, request: Request, seed: str, settings: Settings
) -> dict[str, Any]:
    """Return the plan of one session as JSON (harness/schema/plan.v1.schema.json)."""
    limits = request.benchmark.limits[request.scale]
    library: dict[str, Any] = {"path": str(loadable.library)}
    if loadable.structure is not None:
        library["structure"] = str(loadable.structure)
    if loadable.configuration is not None:
        library["configuration"] = loadable.configuration
    jail: dict[str, Any] = {
        "path": str(settings.jail),
        "slot": settings.slot,
        "require": request.require.value,
        "tmpfs_bytes": limits.tmpfs_bytes,
    }
    if request.memory_bytes is not None:
        jail["memory_bytes"] = request.memory_bytes
    if request.counters:
        jail["counters"] = True
    if settings.cpus:
        lists = settings.cpus.split(";")
        jail["cpus"] = lists[settings.slot % len(lists)]
    factor = request.timeout_factor
    verified_factor = _VERIFIED_TIMEOUT_FACTOR if request.verified else 1
    timeouts = {"phase_timeout_ms": limits.phase_timeout_ms * factor * verified_factor}
    if factor > 1 and limits.session_timeout_ms is not None:
        timeouts["session_timeout_ms"] = limits.session_timeout_ms * factor
    keys = {"keys": str(request.keys.path)} if request.keys else {}
    trace = {"trace": str(request.trace.path)} if request.trace else {}
    driver = {"driver": str(settings.driver)} if request.verified else {}
    return {
        "schema": PLAN_SCHEMA,
        "benchmark": request.benchmark.name,
        "benchmark_version": request.benchmark.version,
        "instance": request.instance,
        "scale": request.scale.value,
        "parameters": dict(request.overrides),
        "seed": seed,
        "plain": request.plain,
        "record": request.record,
        "verified": request.verified,
        **keys,
        **trace,
        **driver,
        "library": library,
        "player": str(settings.player),
        "jail": jail,
        "limits": timeouts,
    }


def history_arguments(request: Request) -> list[str]:
    """Return the command-line arguments that make the referee write recorded histories (all calls, with results)."""
    if request.histories is None:
        return []
    keep = ["--histories", str(request.histories.resolve())]
    return [*keep, "--all-histories"] if request.all_histories else keep


def run_session(
    plan: dict[str, Any],
    folder: Path,
    settings: Settings,
    tick: Callable[[str, int, int], bool],
    arguments: Sequence[str] = (),
) -> Report:
    """Run one plan in the fresh folder `folder` and return the referee's report, checked against its schema.

    This function calls `tick(name, index, count)` when a phase begins, and `tick("", 0, 0)` at least every
    TICK_SECONDS. `tick` returns False to cancel the session. `arguments` are additional arguments of the
    referee (history_arguments).

    Raises RefereeError if the referee fails, and Cancelled if `tick` returns False. Every process of the session has
    ended when this function returns or raises.
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
        printed = errors_path.read_bytes()[-2000:].decode("utf-8", "replace").strip()
        why = _why_it_failed(status, printed.removeprefix("referee: "), folder)
        raise RefereeError(f"Keydrome's referee {why}")
    return _read_report(report_path, plan, settings)


def _start(referee: Path, arguments: list[str], errors: int) -> subprocess.Popen[bytes]:
    """Start the referee. The kernel kills the referee when the calling thread dies, even by SIGKILL."""
    command = ["setpriv", "--pdeathsig", "KILL", str(referee), "run", *arguments, "--progress"]
    if not referee.is_file():
        raise RefereeError(f"{referee} is missing: {BUILD_FIRST}")
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
        missing = isinstance(error, FileNotFoundError)
        advice = f"install {command[0]}" if missing else "correct this cause, and run again"
        raise RefereeError(
            f"cannot start {command[0]}, which starts Keydrome's referee: {error.strerror}: {advice}"
        ) from error


class _Watch:
    """Reads the progress lines until the referee ends. Calls `tick` at each phase and at least every TICK_SECONDS."""

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
        """Wait for the referee and return its exit status, which is negative if a signal ended it.

        Raises RefereeError if the referee writes nothing for too long.
        """
        stream = self._process.stdout
        if stream is None:
            raise RefereeError(
                f"Keydrome's referee was started without a pipe for its output; {REPORT_ERROR}"
            )
        last_read = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            ended = False
            while not ended:
                if selector.select(TICK_SECONDS):
                    data = os.read(stream.fileno(), _LINE_BYTES_MAX)
                    ended = not data
                    last_read = time.monotonic()
                    self._read(data)
                if not self._tick("", 0, 0):
                    raise Cancelled
                if time.monotonic() - last_read > self._silence_seconds:
                    raise RefereeError(
                        f"Keydrome's referee wrote no progress for {self._silence_seconds:.0f} s, the limit, and was "
                        "stopped: run again when the machine has less other work; if this happens again, it is an "
                        "error of Keydrome: please report this message"
                    )
        try:
            return self._process.wait(self._silence_seconds)
        except subprocess.TimeoutExpired as error:
            raise RefereeError(
                f"Keydrome's referee closed its output but did not exit, and was stopped; {REPEAT_THEN_REPORT}"
            ) from error

    def _read(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LINE_BYTES_MAX:
            raise RefereeError(
                f"Keydrome's referee wrote a progress line of more than {_LINE_BYTES_MAX:,} bytes, the limit: "
                f"{_OTHER_VERSION}"
            )
        for line in lines:
            try:
                event = parse_object(line, "progress")
            except StrictError as error:
                raise RefereeError(
                    f"Keydrome's referee wrote a malformed progress line ({error}): {_OTHER_VERSION}"
                ) from error
            if event.get("event") == "phase":
                name, index, count = event.get("name"), event.get("index"), event.get("of")
                if not (
                    isinstance(name, str) and isinstance(index, int) and isinstance(count, int)
                ):
                    raise RefereeError(
                        f"Keydrome's referee wrote a malformed progress line ({json.dumps(event)}): {_OTHER_VERSION}"
                    )
                if not self._tick(name, index, count):
                    raise Cancelled


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the referee and every process that it started."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _why_it_failed(status: int, detail: str, folder: Path) -> str:
    """Return how the referee ended, and why or what to do. `detail` is what it printed, `folder` its working folder."""
    if status == _NOT_WRITTEN and str(folder) in detail:
        # The advice at the end of the detail is for people who have named the file themselves.
        cause = detail.rpartition(": ")[0]
        return f"{cause}: correct this cause, or set KEYDROME_VAR to a folder on another disk"
    if status < 0:
        how = f"was killed by signal {-status} ({signal.strsignal(-status)})"
    else:
        known = {
            2: "cannot play the session",
            _NOT_WRITTEN: "could not write the report or a history",
        }
        how = known.get(status, f"exited with status {status}")
    if detail:
        return f"{how}: {detail}"
    if status == -signal.SIGKILL:
        return f"{how}, probably because memory ran out: run again with more free memory"
    return f"{how}, and printed no reason; {REPEAT_THEN_REPORT}"


def _read_report(path: Path, plan: dict[str, Any], settings: Settings) -> Report:
    try:
        if path.stat().st_size > REPORT_BYTES_MAX:
            raise RefereeError(
                f"the report of Keydrome's referee is larger than the limit of {REPORT_BYTES_MAX >> 20} MiB; "
                f"{REPORT_ERROR}"
            )
        value = parse_object(path.read_bytes(), "report")
    except (OSError, StrictError) as error:
        raise RefereeError(
            f"Keydrome's referee wrote no usable report ({error}); {REPEAT_THEN_REPORT}"
        ) from error
    violation = validate_report(value, settings.root)
    if violation:
        raise RefereeError(
            f"the report of Keydrome's referee violates the schema {REPORT_SCHEMA} ({violation}): {_OTHER_VERSION}"
        )
    for name in _ECHOED:
        if value.get(name, False) != plan[name]:
            raise RefereeError(
                f"the report of Keydrome's referee belongs to another session: its {name} is {value.get(name)!r}, but "
                f"the plan has {plan[name]!r}; {REPORT_ERROR}"
            )
    try:
        report = Report.from_json(value)
    except StrictError as error:
        raise RefereeError(
            f"the report of Keydrome's referee cannot be read ({error}): {_OTHER_VERSION}"
        ) from error
    return replace(report, reason=about_structure(report.reason))


def about_structure(reason: str) -> str:
    """Return `reason`, without the path in the jail if the runtime, which is then the library, rejected a structure."""
    rest = reason.removeprefix(_STRUCTURE_REJECTED)
    return reason if rest == reason else f"the structure {rest}"


def validate_report(report: dict[str, Any], root: Path) -> str:
    """Return the first violation of harness/schema/report.v1.schema.json, or an empty string if there is none."""
    # One violation is enough for a message, so report the one whose path sorts first.
    errors = sorted(
        _validator(root).iter_errors(report), key=lambda error: list(map(str, error.path))
    )
    if not errors:
        return ""
    place = "/".join(map(str, errors[0].path)) or "the report"
    return f"{place}: {_shown(errors[0])}"


def _shown(error: ValidationError) -> str:
    """Return a violation as text. A long value, with which jsonschema begins its message, becomes its type and size."""
    value, dump = error.instance, repr(error.instance)
    if len(dump) <= _VALUE_CHARACTERS_MAX or not error.message.startswith(dump):
        return str(error.message[:300])
    size = f" with {len(value)} entries" if isinstance(value, list | dict) else ""
    bound = f" ({error.validator} {error.validator_value})"
    bound = bound if isinstance(error.validator_value, int) else ""
    return f"{json_name(type(value))}{size}{error.message.removeprefix(dump)[:300]}{bound}"


@lru_cache(maxsize=4)
def _validator(root: Path) -> Any:  # noqa: ANN401 - importing jsonschema's type here would be slow
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import; only runs need it
    from jsonschema.validators import extend  # noqa: PLC0415

    slow = Draft202012Validator.VALIDATORS["items"]

    def items(validator: Any, schema: Any, instance: Any, parent: Any) -> Iterator[Any]:  # noqa: ANN401
        """Check the items of an array. Skip jsonschema, which is slow for thousands of numbers, if all surely fit."""
        is_plain = isinstance(instance, list) and "prefixItems" not in parent
        if not is_plain or not all(surely_fits(item, schema) for item in instance):
            yield from slow(validator, schema, instance, parent)

    path = root / "harness" / "schema" / "report.v1.schema.json"
    fast = extend(Draft202012Validator, {"items": items})  # type: ignore[no-untyped-call]
    return fast(parse_object(path.read_bytes(), str(path)))


def surely_fits(value: object, schema: object) -> bool:
    """Return True if the value surely fits a schema of a simple form: an integer, or an array with a schema per part.

    False does not mean that the value is wrong: the schema may have another form, which only jsonschema can check.
    """
    if schema == {"type": "integer"}:
        return type(value) is int
    if not isinstance(schema, dict) or schema.keys() != _LISTED or schema["type"] != "array":
        return False
    parts = schema["prefixItems"]
    if not isinstance(value, list) or not schema["minItems"] == schema["maxItems"] == len(parts):
        return False
    return len(value) == len(parts) and all(map(surely_fits, value, parts))
