"""Tests of tools/check_tree.py: each check must complain about a bad example and accept a good one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from check_branches import check_branches
from tree import (
    architecture,
    dead_files,
    directions,
    language,
    named_files,
    open_ends,
    prefetches,
    sizes,
)
from tree.files import Tree

MakeTree = Callable[[dict[str, str]], Tree]


@pytest.fixture
def make(tmp_path: Path) -> MakeTree:
    """Return a function that writes the given files and returns a Tree of them."""

    def written(texts: dict[str, str]) -> Tree:
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Tree(tmp_path, tuple(sorted(texts)))

    return written


def test_long_file(make: MakeTree) -> None:
    tree = make({"base/long.cc": "int x;\n" * 501, "base/long.h": "int x;\n" * 301})
    assert sizes.check_files(tree) == [
        f"base/long.{suffix} has {lines} lines, but at most {limit} are allowed: split the file, or write "
        "`LIMIT: reason` at its top"
        for suffix, lines, limit in (("cc", 501, 500), ("h", 301, 300))
    ]


def test_long_file_with_a_reason(make: MakeTree) -> None:
    tree = make({"base/long.cc": "// LIMIT: a table\n" + "int x;\n" * 600})
    assert sizes.check_files(tree) == []


def test_long_comment_line(make: MakeTree) -> None:
    tree = make({"base/x.h": f"// {'x' * 97}\n // {'x' * 97}\nint {'y' * 120};\n"})
    assert sizes.check_comment_lines(tree) == [
        "base/x.h:2: this comment line has 101 columns, but at most 100 are allowed: wrap it"
    ]


def test_long_python_function(make: MakeTree) -> None:
    tree = make({"runner/long.py": "def f():\n" + "    pass\n" * 60})
    assert sizes.check_python(tree) == [
        (
            "runner/long.py:1: the function f has 61 lines, but at most 60 are allowed: split it, or write "
            "`LIMIT: reason` above it"
        )
    ]


@pytest.mark.parametrize("head", ["class C:\n", "@final\nclass C:\n    x = 1\n"])
def test_long_python_class(make: MakeTree, head: str) -> None:
    long = make({"runner/x.py": head + "    y = 1\n" * 200})
    assert "the class C has " in sizes.check_python(long)[0]
    reason = head + '    """C.\n\n    LIMIT: a table\n    """\n'
    assert not sizes.check_python(make({"runner/x.py": reason + "    y = 1\n" * 200}))


@pytest.mark.parametrize(
    "head",
    [
        "class C {\n",
        "class C final : public B {\n",
        "struct alignas(64) C {\n",
        "template <typename T>\nclass C {\n",
        'const char* kText = "}";\n// }\nclass C {\n  const char* text = R"(} // )"; /* } */\n',
    ],
)
def test_long_native_class(make: MakeTree, head: str) -> None:
    body = "  int y();\n" * 200 + "};\n"
    assert "class C has " in sizes.check_native_classes(make({"base/x.cc": head + body}))[0]
    excused = "// LIMIT: one table\n" + head + body
    assert sizes.check_native_classes(make({"base/x.cc": excused})) == []


def test_short_native_class(make: MakeTree) -> None:
    text = "class C {\n  int y();\n};\n" + "int x;\n" * 300
    assert sizes.check_native_classes(make({"base/x.cc": text})) == []


def test_crowded_folder(make: MakeTree) -> None:
    crowd = {f"base/x{n}.cc": "" for n in range(26)}
    assert sizes.check_folders(make(crowd)) == [
        (
            "base has 26 source files, but at most 25 are allowed: split the folder, or write "
            "`LIMIT: reason` in its README.md"
        )
    ]
    assert sizes.check_folders(make({**crowd, "base/README.md": "LIMIT: one table\n"})) == []
    assert sizes.check_folders(make({f"base/tests/x{n}.cc": "" for n in range(26)})) == []


def test_many_branches(make: MakeTree) -> None:
    body = "".join(f"  if (x == {n}) y();\n" for n in range(15)) + "}\n"
    text = "void f(int x) {\n" + body
    assert check_branches(make({"base/x.cc": text})) == [
        (
            "base/x.cc:1: the function f has 16 branches, but at most 15 are allowed: split it, or write "
            "`LIMIT: reason` above it"
        )
    ]
    assert check_branches(make({"base/x.cc": "// LIMIT: one check a field\n" + text})) == []


def test_a_switch_is_one_branch(make: MakeTree) -> None:
    cases = "".join(f"    case {n}: return {n};\n" for n in range(30))
    assert (
        check_branches(make({"base/x.cc": "int f(int x) {\n  switch (x) {\n" + cases + "  }\n}\n"}))
        == []
    )


# WINGS has one file for every folder of MAY_INCLUDE, and OPEN has every single header of MAY_INCLUDE. The tests create
# all of them, because the check ignores missing ones.
WINGS = {f"{node}/node.h": "" for node in directions.MAY_INCLUDE if not node.endswith(".h")}
OPEN = {node: "" for node in directions.MAY_INCLUDE if node.endswith(".h")}


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("base/x.h", "benchmarks/kit/op.h"),
        ("benchmarks/kit/x.h", "harness/protocol.h"),
        ("structures/btree/x.h", "benchmarks/kit/rng.h"),
        ("indexes/null/x.cc", "runtime/codec.h"),
        ("jail/x.c", "base/check.h"),
        ("harness/x.cc", "runtime/codec.h"),
        ("harness/x.cc", "jail/cgroup/cgroup.h"),
        ("runtime/x.cc", "checker/history/history.h"),
        # The player, which calls the library, runs in the jail. It may not include code that generates operations or
        # judges results, nor the reverse.
        ("benchmarks/kit/player/x.cc", "benchmarks/kit/script/script.h"),
        ("benchmarks/kit/player/x.cc", "benchmarks/kit/judge/judge.h"),
        ("benchmarks/kit/player/x.cc", "benchmarks/kit/workload/rng.h"),
        ("benchmarks/kit/player/x.cc", "checker/history/history.h"),
        ("benchmarks/kit/script/x.cc", "benchmarks/kit/player/interpreter.h"),
        ("benchmarks/kit/judge/x.cc", "benchmarks/kit/player/interpreter.h"),
        ("benchmarks/kit/workload/x.cc", "benchmarks/kit/player/interpreter.h"),
        ("benchmarks/tpcc/x.cc", "benchmarks/kit/player/interpreter.h"),
        ("harness/player/x.cc", "benchmarks/kit/judge/judge.h"),
        ("harness/player/x.cc", "harness/referee/plan.h"),
        ("harness/driver/x.cc", "benchmarks/kit/workload/rng.h"),
        ("harness/referee/x.cc", "benchmarks/kit/player/interpreter.h"),
        ("benchmarks/kit/format/x.h", "benchmarks/kit/script/script.h"),
        ("benchmarks/kit/script/x.h", "benchmarks/kit/judge/judge.h"),
        ("benchmarks/kit/judge/x.h", "benchmarks/kit/workload/workload.h"),
        ("checker/history/x.h", "checker/certify/graph.h"),
        ("checker/model/x.h", "checker/certify/graph.h"),
        ("checker/certify/x.h", "checker/witness/minimise.h"),
    ],
)
def test_wrong_direction(make: MakeTree, name: str, include: str) -> None:
    tree = make({**WINGS, **OPEN, name: f'#include "{include}"\n'})
    assert directions.check_directions(tree) == [
        (
            f"{name} includes {include}, but MAY_INCLUDE in tools/tree/directions.py does not allow it; "
            "remove the include"
        )
    ]


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("benchmarks/kit/format/x.h", "keydrome/index.h"),
        ("benchmarks/kit/player/x.cc", "benchmarks/kit/format/program.h"),
        ("benchmarks/kit/player/x.cc", "checker/history/event.h"),
        ("benchmarks/kit/player/tests/x.cc", "benchmarks/kit/judge/judge.h"),
        ("benchmarks/tpcc/x.cc", "benchmarks/kit/workload/workload.h"),
        ("benchmarks/tpcc/tests/x.cc", "benchmarks/kit/tests/play.h"),
        ("harness/x.cc", "benchmarks/kit/format/program.h"),
        ("harness/player/x.cc", "jail/tighten.h"),
        ("harness/tests/x.cc", "harness/referee/plan.h"),
        ("runtime/x.cc", "base/result.h"),
        ("runtime/tests/x.cc", "checker/history/history.h"),
        ("tests/x.cc", "benchmarks/kit/judge/judge.h"),
        ("jail/x.c", "jail/tighten.h"),
        ("base/x.cc", "gtest/gtest.h"),
    ],
)
def test_right_direction(make: MakeTree, name: str, include: str) -> None:
    tree = make({**WINGS, **OPEN, name: f'#include "{include}"\n'})
    assert directions.check_directions(tree) == []


def test_a_wing_to_come_has_no_effect(make: MakeTree) -> None:
    tree = make({"checker/x.h": '#include "checker/certify/graph.h"\n', "checker/certify.h": ""})
    assert directions.check_directions(tree) == []


def test_the_table_has_no_cycle() -> None:
    """The folders of MAY_INCLUDE can be sorted by dependency: no folders include each other in a cycle."""
    left = {node: allowed - {node} for node, allowed in directions.MAY_INCLUDE.items()}
    while left:
        ground = {node for node, allowed in left.items() if not allowed & left.keys()}
        assert ground, f"these nodes may include each other; remove an entry: {sorted(left)}"
        left = {node: allowed for node, allowed in left.items() if node not in ground}


def test_the_wall_has_no_door() -> None:
    """No chain of permitted includes leads from the player to code that generates operations or judges results.

    The player calls the untrusted library, in the same process.
    """
    kit = directions.KIT
    seen, edge = set(), {"harness/player", f"{kit}/player"}
    while edge:
        seen |= edge
        edge = set().union(*(directions.MAY_INCLUDE[node] for node in edge)) - seen
    assert not seen & {f"{kit}/script", f"{kit}/judge", f"{kit}/workload", "checker"}


def test_open_end(make: MakeTree) -> None:
    note = "TO" + "DO"
    assert open_ends.check_open_ends(make({"base/x.cc": f"// {note} later\n"}))
    assert not open_ends.check_open_ends(make({"base/x.cc": f"// {note}(#7) later\n"}))


def test_rooms_need_a_page(make: MakeTree) -> None:
    pages = {f"{room}/README.md": "# room\n" for room in sizes.ROOMS}
    pages["README.md"] = "line\n" * 100
    assert sizes.check_readmes(make(pages)) == []
    del pages["jail/README.md"]
    pages["api/README.md"] = "line\n" * 61
    pages["README.md"] += "line\n"
    assert sizes.check_readmes(make(pages)) == [
        "README.md has 101 lines, but at most 100 are allowed; shorten it",
        "api/README.md has 61 lines, but at most 60 are allowed; shorten it",
        "jail/README.md is missing; the root and every top-level folder need one",
    ]


def test_dead_header(make: MakeTree) -> None:
    dead = {
        "base/x.h": "",
        "base/x.cc": '#include "base/x.h"\n',
        "base/tests/x_test.cc": '#include "base/x.h"\n',
    }
    complaint = (
        "base/x.h: nothing includes this header but its own source and tests; "
        "delete it or include it"
    )
    assert dead_files.check_headers(make(dead)) == [complaint]
    for reader in ("base/y.cc", "tests/faulty/y.cc"):
        assert not dead_files.check_headers(make({**dead, reader: '#include "base/x.h"\n'}))
    assert not dead_files.check_headers(make({"api/include/keydrome/x.h": ""}))


@pytest.mark.parametrize(
    ("text", "compiled"),
    [
        ("add_library(base STATIC y.cc)", False),
        ("# x.cc", False),
        ("add_library(base STATIC x.cc)", True),
        ("add_library(base STATIC ${CMAKE_CURRENT_SOURCE_DIR}/x.cc)", True),
        ("add_library(base STATIC ${CMAKE_SOURCE_DIR}/base/x.cc)", True),
        ("file(GLOB sources *.cc)", True),
    ],
)
def test_source_in_no_target(make: MakeTree, text: str, *, compiled: bool) -> None:
    tree = make({"base/x.cc": "", "base/CMakeLists.txt": f"{text}\n"})
    complaint = [
        "base/x.cc: no CMakeLists.txt compiles this source; delete it or add it to a target"
    ]
    assert dead_files.check_sources(tree) == ([] if compiled else complaint)


@pytest.mark.parametrize(
    ("reader", "text", "alive"),
    [
        ("runner/y.py", "", False),
        ("runner/tests/test_x.py", "from runner import x\n", False),
        ("runner/y.py", "from runner import x\n", True),
        ("runner/y.py", "from runner.x import f\n", True),
        ("runner/y.py", "import runner.x\n", True),
        ("runner/y.py", 'NAMES = ["runner.x.f"]\n', True),
        ("runner/x.py", 'if __name__ == "__main__":\n    pass\n', True),
    ],
)
def test_dead_module(make: MakeTree, reader: str, text: str, *, alive: bool) -> None:
    tree = make({"runner/x.py": "", "runner/z.py": "import runner.y\n", reader: text})
    complaint = "runner/x.py: nothing but tests imports this module; delete it or import it"
    assert (complaint not in dead_files.check_modules(tree)) == alive


def test_comment_names_a_missing_file(make: MakeTree) -> None:
    tree = make(
        {
            "base/x.cc": '// See y.h and base/z.md.\n// <linux/fs.h>\nconst char* k = "a.h";\n',
            "base/w.py": '"""Read gone.py."""\n',
            "base/y.h": "",
        }
    )
    assert named_files.check_named_files(tree) == [
        "base/w.py:1: the text names the file gone.py, which does not exist; correct the name",
        "base/x.cc:1: the text names the file base/z.md, which does not exist; correct the name",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("base/x.cc", "int x;  // the soup\n"),
        ("base/x.cc", "/* Stirs\n * the soup. */\n"),
        ("base/x.cc", 'const char* k = "stirs the soup";\n'),
        ("base/x.py", '"""Stir the soup."""\n'),
        ("base/x.py", "x = 1  # the soup\n"),
        ("base/x.py", 'x = f"stirs the {1} soup"\n'),
        ("base/x.md", "Stir the soup.\n"),
        ("base/x.html", "<p>Stir <b>the</b> soup.</p>\n"),
        ("base/x.json", '{"description": "Stirs the soup."}'),
        ("base/x.html", "{# Stirs the soup. #}\n"),
        ("base/x.py", "def test_the_soup_is_stirred() -> None:\n    pass\n"),
        ("base/x.cc", "TEST_P(Kitchen, StirsTheSoup) {}\n"),
    ],
)
def test_banned_word(make: MakeTree, name: str, text: str) -> None:
    complaints = language.check_language(make({name: text}), ("",))
    assert len(complaints) == 1
    assert complaints[0].endswith('"soup" is a banned word: write mixed')


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("base/x.cc", 'const char* k = "soup";\nint soup;\n'),
        ("base/x.py", "def soup() -> None:\n    pass\n"),
        ("base/x.md", "Call `soup`.\n\n```\nsoup\n```\n"),
        ("CHANGELOG.md", "The soup is gone.\n"),
    ],
)
def test_a_banned_word_may_be_code_or_history(make: MakeTree, name: str, text: str) -> None:
    assert language.check_language(make({name: text}), ("",)) == []


@pytest.mark.parametrize(("words", "refused"), [(31, True), (30, False)])
def test_long_sentence(make: MakeTree, words: int, *, refused: bool) -> None:
    sentence = "// " + " ".join(["word"] * words) + ".\n"
    assert bool(language.check_language(make({"base/x.cc": sentence}), ("",))) == refused


def test_sentences_end_at_lists_and_tables(make: MakeTree) -> None:
    items = "// Words:\n" + "".join(f"//  - {'word ' * 20}\n" for _ in range(3))
    table = "".join(f"| {'word ' * 20} | {'word ' * 20} |\n" for _ in range(3))
    assert language.check_language(make({"base/x.cc": items, "base/x.md": table}), ("",)) == []


def test_only_enforced_rooms_are_read(make: MakeTree) -> None:
    assert language.check_language(make({"base/x.md": "Soup.\n"}), ("tools/",)) == []


ROOT = Path(__file__).resolve().parents[2]


def page_with(root: Path, old: str, new: str) -> Tree:
    """Return a tree with the real pyproject.toml, and with ARCHITECTURE.md in which `new` replaces `old`."""
    (root / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    page = (ROOT / "ARCHITECTURE.md").read_text()
    assert old in page
    (root / "ARCHITECTURE.md").write_text(page.replace(old, new))
    return Tree(root, ("ARCHITECTURE.md", "pyproject.toml"))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "| checker, api, base |",
            "| checker, api |",
            "allows benchmarks/ to use api, base, checker",
        ),
        ("| api, base; its tests also checker |", "| api |", "allows runtime/ to use api, base"),
        ("| runner, results |", "| runner, results, web |", "allows cli/ to use results, runner"),
        ("| jail/ | runs", "| jails/ | run", "the table has no row for jail/"),
    ],
)
def test_architecture_says_what_is_enforced(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    complaints = architecture.check_architecture(page_with(tmp_path, old, new))
    assert len(complaints) == 1
    assert complaint in complaints[0]


def test_architecture_is_true(tmp_path: Path) -> None:
    assert architecture.check_architecture(page_with(tmp_path, "", "")) == []


ASK = """inline void ask(const Node* node, int lines) {
  for (int i = 0; i < lines; ++i) __builtin_prefetch(node + i);
}
"""
ASK_FIRST = """inline void ask_first(const Node* node) {
  const int two = 2;
  if (node->leaf) ask(node, two);
}
"""


@pytest.mark.parametrize(
    ("code", "complaints"),
    [
        (ASK, ["structures/x/x.h:1: ask"]),
        (ASK + ASK_FIRST, ["structures/x/x.h:1: ask", "structures/x/x.h:4: ask_first"]),
        ("[[gnu::always_inline]] " + ASK, []),
        ("KEYDROME_HOT " + ASK, []),
        (ASK.replace(";\n}", ";\n  count(node);\n}"), []),
        (ASK.replace("__builtin_prefetch(node + i)", "sum += node[i]"), []),
    ],
)
def test_functions_that_only_prefetch(make: MakeTree, code: str, complaints: list[str]) -> None:
    tree = make({"structures/x/x.h": code})
    end = " only prefetches, so the compiler may remove its calls; make it [[gnu::always_inline]]"
    assert prefetches.check_prefetches(tree) == [one + end for one in complaints]
