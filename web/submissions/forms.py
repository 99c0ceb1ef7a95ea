"""Defines the form with which users upload a library.

The form checks only the fields of the request. leaderboard/services.py checks the uploaded file.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms

from leaderboard import catalogue
from leaderboard.models import MAX_DESCRIPTION
from web import jinja

WHOLE_LIBRARY = ("", "none (the file is a whole library)")


class Choices(forms.CheckboxSelectMultiple):
    """Check boxes in groups, rendered by the template components/choices.html."""

    template_name = "components/choices.html"


class UploadForm(forms.Form):
    """A shared library, its description, the benchmarks to run, and a configuration.

    Only a bare structure (a data structure without locks and transactions) has a configuration. It says how Keydrome
    adds the locks and transactions.
    """

    # With the attribute "required", browsers would show their own messages instead of ours, which say what to do.
    use_required_attribute = False

    file = forms.FileField(
        label="Shared library",
        widget=forms.FileInput(attrs={"accept": ".so"}),
        error_messages={
            "required": "Choose the shared library (.so) that you have built.",
            "max_length": "The name of the file is too long. Rename it and try again.",
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
    configuration = forms.ChoiceField(
        required=False,
        help_text="Choose one only if the file is a bare structure (keydrome/structure.h), a data structure without "
        "locks and transactions. The configuration says how Keydrome adds locks and transactions.",
    )

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        """Read the choices from the manifests of benchmarks and configurations.

        `too_large` is True if the upload handler discarded the file.
        """
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
        """If the file was discarded because of its size, report the size instead of a missing file."""
        if self.too_large:
            self.errors.pop("file", None)
            self.add_error("file", too_large_message())
        return self.cleaned_data


def too_large_message() -> str:
    """Return the error for a file above the size limit."""
    limit = jinja.upload_limit()
    return f"The file is larger than {limit}, the upload limit. Shrink it with strip --strip-unneeded and try again."
