"""Defines the form with which users upload a library.

The form checks only the fields of the request. leaderboard/services.py checks the uploaded file.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings

from leaderboard import catalogue
from leaderboard.boards import boards_for
from leaderboard.models import MAX_DESCRIPTION
from leaderboard.queue.queue_estimate import about, session_seconds
from web import jinja

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leaderboard.boards import Board


@dataclass(frozen=True, slots=True)
class Label:
    """The text of a check box: a title, a sentence, the boards that rank the choice, and how long its run takes."""

    title: str
    description: str
    boards: tuple[Board, ...] = ()
    duration: str = ""

    def __str__(self) -> str:
        return self.title


class Choices(forms.CheckboxSelectMultiple):
    """Check boxes with a Label each, perhaps in groups, rendered by the template components/choices.html."""

    template_name = "components/choices.html"


class UploadForm(forms.Form):
    """A shared library, its description, the benchmarks to run, and a configuration.

    Only a bare structure (a data structure without locks and transactions) has a configuration. The configuration says
    how Keydrome adds the locks and transactions.
    """

    # With the attribute "required", browsers would show their own messages instead of ours, which say what to do.
    use_required_attribute = False

    file = forms.FileField(
        label="Shared library",
        widget=forms.FileInput(attrs={"accept": ".so"}),
        error_messages={
            "required": "Choose the shared library (.so) that you have built.",
            "max_length": "The name of the file has %(length)d characters, and the limit is %(max)d. Rename the file "
            "and try again.",
        },
        max_length=255,
        allow_empty_file=True,  # the inspection refuses an empty file and says why
    )
    description = forms.CharField(
        max_length=MAX_DESCRIPTION,
        required=False,
        help_text="What is new in this version? Everyone can read this on the board.",
    )
    targets = forms.MultipleChoiceField(
        label="Benchmarks",
        widget=Choices,
        help_text="The benchmarks of the main boards are preselected. The correctness tests always run first; only a "
        "library that passes them is ranked.",
        error_messages={"required": "Choose at least one benchmark."},
    )
    configurations = forms.MultipleChoiceField(
        required=False,
        widget=Choices,
        help_text="Only for a bare structure (keydrome/structure.h), a data structure without locks and transactions. "
        "A configuration says how Keydrome adds them. Each configuration that you choose makes a "
        "separate submission with separate board entries. These submissions together count as one library towards a "
        "board's limit of libraries per user.",
    )
    all_configurations = forms.BooleanField(required=False)

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        """Read the choices from the manifests of benchmarks and configurations.

        `too_large` is True if the upload handler discarded the file.
        """
        super().__init__(*args, **kwargs)
        self.too_large = too_large
        targets = self.fields["targets"]
        configurations = self.fields["configurations"]
        assert isinstance(targets, forms.MultipleChoiceField)  # noqa: S101 - declared above, for the type checker
        assert isinstance(configurations, forms.MultipleChoiceField)  # noqa: S101
        seconds = session_seconds()
        targets.choices = [
            (group, [(str(choice.target), _target_label(choice, seconds)) for choice in choices])
            for group, choices in groupby(catalogue.choices(), key=attrgetter("group"))
        ]
        targets.initial = [str(target) for target in catalogue.main_targets()]
        configurations.choices = [
            (name, _configuration_label(name)) for name in catalogue.configurations()
        ]
        self.fields[
            "all_configurations"
        ].label = (
            f"All configurations that isolate transactions: {', '.join(catalogue.isolating())}"
        )

    @property
    def chosen_configurations(self) -> list[str]:
        """Return the configurations of a valid form. If none was chosen, return one empty string."""
        chosen = self.cleaned_data["configurations"]
        if self.cleaned_data["all_configurations"]:
            chosen = [*catalogue.isolating(), *chosen]
        return list(dict.fromkeys(chosen)) or [""]

    def clean(self) -> dict[str, Any]:
        """If the file was discarded because of its size, report the size instead of a missing file."""
        if self.too_large:
            self.errors.pop("file", None)
            self.add_error("file", too_large_message())
        return self.cleaned_data


def _target_label(choice: catalogue.Choice, seconds: Mapping[tuple[str, str, str], float]) -> Label:
    target = choice.target
    scale = settings.KEYDROME_SCALE or catalogue.board_scale(target)
    known = seconds.get((target.benchmark, target.instance, scale))
    return Label(
        title=choice.title,
        description=jinja.sentence(choice.description),
        boards=boards_for(target.benchmark, target.instance),
        duration="" if known is None else about(known * settings.KEYDROME_SESSIONS),
    )


def _configuration_label(name: str) -> Label:
    fields = catalogue.configuration_fields(name)
    title = f"{name}: {fields['title']}" if "title" in fields else name
    return Label(title, jinja.sentence(fields.get("description", "")))


def too_large_message() -> str:
    """Return the error for a file above the size limit."""
    limit = jinja.upload_limit()
    return f"The file is larger than {limit}, the upload limit. Shrink it with strip --strip-unneeded and try again."
