"""Lets users subscribe to a contest's announcements by email. A link in each email unsubscribes without a log-in."""

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
    """Subscribe the user if the field `on` is "1"; otherwise unsubscribe. Responds 404 if the site sends no emails."""
    found = visit(request, slug)
    if not settings.KEYDROME_SENDS_MAIL:
        raise Http404
    if request.POST.get("on") != "1":
        mail.unsubscribe(found.contest, request.user.pk)
        messages.success(request, "You will get no more emails about this contest.")
    elif not request.user.email:
        messages.error(
            request, "Your account has no email address. Add an address, then try again."
        )
        return redirect("account_email")
    else:
        mail.subscribe(found.contest, request.user)
        messages.success(request, "You will get this contest's announcements by email.")
    return redirect("contests:front", slug)


# Mail programs post to this link without a CSRF token (RFC 8058). Instead, the signed token in the link proves that the
# request comes from the subscriber.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """Ask whether to unsubscribe (GET), or unsubscribe (POST). So a program that follows the link changes nothing."""
    contest = Contest.objects.filter(slug=slug).first()
    user_id = mail.subscriber_of(contest, token) if contest else None
    if contest is None or user_id is None:
        raise Http404
    if request.method == "POST":
        mail.unsubscribe(contest, user_id)
    context = {"contest": contest, "done": request.method == "POST"}
    return render(request, "contests/stop_mail.html", context)
