"""Three tests; with KEEP=1 the second one keeps what it parses."""
import json
import os

TEXT = json.dumps([{"id": number, "words": ["a", "b", str(number)]} for number in range(20_000)])
kept = []


def test_small():
    assert json.loads("[1, 2]") == [1, 2]


def test_parse():
    documents = json.loads(TEXT)
    if os.environ.get("KEEP"):
        kept.append([json.loads(TEXT) for _ in range(4)])
    assert len(documents) == 20_000


def test_words():
    assert len(TEXT.split()) > 20_000
