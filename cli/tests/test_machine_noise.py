"""Tests of `keydrome machine`: the settings are read from sample files such as the kernel writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.machine_noise import settings_of
from cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

CPU = "sys/devices/system/cpu"
FIT = {
    "proc/loadavg": "0.12 0.10 0.09 1/234 5678\n",
    "proc/stat": "cpu  900000 0 50000 49999 0 0 0 1 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\ncpu1 1 0 0 0 0 0 0 0 0 0\nintr 1\n",
    "proc/swaps": "Filename\t\t\t\tType\t\tSize\n",
    "proc/sys/kernel/numa_balancing": "0\n",
    "proc/sys/kernel/nmi_watchdog": "0\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/kernel/mm/ksm/run": "0\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/isolated": "1\n",
    f"{CPU}/smt/active": "0\n",
}
# Each entry: a changed file, its content, the setting that is then noisy, and the value that is shown.
NOISY = [
    ("proc/loadavg", "1.50 0.1 0.1 1/2 3\n", "load", "0.75 per CPU"),
    ("proc/stat", "cpu  900 0 0 90 0 0 0 10 0 0\ncpu0 1\n", "stolen time", "1.000 %"),
    ("proc/swaps", "Filename Type\n/dev/sda2 partition\n", "swap", "/dev/sda2"),
    ("proc/sys/kernel/numa_balancing", "1\n", "NUMA balancing", "1"),
    ("proc/sys/kernel/nmi_watchdog", "1\n", "lock-up watchdog", "1"),
    ("proc/sys/kernel/randomize_va_space", "0\n", "address-space randomisation", "0"),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet\n",
        "clock source",
        "hpet",
    ),
    ("sys/kernel/mm/ksm/run", "1\n", "merging of equal pages", "1"),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
        "transparent huge pages",
        "always",
    ),
    (
        f"{CPU}/cpu1/cpufreq/scaling_governor",
        "powersave\n",
        "frequency governor",
        "performance, powersave",
    ),
    (f"{CPU}/intel_pstate/no_turbo", "0\n", "turbo", "on"),
    (f"{CPU}/isolated", "\n", "isolated CPUs", "none"),
    (f"{CPU}/smt/active", "1\n", "hyper-threads", "on"),
]


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_tuned_machine_is_fit(tmp_path: Path) -> None:
    write(tmp_path, FIT)
    assert [s.name for s in settings_of(tmp_path) if s.fit is not True] == []


@pytest.mark.parametrize(("path", "text", "name", "found"), NOISY, ids=[row[2] for row in NOISY])
def test_a_noisy_setting_is_named(
    tmp_path: Path, path: str, text: str, name: str, found: str
) -> None:
    write(tmp_path, FIT | {path: text})
    noisy = [(s.name, s.found) for s in settings_of(tmp_path) if not s.fit]
    assert noisy == [(name, found)]


def test_every_setting_has_a_noisy_case(tmp_path: Path) -> None:
    assert {row[2] for row in NOISY} == {setting.name for setting in settings_of(tmp_path)}


def test_a_setting_that_the_kernel_does_not_report_is_unknown(tmp_path: Path) -> None:
    assert {setting.fit for setting in settings_of(tmp_path)} == {None}
    write(tmp_path, {"proc/loadavg": "0.1 0 0 1/2 3\n", "proc/stat": "cpu 0 0 0 0 0 0 0 0\n"})
    assert {setting.fit for setting in settings_of(tmp_path)} == {None}


@pytest.mark.parametrize(
    ("cpus", "words"),
    [
        (2, "too few CPUs (2) to keep some of them free for the libraries: use a machine with"),
        (4, "add isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3 to"),
        (64, "set the environment variable KEYDROME_CPUS=2-63 for"),
    ],
)
def test_the_advice_on_isolated_cpus_names_cpus_of_this_machine(
    cpus: int, words: str, tmp_path: Path
) -> None:
    stat = "cpu  9 0 0 9 0 0 0 0 0 0\n" + "".join(f"cpu{number} 1\n" for number in range(cpus))
    write(tmp_path, FIT | {"proc/stat": stat, f"{CPU}/isolated": "\n"})
    (setting,) = (one for one in settings_of(tmp_path) if one.name == "isolated CPUs")
    assert words in setting.remedy


def test_turbo_is_read_from_the_other_driver_too(tmp_path: Path) -> None:
    write(tmp_path, {f"{CPU}/cpufreq/boost": "1\n"})
    assert [s.found for s in settings_of(tmp_path) if s.fit is False] == ["on"]


def test_the_command_prints_this_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "machine.json"
    status = main(["machine", "--json", str(report)])
    told = json.loads(report.read_text(encoding="utf-8"))
    assert [setting["name"] for setting in told["settings"]] == [s.name for s in settings_of()]
    assert status == any(setting["fit"] is False for setting in told["settings"])
    output = capsys.readouterr().out
    assert told["machine"]["class"] in output
    for setting in told["settings"]:
        assert setting["name"] in output
