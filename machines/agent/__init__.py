"""A host on anyio: tools, transcript, providers over HTTP. Everything that does I/O for a run is here."""
