"""The pages on which officials see a contest's hidden instances, and organisers add, change and remove them.

A hidden instance is a benchmark instance whose parameters stay secret from contestants until the instance is public.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q, prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard import catalogue
from leaderboard.contests import hidden
from leaderboard.contests.organising import Right
from leaderboard.contests.results import contest_standing
from leaderboard.models import FINAL_STATES
from leaderboard.services import Refused
from runner.manifest import Kind
from web import jinja
from web.contests.access import visit
from web.contests.hidden_forms import ChangeForm, HiddenForm, initial_of
from web.contests.rows import combined_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from django import forms

    from leaderboard.contests.models import Contest, HiddenInstance
    from web.contests.access import Visit
    from web.http import UserRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def every(request: UserRequest, slug: str) -> HttpResponse:
    """Show the officials all hidden instances, and the combined ranking that counts them. POST adds an instance."""
    posted = request.method == "POST"
    found = visit(request, slug, Right.ORGANISE if posted else Right.SEE)
    form = HiddenForm(request.POST if posted else None)
    if posted and _saved(
        form, lambda: hidden.add(found.contest, form.shown(), form.secret(), by=request.user)
    ):
        messages.success(request, "The hidden instance is added.")
        return redirect("contests:hidden", slug)
    return render(request, "contests/hidden.html", _context(found, form))


def _saved(form: forms.Form, action: Callable[[], object]) -> bool:
    """Carry out the action if the form is valid, and return True if it succeeded.

    If the action is refused, add the reason to the form.
    """
    if not form.is_valid():
        return False
    try:
        action()
    except Refused as refused:
        form.add_error(None, jinja.sentence(str(refused)))
        return False
    return True


def _context(found: Visit, form: HiddenForm) -> dict[str, object]:
    """Return the context of the officials' page."""
    contest = found.contest
    prefetch_related_objects([contest], "hidden_instances")
    standing = contest_standing(contest, live=True, secret=True)
    counting = sum(board.counts for board in standing.boards)
    combined, axis = combined_lines(found, standing.combined, counting)
    every_one = contest.hidden_instances.order_by("removed_at", "pk").annotate(
        queued=Count("runs"), ended=Count("runs", filter=Q(runs__state__in=FINAL_STATES))
    )
    timed = [one for one in catalogue.benchmarks().values() if one.kind is Kind.PERFORMANCE]
    return {
        "visit": found,
        "contest": contest,
        "form": form,
        "every_one": every_one,
        "combined": combined,
        "axis": axis,
        "benchmarks": timed,
    }


def _one(contest: Contest, pk: int) -> HiddenInstance:
    """Return a hidden instance of this contest that is not removed, or respond 404."""
    one = contest.hidden_instances.filter(pk=pk, removed_at=None).first()
    if one is None:
        raise Http404
    return one


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Change what contestants see of a hidden instance, and when it becomes public."""
    found = visit(request, slug, Right.ORGANISE)
    one = _one(found.contest, pk)
    posted = request.method == "POST"
    form = ChangeForm(request.POST if posted else None, initial=initial_of(one))
    if posted and _saved(
        form,
        lambda: hidden.change(one, form.shown(), form.cleaned_data["reason"], by=request.user),
    ):
        messages.success(request, "The hidden instance is changed.")
        return redirect("contests:hidden", slug)
    context = {"contest": found.contest, "one": one, "form": form}
    return render(request, "contests/hidden_change.html", context)


@login_required
@require_POST
def remove(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Remove a hidden instance."""
    found = visit(request, slug, Right.ORGANISE)
    one = _one(found.contest, pk)
    try:
        hidden.remove(one, request.POST.get("reason", ""), by=request.user)
    except Refused as refused:
        messages.error(request, jinja.sentence(str(refused)))
        return redirect("contests:hidden_change", slug, pk)
    messages.success(request, "The hidden instance is removed.")
    return redirect("contests:hidden", slug)
