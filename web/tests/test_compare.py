"""Tests the comparison of runs: which runs it shows to whom, what it says about them, and its exports."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from leaderboard.catalogue import Target
from leaderboard.models import Run, Submission
from results.stats.family import MARGIN_RATIO
from web.compare.axes import LogAxis, even_ticks, ratio_axis
from web.tests.world import World, claim, finish, finish_all, run_of

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db
OTHER = Target("sigmod2009", "preliminary2")


def timed_run(world: World, tag: str, slower: float, seeds: list[str]) -> Run:
    """Return a finished timed run of a library of its own, with these seeds."""
    submission = world.submit(content=world.library + tag.encode(), name=f"{tag}.so")
    Run.objects.filter(submission=submission, kind="performance").update(
        seeds=seeds, sessions=len(seeds)
    )
    while (run := claim()).kind != "performance":
        finish(run)
    return finish(run, slower=slower)


def seeds(first: int, count: int) -> list[str]:
    return [f"{number:016x}" for number in range(first, first + count)]


@pytest.fixture
def unrelated(world: World) -> list[Run]:
    """Three runs with seeds of their own: the second is 2 % slower than the first, the third twice as slow."""
    return [
        timed_run(world, name, slower, seeds(100 * number, 8))
        for number, (name, slower) in enumerate((("quick", 1.0), ("near", 1.02), ("slow", 2.0)))
    ]


@pytest.fixture
def related(world: World) -> list[Run]:
    """Two runs with the same seeds: the second is 10 % slower."""
    return [
        timed_run(world, name, slower, seeds(1, 8)) for name, slower in (("one", 1.0), ("two", 1.1))
    ]


def address(runs: list[Run], ending: str = "/") -> str:
    return f"/compare{ending}?runs={','.join(str(run.pk) for run in runs)}"


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return " ".join(answer.content.decode().split())


def test_further_sessions_are_only_for_the_runs_that_are_undecided(
    client: Client, unrelated: list[Run], world: World
) -> None:
    best = timed_run(world, "best", 0.5, seeds(900, 8))
    page = text(client, address([*unrelated[:2], best]))
    assert f"best (run {best.pk}) is best." in page
    assert "more sessions of each run would tell the other runs apart" in page


def test_unrelated_runs_are_not_paired_and_the_page_says_so(
    client: Client, unrelated: list[Run]
) -> None:
    page = text(client, address(unrelated))
    assert "The ratios cannot be paired, because the runs have different seeds" in page
    names = "quick (run {.pk}) and near (run {.pk})".format(*unrelated[:2])
    assert f"No single run is best: the sessions do not separate {names}." in page
    assert "more sessions of each run would probably show which is better" in page
    found = client.get(address(unrelated, ".json")).json()
    assert (found["paired"], found["shared_seeds"], found["differences"]) == (False, 0, [])
    quick, near, slow = (run.pk for run in unrelated)
    assert [row["run_id"] for row in found["runs"]] == [quick, near, slow]
    assert [(row["rank_low"], row["rank_high"]) for row in found["runs"]] == [
        (1, 2),
        (1, 2),
        (3, 3),
    ]
    assert {pair["second"]: pair["leader"] for pair in found["pairs"][1:]} == {
        f"run {slow}": f"run {near}"
    }
    assert found["pairs"][0]["standing"] == "undecided"
    assert found["pairs"][0]["more_sessions"] > 0


def test_runs_with_the_same_seeds_are_paired(client: Client, related: list[Run]) -> None:
    """The ratios of a run's sessions differ by up to 8 %, but the two runs differ by 10 % in each pair of sessions.

    So the paired test finds the difference.
    """
    page = text(client, address(related))
    assert "The runs have 8 seeds in common" in page
    assert f"one (run {related[0].pk}) is best." in page
    found = client.get(address(related, ".json")).json()
    assert (found["paired"], found["shared_seeds"]) == (True, 8)
    (pair,) = found["pairs"]
    assert pair["standing"] == "apart"
    assert pair["ratio"] == pytest.approx(1 / 1.1)


def test_few_common_seeds_do_not_decide(client: Client, world: World) -> None:
    runs = [timed_run(world, "a", 1.0, seeds(1, 8)), timed_run(world, "b", 1.1, seeds(6, 8))]
    assert "because the runs have only 3 seeds in common" in text(client, address(runs))
    assert client.get(address(runs, ".json")).json()["paired"] is False


def test_the_best_of_each_row_is_marked(client: Client, related: list[Run]) -> None:
    page = text(client, address(related))
    rows = page[page.index('id="numbers"') : page.index('id="differences"')]
    assert rows.count('class="best"') == 1, "only the times differ"
    start = rows.index("Time (ms)")
    assert '<strong class="best">43.5<span class="hidden"> (best)</span></strong>' in rows[start:]


def test_runs_that_measured_something_else_are_shown_but_not_tested(
    client: Client, world: World
) -> None:
    world.submit(targets=(OTHER,))
    finish_all()
    world.submit()
    finish_all()
    runs = list(Run.objects.filter(kind="performance"))
    page = text(client, address(runs))
    assert "did not measure the same thing: they differ in instance" in page
    assert 'class="best"' not in page
    assert 'id="pairs"' not in page
    found = client.get(address(runs, ".json")).json()
    assert (found["differences"], found["pairs"]) == (["instance"], [])
    assert all(row["ratio"] and row["rank_low"] is None for row in found["runs"])


def test_a_run_that_has_not_finished_has_no_numbers(
    client: Client, world: World, related: list[Run]
) -> None:
    waiting = run_of(world.submit(content=world.library + b"w", name="waiting.so"))
    page = text(client, address([related[0], waiting]))
    assert (
        "because it needs 2 runs that have passed and have ratios to the control library: "
        f"run {waiting.pk} has not ended yet. Wait until run {waiting.pk} has ended, or choose other runs."
    ) in page
    found = client.get(address([waiting, *related], ".json")).json()
    assert [row["run_id"] for row in found["runs"]] == [r.pk for r in (*related, waiting)]
    assert found["runs"][-1]["ratio"] is None
    for seed in waiting.seeds:
        assert seed not in page


def test_seeds_are_not_exported(client: Client, related: list[Run]) -> None:
    for ending in ("/", ".csv", ".json"):
        content = client.get(address(related, ending)).content.decode()
        assert not any(seed in content for seed in related[0].seeds), ending


def test_differences_of_configuration_come_first(client: Client, related: list[Run]) -> None:
    Submission.objects.filter(runs=related[0]).update(configuration="occ")
    Submission.objects.filter(runs=related[1]).update(configuration="rw")
    page = text(client, address(related))
    differing, _, alike = page[page.index('id="differences"') :].partition("<details>")
    for label in ("Configuration", "Concurrency"):
        assert f'<th scope="row">{label}</th>' in differing
    assert '<span class="differs">occ</span>' in differing
    assert "<dt>Strategy</dt><dd>direct</dd>" in alike
    assert "<dt>Instance</dt><dd>preliminary1</dd>" in alike


def test_a_deleted_run_is_missing_for_all_but_organisers(
    alice: Client, client: Client, olga: Client, related: list[Run]
) -> None:
    Submission.objects.filter(runs=related[1]).update(deleted_at=timezone.now())
    for ending in ("/", ".csv", ".json"):
        assert alice.get(address(related, ending)).status_code == 404
        assert client.get(address(related, ending)).status_code == 404
        assert olga.get(address(related, ending)).status_code == 200
    assert f'value="{related[1].pk}"' not in text(client, address(related[:1]))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("x", "Choose runs by their numbers"),
        ("1;2", "Choose runs by their numbers"),
        ("9" * 30, "Choose runs by their numbers"),
        ("1,2,3,4,5,6,7", "You chose 7 runs, and at most 6 can be compared. Choose fewer runs."),
    ],
)
def test_a_wrong_choice_is_explained(client: Client, query: str, words: str) -> None:
    for ending in ("/", ".csv", ".json"):
        answer = client.get(f"/compare{ending}", {"runs": query})
        assert (answer.status_code, words in answer.content.decode()) == (400, True), ending


def test_a_run_that_does_not_exist_is_missing(client: Client, related: list[Run]) -> None:
    assert client.get(f"/compare/?runs={related[0].pk},987654321").status_code == 404
    for ending in (".csv", ".json"):
        answer = client.get(address(related[:1], ending))
        assert (answer.status_code, "Choose 2 to 6 runs" in answer.content.decode()) == (400, True)


def test_check_boxes_of_a_form_choose_runs(client: Client, related: list[Run]) -> None:
    """A form sends one field for each check box, and an empty text field."""
    one, two = (run.pk for run in related)
    page = text(client, f"/compare/?runs={one}&runs={two}&runs={one}&runs=")
    assert "<h1>Compare 2 runs</h1>" in page
    assert f'href="/compare.csv?runs={one}%2C{two}"' in page


def test_boards_lists_and_runs_lead_to_the_comparison(
    alice: Client, client: Client, related: list[Run]
) -> None:
    one, two = related
    for browser, path in ((client, "/boards/preliminary1/"), (alice, "/submissions/")):
        page = text(browser, path)
        assert (
            '<form id="compare" class="actions compare-chosen" method="get" action="/compare/">'
            in page
        ), path
        for run in related:
            assert f'name="runs" value="{run.pk}" form="compare"' in page, path
    assert f'href="/compare/?runs={one.pk}"' in text(client, f"/runs/{one.pk}/")
    page = text(client, f"/compare/?runs={one.pk}")
    assert f'name="runs" value="{one.pk}" checked' in page
    assert f'name="runs" value="{two.pk}">' in page, "the other ranked run is suggested"


def test_the_number_of_sql_statements_does_not_depend_on_the_runs(
    client: Client, unrelated: list[Run], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for runs in (unrelated[:2], unrelated):
        with django_assert_num_queries(3):
            client.get(address(runs))
        with django_assert_num_queries(1):
            client.get(address(runs, ".json"))


def test_csv_has_one_line_for_each_run(client: Client, related: list[Run]) -> None:
    Submission.objects.filter(runs=related[0]).update(file_name="=evil.so")
    answer = client.get(address(related, ".csv"))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["run"] for row in rows] == [f"/runs/{run.pk}/" for run in related]
    assert rows[0]["library"] == "'=evil"
    assert [float(row["total_ms"]) for row in rows] == pytest.approx([43.5, 47.85])
    assert float(rows[1]["ratio"]) == pytest.approx(float(rows[0]["ratio"]) * 1.1, rel=0.02)


def test_places_on_axes() -> None:
    axis = LogAxis(0.1, 10)
    assert [axis.place(value) for value in (0.01, 0.1, 1, 10, 99)] == [0, 0, 50, 100, 100]
    assert [(tick.label, tick.place) for tick in axis.ticks()] == [
        ("0.1", 0),
        ("0.3", 23.86),
        ("1", 50),
        ("3", 73.86),
        ("10", 100),
    ]
    assert [tick.label for tick in LogAxis(0.95, 1.06).ticks()] == [
        "0.96", "0.98", "1", "1.02", "1.04", "1.06",
    ]  # fmt: skip
    wide = ratio_axis([0.5, MARGIN_RATIO])
    assert wide.low < 0.5
    assert wide.high > MARGIN_RATIO
    assert ratio_axis([]).low < 1 < ratio_axis([]).high
    assert [tick.label for tick in even_ticks(105)] == ["0", "50", "100"]
    assert [tick.label for tick in even_ticks(0)] == ["0"]
