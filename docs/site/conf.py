"""Configures Sphinx, which makes the pages under /docs/ of the site from the Markdown files of this folder.

    sphinx-build -W -c docs/site docs OUT

The pages have the look of the site: theme/ is a frame without inline scripts or styles, and the style sheets come from
web/static. A new Markdown file needs no entry here: its folder decides under which heading the navigation shows it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

project = "Keydrome"
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
exclude_patterns = ["site"]
suppress_warnings = ["toc.not_included"]  # the navigation comes from the folders
myst_heading_anchors = 4
highlight_language = "none"
pygments_style = "default"

html_theme = "theme"
html_theme_path = [str(HERE)]
html_title = "Keydrome"
html_static_path = [str(ROOT / "web" / "static")]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_show_sphinx = False

# The folders in the order of the navigation, with their headings.
SECTIONS = {
    "tutorial": "Tutorial",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
    "decisions": "Decisions",
}


# A link of Markdown, but no picture: its text and its target.
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def _adapt_links(app: Sphinx, page: str, content: list[str]) -> None:
    """Adapt the links of a page to the site.

    A link whose text is the path of a page gets the page's title instead. A link to a file that is not part of the
    documentation becomes the path of this file in the repository.
    """
    folder = (ROOT / "docs" / page).parent

    def adapted(link: re.Match[str]) -> str:
        text, target = link.groups()
        path = (folder / target).resolve()
        if "://" in target or not path.exists():
            return link.group()
        if _is_page(path):
            return f"[]({target})" if text == target else link.group()
        name = str(path.relative_to(ROOT))
        return f"`{name}`" if name.endswith(text.strip("`./")) else f"{text} (`{name}`)"

    content[0] = LINK.sub(adapted, content[0])


def _is_page(path: Path) -> bool:
    return path.suffix == ".md" and path.is_relative_to(ROOT / "docs")


def _complete(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Give the template its navigation: of each folder the heading, and addresses and titles of the pages.

    Wide tables scroll. Each gets a frame that can have the focus, so that the keyboard can scroll it too.
    """
    titles = app.env.titles
    sections = []
    for folder, heading in SECTIONS.items():
        pages = [
            (app.builder.get_relative_uri(page, name), titles[name].astext(), name == page)
            for name in sorted(titles)
            if name.startswith(f"{folder}/")
        ]
        sections.append((heading, pages, page.startswith(f"{folder}/")))
    context["sections"] = sections
    body = context.get("body", "").replace("<table", '<div class="docs-table" tabindex="0"><table')
    context["body"] = body.replace("</table>", "</table></div>")


def setup(app: Sphinx) -> None:
    """Register both functions with Sphinx."""
    app.connect("source-read", _adapt_links)
    app.connect("html-page-context", _complete)
