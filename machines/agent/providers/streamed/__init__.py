"""Replies that come in pieces: what gathers the events of a stream into the body that a whole reply has.

One decoder of each wire then reads both.
"""
