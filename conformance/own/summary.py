"""Sums up files of JUnit's form: what failed, by file and with its reason, and how many passed.

summary.py RESULTS.xml...
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict

REASON_CHARACTERS_MAX = 240


def main(paths: list[str]) -> None:
    """Prints the failures by file, a line for each file, and the sum."""
    outcomes: dict[str, Counter] = defaultdict(Counter)
    failures: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        try:
            root = ElementTree.parse(path).getroot()
        except (OSError, ElementTree.ParseError) as error:
            failures[path].append(f"no results: {error}")
            outcomes[path]["errors"] += 1
            continue
        for case in root.iter("testcase"):
            module, _, group = case.get("classname", "").rpartition(".")
            name = f"{group}.{case.get('name')}" if module else case.get("name")
            file = module or case.get("classname", "")
            outcome = outcome_of(case)
            outcomes[file][outcome] += 1
            if outcome in {"failed", "errors"}:
                failures[file].append(f"{name}: {reason_of(case)}")
    for file, lines in sorted(failures.items()):
        print(f"== {file}: {len(lines)}")
        for line in sorted(lines):
            print(f"  {line}")
    print()
    for file, counts in sorted(outcomes.items()):
        print(f"{file}: {written(counts)}")
    print(f"total: {written(sum(outcomes.values(), Counter()))}")


def outcome_of(case: ElementTree.Element) -> str:
    """What became of a test."""
    for tag, outcome in (("failure", "failed"), ("error", "errors"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return outcome
    return "passed"


def reason_of(case: ElementTree.Element) -> str:
    """The first words of why it failed."""
    found = case.find("failure")
    if found is None:
        found = case.find("error")
    return " ".join((found.get("message") or "").split())[:REASON_CHARACTERS_MAX]


def written(counts: Counter) -> str:
    """The numbers in words."""
    return ", ".join(f"{name} {counts[name]}" for name in ("passed", "failed", "errors", "skipped"))


if __name__ == "__main__":
    main(sys.argv[1:])
