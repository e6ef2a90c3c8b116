"""attrs values to JSON and back, through cattrs: strict, exact, and the same bytes for the same value.

The rules:

* a class is an object, its fields the keys; a field with a default may be missing when it is read;
* of several classes in a union each carries its name under the key `is` (a keyword, which no field can be called);
* an enum whose values are all texts is written by value, any other by name; bytes in hex; a set sorted; keys sorted;
* nothing is converted: text is not made from a number, `true` is not 1, and an integer in a float field stays one;
* texts and integers are kept exactly, lone surrogates and integers beyond 64 bits included (`text.py` says how);
* what is wrong with data is said with the path to it, what was found and what was expected (`BadData`);
* a type that could not be read back is refused when the codec is made (`TypeError`), not when a value is written.
"""

from .codec import Codec, codec, digest_of
from .hooks import TAG
from .problems import BadData, Problem
from .text import dump, load
from .unions import Tagged

__all__ = ["TAG", "BadData", "Codec", "Problem", "Tagged", "codec", "digest_of", "dump", "load"]
