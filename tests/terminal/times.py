"""How quick the terminal is: to the prompt, from key to echo beside a flood, and when nothing happens."""

import os
import statistics
import time

from scene import Model, Place, Terminal
from scrollback import frames, told

# The prompt of haft, with the end of its colour.
PROMPT = "›\x1b[0m "
START = 0.020
ECHO = 0.005
# A machine with other work spoils the slowest keys of a round; the best round counts.
KEYS, ROUNDS = 400, 3
# Bytes of a frame of the live region, and frames of a second, beside a flood.
FRAME_BYTES = 4_000
FRAMES = 70
FLOOD = "import sys, time\nline = b'a line of a flood of output, as a build prints it\\n' * 2000\n" \
    "ends = time.monotonic() + float(sys.argv[1])\nnext = time.monotonic()\n" \
    "while time.monotonic() < ends:\n    sys.stdout.buffer.write(line); sys.stdout.flush()\n" \
    "    next += len(line) / 10e6\n    time.sleep(max(0, next - time.monotonic()))\n"


def run(options):
    with Place(options.haft) as place:
        return [*start(place), *echo(place), *idle(place)]


def measured(place, words, shows):
    began = time.monotonic()
    terminal = Terminal(words, place.workspace, dict(place.environment(), TERM="xterm-256color"))
    terminal.prints(shows)
    took = time.monotonic() - began
    terminal.end()
    return took


def start(place):
    """Start to prompt, beside a shell that prints the same prompt."""
    measured(place, [place.haft], PROMPT)
    shell = ["sh", "-c", "printf '%s' \"$0\"; read line", PROMPT]
    pairs = [(measured(place, [place.haft], PROMPT), measured(place, shell, PROMPT)) for _ in range(30)]
    haft, floor = (statistics.median(times) for times in zip(*pairs))
    print(f"  start to prompt: {haft * 1000:.1f} ms, a shell {floor * 1000:.1f} ms")
    return [] if haft - floor <= START else [f"start to prompt takes {haft * 1000:.1f} ms"]


class Typist:
    """Types keys one by one, and measures how long each takes until it is on the screen."""

    def __init__(self, terminal, prompt):
        self.terminal, self.prompt = terminal, prompt
        self.typed, self.took = "", []

    def types(self, key):
        if len(self.typed) == 20:
            self.terminal.types("\x15")
            time.sleep(0.1)
            self.typed = ""
        self.typed += key
        since, began = len(self.terminal.raw), time.monotonic()
        self.terminal.types(key)
        self.terminal.prints(self.prompt + self.typed if self.prompt else key, since)
        self.took.append(time.monotonic() - began)

    def p99(self):
        return sorted(self.took)[int(len(self.took) * 0.99)]


def echo(place):
    """Key to echo while a command prints, beside `cat` in another terminal without an echo of its own."""
    with open(os.path.join(place.workspace, "flood.py"), "w") as file:
        file.write(FLOOD)
    seconds = 90
    call = {"call": {"name": "bash", "arguments": {"command": f"python3 flood.py {seconds}", "timeout": seconds + 10}}}
    model = Model(place, [{"reply": [call]}, {"reply": [{"text": "It is over."}]}])
    terminal = Terminal([place.haft, "--yolo"], place.workspace, dict(place.environment(model), TERM="xterm-256color"))
    cat = Terminal(["sh", "-c", "stty raw -echo; echo ready; exec cat"], place.workspace, place.environment())
    cat.prints("ready")
    terminal.prints("scripted at")
    terminal.types("go\r")
    terminal.prints("a line of a flood")
    time.sleep(1)
    at, began = len(terminal.raw), time.monotonic()
    rounds = []
    while len(rounds) < ROUNDS and (not rounds or min(haft - floor for haft, floor in rounds) > ECHO):
        typists = [Typist(terminal, PROMPT), Typist(cat, "")]
        terminal.types("\x15")
        for number in range(KEYS):
            for typist in typists:
                typist.types("abcdefghij"[number % 10])
            time.sleep(0.01)
        rounds.append(tuple(typist.p99() for typist in typists))
        median = statistics.median(typists[0].took)
        print(f"  key to echo beside 10 MB/s: median {median * 1000:.1f} ms, p99 {rounds[-1][0] * 1000:.1f} ms; cat p99 {rounds[-1][1] * 1000:.1f} ms")
    lasted = time.monotonic() - began
    sizes = frames(terminal.raw[at:])
    for ended in (terminal, cat):
        ended.end()
    model.stop()
    print(f"  {told(sizes)}, {len(sizes) / lasted:.0f} a second")
    wrong = []
    haft, floor = min(rounds, key=lambda found: found[0] - found[1])
    if haft - floor > ECHO:
        wrong.append(f"key to echo takes {haft * 1000:.1f} ms at p99, cat {floor * 1000:.1f} ms")
    if max(sizes) > FRAME_BYTES or len(sizes) / lasted > FRAMES + len(rounds) * KEYS / lasted:
        wrong.append(f"frames are large or many: {told(sizes)}, {len(sizes) / lasted:.0f} a second")
    return wrong


def ticks(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def idle(place):
    terminal = Terminal([place.haft], place.workspace, dict(place.environment(), TERM="xterm-256color"))
    terminal.prints("no model")
    terminal.quiet(1)
    before, printed = ticks(terminal.pid), len(terminal.raw)
    time.sleep(10)
    used, said = ticks(terminal.pid) - before, len(terminal.raw) - printed
    terminal.end()
    print(f"  idle for 10 s: {used} ticks of the processor, {said} bytes printed")
    return [] if used <= 1 and said == 0 else [f"idle haft uses {used} ticks and prints {said} bytes"]
