"""Keeps the table of bench machines, the machines that execute runs.

For each machine, the table contains the class, the time when the machine was last alive, and the reason why its worker
leaves some runs to other machines, if it does.

Each function is one transaction, or a part of the caller's transaction if the caller has opened one.
"""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from leaderboard.models import Machine


def seen(name: str, machine_class: str, facts: dict[str, Any]) -> Machine:
    """Record that a machine's worker started, with the machine's class and facts; return the machine's row."""
    values = {"machine_class": machine_class, "facts": facts, "last_seen": timezone.now()}
    machine, _ = Machine.objects.update_or_create(name=name, defaults={**values, "refusal": ""})
    return machine


def alive(machine: Machine, *, busy: bool) -> None:
    """Record that a machine is alive now. `busy` also records that the machine just claimed or ended a run."""
    now = timezone.now()
    times = {"last_seen": now, "last_busy": now} if busy else {"last_seen": now}
    Machine.objects.filter(pk=machine.pk).update(**times)


def refuses(machine: Machine, reason: str) -> None:
    """Record why the machine's worker leaves runs to others. An empty `reason` means that the worker takes all runs."""
    Machine.objects.filter(pk=machine.pk).exclude(refusal=reason).update(refusal=reason)
