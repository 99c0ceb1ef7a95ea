"""Defines the forms of contests: the contest itself, a team, a submission, an announcement, reasons and roles."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from leaderboard import catalogue
from leaderboard.boards import all_boards
from leaderboard.contests.models import REASON_MAX, TEAM_NAME_MAX, Contest, Role
from web import jinja
from web.submissions.forms import Choices, Label, UploadForm

_DATES = ("opens_at", "freezes_at", "closes_at", "results_at")
_DATE_FORMAT = "%Y-%m-%dT%H:%M"
_SHOWN = "%Y-%m-%d %H:%M"
NO_DATE = "This is not a date with a time. Write, for example, 2026-07-31 18:00."


def user_named(name: str) -> User:
    """Return the active user with this name. Raises ValidationError if there is none."""
    user = User.objects.filter(username__iexact=name.strip(), is_active=True).first()
    if user is None:
        raise ValidationError(f"No user has the name {name.strip()!r}. Check the spelling.")
    return user


class ContestForm(forms.ModelForm):  # type: ignore[type-arg] # generic only in the stubs
    """The dates, boards, rules and admission of a contest."""

    use_required_attribute = False

    boards = forms.MultipleChoiceField(
        widget=Choices, error_messages={"required": "Choose at least one board."}
    )
    guest_names = forms.CharField(
        label="Named users",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One user name per line. The list is used only if admission is limited to named users.",
    )

    class Meta:
        model = Contest
        fields = (
            "name",
            "slug",
            "summary",
            *_DATES,
            "boards",
            "machine_class",
            "rules",
            "questions",
            "runs_private",
            "wants_source",
            "admission",
            "team_size",
            "quota_open",
            "quota_frozen",
            "published",
        )
        labels: ClassVar = {
            "slug": "Name in the URL",
            "opens_at": "Opens (UTC)",
            "freezes_at": "Boards freeze (UTC)",
            "closes_at": "Uploads end, finals begin (UTC)",
            "results_at": "Results (UTC)",
            "questions": "Questions and answers",
            "runs_private": "Runs are private until the results",
            "wants_source": "Teams hand in source code for the finals",
            "admission": "Admission",
            "team_size": "Maximum number of members in a team",
            "quota_open": "Maximum number of submissions of a team in 24 hours while the contest is open",
            "quota_frozen": "Maximum number of submissions of a team in 24 hours while its boards are frozen",
            "published": "Published",
        }
        help_texts: ClassVar = {
            "freezes_at": "To leave out a phase, give it the same date as the next phase.",
            "machine_class": "The class of machines (processor, number of CPUs, memory) whose results count, "
            "written as on the status page. If the field is empty, the class with the most runs counts.",
            "runs_private": "Until the results, only a team itself and the officials see its runs.",
            "wants_source": "Teams hand in the source code of their entries for the finals.",
            "published": "Until the contest is published, only its officials see it.",
        }
        error_messages: ClassVar = {
            "slug": {
                "unique": "Another contest has this name already. Choose another name.",
                "invalid": "The name may contain only letters, digits, hyphens and underscores. "
                "Write, for example, autumn-cup-2026.",
            },
            **{name: {"invalid": NO_DATE} for name in _DATES},
        }
        widgets: ClassVar = {
            name: forms.DateTimeInput(attrs={"type": "datetime-local"}, format=_DATE_FORMAT)
            for name in _DATES
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        """Read the choices of boards, and the names of the guests."""
        super().__init__(*args, **kwargs)
        boards = self.fields["boards"]
        assert isinstance(boards, forms.MultipleChoiceField)  # noqa: S101 - declared above, for the type checker
        boards.choices = [
            (
                "Boards",
                [(board.slug, Label(board.title, "")) for board in all_boards()],
            )
        ]
        if self.instance.pk:
            names = self.instance.guests.order_by("username").values_list("username", flat=True)
            # Browsers send "\r\n" at the end of a line. With "\n" here, an unchanged field would count as changed.
            self.fields["guest_names"].initial = "\r\n".join(names)

    def clean_guest_names(self) -> list[User]:
        """Return the named users."""
        names = self.cleaned_data["guest_names"].splitlines()
        return [user_named(name) for name in names if name.strip()]

    def clean(self) -> dict[str, Any]:
        """Check that the dates are in order."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        dates = [cleaned.get(name) for name in _DATES]
        for name, (before, after) in zip(_DATES[1:], pairwise(dates), strict=True):
            if before is not None and after is not None and after < before:
                label = self.fields[_DATES[_DATES.index(name) - 1]].label
                self.add_error(
                    name,
                    f"{after:{_SHOWN}} is before {before:{_SHOWN}}, the date in the field “{label}”. "
                    "Choose a later date.",
                )
        return cleaned


class TeamForm(forms.Form):
    """The name of a team."""

    use_required_attribute = False

    name = forms.CharField(
        max_length=TEAM_NAME_MAX, error_messages={"required": "Enter a name for the team."}
    )
    anonymous = forms.BooleanField(
        required=False,
        help_text="Until the results, others see neither the team's name nor its runs.",
    )


class InviteForm(forms.Form):
    """The user to invite."""

    use_required_attribute = False

    user_name = forms.CharField(
        max_length=150,
        error_messages={"required": "Enter the name of the user whom you want to invite."},
    )


class ContestUploadForm(UploadForm):
    """A library for all boards of a contest, under at most one configuration; there is no choice of benchmarks."""

    configuration = forms.ChoiceField(
        required=False,
        help_text="Only for a bare structure (keydrome/structure.h), a data structure without locks and transactions. "
        "The configuration says how Keydrome adds them.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        """Leave out the benchmarks, which the contest decides, and the choice of several configurations."""
        super().__init__(*args, **kwargs)
        for name in ("targets", "configurations", "all_configurations"):
            del self.fields[name]
        configuration = self.fields["configuration"]
        assert isinstance(configuration, forms.ChoiceField)  # noqa: S101 - declared above, for the type checker
        names = [(name, name) for name in catalogue.configurations()]
        configuration.choices = [("", "none, because the file is a whole library"), *names]


class SourceForm(forms.Form):
    """An archive with the source code of an entry."""

    use_required_attribute = False

    file = forms.FileField(
        label="Archive",
        max_length=100,
        widget=forms.FileInput(attrs={"accept": ".zip,.gz,.tgz,.xz,.zst"}),
        error_messages={
            "required": "Choose the archive with your source code.",
            "empty": "The file is empty. Choose the archive with your source code.",
        },
    )

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        """Put the size limit into the help text. `too_large`: the upload was stopped because of its size."""
        super().__init__(*args, **kwargs)
        self._too_large = too_large
        limit = jinja.size(settings.KEYDROME_SOURCE_BYTES)
        self.fields[
            "file"
        ].help_text = f"A .zip, .tar.gz, .tar.xz or .tar.zst file of at most {limit}."
        if too_large:
            self.fields["file"].error_messages["required"] = (
                f"The file is larger than {limit}, the limit for source code. Leave compiled files out."
            )


class AnnounceForm(forms.Form):
    """An announcement."""

    use_required_attribute = False

    title = forms.CharField(
        max_length=200, error_messages={"required": "Enter a title for the announcement."}
    )
    body = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 8}),
        label="Text (Markdown)",
        error_messages={"required": "Enter the text of the announcement."},
    )


class ReasonForm(forms.Form):
    """The reason for something that an official does."""

    use_required_attribute = False

    reason = forms.CharField(
        max_length=REASON_MAX,
        help_text="The team can read this reason, and the audit log keeps it.",
        error_messages={"required": "Give a reason, which the audit log keeps."},
    )


class RoleForm(forms.Form):
    """A user and the role in the contest."""

    use_required_attribute = False

    user_name = forms.CharField(
        max_length=150,
        error_messages={"required": "Enter the name of the user whose role you want to change."},
    )
    role = forms.ChoiceField(choices=[*Role.choices, ("", "no role")], required=False)

    def clean_user_name(self) -> User:
        """Return the user."""
        return user_named(self.cleaned_data["user_name"])
