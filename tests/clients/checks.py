"""Checks: one line each, counted; and the comparison of a value with what is expected."""

import re

ANY = object()


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, client, what, differences):
        """`differences` is a list of sentences; empty means that the check passed."""
        if not differences:
            self.passed += 1
            print(f"ok    {client}: {what}", flush=True)
            return
        self.failed += 1
        print(f"FAIL  {client}: {what}", flush=True)
        for difference in differences:
            print(f"      {difference}", flush=True)

    def skip(self, client, why):
        self.skipped += 1
        print(f"skip  {client}: {why}", flush=True)

    def closing_line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def differences(actual, expected, place="$"):
    """Where `actual` is not what is expected, one sentence for each place.

    Expected is a value, to the last key; ANY; or a compiled pattern, which a text has to
    match in full.
    """
    if expected is ANY:
        return []
    if isinstance(expected, re.Pattern):
        if isinstance(actual, str) and expected.fullmatch(actual):
            return []
        return [f"{place} is {actual!r}, not like {expected.pattern!r}"]
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for key in expected.keys() | actual.keys():
            below = f"{place}.{key}"
            if key not in actual:
                found.append(f"{below} is missing")
            elif key not in expected:
                found.append(f"{below} is unexpected: {actual[key]!r}")
            else:
                found += differences(actual[key], expected[key], below)
        return sorted(found)
    if isinstance(expected, list) and isinstance(actual, list):
        if len(actual) != len(expected):
            return [f"{place} has {len(actual)} items, not {len(expected)}: {actual!r}"]
        pairs = enumerate(zip(actual, expected))
        return [line for i, (a, e) in pairs for line in differences(a, e, f"{place}[{i}]")]
    if type(actual) is type(expected) and actual == expected:
        return []
    return [f"{place} is {actual!r}, not {expected!r}"]
