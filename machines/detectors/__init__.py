"""Every way of being stuck that the run machine recognises: one detector a file, and the roster."""
