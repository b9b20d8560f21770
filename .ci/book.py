#!/usr/bin/env python3
"""Adapt the links of the documents to the book that mdBook makes of docs/, and check the book.

usage: book.py                     a preprocessor of mdBook (book.toml): reads the book from stdin, writes it to stdout
       book.py supports RENDERER   exits with 0 if it adapts links for this renderer
       book.py --check FOLDER      checks every link within FOLDER, the built book, and that the search knows every page
"""
import html.parser, json, os, pathlib, sys, urllib.parse

from links import ELSEWHERE, ROOT, targets

DOCS = ROOT / "docs"


def adapted(target, page, book, repository):
    """A link of a page of docs/ as it must be in the book."""
    file, mark, anchor = target.partition("#")
    if ELSEWHERE.match(target) or not file:
        return target
    goal = (DOCS / page).parent.joinpath(file).resolve()
    if goal.is_relative_to(DOCS):
        # mdBook calls the pages of these files index.html.
        file = file.removesuffix("README.md") + "index.md" if goal.name == "README.md" else file
    elif repository:
        file = f"{repository}/{'raw' if goal.suffix == '.png' else 'blob'}/main/{goal.relative_to(ROOT)}"
    else:
        # mdBook would change `.md` to `.html`.
        file = os.path.relpath(goal, (book / page).parent).replace(".md", "%2Emd")
    return file + mark + anchor


def adapt(items, book, repository):
    for chapter in (item["Chapter"] for item in items if "Chapter" in item):
        text, parts, done = chapter["content"], [], 0
        for match in targets(text):
            start, end = match.span(1 if match[1] else 2)
            parts += [text[done:start], adapted(text[start:end], chapter["source_path"], book, repository)]
            done = end
        chapter["content"] = "".join(parts) + text[done:]
        adapt(chapter["sub_items"], book, repository)


class Page(html.parser.HTMLParser):
    """The identifiers and the links of a page of the book."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def check(folder):
    # Not the page for addresses that do not exist, and not the table of contents.
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html")) if path.name not in ("404.html", "toc.html")}
    index = "".join(path.read_text() for path in folder.glob("searchindex*.js"))
    errors = [] if pages else ["no pages"]
    for path, page in pages.items():
        if f'"{path.relative_to(folder)}#' not in index:
            errors.append(f"{path.relative_to(folder)}: not in the search")
        for link in page.links:
            if ELSEWHERE.match(link):
                continue
            file, _, anchor = link.partition("#")
            goal = (path.parent / urllib.parse.unquote(file)).resolve() if file else path
            if not goal.exists() or (anchor and goal in pages and anchor not in pages[goal].ids):
                errors.append(f"{path.relative_to(folder)}: {link}: not there")
    if errors:
        sys.exit("\n".join(errors))


if sys.argv[1:2] == ["supports"]:
    sys.exit(sys.argv[2] != "html")
elif sys.argv[1:2] == ["--check"]:
    check(pathlib.Path(sys.argv[2]).resolve())
else:
    context, book = json.load(sys.stdin)
    config = context["config"]
    adapt(book["items"], ROOT / config["build"]["build-dir"], config["output"]["html"].get("git-repository-url"))
    json.dump(book, sys.stdout)
