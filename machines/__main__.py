"""`python -m machines`: the console script under another name."""

import sys

from .cli import main

sys.exit(main())
