#!/usr/bin/env python3
"""Check the relative links of the documents: each file must exist, and each anchor must be a heading of it.

usage: links.py        checks README.md, CONTRIBUTING.md, results/README.md and every page below docs/, and that docs/README.md, or
                       the README.md of a folder that it links, links every page of docs/, and docs/SUMMARY.md too
"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
# A title in quotation marks may follow the target.
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def pages():
    named = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "results/README.md")]
    return named + sorted((ROOT / "docs").rglob("*.md"))


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them: of equal ones the later are numbered."""
    seen, found = {}, set()
    for title in HEADING.findall(FENCE.sub("", path.read_text())):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def targets(text):
    """The match of each link outside code, whose first or second group is the target."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return LINK.finditer(CODE.sub(lambda match: "`" * len(match[0]), FENCE.sub(blank, text)))


def links(path):
    """Each link with its line."""
    text = path.read_text()
    for match in targets(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]


def linked(page):
    """The files that a page links."""
    return {(page.parent / target.partition("#")[0]).resolve() for _, target in links(page)}


def problem(path, target):
    """What is wrong with a link, if anything."""
    if ELSEWHERE.match(target) or target.startswith("//"):
        return None
    file, _, anchor = target.partition("#")
    goal = (path.parent / file).resolve() if file else path
    if not goal.exists():
        return "no such file"
    if not goal.is_relative_to(ROOT):
        return "outside of the repository"
    if anchor and goal.suffix == ".md" and anchor not in anchors(goal):
        return "no such heading"
    return None


def main():
    errors = [f"{path.relative_to(ROOT)}:{line}: {target}: {wrong}"
              for path in pages() for line, target in links(path) if (wrong := problem(path, target))]
    docs = ROOT / "docs"
    index, summary = docs / "README.md", docs / "SUMMARY.md"
    listed = linked(index)
    indexed = listed.union({index}, *(linked(page) for page in listed if page.name == "README.md" and docs in page.parents))
    for page in sorted(docs.rglob("*.md")):
        for list_, known in ((index, indexed), (summary, linked(summary))):
            if page != summary and page not in known:
                errors.append(f"{page.relative_to(ROOT)}: not in {list_.relative_to(ROOT)}")
    if errors:
        sys.exit("\n".join(errors))


if __name__ == "__main__":
    main()
