"""What was noticed while reading data: rows passed over, letters replaced."""

from collections import Counter


class Notes:
    """What was noticed while reading: each kind of thing once, with a number and its first place."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, sentence: str, where: str) -> None:
        """Note something; `sentence` holds the fields {count} and {first}."""
        self._counts[sentence] += 1
        self._first.setdefault(sentence, where)

    def sentences(self) -> list[str]:
        """Return the notes as sentences."""
        return [
            sentence.format(count=f"{count:,}", first=self._first[sentence]) for sentence, count in self._counts.items()
        ]
