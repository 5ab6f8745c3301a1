"""A frame whose numbers and dates arrive as text or objects is learned as if they were plain numbers."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import cusal

RNG = np.random.default_rng(0)
DAYS = RNG.permutation(300)
START = datetime.date(2023, 1, 1)
DATES = [START + datetime.timedelta(days=int(day)) for day in DAYS]
WRITTEN = {
    "time zones": pd.Series(pd.to_datetime(DATES)).dt.tz_localize("Europe/Oslo"),
    "dates": pd.Series(DATES, dtype=object),
    "periods": pd.Series(pd.PeriodIndex(DATES, freq="D")),
    "ISO dates": pd.Series([day.isoformat() for day in DATES]),
    "decimals": pd.Series([Decimal(int(day)) / 7 for day in DAYS], dtype=object),
    "numbers as text": pd.Series([str(day / 7) for day in DAYS]),
    "decimal commas": pd.Series([f"{day / 7:.2f}".replace(".", ",") for day in DAYS]),
    "thousands": pd.Series([f"{day * 100_000:,}" for day in DAYS]),
    "currency": pd.Series([f"${day * 1000:,.2f}" for day in DAYS]),
    "one n/a": pd.Series([*(day / 7 for day in DAYS[:-1]), "n/a"], dtype=object),
}


@pytest.mark.parametrize("written", list(WRITTEN))
def test_it_is_learned_as_a_number(written):
    truth = np.where(DAYS > 150, "late", "early")
    frame = pd.DataFrame({"when": WRITTEN[written], "noise": RNG.normal(size=300)})
    session = cusal.Session(frame, seed=0)
    for _ in range(4):
        query = session.ask(10)
        session.tell(query.indices, truth[query.indices])
    shuffled = frame.assign(more="x")[["more", "noise", "when"]]
    assert (session.predict(shuffled)[:-1] == truth[:-1]).mean() > 0.95
    with pytest.raises(cusal.CusalError, match="no column 'when'"):
        session.predict(frame[["noise"]])


def test_a_text_beside_numbers_is_read():
    words = {"bill": ["invoice", "payment", "charge"], "post": ["parcel", "letter", "courier"]}
    kinds = RNG.choice(["bill", "post"], 300)
    texts = [f"my {RNG.choice(words[kind])} number {row} has a problem since" for row, kind in enumerate(kinds)]
    frame = pd.DataFrame({"text": texts, "noise": RNG.normal(size=300)})
    session = cusal.Session(frame, seed=0)
    for _ in range(5):
        query = session.ask(10)
        session.tell(query.indices, kinds[query.indices])
    assert (session.predict(frame) == kinds).mean() > 0.9
