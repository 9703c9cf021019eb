"""Nobody answers, or somebody stops to: haft says so in bounded time, and Ctrl-C does not wait for anybody.

Usage: silence.py HAFT
"""

import socket
import sys

from asked import Asked, Server
from report import Report
from scene import Scene, wait_until

STORY = "Tell me a long story about a dog."
AT_ONCE_SECONDS = 1.0


def nobody_listens(haft):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Scene(haft) as scene:
        return is_unreachable(Asked(scene, f"http://127.0.0.1:{port}/v1", STORY), within=10)


def nobody_takes_the_call(haft):
    """A queue that is full: the connection is neither made nor refused, as behind a wall."""
    with Scene(haft) as scene, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        try:
            return is_unreachable(Asked(scene, f"http://127.0.0.1:{listener.getsockname()[1]}/v1", STORY), within=45)
        finally:
            for one in waiting:
                one.close()


def is_unreachable(asked, within):
    last = asked.end(within=within)
    assert (last["how"], last["exit_code"]) == ("failed", 1), last
    assert len(asked.of("again")) == 2, f"it is tried three times: {asked.of('again')}"
    assert "check that the server runs" in last["error"], last
    return last["error"]


def stopped_before_the_answer(haft):
    with Server() as server, Scene(haft) as scene:
        server.stop()
        asked = Asked(scene, server.base_url, STORY).wait_for("session")
        # The kernel takes the connection for the server; haft waits for an answer now.
        wait_for_connection(server.port)
        is_stopped(asked)
        server.go_on()
        return takes_up(scene, server)


def stopped_in_the_answer(haft):
    with Server() as server, Scene(haft) as scene:
        asked = Asked(scene, server.base_url, STORY).wait_for("text", count=5)
        server.stop()
        is_stopped(asked)
        assert len(asked.of("text")) >= 5, "what had come is told"
        server.go_on()
        return takes_up(scene, server)


def is_stopped(asked):
    last, seconds = asked.interrupt()
    assert (last["how"], last["exit_code"]) == ("stopped", 130), last
    assert seconds < AT_ONCE_SECONDS, f"the end took {seconds:.2f} s"


def takes_up(scene, server):
    last = Asked(scene, server.base_url, "--max-steps", "1", command="resume").end()
    assert last["how"] in ("finished", "out_of_steps", "unfinished") and last["usage"]["output"] > 0, last
    return f"stopped at once; taken up when the server went on: {last['how']}"


def killed_in_the_answer(haft):
    with Server() as server, Scene(haft) as scene:
        asked = Asked(scene, server.base_url, STORY).wait_for("text", count=5)
        server.kill()
        last = asked.end(within=20)
        assert last["exit_code"] == 1 and last["how"] in ("failed", "unfinished"), last
        assert asked.text() and last["answer"] in ("", asked.text()), last
        return last["error"]


def wait_for_connection(port):
    """Until this machine has a connection to the port, by the kernel's own list."""
    mark = f":{port:04X} "

    def is_there():
        with open("/proc/net/tcp") as table:
            return any(mark in line and line.split()[3] == "01" for line in table)

    assert wait_until(is_there, within=10), "haft did not connect"


def main(haft):
    report = Report("silence")
    report.check("nobody listens", lambda: nobody_listens(haft))
    report.check("nobody takes the call", lambda: nobody_takes_the_call(haft))
    report.check("stopped before the answer, then Ctrl-C", lambda: stopped_before_the_answer(haft))
    report.check("stopped in the answer, then Ctrl-C", lambda: stopped_in_the_answer(haft))
    report.check("killed in the answer", lambda: killed_in_the_answer(haft))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
