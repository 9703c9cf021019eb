"""Questions that are answered wrongly, late, twice or never: nothing is done without a yes, and nothing hangs.

Usage: questions.py HAFT

In the handshake era the server asks by a request of its own (`elicitation/create`). In the era without handshake
a question is a result (`input_required`), and the call comes again with the answers and the state it was given.
"""

import base64
import json
import sys

from report import Report
from scene import SOON_SECONDS, Scene
from wire import ASKABLE, LEGACY, MODERN, PATIENCE_SECONDS, Wire

CALL = {"path": "asked.txt", "content": "yes\n"}
WRONG_RESULTS = [
    None,
    True,
    "accept",
    [],
    {},
    {"action": None},
    {"action": "ACCEPT"},
    {"action": ["accept"]},
    {"action": "accept"},
    {"action": "accept", "content": None},
    {"action": "accept", "content": {}},
    {"action": "accept", "content": []},
    {"action": "accept", "content": {"x": "y"}},
    {"action": "decline", "content": {"x": "y"}},
    {"action": "cancel"},
]


def is_question(message):
    return message.get("method") == "elicitation/create"


def yes_to(params):
    """What a form must hold to allow it once: the first choice of each required field."""
    schema = params["requestedSchema"]
    content = {}
    for name in schema.get("required", []):
        field = schema["properties"][name]
        choices = field.get("enum") or [choice["const"] for choice in field.get("oneOf", [])]
        content[name] = choices[0] if choices else True
    return {"action": "accept", "content": content}


def spoiled_yes(params):
    """A yes whose fields hold what was never offered."""
    for odd in ("no such choice", None, 7, [], {}, ["x"], "y" * 1_000_000):
        good = yes_to(params)
        yield good | {"content": {name: odd for name in good["content"]}}


def refused(scene, result):
    assert result.get("isError"), f"no refusal: {result}"
    assert not scene.has("asked.txt"), f"written without a yes: {result}"


# The handshake era.


def ask_by_request(scene, wire):
    """A call that needs an answer, and the question that came."""
    call = wire.tool("write_file", LEGACY, **CALL)
    seen = len([message for message in wire.messages if is_question(message)])
    wire.send(call)
    wire.wait_for(lambda _: len([message for message in wire.messages if is_question(message)]) > seen)
    question = [message for message in wire.messages if is_question(message)][-1]
    return call["id"], question


def wrong_answers(scene):
    with Wire(scene, capabilities=ASKABLE) as wire:
        wire.shake_hands()
        first, question = ask_by_request(scene, wire)
        wire.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
        refused(scene, wire.answer(first)["result"])
        answers = [{"result": result} for result in [*WRONG_RESULTS, *spoiled_yes(question["params"])]]
        answers += [{"error": {"code": -32603, "message": "no"}}, {"error": None}, {"error": "no"}, {}]
        for answer in answers:
            call, question = ask_by_request(scene, wire)
            wire.send({"jsonrpc": "2.0", "id": question["id"], **answer})
            if not answered_soon(wire, call):
                # What cannot be read as an answer may be taken for none; then a right one still counts.
                wire.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
            refused(scene, wire.answer(call)["result"])
            wire.still_serves(LEGACY)
        return f"{len(answers)} of them"


def answered_soon(wire, call):
    wire.wait_for(lambda message: message.get("id") == call, within=SOON_SECONDS / 2)
    return wire.answered(call)


def answer_to_another(scene):
    """A yes with a foreign id is a yes to nothing."""
    with Wire(scene, capabilities=ASKABLE) as wire:
        wire.shake_hands()
        call, question = ask_by_request(scene, wire)
        for id in ("other", 10**6, call, str(question["id"]) + "0"):
            wire.send({"jsonrpc": "2.0", "id": id, "result": yes_to(question["params"])})
        wire.still_serves(LEGACY)
        assert not wire.answered(call) and not scene.has("asked.txt"), "a foreign yes counted"
        wire.send({"jsonrpc": "2.0", "id": question["id"], "result": yes_to(question["params"])})
        assert not wire.answer(call)["result"].get("isError")
        wire.send({"jsonrpc": "2.0", "id": question["id"], "result": yes_to(question["params"])})
        wire.still_serves(LEGACY)
        assert scene.read("asked.txt") == "yes\n"


def never_answered(scene):
    """Others are served while a question is open; cancelling the call ends it."""
    with Wire(scene, capabilities=ASKABLE) as wire:
        wire.shake_hands()
        call, question = ask_by_request(scene, wire)
        for _ in range(10):
            wire.still_serves(LEGACY)
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
        wire.still_serves(LEGACY)
        wire.send({"jsonrpc": "2.0", "id": question["id"], "result": yes_to(question["params"])})
        wire.still_serves(LEGACY)
        assert not scene.has("asked.txt"), "a yes after the cancelling counted"


def open_at_the_end(scene):
    with Wire(scene, capabilities=ASKABLE) as wire:
        wire.shake_hands()
        ask_by_request(scene, wire)
        wire.process.stdin.close()
        assert wire.ends() == 0
        assert not scene.left_over() and not scene.has("asked.txt")


# The era without handshake.


def ask_by_result(wire):
    """A call that needs an answer, and the result that asks."""
    result = wire.ask(wire.tool("write_file", MODERN, **CALL))["result"]
    assert result.get("resultType") == "input_required", result
    return result


def retry(wire, state, responses, arguments=CALL, tool="write_file"):
    request = wire.tool(tool, MODERN, **arguments)
    request["params"] |= {"inputResponses": responses}
    if state is not ...:
        request["params"]["requestState"] = state
    return wire.ask(request, within=PATIENCE_SECONDS)


def yes_to_all(asking):
    return {name: yes_to(request["params"]) for name, request in asking["inputRequests"].items()}


def round_trip(scene):
    with Wire(scene, capabilities=ASKABLE) as wire:
        asking = ask_by_result(wire)
        answer = retry(wire, asking["requestState"], yes_to_all(asking))
        assert not answer["result"].get("isError"), answer
        assert scene.read("asked.txt") == "yes\n"


def hostile_state(scene):
    """A yes counts only with the state that belongs to exactly this call."""
    with Wire(scene, capabilities=ASKABLE) as wire:
        asking = ask_by_result(wire)
        state, yes = asking["requestState"], yes_to_all(asking)
        for hostile in hostile_states(state):
            not_done(scene, retry(wire, hostile, yes), f"with the state {str(hostile)[:40]!r}")
        other = CALL | {"content": "something else\n"}
        not_done(scene, retry(wire, state, yes, other), "with another content")
        not_done(scene, retry(wire, state, yes, CALL | {"path": "../asked.txt"}), "with another path")
        not_done(scene, retry(wire, state, yes, {"command": "echo yes > asked.txt"}, "bash"), "with another tool")
        wire.still_serves(MODERN)


def hostile_states(state):
    yield from (..., None, "", "x", 7, [], {}, state[:-1], state + "x", state.swapcase(), state[::-1], "A" * 1_000_000)
    for place in range(0, len(state), max(1, len(state) // 40)):
        yield state[:place] + ("A" if state[place] != "A" else "B") + state[place + 1 :]
    yield base64.b64encode(json.dumps({"approved": True}).encode()).decode()


def wrong_responses(scene):
    with Wire(scene, capabilities=ASKABLE) as wire:
        asking = ask_by_result(wire)
        names = list(asking["inputRequests"])
        params = asking["inputRequests"][names[0]]["params"]
        for response in [*WRONG_RESULTS, *spoiled_yes(params)]:
            asking = ask_by_result(wire)
            answer = retry(wire, asking["requestState"], {name: response for name in names})
            not_done(scene, answer, f"with the response {str(response)[:40]!r}")
        for responses in (None, [], "yes", {}, {"other": yes_to(params)}):
            asking = ask_by_result(wire)
            not_done(scene, retry(wire, asking["requestState"], responses), f"with the responses {str(responses)[:40]!r}")
        wire.still_serves(MODERN)


def used_twice(scene):
    """A yes is for once: the same state again asks again, or is refused."""
    with Wire(scene, capabilities=ASKABLE) as wire:
        asking = ask_by_result(wire)
        state, yes = asking["requestState"], yes_to_all(asking)
        retry(wire, state, yes)
        (scene.workspace / "asked.txt").unlink()
        not_done(scene, retry(wire, state, yes), "a second time")


def not_done(scene, answer, how):
    asks_again = answer.get("result", {}).get("resultType") == "input_required"
    refuses = "error" in answer or answer["result"].get("isError")
    assert asks_again or refuses, f"done {how}: {answer}"
    assert not scene.has("asked.txt"), f"written {how}"


CHECKS = [
    (LEGACY, "answers of the wrong shape", wrong_answers),
    (LEGACY, "answers to something else", answer_to_another),
    (LEGACY, "no answer, then cancelled", never_answered),
    (LEGACY, "no answer, then the end", open_at_the_end),
    (MODERN, "asked, answered, done", round_trip),
    (MODERN, "states that were not given for this", hostile_state),
    (MODERN, "responses of the wrong shape", wrong_responses),
    (MODERN, "a state that was used", used_twice),
]


def main(haft):
    report = Report("questions")
    for era, name, body in CHECKS:
        with Scene(haft) as scene:
            scene.file("notes.txt", "good\n")
            report.check(f"{era}: {name}", lambda: body(scene))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
