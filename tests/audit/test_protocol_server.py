"""An audit as a server of the Model Context Protocol, asked by the protocol's own client over a pipe."""

import asyncio
import json
import os
import sys

import numpy as np
import pytest

from cusal.audit import Audit
from cusal.audit.prediction_table import read_predictions
from cusal.audit.protocol_server import OpenAudit
from cusal.errors import DataError, InvalidInput


@pytest.fixture
def files(tmp_path):
    """Return a folder with verdicts of a judge, and a saved audit without a check."""
    rng = np.random.default_rng(0)
    rows = [
        {"id": f"q{i}", "text": f"reply {i}", "predicted": str(rng.choice(["pass", "fail"])), "reason": "because"}
        for i in range(200)
    ]
    (tmp_path / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read_predictions(str(tmp_path / "verdicts.jsonl")).audit(0).save(tmp_path / "judge.audit")
    return tmp_path


def asked(files, *calls, options=()):
    """Return the names of the tools, and the answer to each call, of a server in a process of its own."""
    from mcp import Client, StdioServerParameters

    source = str(files / "verdicts.jsonl")
    arguments = ["-m", "cusal", "mcp", str(files / "judge.audit"), "--source", source, *options]

    async def talk():
        async with Client(
            StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        ) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            answers = []
            for name, values in calls:
                result = await client.call_tool(name, values)
                text = result.content[0].text
                answers.append((text, True) if result.is_error else json.loads(text))
            return tools, answers

    return asyncio.run(talk())


@pytest.mark.needs("mcp")
def test_an_agent_reads_but_cannot_write(files):
    before = (files / "judge.audit").read_bytes()
    tools, (items, known, refused) = asked(
        files, ("next_checks", {"count": 3}), ("judge", {"positive": "pass"}), ("tell", {"item": "q1", "label": "pass"})
    )
    assert tools == {"next_checks", "judge", "accept"}
    assert [set(item) for item in items] == [{"id", "text"}] * 3  # neither the verdict nor its reason
    assert known["checks"] == 0
    assert refused[1]
    assert (files / "judge.audit").read_bytes() == before


@pytest.mark.needs("mcp")
def test_with_leave_to_write_the_answers_of_a_person_are_stored(files):
    first = [item["id"] for item in OpenAudit(str(files / "judge.audit"), str(files / "verdicts.jsonl")).next_checks(4)]
    calls = [("tell", {"item": name, "label": "pass"}) for name in first[:3]]
    calls += [("tell", {"item": first[3], "label": "?"}), ("judge", {"positive": "pass"}), ("accept", {})]
    calls += [("tell", {"item": "nobody", "label": "pass"}), ("tell", {"item": first[0], "label": " "})]
    tools, answers = asked(files, *calls, options=["--write"])
    assert "tell" in tools
    assert answers[3] == {"checks": 4, "checks_in_order": 4}
    assert 0 <= answers[4]["estimates"]["recall"]["low"] <= 1
    assert "reason" in answers[5]
    assert "there is no item" in answers[6][0]
    assert "the label is empty" in answers[7][0]
    stored = Audit.load(files / "judge.audit")
    assert stored.checks == 4
    assert list(stored.answers.values()).count(None) == 1


def test_no_file_outside_the_folder_is_opened(files, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "verdicts.jsonl"
    elsewhere.write_bytes((files / "verdicts.jsonl").read_bytes())
    (files / "link.jsonl").symlink_to(elsewhere)
    for source in (elsewhere, files / "link.jsonl", files / ".." / elsewhere.parent.name / "verdicts.jsonl"):
        with pytest.raises(InvalidInput, match="lies outside"):
            OpenAudit(str(files / "judge.audit"), str(source))
    with pytest.raises(InvalidInput, match="lies outside"):
        OpenAudit(str(files / "judge.audit"), folder=str(elsewhere.parent))


def test_a_table_of_other_predictions_is_refused(files):
    (files / "other.jsonl").write_text('{"id": "q1", "predicted": "pass"}\n')
    with pytest.raises(DataError, match="other predictions"):
        OpenAudit(str(files / "judge.audit"), str(files / "other.jsonl"))


def test_without_its_table_items_go_by_their_position(files):
    opened = OpenAudit(str(files / "judge.audit"))
    (item,) = opened.next_checks(1)
    opened.tell(item["id"], "pass")
    assert opened.judge()["checks"] == 1
    assert opened.next_checks(1) != [item]
