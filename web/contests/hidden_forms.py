"""Defines the forms with which organisers of a contest add and change hidden instances.

A hidden instance is a benchmark instance whose parameters stay secret from contestants until the instance is public.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings

from leaderboard import catalogue
from leaderboard.contests.hidden import TITLE_MAX, Secret, Shown, parse_parameters
from leaderboard.contests.models import REASON_MAX, PlayedIn, SeedPolicy
from leaderboard.services import Refused
from results.summary import RANKED_SESSIONS_MIN
from runner.manifest import Kind
from web import jinja
from web.contests.forms import NO_DATE

if TYPE_CHECKING:
    from leaderboard.contests.models import HiddenInstance

_DATE_FORMAT = "%Y-%m-%dT%H:%M"


def _targets() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the timed instances that do not need a file of a user, grouped by benchmark."""
    return [
        (
            benchmark.title,
            [
                (f"{benchmark.name}/{one.name}", f"{benchmark.name}/{one.name}: {one.title}")
                for one in benchmark.instances.values()
                if not one.trace
            ],
        )
        for benchmark in catalogue.benchmarks().values()
        if benchmark.kind is Kind.PERFORMANCE
    ]


class ShownForm(forms.Form):
    """What contestants see of a hidden instance: its title, whether it counts, and when it becomes public."""

    use_required_attribute = False

    title = forms.CharField(
        label="Public title",
        max_length=TITLE_MAX,
        help_text="Contestants see the title from now on, so it must not reveal what is secret.",
        error_messages={"required": "Enter a title for the hidden instance."},
    )
    counts = forms.BooleanField(
        label="The combined score counts this instance", required=False, initial=True
    )
    publish_at = forms.DateTimeField(
        label="Public at (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=_DATE_FORMAT),
        error_messages={"invalid": NO_DATE},
        help_text="From this date, everyone sees the parameters, board and runs of this instance. "
        "If the field is empty, they become public with the results.",
    )

    def shown(self) -> Shown:
        """Return the values of a valid form."""
        values = self.cleaned_data
        return Shown(values["title"], values["counts"], values["publish_at"])


class HiddenForm(ShownForm):
    """A new hidden instance."""

    field_order = (
        "title",
        "target",
        "scale",
        "parameters",
        "sessions",
        "seed_policy",
        "played_in",
        "counts",
        "publish_at",
    )

    target = forms.ChoiceField(
        label="Instance to change",
        error_messages={
            "required": "Choose the benchmark instance whose parameters you want to change."
        },
    )
    scale = forms.ChoiceField(choices=[(name, name) for name in catalogue.scales()])
    parameters = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="One NAME = NUMBER per line. Parameters that you leave out keep the values of the chosen instance. "
        "The tables below list names and ranges.",
    )
    sessions = forms.IntegerField(
        help_text="How often each run repeats the benchmark. "
        f"With fewer than {RANKED_SESSIONS_MIN} sessions (repetitions), the result is marked as provisional.",
        error_messages={
            "required": "The number of sessions is missing. Write a whole number, for example 15.",
            "invalid": "The number of sessions is not a whole number. Write, for example, 15.",
        },
    )
    seed_policy = forms.ChoiceField(
        label="Seeds",
        choices=SeedPolicy.choices,
        help_text="Common seeds give all entries the same operations, so ratios differ less by chance. "
        "Fresh seeds cannot leak from one run to the next.",
    )
    played_in = forms.ChoiceField(label="Played in", choices=PlayedIn.choices)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's
        """Read the choices of instances."""
        super().__init__(*args, **kwargs)
        target = self.fields["target"]
        assert isinstance(target, forms.ChoiceField)  # noqa: S101 - declared above, for the type checker
        target.choices = _targets()
        self.fields["sessions"].initial = settings.KEYDROME_SESSIONS
        self.fields["scale"].initial = settings.KEYDROME_SCALE or catalogue.scales()[-1]

    def clean_parameters(self) -> dict[str, int]:
        """Return the parameters by name."""
        try:
            return parse_parameters(self.cleaned_data["parameters"])
        except Refused as refused:
            raise forms.ValidationError(jinja.sentence(str(refused))) from refused

    def secret(self) -> Secret:
        """Return the values of a valid form."""
        values = self.cleaned_data
        benchmark, _, instance = values["target"].partition("/")
        return Secret(
            target=catalogue.Target(benchmark, instance),
            scale=values["scale"],
            parameters=values["parameters"],
            sessions=values["sessions"],
            seed_policy=SeedPolicy(values["seed_policy"]),
            played_in=PlayedIn(values["played_in"]),
        )


class ChangeForm(ShownForm):
    """A change of what contestants see of a hidden instance, with the reason."""

    reason = forms.CharField(
        max_length=REASON_MAX,
        help_text="The audit log keeps this reason.",
        error_messages={"required": "Give a reason, which the audit log keeps."},
    )


def initial_of(hidden: HiddenInstance) -> dict[str, object]:
    """Return the values with which the form of a change begins."""
    return {"title": hidden.title, "counts": hidden.counts, "publish_at": hidden.publish_at}
