"""A plain question to a real model: the answer comes in pieces, is counted, kept, and goes on in the next request.

Usage: text.py HAFT
"""

import json
import sys

from asked import Asked, Server
from between import Between
from report import Report
from scene import Scene


def server_usage(between):
    """What the server itself counted in its replies: tokens in and out."""
    counted = [event["usage"] for answer in between.streams() for event in answer if event.get("usage")]
    return sum(usage["prompt_tokens"] for usage in counted), sum(usage["completion_tokens"] for usage in counted)


def in_pieces(asked):
    times = [seconds for seconds, record in asked.records if record["event"] == "text"]
    assert len(times) >= 5, f"only {len(times)} pieces"
    # One token takes some milliseconds; a text that was held back and cut up would come at one moment.
    spread = times[-1] - times[0]
    assert spread > 0.02, f"{len(times)} pieces within {spread:.3f} s"
    return f"{len(times)} pieces, the first after {times[0]:.1f} s, the last {spread:.2f} s later"


def is_the_answer(asked, last):
    assert asked.text() == last["answer"], f"pieces {asked.text()!r}, answer {last['answer']!r}"
    return repr(last["answer"][:80])


def is_counted(between, last):
    usage, counted = last["usage"], server_usage(between)
    assert (usage["input"], usage["output"]) == counted, f"haft says {usage}, the server {counted}"
    assert min(counted) > 0, f"nothing was counted: {counted}"
    return f"{counted[0]} tokens in, {counted[1]} out"


def goes_on(scene, between, first):
    asked = Asked(scene, between.base_url, "--max-steps", "1", first["session"], "And of Italy?", command="resume")
    last = asked.end()
    assert last["how"] in ("finished", "out_of_steps", "unfinished"), last
    messages = between.chats()[-1]["messages"]
    said = [(message["role"], message["content"]) for message in messages if message["role"] != "system"]
    assert said[0] == ("user", "What is the capital of France?"), said
    assert said[1][0] == "assistant" and first["answer"].startswith(said[1][1]), said
    assert said[-1][0] == "user" and "And of Italy?" in said[-1][1], said
    return f"{last['how']}: {json.dumps(last['answer'][:80])}"


def main(haft):
    report = Report("text")
    with Server() as server, Between(server.port) as between, Scene(haft) as scene:
        asked = Asked(scene, between.base_url, "--max-steps", "2", "What is the capital of France?")
        last = asked.end()
        report.check("it ends with a clear word", lambda: f"{last['how']}, status {last['exit_code']}")
        report.check("the text comes in pieces", lambda: in_pieces(asked))
        report.check("the pieces are the answer", lambda: is_the_answer(asked, last))
        report.check("haft counts the tokens that the server counted", lambda: is_counted(between, last))
        report.check("the session goes on with what was said", lambda: goes_on(scene, between, last))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
