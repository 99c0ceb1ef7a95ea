"""Checks whether settings of this machine make timings noisy, and says what to do about each.

The code only reads files in /sys and /proc; it changes no setting. The rules follow the admin guide of the Linux kernel
(CPU performance scaling, kernel parameters, sysctl/kernel, kernel samepage merging).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CPU = "sys/devices/system/cpu"
_BUSY_LOAD_PER_CPU = 0.5
# The largest acceptable "stolen time": the fraction of the CPU time since boot that other virtual machines took. If
# they take more, they visibly disturb single measurements.
_STEAL_MAX = 0.001
_ISOLATING_CPUS_MIN = 4  # two CPUs for the system, and at least two for the libraries
_STEAL_COLUMN = 8  # the column of the stolen time in the first line of /proc/stat


@dataclass(frozen=True)
class Setting:
    """One setting of the machine.

    `fit` is True if the value suits timing, False if it makes timings noisy, and None if the kernel does not report the
    value. `remedy` says what to do.
    """

    name: str
    found: str
    fit: bool | None
    remedy: str

    def to_json(self) -> dict[str, str | bool | None]:
        """Return the JSON form."""
        return asdict(self)


def settings_of(root: Path = Path("/")) -> list[Setting]:
    """Return every setting, the most important first. `root` is the folder that contains `sys` and `proc`."""
    return [_setting(root, *rule) for rule in _RULES]


def _setting(
    root: Path,
    name: str,
    read: Callable[[Path], str],
    fit: Callable[[str], bool],
    remedy: str | Callable[[Path], str],
) -> Setting:
    advice = remedy if isinstance(remedy, str) else ""
    try:
        found = read(root)
        if not isinstance(remedy, str):
            advice = remedy(root)
    except (OSError, ValueError, IndexError, ZeroDivisionError):
        found = ""
    return Setting(name, found or "not reported", fit(found) if found else None, advice)


def _file(path: str) -> Callable[[Path], str]:
    return lambda root: (root / path).read_text(encoding="utf-8").strip()


def _governors(root: Path) -> str:
    files = sorted((root / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return ", ".join(sorted({file.read_text(encoding="utf-8").strip() for file in files}))


def _turbo(root: Path) -> str:
    """Return "on" or "off", as the processor's frequency driver reports; an empty string if there is no driver."""
    for path, off in ((f"{_CPU}/intel_pstate/no_turbo", "1"), (f"{_CPU}/cpufreq/boost", "0")):
        file = root / path
        if file.exists():
            return "off" if file.read_text(encoding="utf-8").strip() == off else "on"
    return ""


def _isolated(root: Path) -> str:
    return (root / _CPU / "isolated").read_text(encoding="utf-8").strip() or "none"


def _huge_pages(root: Path) -> str:
    text = (root / "sys/kernel/mm/transparent_hugepage/enabled").read_text(encoding="utf-8")
    return text[text.index("[") + 1 : text.index("]")]


def _swap(root: Path) -> str:
    devices = (root / "proc/swaps").read_text(encoding="utf-8").splitlines()[1:]
    return ", ".join(line.split()[0] for line in devices) or "none"


def _load(root: Path) -> str:
    load = float((root / "proc/loadavg").read_text(encoding="utf-8").split()[0])
    return f"{load / _cpus(root):.2f} per CPU"


def _cpus(root: Path) -> int:
    lines = (root / "proc/stat").read_text(encoding="utf-8").splitlines()
    return sum(1 for line in lines if line.startswith("cpu") and line[3:4].isdigit())


def _steal(root: Path) -> str:
    times = (root / "proc/stat").read_text(encoding="utf-8").splitlines()[0].split()
    # The columns after the steal column are guest times; user time already includes them.
    total = sum(int(time) for time in times[1 : _STEAL_COLUMN + 1])
    return f"{100 * int(times[_STEAL_COLUMN]) / total:.3f} %"


def _number(found: str) -> float:
    return float(found.split(maxsplit=1)[0])


def _how_to_isolate(root: Path) -> str:
    """Return how to keep other programs off all CPUs but the first two, which stay for the system."""
    count = _cpus(root)
    if count < _ISOLATING_CPUS_MIN:
        return (
            f"this machine has too few CPUs ({count}) to keep some of them free for the libraries: use a machine with "
            f"at least {_ISOLATING_CPUS_MIN} CPUs"
        )
    free = f"2-{count - 1}"
    return (
        f"keep other programs off the CPUs of the libraries: add isolcpus={free} nohz_full={free} rcu_nocbs={free} to "
        f"the kernel's command line, and set the environment variable KEYDROME_CPUS={free} for Keydrome"
    )


# Each rule: the name of a setting, how to read it, which values suit timing, and what to do about other values.
_RULES: tuple[
    tuple[str, Callable[[Path], str], Callable[[str], bool], str | Callable[[Path], str]], ...
] = (
    (
        "load",
        _load,
        lambda found: _number(found) < _BUSY_LOAD_PER_CPU,
        (
            f"stop other programs until the load is below {_BUSY_LOAD_PER_CPU} per CPU; a bench machine should run one "
            "bench worker and nothing else"
        ),
    ),
    (
        "stolen time",
        _steal,
        lambda found: _number(found) <= 100 * _STEAL_MAX,
        (
            f"other virtual machines use the same CPUs (up to {100 * _STEAL_MAX:g} % of the CPU time is fine): use a "
            "dedicated host or bare metal"
        ),
    ),
    (
        "frequency governor",
        _governors,
        lambda found: found == "performance",
        "keep the frequency constant: cpupower frequency-set --governor performance",
    ),
    (
        "turbo",
        _turbo,
        lambda found: found == "off",
        (
            f"switch turbo off: echo 1 > /{_CPU}/intel_pstate/no_turbo; if there is no such file, "
            f"echo 0 > /{_CPU}/cpufreq/boost"
        ),
    ),
    (
        "hyper-threads",
        lambda root: {"0": "off", "1": "on"}[_file(f"{_CPU}/smt/active")(root)],
        lambda found: found == "off",
        f"switch hyper-threads off: echo off > /{_CPU}/smt/control, or add nosmt to the kernel's command line",
    ),
    (
        "isolated CPUs",
        _isolated,
        lambda found: found != "none",
        _how_to_isolate,
    ),
    (
        "clock source",
        _file("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        lambda found: found == "tsc",
        (
            "let the kernel use the processor's clock: add clocksource=tsc tsc=reliable to the kernel's command line, "
            "if /proc/cpuinfo has the flag constant_tsc"
        ),
    ),
    (
        "transparent huge pages",
        _huge_pages,
        lambda found: found in {"madvise", "never"},
        "use huge pages only on request: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    (
        "address-space randomisation",
        _file("proc/sys/kernel/randomize_va_space"),
        lambda found: found == "2",
        (
            "switch the randomisation on, because sessions are independent only if each has a new memory layout: "
            "sysctl kernel.randomize_va_space=2"
        ),
    ),
    (
        "swap",
        _swap,
        lambda found: found == "none",
        "switch swap off: swapoff -a, and remove swap from /etc/fstab",
    ),
    (
        "NUMA balancing",
        _file("proc/sys/kernel/numa_balancing"),
        lambda found: found == "0",
        "switch NUMA balancing off: sysctl kernel.numa_balancing=0",
    ),
    (
        "merging of equal pages",
        _file("sys/kernel/mm/ksm/run"),
        lambda found: found == "0",
        "switch the merging off: echo 0 > /sys/kernel/mm/ksm/run",
    ),
    (
        "lock-up watchdog",
        _file("proc/sys/kernel/nmi_watchdog"),
        lambda found: found == "0",
        "switch the watchdog off: sysctl kernel.nmi_watchdog=0",
    ),
)
