"""Keeps the table of bench machines, the machines that execute runs.

For each machine, the table contains the class (processor, number of processors and memory) and the time when the
machine was last alive. A machine's worker is its process that executes runs. If the worker leaves some runs to other
machines, the table also contains the reason.

Each function is one transaction, or a part of the caller's transaction if the caller has opened one.
"""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from leaderboard.models import Machine


def seen(name: str, machine_class: str, facts: dict[str, Any]) -> Machine:
    """Store that a machine's worker has started, with the machine's class and facts; return the machine's row."""
    values = {"machine_class": machine_class, "facts": facts, "last_seen": timezone.now()}
    machine, _ = Machine.objects.update_or_create(name=name, defaults={**values, "refusal": ""})
    return machine


def alive(machine: Machine, *, busy: bool) -> None:
    """Store that a machine is alive now. `busy` says that the machine has just claimed or ended a run."""
    now = timezone.now()
    times = {"last_seen": now, "last_busy": now} if busy else {"last_seen": now}
    Machine.objects.filter(pk=machine.pk).update(**times)


def refuses(machine: Machine, reason: str) -> None:
    """Store why the machine's worker leaves runs to others. An empty `reason` means that the worker takes all runs."""
    Machine.objects.filter(pk=machine.pk).exclude(refusal=reason).update(refusal=reason)
