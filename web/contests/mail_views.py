"""Lets users ask for a contest's announcements by email, and end that by a link in the mail, without a log-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.contests import mail
from leaderboard.contests.models import Contest
from web.contests.access import visit

if TYPE_CHECKING:
    from django.http import HttpRequest

    from web.http import UserRequest


@login_required
@require_POST
def subscribe(request: UserRequest, slug: str) -> HttpResponse:
    """Start or end the mails, as the field `on` says. Responds 404 on a site without a mail server."""
    found = visit(request, slug)
    if not settings.KEYDROME_SENDS_MAIL:
        raise Http404
    if request.POST.get("on") != "1":
        mail.unsubscribe(found.contest, request.user.pk)
        messages.success(request, "You get no more mails about this contest.")
    elif not request.user.email:
        messages.error(request, "Your account has no email address. Add one, then try again.")
        return redirect("account_email")
    else:
        mail.subscribe(found.contest, request.user)
        messages.success(request, "You get the announcements of this contest by email.")
    return redirect("contests:front", slug)


# Mail programs post to the link without a token of ours (RFC 8058). Its signature takes the token's place.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Ask (GET) whether the mails should end, or end them (POST). Programs that follow links only get the question."""
    contest = Contest.objects.filter(slug=slug).first()
    user_id = mail.subscriber_of(contest, token) if contest else None
    if contest is None or user_id is None:
        raise Http404
    if request.method == "POST":
        mail.unsubscribe(contest, user_id)
    context = {"contest": contest, "done": request.method == "POST"}
    return render(request, "contests/stop_mail.html", context)
