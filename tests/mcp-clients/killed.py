"""A server that is killed while a command writes files: nothing goes on running, and nothing is half done.

Usage: killed.py HAFT [MOMENTS [SEED]]

Each time at another moment. Afterwards the workspace is as it was, or has all changes of the command, which are
in the log and can be undone.
"""

import random
import sys
import time

from report import Report
from scene import Scene
from wire import LEGACY, MODERN, Wire

FILES = 60
COMMAND = f"for i in $(seq {FILES}); do echo new > old$i.txt; echo made > new$i.txt; done; rm old1.txt; mkdir deep; echo x > deep/x"


def prepare(scene):
    for number in range(1, FILES + 1):
        scene.file(f"old{number}.txt", f"old {number}\n")
    return scene.contents()


def start(scene, era):
    wire = Wire(scene, "--yes")
    wire.begin(era)
    request = wire.tool("bash", era, command=COMMAND)
    wire.send(request)
    return wire, request["id"]


def whole_run(haft):
    """How long the command takes when nobody interferes, and what it leaves."""
    with Scene(haft) as scene:
        prepare(scene)
        wire, call = start(scene, LEGACY)
        began = time.monotonic()
        answer = wire.answer(call, within=30)
        took = time.monotonic() - began
        wire.__exit__()
        assert not answer["result"].get("isError"), answer
        return took, scene.contents()


def killed_at(haft, era, moment, after):
    with Scene(haft) as scene:
        before = prepare(scene)
        wire, _ = start(scene, era)
        time.sleep(moment)
        wire.process.kill()
        wire.process.wait()
        left = scene.left_over()
        assert not left, f"left over: {left}"
        log = scene.haft("log")  # whoever comes next cleans up
        assert log.returncode == 0, log.stderr
        found = scene.contents()
        if found == before:
            return "untouched"
        differ = [name for name in before.keys() | found.keys() if found.get(name) != after.get(name)]
        assert found == after, f"half done, {len(differ)} files differ: {sorted(differ)[:5]}; log: {log.stdout!r}"
        assert "old2.txt" in log.stdout or "bash" in log.stdout, f"not in the log: {log.stdout!r}"
        undone = scene.haft("undo")
        assert undone.returncode == 0, undone.stderr
        assert scene.contents() == before, "undo does not bring everything back"
        return "all of it, and undone"


def main(haft, moments=50, seed=None):
    report = Report("killed")
    seed = int(seed) if seed else random.randrange(10**6)
    pick = random.Random(seed)
    took, after = whole_run(haft)
    print(f"killed: the command takes {took * 1e3:.0f} ms; the seed is {seed}", flush=True)
    for number in range(int(moments)):
        moment = pick.uniform(0, took * 1.3)
        era = (LEGACY, MODERN)[number % 2]
        report.check(f"{era}: after {moment * 1e3:.1f} ms", lambda: killed_at(haft, era, moment, after))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
