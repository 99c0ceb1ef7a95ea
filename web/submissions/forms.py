"""The upload form: checks the request; what is in the file is for services.submit and decides nothing here."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms

from leaderboard import catalogue
from leaderboard.models import MAX_DESCRIPTION
from web import jinja

WHOLE_LIBRARY = ("", "none: the file is a whole library")


class Choices(forms.CheckboxSelectMultiple):
    """Check boxes in the house's style."""

    template_name = "components/choices.html"


class UploadForm(forms.Form):
    """A shared library, a word about it, and what it shall be run on."""

    use_required_attribute = False  # our own messages say what to do; browsers' would hide them

    file = forms.FileField(
        label="Shared library",
        widget=forms.FileInput(attrs={"accept": ".so"}),
        error_messages={
            "required": "Choose the shared library (.so) that you have built.",
            "max_length": "The file's name is too long: rename it and try again.",
        },
        max_length=255,
        allow_empty_file=True,  # a submission like any other, which the inspection refuses
    )
    description = forms.CharField(
        max_length=MAX_DESCRIPTION,
        required=False,
        help_text="What is new in this version? Everybody can read it on the board.",
    )
    targets = forms.MultipleChoiceField(
        label="Benchmarks",
        widget=Choices,
        help_text="Those that are ticked at first have a leaderboard. The correctness tests always run first; only a "
        "library that passes them is ranked.",
        error_messages={"required": "Choose at least one benchmark."},
    )
    configuration = forms.ChoiceField(
        required=False,
        help_text="Only for a bare structure (contract B): how Keydrome's runtime shall run it.",
    )

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        """Fill the choices from what is on disk. `too_large`: the file was dropped while it arrived."""
        super().__init__(*args, **kwargs)
        self.too_large = too_large
        targets = self.fields["targets"]
        configuration = self.fields["configuration"]
        assert isinstance(targets, forms.MultipleChoiceField)  # noqa: S101 - declared above, for the type checker
        assert isinstance(configuration, forms.ChoiceField)  # noqa: S101
        targets.choices = [
            (group, [(str(choice.target), choice.title) for choice in choices])
            for group, choices in groupby(catalogue.choices(), key=attrgetter("group"))
        ]
        targets.initial = [str(target) for target in catalogue.main_targets()]
        names = [(name, name) for name in catalogue.configurations()]
        configuration.choices = [WHOLE_LIBRARY, *names]

    def clean(self) -> dict[str, Any]:
        """Say that a file was too large instead of that it is missing."""
        if self.too_large:
            self.errors.pop("file", None)
            self.add_error("file", too_large_message())
        return self.cleaned_data


def too_large_message() -> str:
    """Return what the owner of a file beyond the limit should know."""
    return f"The file is larger than {jinja.upload_limit()}. Strip it (strip -s library.so) and try again."
