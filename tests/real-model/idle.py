"""A server that falls silent inside its answer, and nobody who presses Ctrl-C: haft notices by itself.

Usage: idle.py HAFT

It waits for a sign of life as long as its settings say: here longer than this model needs to read a request.
"""

import sys
import time

from asked import Asked, Server
from report import Report
from scene import Scene

IDLE_SECONDS = 90
SLACK_SECONDS = 15


def goes_on_by_itself(haft):
    with Server() as server, Scene(haft) as scene:
        settings = scene.home / "config" / "haft" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"[model]\nidle_seconds = {IDLE_SECONDS}\n")
        asked = Asked(scene, server.base_url, "--max-steps", "2", "Tell me a long story about a dog.")
        asked.wait_for("text", count=5)
        server.stop()
        stopped = time.monotonic()
        asked.wait_for("goes_on", within=IDLE_SECONDS + SLACK_SECONDS)
        waited = time.monotonic() - stopped
        assert waited > IDLE_SECONDS - SLACK_SECONDS, f"it waited only {waited:.0f} s"
        why = asked.of("goes_on")[0]["why"]
        server.go_on()
        last = asked.end()
        assert last["how"] in ("finished", "out_of_steps", "unfinished") and last["steps"] == 2, last
        return f"after {waited:.0f} s: {why}; then {last['how']}"


def main(haft):
    report = Report("idle")
    report.check("silent inside the answer", lambda: goes_on_by_itself(haft))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
