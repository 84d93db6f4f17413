"""The Python in the guides, to be run as a reader would: block after block of one page."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"

# What needs torch is run with the tests of peers.
_HEAVY = re.compile(r"\b(sb3_contrib|stable_baselines3|torch)\b")


def blocks(page: str, heavy: bool) -> list[tuple[int, str]]:
    """The blocks of a page that need torch, or those that do not, with the lines they begin in."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if bool(_HEAVY.search(match[1])) == heavy:
            found.append((text.count("\n", 0, match.start(1)) + 1, match[1]))
    return found


def run(page: str, heavy: bool) -> int:
    """Run them with one set of names; returns how many there were."""
    names: dict[str, object] = {"__name__": "docs"}
    all_of_them = blocks(page, heavy)
    for line, code in all_of_them:
        # The traceback of a failure shows the page and the line.
        exec(compile("\n" * (line - 1) + code, str(DOCS / page), "exec"), names)
    return len(all_of_them)
