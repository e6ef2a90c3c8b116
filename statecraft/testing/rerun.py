"""Tests run again, in a process of their own that is forked for it and dropped after it.

So nothing of a mutant stays: no table that was changed, no cache that was filled, no fixture, no capture. A test that
does not come back is ended by its process's alarm, even in a loop of C.

Items run by the whole protocol of pytest, with all plugins, but tell nobody. Hypothesis draws the same examples each
time, keeps none of them, has no deadline, and does not shrink a failure that nobody will read.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Any, Literal

import attrs
import pytest

from ..proofs.altered import altered
from ..proofs.mutants import Mutant
from .recorder import unheard

PATIENCE, GRACE = 5.0, 1.0
"""A test may take so many times its usual time and so many seconds more; then it does not come back."""

How = Literal["passed", "failed", "hung", "crashed"]
_STATE = struct.Struct("iiq")  # the test that is running, or how many passed; how it stands; how long the text is
_RUNNING, _PASSED, _FAILED, _BROKEN = range(4)
_TEXT = 8192  # bytes of an error of the process itself that are handed back


@attrs.frozen(eq=False)
class Test:
    """A test of the session: its item, how many seconds it usually takes, and in how much its steps touch."""

    __test__ = False  # no test of a user's, whatever pytest may think of its name

    item: pytest.Item
    seconds: float
    breadth: int


@attrs.frozen
class Verdict:
    """How the tests came out: all passed, or the one at `test` failed, hung or ended the process; `run` of them ran."""

    how: How
    test: int | None
    run: int


def rerun(tests: Sequence[Test], mutant: Mutant | None, seconds: float) -> Verdict:
    """Run the tests in their order until one fails, on the mutant or on the tables as they are.

    The first is begun always; after so many seconds of processor time no further one is. RuntimeError where the process
    could not do it.
    """
    with mmap.mmap(-1, _STATE.size + _TEXT) as shared:
        with warnings.catch_warnings():
            # A test may have left a thread. It is not there in the new process, where no test relies on it.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            _run_and_exit(shared, tests, mutant, seconds)
        try:
            _, status = os.waitpid(process, 0)
        except BaseException:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise
        at, state, length = _STATE.unpack_from(shared)
        if state == _BROKEN:
            text = shared[_STATE.size : _STATE.size + length].decode("utf-8", "replace")
            raise RuntimeError(f"{mutant or 'the tables as they are'}: the tests could not be run again\n{text}")
    if state == _PASSED:
        return Verdict("passed", None, at)
    if state == _FAILED:
        return Verdict("failed", at, at + 1)
    hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    return Verdict("hung" if hung else "crashed", at, at + 1)


def _run_and_exit(shared: mmap.mmap, tests: Sequence[Test], mutant: Mutant | None, seconds: float) -> None:
    """In the new process: it never comes back to its caller."""
    try:
        _run(shared, tests, mutant, seconds)
    except BaseException:  # noqa: BLE001  # whatever it is, the parent has to hear of it, and to be left alone
        text = traceback.format_exc().encode("utf-8", "replace")[-_TEXT:]
        shared[_STATE.size : _STATE.size + len(text)] = text
        _STATE.pack_into(shared, 0, 0, _BROKEN, len(text))
    finally:
        os._exit(0)


def _run(shared: mmap.mmap, tests: Sequence[Test], mutant: Mutant | None, seconds: float) -> None:
    if not tests:
        _STATE.pack_into(shared, 0, 0, _PASSED, 0)
        return
    config = tests[0].item.config
    _silence(config)
    heard = _Heard()
    config.pluginmanager.register(heard)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    began = time.process_time()
    with unheard(), altered(mutant) if mutant else nullcontext():
        for number, test in enumerate(tests):
            if number and time.process_time() - began > seconds:
                _STATE.pack_into(shared, 0, number, _PASSED, 0)
                return
            _STATE.pack_into(shared, 0, number, _RUNNING, 0)
            _steady(test.item)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE * test.seconds + GRACE)
            following = tests[number + 1].item if number + 1 < len(tests) else None
            test.item.ihook.pytest_runtest_protocol(item=test.item, nextitem=following)
            signal.setitimer(signal.ITIMER_REAL, 0)
            if heard.failed:
                _STATE.pack_into(shared, 0, number, _FAILED, 0)
                return
    _STATE.pack_into(shared, 0, len(tests), _PASSED, 0)


class _Heard:
    """Hears how an item came out."""

    failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed


def _silence(config: pytest.Config) -> None:
    """Let nothing reach the terminal, and no output reach the files in which the parent captures its own."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    if capture is not None:
        capture.start_global_capturing()
        capture.suspend_global_capture()
    if config.pluginmanager.has_plugin("terminalreporter"):
        config.pluginmanager.unregister(name="terminalreporter")
    config.option.tbstyle = "no"  # nobody reads why


def _steady(item: pytest.Item) -> None:
    """Give a test of hypothesis the settings of the rules above."""
    core: Any = sys.modules.get("hypothesis")
    function: Any = getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    if core is None or not getattr(function, "is_hypothesis_test", False):
        return
    held = getattr(function, "_hypothesis_internal_use_settings", None) or core.settings.default
    phases = [phase for phase in held.phases if phase in (core.Phase.explicit, core.Phase.generate)]
    checks = list(core.HealthCheck)
    function._hypothesis_internal_use_settings = core.settings(
        held, database=None, derandomize=True, deadline=None, phases=phases, suppress_health_check=checks
    )
