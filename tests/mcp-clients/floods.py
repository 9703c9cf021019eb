"""Too much at once, and clients that go away: the server keeps its memory, and ends when it should.

Usage: floods.py HAFT
"""

import json
import os
import signal
import subprocess
import sys
import time

from report import Report
from scene import SOON_SECONDS, Scene, wait_until
from wire import LEGACY, MODERN, PATIENCE_SECONDS, Wire

MOST_MEMORY_MB = 150
LONG_SECONDS = 300


def flood(scene, era, make, count):
    """All requests are written before one answer is read; then every one of them is answered."""
    with Wire(scene, "--yes") as wire:
        wire.begin(era)
        wire.stop_reading()
        before = len(wire.by_id)
        requests = [make(wire, era) for _ in range(count)]
        data = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
        left = wire.send_until_stuck(data, quiet=0.5)
        wire.reading.set()
        wire.send_bytes(left)
        owed = [request["id"] for request in requests if "id" in request]
        if owed:
            wire.wait_for(lambda _: len(wire.by_id) - before >= len(owed), within=LONG_SECONDS)
        missing = [id for id in owed if not wire.answered(id)]
        assert not missing, f"{len(missing)} of {count} have no answer {wire.state()}"
        wire.still_serves(era)
        assert wire.peak_mb() < MOST_MEMORY_MB, f"needs {wire.peak_mb():.0f} MB"
        return f"peak {wire.peak_mb():.0f} MB, {len(left) * 100 // len(data)} % waited in the client"


def small_read(wire, era):
    return wire.tool("read_file", era, path="notes.txt")


def listing(wire, era):
    return wire.request("tools/list", {}, era)


def unknown_method(wire, era):
    return wire.request("no/such/method", {}, era)


def unknown_cancel(wire, era):
    wire.next_id += 1
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": f"never-{wire.next_id}"}}


def ping(wire, era):
    return wire.request("ping", {}, era)


def large_read(wire, era):
    return wire.tool("bash", era, command="cat large.txt")


def same_id(scene, era):
    """The second of two with one id is refused or has to wait; the first is answered, and both are not mixed up."""
    with Wire(scene, "--yes") as wire:
        wire.begin(era)
        wire.send(wire.tool("bash", era, id="twin", command="sleep 0.3; echo first"))
        wire.send(wire.tool("bash", era, id="twin", command="echo second"))
        wire.still_serves(era)
        wire.wait_for(lambda _: len(wire.by_id.get('"twin"', [])) == 2)
        answers = json.dumps(wire.by_id['"twin"'])
        assert "first" in answers, f"the first has no answer: {answers}"
        wire.still_serves(era)


def running(scene, wire, era, commands=1, command="sleep"):
    """Starts commands that would run for long; returns when the first of them runs."""
    mark = f"{time.time_ns() % 10**9}"
    for _ in range(commands):
        wire.send(wire.tool("bash", era, command=f"{command} {mark}"))
    assert wait_until(lambda: scene.running(f"sleep {mark}"), PATIENCE_SECONDS), "the command does not start"
    return f"sleep {mark}"


def all_gone(scene, mark=None):
    left = scene.left_over()
    assert not left, f"left over: {left}"
    assert not (mark and scene.running(mark)), f"left over: {scene.running(mark)}"


def end_of_input(scene, era):
    with Wire(scene) as wire:
        wire.begin(era)
        wire.still_serves(era)
        wire.process.stdin.close()
        assert wire.ends() == 0
        all_gone(scene)


def end_of_input_at_once(scene, era):
    with Wire(scene) as wire:
        wire.process.stdin.close()
        wire.ends()
        all_gone(scene)


def end_of_input_in_a_line(scene, era):
    with Wire(scene) as wire:
        wire.begin(era)
        wire.send_bytes(b'{"jsonrpc":"2.0","id":1,"meth')
        wire.process.stdin.close()
        assert wire.ends() == 0
        all_gone(scene)


def end_of_input_with_commands(scene, era):
    with Wire(scene, "--yes") as wire:
        wire.begin(era)
        mark = running(scene, wire, era, commands=100)
        wire.process.stdin.close()
        wire.ends()
        all_gone(scene, mark)


def end_of_input_and_stubborn_command(scene, era):
    with Wire(scene, "--yes") as wire:
        wire.begin(era)
        mark = running(scene, wire, era, command="trap '' TERM INT HUP; setsid sleep")
        wire.process.stdin.close()
        wire.ends()
        all_gone(scene, mark)


def requests_then_end_of_input(scene, era):
    """What was asked before the end is still answered: `printf … | haft mcp serve` is a way to try it."""
    with Wire(scene) as wire:
        wire.begin(era)
        requests = [small_read(wire, era) for _ in range(20)]
        wire.send_bytes(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        wire.process.stdin.close()
        wire.ends()
        wire.wait_for(lambda _: wire.answered(requests[-1]["id"]), within=SOON_SECONDS)
        missing = [request["id"] for request in requests if not wire.answered(request["id"])]
        assert not missing, f"{len(missing)} of 20 have no answer"


def signalled(number, with_command):
    def check(scene, era):
        with Wire(scene, "--yes") as wire:
            wire.begin(era)
            wire.still_serves(era)
            mark = running(scene, wire, era) if with_command else None
            wire.signal(number)
            wire.ends()
            all_gone(scene, mark)

    return check


def output_closed(scene, era):
    """Nobody reads any more, but the input stays open."""
    with Wire(scene, "--yes") as wire:
        wire.begin(era)
        mark = running(scene, wire, era)
        wire.close_output()
        try:
            for _ in range(3):
                wire.send(small_read(wire, era))
        except AssertionError:
            pass  # it has ended already
        wire.ends()
        all_gone(scene, mark)


def errors_closed(scene, era):
    """Nobody reads its log; that is no reason to end."""
    reader, writer = os.pipe()
    os.close(reader)
    with Wire(scene, stderr=writer) as wire:
        os.close(writer)
        wire.begin(era)
        wire.send_bytes(b"garbage\n" * 100)
        wire.still_serves(era)


def errors_unread(scene, era):
    """A log that nobody reads fills its pipe; the server goes on."""
    with Wire(scene, stderr=subprocess.PIPE) as wire:
        wire.begin(era)
        wire.send_bytes(b"garbage\n" * 100_000)
        wire.still_serves(era, within=30)


def one_byte_at_a_time(scene, era):
    with Wire(scene) as wire:
        wire.begin(era)
        request = small_read(wire, era)
        for byte in json.dumps(request).encode() + b"\n":
            wire.send_bytes(bytes([byte]))
        assert "result" in wire.answer(request["id"])
        wire.still_serves(era)


def cancelled(scene, era):
    """Cancelled calls get no answer, and nothing of them goes on; those beside them are not touched."""
    with Wire(scene, "--yes") as wire:
        wire.begin(era)
        mark = running(scene, wire, era, commands=20)
        calls = [f"r{wire.next_id - back}" for back in range(20)]
        beside = wire.tool("bash", era, command="sleep 0.5; echo beside")
        wire.send(beside)
        for call in calls * 2:
            wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
        assert "beside" in json.dumps(wire.answer(beside["id"]))
        assert wait_until(lambda: not scene.running(mark), 2 * SOON_SECONDS), "a cancelled command still runs"
        wire.still_serves(era)
        told = [call for call in calls if wire.answered(call)]
        assert not told, f"{len(told)} cancelled calls were answered: {wire.answer(told[0])}"


FLOODS = [
    ("50,000 small reads, none of them read", small_read, 50_000, (LEGACY, MODERN)),
    ("2,000 lists of tools, none of them read", listing, 2_000, (LEGACY, MODERN)),
    ("50,000 pings, none of them read", ping, 50_000, (LEGACY,)),
    ("50,000 unknown methods, none of them read", unknown_method, 50_000, (LEGACY, MODERN)),
    ("10,000 cancels of nothing", unknown_cancel, 10_000, (LEGACY, MODERN)),
    ("200 large results, none of them read", large_read, 200, (LEGACY, MODERN)),
]

ENDINGS = [
    ("two calls with one id", same_id),
    ("20 running commands are cancelled", cancelled),
    ("one byte at a time", one_byte_at_a_time),
    ("the log is closed", errors_closed),
    ("the log is not read", errors_unread),
    ("end of input", end_of_input),
    ("end of input at once", end_of_input_at_once),
    ("end of input in the middle of a line", end_of_input_in_a_line),
    ("end of input behind 20 requests", requests_then_end_of_input),
    ("end of input with 100 commands", end_of_input_with_commands),
    ("end of input with a stubborn command", end_of_input_and_stubborn_command),
    ("the output is closed", output_closed),
    *(
        (f"{number.name} {'with a command' if with_command else 'at rest'}", signalled(number, with_command))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
        for with_command in (False, True)
    ),
]


def main(haft):
    report = Report("floods")
    for era in (LEGACY, MODERN):
        for name, body in ENDINGS:
            with Scene(haft) as scene:
                scene.file("notes.txt", "good\n")
                report.check(f"{era}: {name}", lambda: body(scene, era))
        for name, make, count, eras in FLOODS:
            if era in eras:
                with Scene(haft) as scene:
                    scene.file("notes.txt", "good\n").file("large.txt", "0123456789\n" * 100_000)
                    report.check(f"{era}: {name}", lambda: flood(scene, era, make, count))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
