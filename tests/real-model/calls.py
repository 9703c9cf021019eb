"""Calls of a real model, good and bad: each has exactly one answer, and the server takes the history that has them.

Usage: calls.py HAFT

The model has to call something: in its first reply because haft says so (`--call-first`), in all of them where `between.py`
adds it. What it calls is its own choice, and mostly nonsense.
"""

import json
import sys

from asked import Asked, Server
from between import Between
from report import Report
from scene import Scene

WILD_SEEDS = (1, 2, 3)
ALWAYS = {"tool_choice": "required"}


def streamed_calls(between):
    """The calls as the server streamed them: id → name, the pieces of the arguments, why the reply ended."""
    calls = {}
    for events in between.streams():
        at_index = {}
        for choice in (choice for event in events for choice in event.get("choices", [])):
            for piece in choice["delta"].get("tool_calls", []):
                if "id" in piece:
                    at_index[piece["index"]] = calls[piece["id"]] = {"name": piece["function"]["name"], "pieces": []}
                at_index[piece["index"]]["pieces"].append(piece["function"].get("arguments", ""))
            for call in at_index.values():
                call["ended"] = choice["finish_reason"]
    return calls


def each_is_answered(asked, between):
    """Once in the records, and once in the next request, right behind the reply that made it."""
    calls = streamed_calls(between)
    assert calls, "the server streamed no call"
    told = [record["id"] for record in asked.of("result", "not_run")]
    assert sorted(told) == sorted(calls), f"streamed {sorted(calls)}, told {sorted(told)}"
    for request in between.chats():
        open_calls = []
        for message in request["messages"]:
            if message["role"] == "tool":
                open_calls.remove(message["tool_call_id"])
                continue
            assert not open_calls, f"{open_calls} have no answer before {message}"
            open_calls = [call["id"] for call in message.get("tool_calls") or []]
        assert not open_calls, f"{open_calls} have no answer at the end of a request"
    refused = [bytes(answer[:40]) for answer in between.answers if not answer.startswith(b"HTTP/1.1 200")]
    assert not refused, f"the server did not take a request: {refused}"
    outcomes = [record.get("status", "not run") for record in asked.of("result", "not_run")]
    return f"{len(calls)} calls ({', '.join(outcomes)}) in {len(between.chats())} requests"


def arguments_are_whole(asked, between):
    """What came in pieces is what haft ran."""
    calls = streamed_calls(between)
    began = asked.of("call")
    assert began, f"no call was whole enough to run: {asked.of('not_run')}"
    for record in began:
        call = calls[record["id"]]
        assert record["tool"] == call["name"], f"{record} is {call}"
        assert record["arguments"] == json.loads("".join(call["pieces"])), f"{record} is {call}"
    most = max(len(calls[record["id"]]["pieces"]) for record in began)
    return f"{began[0]['tool']} {json.dumps(began[0]['arguments'])[:80]}, up to {most} pieces"


def is_not_run(asked, between):
    cut = [id for id, call in streamed_calls(between).items() if call["ended"] == "length"]
    assert cut, "no reply was cut inside a call"
    told = {record["id"]: record["content"] for record in asked.of("not_run")}
    assert set(cut) <= set(told), f"cut {cut}, not run {told}"
    assert all(text.startswith("Not run: ") and "Next: " in text for text in told.values()), told
    return told[cut[0]][:100]


def only_the_first_must(asked, between):
    choices = [request.get("tool_choice") for request in between.chats()]
    assert len(choices) > 1, "it was asked once only"
    assert choices[0] == "required" and not any(choices[1:]), choices
    return f"{choices[0]}, then free in {len(choices) - 1} requests"


def scene_of(report, haft, server, name, words, checks, **added):
    with Between(server.port, **added) as between, Scene(haft) as scene:
        scene.file("notes.txt", "one two three\n")
        before = scene.contents()
        asked = Asked(scene, between.base_url, *words)
        last = asked.end()
        report.check(f"{name}: every call has one answer", lambda: each_is_answered(asked, between))
        for check, body in checks.items():
            report.check(f"{name}: {check}", lambda body=body: body(asked, between))
        report.check(f"{name}: it ends with a clear word", lambda: f"{last['how']}: {last.get('error', last['answer'])}")
        assert "--plan" not in words or scene.contents() == before, "a plan changed the workspace"


def main(haft):
    report = Report("calls")
    with Server() as server:
        whole = {"the arguments are those of the stream": arguments_are_whole}
        words = ("--plan", "--max-steps", "3", "List the files of this folder.")
        scene_of(report, haft, server, "required", words, whole, **ALWAYS, max_tokens=400)
        first = {"haft asks for it in the first reply only": only_the_first_must, **whole}
        words = ("--call-first", "--plan", "--max-steps", "2", "List the files of this folder.")
        scene_of(report, haft, server, "first", words, first, max_tokens=400)
        cut = {"a call that was cut is not run, and the model is told": is_not_run}
        words = ("--plan", "--max-steps", "2", "Write a poem into poem.txt.")
        scene_of(report, haft, server, "cut", words, cut, **ALWAYS, max_tokens=24)
        for seed in WILD_SEEDS:
            wild = {"temperature": 2.0, "min_p": 0.0, "top_k": 0, "top_p": 1.0, "seed": seed, "max_tokens": 120, **ALWAYS}
            scene_of(report, haft, server, f"wild {seed}", ("--plan", "--max-steps", "3", "Mend the tests."), {}, **wild)
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
