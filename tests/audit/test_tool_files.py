"""Files of evaluation tools, in the form in which the tools write them."""

import json
import zipfile

import pytest

from cusal.audit.prediction_table import read_predictions
from cusal.audit.tool_files import open_source, readers
from cusal.errors import DataError
from cusal.tables import NamedColumns

PROMPTFOO = {
    "evalId": "eval-abc-2025-01-01T00:00:00",
    "results": {
        "version": 3,
        "timestamp": "2025-01-01T00:00:00.000Z",
        "prompts": [{"raw": "Answer: {{question}}", "label": "Answer: {{question}}", "provider": "openai:gpt-4o"}],
        "results": [
            {
                "cost": 0.0001,
                "gradingResult": {
                    "pass": passed,
                    "score": score,
                    "reason": "the grader's reason",
                    "componentResults": [
                        {"pass": passed, "score": score, "assertion": {"type": "llm-rubric", "value": "is polite"}},
                        {"pass": True, "score": 1, "assertion": {"type": "contains", "value": "a"}},
                    ],
                },
                "latencyMs": 900,
                "namedScores": {},
                "prompt": {"raw": f"Answer: what is {i}?", "label": "Answer: {{question}}"},
                "promptIdx": 0,
                "provider": {"id": "openai:gpt-4o", "label": ""},
                "response": {"output": f"It is {i}.", "tokenUsage": {"total": 12}},
                "score": score,
                "success": passed,
                "testCase": {"vars": {"question": f"what is {i}?"}, "assert": []},
                "testIdx": i,
                "vars": {"question": f"what is {i}?"},
            }
            for i, (passed, score) in enumerate([(True, 0.9), (False, 0.2), (True, 1)])
        ],
        "stats": {"successes": 2, "failures": 1},
    },
    "config": {},
    "shareableUrl": None,
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "arith", "model": "openai/gpt-4o", "dataset": {"name": "arith", "samples": 2}},
    "results": {"total_samples": 2},
    "samples": [
        {
            "id": i,
            "epoch": 1,
            "input": [{"role": "user", "content": f"What is {i} + {i}?"}] if i else "What is 0 + 0?",
            "target": str(2 * i),
            "messages": [],
            "output": {"model": "gpt-4o", "choices": [{"message": {"role": "assistant", "content": str(2 * i)}}]},
            "scores": {"model_graded_qa": {"value": value, "answer": "2", "explanation": "GRADE: " + value}},
        }
        for i, value in enumerate("CI")
    ],
}
DEEPEVAL = {
    "testFile": None,
    "testCases": [
        {
            "name": f"test_case_{i}",
            "input": "What if these shoes don't fit?",
            "actualOutput": "You have 30 days.",
            "expectedOutput": "30 days.",
            "success": success,
            "metricsData": [
                {
                    "name": "Correctness [GEval]",
                    "threshold": 0.5,
                    "success": success,
                    "score": score,
                    "reason": "why",
                    "strictMode": False,
                    "evaluationModel": "gpt-4o",
                }
            ],
            "runDuration": 1.0,
            "order": i,
        }
        for i, (success, score) in enumerate([(True, 0.8), (False, 0.1)])
    ],
    "conversationalTestCases": [],
    "metricsScores": [],
}
HARNESS = [
    {
        "doc_id": i,
        "doc": {"question": "Which?", "choices": {"text": ["a", "b"]}},
        "target": " a",
        "arguments": {"gen_args_0": {"arg_0": "Question: Which?\nAnswer:", "arg_1": " a"}},
        "resps": [[["-1.0", "False"]], [["-2.0", "False"]]],
        "filtered_resps": [["-1.0", "False"], ["-2.0", "False"]],
        "doc_hash": "x",
        "prompt_hash": "y",
        "target_hash": "z",
        "acc": acc,
    }
    for i, acc in enumerate([1.0, 0.0])
]
LANGFUSE = [
    {
        "id": f"s{i}",
        "timestamp": "2025-01-01 00:00:00.000000",
        "project_id": "p",
        "environment": "default",
        "trace_id": f"t{i}",
        "observation_id": None,
        "name": "correctness",
        "value": value,
        "source": source,
        "comment": "why",
        "data_type": "BOOLEAN",
        "string_value": "True" if value else "False",
    }
    for i, (value, source) in enumerate([(1, "EVAL"), (0, "EVAL"), (1, "ANNOTATION")])
]
LANGSMITH = [
    {
        "id": f"run-{i}",
        "name": "chain",
        "inputs": {"question": "Why?"},
        "outputs": {"answer": "So."},
        "feedback_stats": {"correctness": {"n": 1, "avg": avg, "values": {}}},
        "reference_example_id": "e",
    }
    for i, avg in enumerate([1.0, 0.0])
]
BATCH = [
    {
        "id": f"batch_req_{i}",
        "custom_id": f"item-{i}",
        "response": {
            "status_code": 200,
            "request_id": "r",
            "body": {
                "object": "chat.completion",
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": said},
                        "logprobs": {"content": [{"token": said, "logprob": -0.1, "top_logprobs": []}]},
                        "finish_reason": "stop",
                    }
                ],
            },
        },
        "error": None,
    }
    for i, said in enumerate(["pass", "fail"])
]
FILES = {
    "promptfoo": ("results.json", PROMPTFOO),
    "Inspect": ("log.json", INSPECT),
    "DeepEval": (".latest_test_run.json", DEEPEVAL),
    "lm-evaluation-harness": ("samples_arc_2025.jsonl", HARNESS),
    "Langfuse": ("scores.jsonl", LANGFUSE),
    "LangSmith": ("runs.jsonl", LANGSMITH),
    "an OpenAI batch": ("output.jsonl", BATCH),
}
EXPECTED = {
    "promptfoo": (["0-0", "1-0", "2-0"], ["pass", "fail", "pass"], [0.9, 0.8, 1.0]),
    "Inspect": (["0-1", "1-1"], ["C", "I"], None),
    "DeepEval": (["0", "1"], ["pass", "fail"], [0.8, 0.9]),
    "lm-evaluation-harness": (["0", "1"], ["pass", "fail"], [0.731059, 0.731059]),
    "Langfuse": (["t0", "t1"], ["pass", "fail"], None),
    "LangSmith": (["run-0", "run-1"], ["pass", "fail"], None),
    "an OpenAI batch": (["item-0", "item-1"], ["pass", "fail"], [0.904837, 0.904837]),
}


def written(folder, name, content):
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in content))
    else:
        path.write_text(json.dumps(content))
    return str(path)


def test_every_reader_is_tried():
    assert {reader.NAME for reader in readers()} == set(FILES)


@pytest.mark.parametrize("tool", FILES)
def test_a_file_is_recognised_by_what_it_holds(tmp_path, tool):
    table = read_predictions(written(tmp_path, *FILES[tool]))
    ids, labels, confidence = EXPECTED[tool]
    assert table.ids == ids
    assert table.labels == labels
    if confidence is not None:
        assert list(table.confidence) == pytest.approx(confidence, abs=1e-5)
    assert table.reading.endswith(f"(a file of {tool})")
    row = table.source_rows([1])[0]
    assert row["id"] == ids[1]


@pytest.mark.parametrize("tool", FILES)
def test_a_file_is_taken_for_no_other_tools(tmp_path, tool):
    _, content = FILES[tool]
    assert [reader.NAME for reader in readers() if reader.fits(content)] == [tool]


def test_texts_answers_and_reasons_come_along(tmp_path):
    row = open_source(written(tmp_path, *FILES["promptfoo"])).sample[1]
    assert row["text"] == "Answer: what is 1?"
    assert row["output"] == "It is 1."
    assert row["reason"] == "the grader's reason"
    assert row["vars.question"] == "what is 1?"
    assert (row["assert.llm-rubric"], row["assert.contains"]) == ("fail", "pass")
    chat = open_source(written(tmp_path, *FILES["Inspect"])).sample[1]
    assert chat["text"] == "user: What is 1 + 1?"
    assert open_source(written(tmp_path, *FILES["lm-evaluation-harness"])).sample[0]["text"].startswith("Question")
    assert open_source(written(tmp_path, *FILES["LangSmith"])).sample[0]["output"] == "So."


def test_several_scores_have_to_be_named(tmp_path):
    content = json.loads(json.dumps(INSPECT))
    for sample in content["samples"]:
        sample["scores"]["f1"] = {"value": 0.5}
    path = written(tmp_path, "log.json", content)
    with pytest.raises(DataError, match=r"model_graded_qa, f1.*--predicted"):
        read_predictions(path)
    assert read_predictions(path, NamedColumns(label="model_graded_qa")).labels == ["C", "I"]
    assert read_predictions(path, NamedColumns(label="f1")).labels == ["0.5", "0.5"]


def test_an_archive_of_inspect_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {}}))
        for sample in INSPECT["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    assert read_predictions(str(tmp_path / "log.eval")).labels == ["C", "I"]
    packed = (tmp_path / "log.eval").read_bytes()
    for sign, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):  # method 93, as Inspect writes it, in both headers
        place = -1
        while (place := packed.find(sign, place + 1)) >= 0:
            packed = packed[: place + at] + b"\x5d\x00" + packed[place + at + 2 :]
    (tmp_path / "packed.eval").write_bytes(packed)
    with pytest.raises(DataError, match="inspect log dump"):
        read_predictions(str(tmp_path / "packed.eval"))


def test_a_table_of_langsmith_and_scores_of_langfuse_as_csv(tmp_path):
    (tmp_path / "experiment.csv").write_text(
        "inputs.question,outputs.answer,reference.answer,feedback.correctness,example_id,id\nWhy?,So.,So!,1,e,r1\n"
        "How?,So.,No.,0,e,r2\n"
    )
    assert read_predictions(str(tmp_path / "experiment.csv")).labels == ["pass", "fail"]
    (tmp_path / "scores.csv").write_text(
        "id,traceId,name,value,dataType,stringValue,source,comment\n1,t1,tone,,CATEGORICAL,polite,EVAL,\n"
        "2,t2,tone,,CATEGORICAL,rude,EVAL,\n"
    )
    assert read_predictions(str(tmp_path / "scores.csv")).labels == ["polite", "rude"]


def test_an_answer_in_json_holds_its_verdict_and_its_confidence(tmp_path):
    rows = json.loads(json.dumps(BATCH))
    for row, verdict in zip(rows, (True, False), strict=True):
        said = {"reasoning": "because", "verdict": verdict, "confidence": 0.75}
        row["response"]["body"]["choices"][0]["message"]["content"] = f"```json\n{json.dumps(said)}\n```"
    table = read_predictions(written(tmp_path, "output.jsonl", rows))
    assert table.labels == ["pass", "fail"]
    assert list(table.confidence) == [0.75, 0.75]


def test_a_json_file_of_rows_is_a_table_and_others_are_refused(tmp_path):
    rows = [{"id": 1, "predicted": "a", "confidence": 0.5}, {"id": 2, "predicted": "b", "confidence": 0.6}]
    assert read_predictions(written(tmp_path, "rows.json", rows)).labels == ["a", "b"]
    with pytest.raises(DataError, match=r"no file of .*promptfoo.*--id, --predicted"):
        read_predictions(written(tmp_path, "other.json", {"hello": 1}))
    for content in ("{", ""):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(DataError, match="cannot be read"):
            read_predictions(str(tmp_path / "bad.json"))
    broken = json.loads(json.dumps(PROMPTFOO))
    broken["results"]["results"][1] = "?"
    with pytest.raises(DataError, match="looks like a file of promptfoo"):
        read_predictions(written(tmp_path, "broken.json", broken))
    (tmp_path / "log.eval").write_text("no zip")
    with pytest.raises(DataError, match="cannot be read"):
        read_predictions(str(tmp_path / "log.eval"))
