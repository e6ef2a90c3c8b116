"""What a model takes: which source holds, and that a provider's own lookup is asked once and never for long."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import attrs
import pytest

from machines.agent import ModelLimits, limit_lookup, register_model_limits
from machines.agent.limit_lookup import can_look_up, limits_for, look_up
from machines.agent.limits import (
    DEFAULT_OUTPUT,
    DEFAULT_WINDOW,
    KnownLimits,
    LimitSource,
    isolated_limits,
    learn,
    limits_now,
)
from machines.agent.providers import Fallback, provider_for
from machines.agent.wire import Completion, Refused, Request
from machines.refusals.believed import LEAST

REGISTERED, LEARNED, PROVIDER, TABLE, DEFAULT = LimitSource
KNOWN, UNKNOWN = "claude-sonnet-4-5", "my-finetune"
GUESS = KnownLimits(DEFAULT_WINDOW, DEFAULT_OUTPUT, DEFAULT, DEFAULT)


@pytest.fixture(autouse=True)
def isolated() -> Iterator[None]:
    with isolated_limits():
        yield


@attrs.define(eq=False)
class Plain:
    """A provider of an application, which has only what the protocol asks of it."""

    name: str

    async def complete(self, request: Request) -> Completion | Refused:
        return Refused(0, f"nobody is asked {len(request.messages)} messages here")

    async def aclose(self) -> None:
        pass


@attrs.define(eq=False)
class Served(Plain):
    """One that has an address and a model, and says what its model takes."""

    model: str = UNKNOWN
    url: str = "http://127.0.0.1/v1"
    says: Callable[[], object] = attrs.field(default=lambda: None)
    asked: list[str] = attrs.field(factory=list[str])

    def model_limits(self, model: str) -> object:
        self.asked.append(model)
        return self.says()


def at_once(answer: object) -> Callable[[], object]:
    return lambda: answer


def later(answer: object, seconds: float = 0.0) -> Callable[[], Awaitable[object]]:
    async def said() -> object:
        await anyio.sleep(seconds)
        return answer

    return said


def test_a_model_that_nothing_knows_gets_a_guess() -> None:
    assert limits_now(Plain(UNKNOWN)) == GUESS == KnownLimits(128_000, 32_000, DEFAULT, DEFAULT)


def test_a_model_that_the_table_knows_is_found_by_its_model_or_else_its_name() -> None:
    known = KnownLimits(200_000, 64_000, TABLE, TABLE)
    assert limits_now(Plain(f"anthropic:{KNOWN}")) == limits_now(Served("mine", f"anthropic/{KNOWN}-20250929")) == known
    assert limits_now(Served(KNOWN, "")) == known
    assert limits_now(provider_for(f"anthropic:{KNOWN}", environ={"ANTHROPIC_API_KEY": "k"})) == known
    assert limits_now(provider_for("http://o1:8080")) == GUESS


def test_what_is_registered_wins_and_each_number_says_where_it_is_from() -> None:
    provider = Served("mine", KNOWN)
    learn(provider, context_window=50_000, max_output=5_000)
    take_back = register_model_limits(KNOWN, context_window=40_000)
    assert limits_now(provider) == KnownLimits(40_000, 5_000, REGISTERED, LEARNED)
    register_model_limits(KNOWN, max_output=4)
    assert limits_now(provider) == KnownLimits(40_000, 4, REGISTERED, REGISTERED)
    take_back()
    take_back()
    assert limits_now(provider) == KnownLimits(50_000, 4, LEARNED, REGISTERED)


def test_a_registration_counts_for_the_exact_id_first_and_then_for_what_is_the_same() -> None:
    register_model_limits(f"azure/{KNOWN}", 2_000, 20)
    register_model_limits(KNOWN, 3_000, 30)
    found = {name: limits_now(Plain(name)) for name in (KNOWN, f"azure/{KNOWN}", f"{KNOWN}-20250929", f"{KNOWN}-x")}
    assert [one.context_window for one in found.values()] == [3_000, 2_000, 3_000, 200_000]


def test_of_two_registrations_the_later_holds_until_it_is_taken_back() -> None:
    register_model_limits(UNKNOWN, 2_000, 20)
    take_back = register_model_limits(UNKNOWN, 3_000, 30)
    assert limits_now(Plain(UNKNOWN)).context_window == 3_000
    take_back()
    assert limits_now(Plain(UNKNOWN)).context_window == 2_000


@pytest.mark.parametrize("bad", [0, -1, 1.5, "9", True])
def test_a_bad_number_is_said_with_what_was_found_and_expected(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^context_window: found .*, expected a whole number of tokens from 1 on"):
        register_model_limits(UNKNOWN, context_window=bad)
    with pytest.raises(ValueError, match=r"^max_output: found "):
        ModelLimits(max_output=bad)
    assert limits_now(Plain(UNKNOWN)) == GUESS


def test_no_number_and_no_model_are_refused_and_one_token_is_not() -> None:
    with pytest.raises(ValueError, match=r"^limits of my-finetune: found none"):
        register_model_limits(UNKNOWN)
    with pytest.raises(ValueError, match=r"^model: found ' '"):
        register_model_limits(" ", 1)
    register_model_limits(UNKNOWN, 1, 1)
    assert limits_now(Plain(UNKNOWN)) == KnownLimits(1, 1, REGISTERED, REGISTERED)


def test_what_is_learned_is_of_an_endpoint_and_an_exact_model() -> None:
    learn(Served("mine", KNOWN, "http://127.0.0.1/a"), context_window=50_000)
    there = Served("other name", KNOWN, "http://127.0.0.1/a")
    assert limits_now(there) == KnownLimits(50_000, 64_000, LEARNED, TABLE)
    for other in (
        Served("mine", KNOWN, "http://127.0.0.1/b"),
        Served("mine", f"{KNOWN}-20250929", "http://127.0.0.1/a"),
        Plain(KNOWN),
    ):
        assert limits_now(other) == KnownLimits(200_000, 64_000, TABLE, TABLE)
    learn(Plain(UNKNOWN), max_output=2_000)
    assert limits_now(Plain(UNKNOWN)) == KnownLimits(DEFAULT_WINDOW, 2_000, DEFAULT, LEARNED)


def test_a_learned_number_replaces_an_older_one_and_leaves_the_other() -> None:
    learn(Plain(UNKNOWN), context_window=9_000, max_output=8_000)
    learn(Plain(UNKNOWN), context_window=10_000)
    learn(Plain(UNKNOWN))
    assert limits_now(Plain(UNKNOWN)) == KnownLimits(10_000, 8_000, LEARNED, LEARNED)


def test_a_number_that_is_too_small_is_not_learned() -> None:
    learn(Plain(UNKNOWN), context_window=LEAST - 1, max_output=LEAST)
    assert limits_now(Plain(UNKNOWN)) == KnownLimits(DEFAULT_WINDOW, 1_000, DEFAULT, LEARNED)
    learn(Plain(UNKNOWN), context_window=0, max_output=-5)
    assert limits_now(Plain(UNKNOWN)).max_output == 1_000


def test_a_chain_takes_what_every_model_in_it_does() -> None:
    chain = Fallback((Plain(KNOWN), Plain("gpt-4"), Plain(UNKNOWN)))
    assert limits_now(chain) == KnownLimits(8_192, 4_096, TABLE, TABLE)
    register_model_limits("gpt-4", max_output=64_000)
    assert limits_now(chain) == KnownLimits(8_192, DEFAULT_OUTPUT, TABLE, DEFAULT)
    learn(chain, context_window=7_000)
    assert limits_now(chain) == KnownLimits(7_000, DEFAULT_OUTPUT, LEARNED, DEFAULT)


def test_what_is_learned_in_isolation_is_forgotten() -> None:
    learn(Plain(UNKNOWN), context_window=9_000)
    with isolated_limits():
        assert limits_now(Plain(UNKNOWN)) == GUESS
        register_model_limits(UNKNOWN, 5)
    assert limits_now(Plain(UNKNOWN)).context_window == 9_000


@pytest.mark.anyio
@pytest.mark.parametrize("wrap", [at_once, later], ids=["sync", "async"])
async def test_a_provider_is_asked_once_and_its_numbers_stand_before_the_table(
    wrap: Callable[[object], Callable[[], object]],
) -> None:
    provider = Served("mine", KNOWN, says=wrap(ModelLimits(context_window=150_000)))
    assert can_look_up(provider)
    assert limits_now(provider).window_from is TABLE
    known = KnownLimits(150_000, 64_000, PROVIDER, TABLE)
    assert (
        await look_up(provider)
        == await look_up(provider)
        == await limits_for(provider)
        == limits_now(provider)
        == known
    )
    assert provider.asked == [KNOWN]
    assert not can_look_up(provider)
    again = Served("another", KNOWN, says=provider.says)  # of the same endpoint and model
    assert await look_up(again) == known
    assert again.asked == []


@pytest.mark.anyio
async def test_who_knows_the_model_does_not_wait_for_the_provider() -> None:
    known = Served("mine", KNOWN, says=later(ModelLimits(1, 1)))
    assert (await limits_for(known)).window_from is TABLE
    assert known.asked == []
    unknown = Served("mine", UNKNOWN, says=later(ModelLimits(3_000, 300)))
    assert await limits_for(unknown) == KnownLimits(3_000, 300, PROVIDER, PROVIDER)


@pytest.mark.anyio
async def test_a_provider_is_not_asked_for_what_holds_whatever_it_says() -> None:
    provider = Served("mine", says=later(ModelLimits(3_000, 300)))
    take_back = register_model_limits(UNKNOWN, 2_000)
    assert can_look_up(provider)
    learn(provider, max_output=1_500)
    assert not can_look_up(provider)
    assert await look_up(provider) == KnownLimits(2_000, 1_500, REGISTERED, LEARNED)
    assert provider.asked == []
    take_back()
    assert await look_up(provider) == KnownLimits(3_000, 1_500, PROVIDER, LEARNED)


@pytest.mark.anyio
async def test_a_provider_without_a_lookup_is_not_asked() -> None:
    assert not can_look_up(Plain(UNKNOWN))
    assert await limits_for(Plain(UNKNOWN)) == await look_up(Plain(UNKNOWN)) == GUESS


def raising() -> object:
    raise RuntimeError("sk-secret")


async def raising_later() -> object:
    await anyio.sleep(0)
    raise RuntimeError("sk-secret")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("says", "logged"),
    [
        (raising, "mine: its limits could not be looked up: RuntimeError"),
        (raising_later, "mine: its limits could not be looked up: RuntimeError"),
        (lambda: (1, 2), "mine: its lookup answered with tuple, expected ModelLimits or None"),
        (lambda: None, None),
        (later(None), None),
    ],
)
async def test_a_lookup_that_fails_is_logged_and_not_tried_again(
    says: Callable[[], object], logged: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Served("mine", says=says)
    with caplog.at_level(logging.WARNING, "machines.agent"):
        assert await look_up(provider) == await look_up(provider) == GUESS
    assert len(provider.asked) == 1
    assert caplog.messages == ([] if logged is None else [logged])


@pytest.mark.anyio
async def test_a_lookup_that_takes_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert limit_lookup.SECONDS == 5.0
    monkeypatch.setattr(limit_lookup, "SECONDS", 0.05)
    provider = Served("mine", says=later(ModelLimits(3_000, 300), 60.0))
    begun = time.monotonic()
    assert await look_up(provider) == GUESS
    assert time.monotonic() - begun < 5.0
    assert caplog.messages == ["mine: its limits could not be looked up within 0.05 seconds"]
    assert not can_look_up(provider)


@pytest.mark.anyio
async def test_tasks_that_ask_at_once_share_one_answer() -> None:
    provider = Served("mine", says=later(ModelLimits(3_000, 300), 0.05))
    found: list[KnownLimits] = []

    async def ask() -> None:
        found.append(await limits_for(provider))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)
    assert found == [KnownLimits(3_000, 300, PROVIDER, PROVIDER)] * 5
    assert len(provider.asked) == 1


@pytest.mark.anyio
async def test_a_lookup_that_was_cancelled_is_made_by_the_next_one() -> None:
    provider = Served("mine", says=later(ModelLimits(3_000, 300), 0.1))
    found: list[KnownLimits] = []

    async def ask() -> None:
        await anyio.sleep(0.02)
        found.append(await look_up(provider))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        with anyio.move_on_after(0.05):
            await look_up(provider)
    assert found == [KnownLimits(3_000, 300, PROVIDER, PROVIDER)]
    assert len(provider.asked) == 2


@pytest.mark.anyio
async def test_another_event_loop_does_not_wait_for_a_lookup(anyio_backend: str) -> None:
    provider = Served("mine", says=later(ModelLimits(3_000, 300), 0.3))
    async with anyio.create_task_group() as group:
        group.start_soon(look_up, provider)
        await anyio.sleep(0.05)
        elsewhere = await anyio.to_thread.run_sync(lambda: anyio.run(look_up, provider, backend=anyio_backend))
        assert elsewhere == GUESS
    assert limits_now(provider).window_from is PROVIDER
    assert len(provider.asked) == 1


@pytest.mark.anyio
async def test_each_provider_of_a_chain_is_asked() -> None:
    one = Served("one", "one", says=later(ModelLimits(3_000, 300)))
    two = Served("two", "two", says=later(ModelLimits(4_000, 200)))
    chain = Fallback((one, Fallback((two, Plain(KNOWN)))))
    assert can_look_up(chain)
    assert await limits_for(chain) == KnownLimits(3_000, 200, PROVIDER, PROVIDER)
    assert not can_look_up(chain)
    assert (one.asked, two.asked) == (["one"], ["two"])


@pytest.mark.anyio
async def test_in_a_chain_a_small_model_hides_no_guess_of_another() -> None:
    small, unknown = Served("small", "gpt-4"), Served("unknown", says=later(ModelLimits(3_000, 300)))
    register_model_limits("gpt-4", 8_192, 4_096)
    chain = Fallback((small, unknown))
    assert limits_now(chain) == KnownLimits(8_192, 4_096, REGISTERED, REGISTERED)
    assert can_look_up(chain)
    assert await limits_for(chain) == KnownLimits(3_000, 300, PROVIDER, PROVIDER)
    assert (small.asked, unknown.asked) == ([], [UNKNOWN])
