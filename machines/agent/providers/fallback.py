"""A chain of models: where one cannot answer, the next one is asked the same.

Only what another model may do better passes on: a provider that is down, busy, unpaid or locked, a model that is not
there. A refusal of the request itself (too long, a transcript that is not taken) is the run's own to heal, and no other
model is a cure for it. Each model is asked at most once a request, and all of them together have `seconds`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import attrs

from ...events import RefusalKind
from ..limits import learn_from
from ..wire import Completion, Heard, Provider, Refused, Request, Streaming
from .provider import SECONDS
from .retries import passing
from .streamed.telling import Telling

PASSED_ON: Final = frozenset(
    {RefusalKind.RATE_LIMIT, RefusalKind.OVERLOADED, RefusalKind.BILLING, RefusalKind.AUTHENTICATION}
)
"""Kinds that say something of the provider and not of the request."""

NOT_THERE: Final = 404


@attrs.frozen(eq=False)
class Fallback:
    """A `Provider` of several, in the order in which they are asked; ValueError for none."""

    providers: tuple[Provider, ...] = attrs.field(validator=attrs.validators.min_len(1))
    seconds: float = attrs.field(default=SECONDS, validator=attrs.validators.gt(0))

    @property
    def name(self) -> str:
        """The names of all, in order."""
        return ", ".join(provider.name for provider in self.providers)

    async def complete(self, request: Request) -> Completion | Refused:
        """Ask for one reply. Where no model has one: the refusal that the shortest wait may heal, else the first."""
        return await self._first(lambda provider: provider.complete(request), Telling(_nobody))

    async def stream(self, request: Request, heard: Heard) -> Completion | Refused:
        """As `complete`, and told while it comes where the model that replies can stream, else when it is there.

        No other model is asked once anything has been told.
        """
        telling = Telling(heard)

        async def ask(provider: Provider) -> Completion | Refused:
            if isinstance(provider, Streaming):
                return await provider.stream(request, telling.tell)
            answer = await provider.complete(request)
            if isinstance(answer, Completion):
                telling.tell_whole(answer)
            return answer

        answer = await self._first(ask, telling)
        if isinstance(answer, Completion):
            telling.end()
        return answer

    async def _first(
        self, ask: Callable[[Provider], Awaitable[Completion | Refused]], telling: Telling
    ) -> Completion | Refused:
        refusals: list[Refused] = []
        with anyio.move_on_after(self.seconds):
            for provider in self.providers:
                answer = await ask(provider)
                if isinstance(answer, Refused):
                    learn_from(provider, answer)  # of the one that refused, not of the chain
                if isinstance(answer, Completion) or telling.heard or not passes_on(answer):
                    return answer
                refusals.append(answer)
        late = [Refused(0, f"no answer within {self.seconds:g} seconds")] if len(refusals) < len(self.providers) else []
        hopeful = [refusal for refusal in (*refusals, *late) if passing(refusal)]
        return min(hopeful, key=lambda refusal: refusal.after or 0.0, default=(*refusals, *late)[0])

    async def aclose(self) -> None:
        """Give up what any of them holds open."""
        for provider in self.providers:
            await provider.aclose()


def _nobody(channel: str, piece: str) -> None:
    """Who hears a reply that is not told."""


def passes_on(refused: Refused) -> bool:
    """Whether another model may do better with the same request."""
    if refused.kind is RefusalKind.OTHER:
        return refused.status <= 0 or refused.status == NOT_THERE or passing(refused)
    return refused.kind in PASSED_ON
