#!/usr/bin/env python3
"""Check the relative links of the documents: each file must exist, and each anchor must be a heading of it.

usage: links.py        checks README.md, CONTRIBUTING.md, results/README.md and every page below docs/, and that docs/README.md links
                       every page of docs/
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


def links(path):
    """Each link with its line."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    text = CODE.sub(lambda match: "`" * len(match[0]), FENCE.sub(blank, path.read_text()))
    for match in LINK.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]


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
    index = ROOT / "docs" / "README.md"
    listed = {(index.parent / target.partition("#")[0]).resolve() for _, target in links(index)}
    errors += [f"{page.relative_to(ROOT)}: not in docs/README.md"
               for page in sorted(index.parent.rglob("*.md")) if page != index and page not in listed]
    if errors:
        sys.exit("\n".join(errors))


main()
