"""An agent's run as the search of `statecraft check` plays it: small policies, a hostile world, and the laws."""
