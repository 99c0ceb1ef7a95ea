"""The pages of a contest for contestants: create, join and leave a team, invite users, and submit libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.contests import entries, teams
from leaderboard.contests.models import Invitation, Phase, Source, Team
from leaderboard.models import Submission
from leaderboard.services import Refused
from web import jinja
from web.contests.access import Visit, visit, with_team
from web.contests.forms import ContestUploadForm, InviteForm, TeamForm
from web.submissions.limits import count_upload, too_many_uploads
from web.submissions.upload_handler import was_too_large

if TYPE_CHECKING:
    from django import forms

    from leaderboard.contests.models import Entry
    from web.http import UserRequest

# The team's page offers this many of the user's newest submissions.
OFFERED = 20
INVITED = "If a user has this name, the user now finds the invitation on this contest's team page."


def _refused(form: forms.Form, refused: Refused) -> None:
    """Add the reasons of a refusal to the form."""
    for message in refused.messages:
        form.add_error(None, jinja.sentence(message))


def _show_refusal(request: UserRequest, refused: Refused) -> None:
    messages.error(request, jinja.sentence(str(refused)))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team(request: UserRequest, slug: str) -> HttpResponse:
    """Show the user's team, or a form to create a team. POST creates or changes the team."""
    found = visit(request, slug)
    mine = found.team
    if mine is not None:
        mine.contest = found.contest
        initial = {"name": mine.name, "anonymous": mine.anonymous}
    else:
        initial = {}
    form = TeamForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            if mine is None:
                teams.create(
                    found.contest, values["name"], by=request.user, anonymous=values["anonymous"]
                )
            else:
                teams.change(mine, values["name"], anonymous=values["anonymous"])
        except Refused as refused:
            _refused(form, refused)
        else:
            messages.success(request, "The team is saved.")
            return redirect("contests:team", slug)
    return render(request, "contests/team.html", _team_context(request, found, form))


def _team_context(request: UserRequest, found: Visit, form: TeamForm) -> dict[str, object]:
    """Return the context of the team's page."""
    contest, mine = found.contest, found.team
    context: dict[str, object] = {
        "visit": found,
        "contest": contest,
        "form": form,
        "invitations": Invitation.objects.filter(
            user=request.user, team__contest=contest
        ).select_related("team"),
    }
    if mine is None:
        return {**context, "why_not": teams.reason_against_sign_up(contest, request.user)}
    entered = mine.entries.select_related("submission__owner").order_by("-pk")
    offered = Submission.objects.filter(
        owner=request.user, deleted_at=None, created_at__gte=contest.opens_at
    ).exclude(contest_entries__contest=contest)
    return {
        **context,
        "team": mine,
        "link": request.build_absolute_uri(jinja.url("contests:join", contest.slug, mine.token)),
        "invite_form": InviteForm(),
        "members": mine.members.select_related("user").order_by("pk"),
        "entries": entered,
        "has_entered": entered.filter(submission__owner=request.user).exists(),
        "sources": set(Source.objects.filter(entry__team=mine).values_list("entry_id", flat=True)),
        "offered": offered.order_by("-pk")[:OFFERED],
        "left": entries.left_today(mine),
        "cannot_join": teams.reason_against_joining(contest),
        "has_ended": contest.phase is Phase.CLOSED,
    }


@login_required
@require_POST
def invite(request: UserRequest, slug: str) -> HttpResponse:
    """Invite a user by name. The response does not reveal whether the user exists."""
    _, mine = with_team(request, slug)
    form = InviteForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter the name of the user whom you want to invite.")
        return redirect("contests:team", slug)
    try:
        teams.invite(mine, form.cleaned_data["user_name"])
    except Refused as refused:
        _show_refusal(request, refused)
    else:
        messages.success(request, INVITED)
    return redirect("contests:team", slug)


@login_required
@require_POST
def new_link(request: UserRequest, slug: str) -> HttpResponse:
    """Replace the invitation link of the team."""
    _, mine = with_team(request, slug)
    teams.new_link(mine)
    messages.success(request, "The team has a new link. The old one no longer works.")
    return redirect("contests:team", slug)


@login_required
@require_POST
def leave(request: UserRequest, slug: str) -> HttpResponse:
    """Leave the team."""
    _, mine = with_team(request, slug)
    try:
        teams.leave(mine, request.user)
    except Refused as refused:
        _show_refusal(request, refused)
    else:
        messages.success(request, "You have left the team.")
    return redirect("contests:team", slug)


@login_required
@require_POST
def answer(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Accept or decline an invitation."""
    visit(request, slug)
    invitation = Invitation.objects.filter(
        pk=pk, user=request.user, team__contest__slug=slug
    ).select_related("team__contest")
    found = invitation.first()
    if found is None:
        raise Http404
    if request.POST.get("answer") == "accept":
        return _join(request, found.team)
    found.delete()
    messages.success(request, "You have declined the invitation.")
    return redirect("contests:team", slug)


def _join(request: UserRequest, wanted: Team) -> HttpResponse:
    try:
        teams.join(wanted, request.user)
    except Refused as refused:
        _show_refusal(request, refused)
    else:
        messages.success(request, "You are now in the team.")
    return redirect("contests:team", wanted.contest.slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: UserRequest, slug: str, token: str) -> HttpResponse:
    """Ask whether the user wants to join the team of an invitation link (GET), or add the user to the team (POST)."""
    found = visit(request, slug)
    wanted = Team.objects.filter(contest=found.contest, token=token).first()
    if wanted is None:
        raise Http404
    wanted.contest = found.contest
    if request.method == "POST":
        return _join(request, wanted)
    return render(request, "contests/join.html", {"contest": found.contest, "team": wanted})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: UserRequest, slug: str) -> HttpResponse:
    """Show the upload form (GET), or submit a library to all boards of the contest as an entry of the team (POST)."""
    found, mine = with_team(request, slug)
    if request.method != "POST":
        form = ContestUploadForm()
        return render(request, "contests/submit.html", _submit_context(found, mine, form))
    too_large = was_too_large(request)
    form = ContestUploadForm(request.POST, request.FILES, too_large=too_large)
    status = 413 if too_large else 200
    if wait := count_upload(request.user):
        status = 429
        form.add_error(None, too_many_uploads(wait))
    elif form.is_valid() and (entry := _enter_new(request, mine, form)):
        messages.success(request, "The library is submitted, and entered in the contest.")
        return redirect("submissions:detail", entry.submission_id)
    return render(
        request, "contests/submit.html", _submit_context(found, mine, form), status=status
    )


def _submit_context(found: Visit, mine: Team, form: ContestUploadForm) -> dict[str, object]:
    return {
        "contest": found.contest,
        "form": form,
        "left": entries.left_today(mine),
        "boards": entries.targets(found.contest),
    }


def _enter_new(request: UserRequest, mine: Team, form: ContestUploadForm) -> Entry | None:
    """Submit the library of a valid form. If the library is refused, add the reasons to the form and return None."""
    file = form.cleaned_data["file"]
    try:
        return entries.enter_new(
            mine,
            by=request.user,
            file=file.file,
            file_name=file.name,
            description=form.cleaned_data["description"],
            configuration=form.cleaned_data["configuration"],
        )
    except Refused as refused:
        _refused(form, refused)
        return None


@login_required
@require_POST
def enter(request: UserRequest, slug: str) -> HttpResponse:
    """Enter one of the user's existing submissions."""
    _, mine = with_team(request, slug)
    number = request.POST.get("submission", "")
    wanted = None
    if number.isascii() and number.isdigit() and len(number) <= 18:  # noqa: PLR2004 - fits the column
        wanted = Submission.objects.filter(
            pk=int(number), owner=request.user, deleted_at=None
        ).first()
    if wanted is None:
        raise Http404
    try:
        entries.enter(mine, wanted)
    except Refused as refused:
        _show_refusal(request, refused)
    else:
        messages.success(request, "The submission is entered in the contest.")
    return redirect("contests:team", slug)
