from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.ledger.failure import normalise_failure
from machines.ledger.volatile import MARK

PYTHON = """Traceback (most recent call last):
  File "/app/run.py", line 3, in <module>
    import pkg
ModuleNotFoundError: No module named 'pkg'
"""
PYTEST = """E   assert 1 == 2
=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - assert 1 == 2
========================= 1 failed, 2 passed in 0.12s ==========================
"""
UNITTEST = """AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1)
"""
RUST = """error[E0425]: cannot find value `x` in this scope
 --> src/main.rs:2:5

error: aborting due to 1 previous error

For more information about this error, try `rustc --explain E0425`.
"""
MAKE = """a.c:3:5: error: 'x' undeclared
make: *** [Makefile:2: all] Error 1
"""
GO = """--- FAIL: TestX (0.00s)
    x_test.go:7: got 1, want 2, mismatch
FAIL
exit status 1
FAIL\tpkg\t0.005s
"""
NODE = """Error: Cannot find module './x'
    at Function._resolveFilename (node:internal/errors:1:2)
    at Function._load (node:internal:3:4)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PYTHON, "ModuleNotFoundError: No module named 'pkg'"),
        (PYTEST, "FAILED tests/test_a.py::test_one - assert 1 == 2"),
        (UNITTEST, "AssertionError: 1 != 2"),
        (RUST, "error[E0425]: cannot find value `x` in this scope"),
        (MAKE, "a.c:3:5: error: 'x' undeclared"),
        (GO, "x_test.go:7: got 1, want 2, mismatch"),
        (NODE, "Error: Cannot find module './x'"),
        ("bash: foo: command not found\n", "bash: foo: command not found"),
        ("all is said\nlast  line \n\n", "last line"),
        ("ok\nmake: *** [all] Error 2\n", "make: *** [all] Error 2"),
        ("", ""),
        (" \n\t\n", ""),
    ],
)
def test_the_last_line_that_says_what_went_wrong_is_taken(text: str, line: str) -> None:
    assert normalise_failure(text) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ERROR 09:00:44 timed out after 30.2 seconds", f"ERROR {MARK} timed out {MARK}"),
        ("segfault at 0x7f3c2a1b00ff, error 4", f"segfault {MARK}, error 4"),
        ("invalid pointer: 0x00005581", f"invalid pointer: {MARK}"),
        ("error: open /tmp/tmpab12cd34: denied", f"error: open {MARK}: denied"),
        ("error: open /tmp/build-7f/deep/setup.py: denied", f"error: open {MARK}setup.py: denied"),
        ("error: open /var/folders/x1/T/a.py: denied", f"error: open {MARK}a.py: denied"),
        ("/usr/bin/ld: error: /tmp/ccAb12Cd.o: bad", f"/usr/bin/ld: error: {MARK}: bad"),
        (r"error: C:\Users\me\AppData\Local\Temp\x7\a.py", rf"error: {MARK}a.py"),
    ],
)
def test_what_is_volatile_in_the_line_goes(text: str, line: str) -> None:
    assert normalise_failure(text) == line


@pytest.mark.parametrize(
    "text",
    [
        "a.py:12: error: line 3",
        "Error 0x80070005: denied",
        "error: opcode 0x0f",
        "error: no such file: /tmp",
        "error: src/tmp/x.py is invalid",
        "error: /home/me/tmp/x.py is invalid",
        "FAILED test_7 - 3 != 4",
    ],
)
def test_line_numbers_codes_and_other_paths_stay(text: str) -> None:
    assert normalise_failure(text) == text


@given(
    st.lists(st.sampled_from([*PYTHON.splitlines(), *GO.splitlines(), "/tmp/tmpab12cd", "0x7f3c2a1b00", "\x1b[31m"]))
)
def test_normalising_twice_is_as_once(lines: list[str]) -> None:
    once = normalise_failure("\n".join(lines))
    assert normalise_failure(once) == once
