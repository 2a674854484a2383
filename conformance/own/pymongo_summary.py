"""Sums up a run of PyMongo's tests: what passed, what does not apply, what failed, and whether that was expected.

pymongo_summary.py EXPECTED RESULTS.jsonl...

A line of EXPECTED is `kind | pattern | reason`, where the pattern is one of shell's for the id of a test without its
folder (`test_cursor.py::TestCursor::test_tailable`). The kinds are:

  not-applicable   the test asks for what this server refuses by decision; it counts for nothing
  fails            it applies and fails
  unsteady         it depends on the machine: it may fail or pass, and counts for what it does
  environment      it needs what the machine that runs it has not, whatever the server

What is expected to fail and passes is reported, so that the list stays true.
"""

import fnmatch
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

REASON_CHARACTERS_MAX = 200
KINDS = ("not-applicable", "environment", "fails", "unsteady")


def read_expected(path: str) -> list[tuple[str, str, str]]:
    """Reads the list of what is expected."""
    expected = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, pattern, reason = (part.strip() for part in line.split(" | ", 2))
        if kind not in KINDS:
            raise SystemExit(f"{path}: unknown kind {kind}")
        expected.append((kind, pattern, reason))
    return expected


def short(test: str) -> str:
    """The id of a test without its folders, and without the word by which classes of the asynchronous half differ."""
    file, _, rest = test.partition("::")
    return f"{Path(file).name}::{rest.replace('Async', '')}"


def main(expected_path: str, paths: list[str]) -> int:
    """Prints the sum; returns whether there was anything unexpected."""
    expected = read_expected(expected_path)
    files: dict[str, Counter] = defaultdict(Counter)
    reasons: dict[str, Counter] = defaultdict(Counter)
    unexpected: list[str] = []
    gone: list[str] = []
    for path in sorted(paths):
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            test, outcome = short(result["test"]), result["outcome"]
            file = test.partition("::")[0]
            entry = next(((k, r) for k, p, r in expected if fnmatch.fnmatchcase(test, p)), None)
            if outcome == "failed" and entry is None:
                unexpected.append(f"{test}: {result['reason'][:REASON_CHARACTERS_MAX]}")
            elif outcome == "failed":
                outcome = {"not-applicable": "does not apply", "environment": "does not apply"}.get(entry[0], outcome)
                reasons[entry[0]][entry[1]] += 1
            elif outcome == "passed" and entry is not None and entry[0] == "fails":
                gone.append(f"{test}: {entry[1]}")
            files[file][outcome] += 1
    columns = ("passed", "failed", "does not apply", "skipped")
    for file, counts in sorted(files.items()):
        print(f"{file}: " + ", ".join(f"{column} {counts[column]}" for column in columns))
    for kind, counts in sorted(reasons.items()):
        print(f"\n{kind}:")
        for reason, count in counts.most_common():
            print(f"  {count:4} {reason}")
    for title, lines in (("failed and was not expected to", unexpected), ("passed and was expected to fail", gone)):
        if lines:
            print(f"\n{title}: {len(lines)}")
            for line in sorted(lines):
                print(f"  {line}")
    total = sum(files.values(), Counter())
    applies = total["passed"] + total["failed"]
    print("\ntotal: " + ", ".join(f"{column} {total[column]}" for column in columns))
    print(f"of what applies {100 * total['passed'] / max(applies, 1):.2f} % passed ({total['passed']} of {applies})")
    return 1 if unexpected or gone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
