"""A long conversation while the terminal changes its size: what is in the scrollback afterwards."""

import base64
import json
import os
import random
import re
import shlex
import subprocess
import time

from scene import HANGS, ROOT, TARGET, Model, Place, Terminal, plain

EARLIER = [f"earlier line {number} of the user" for number in range(60)]
SIZES = [(30, 40), (40, 80), (50, 200)]
RESIZES = 20
WORDS = "the handle between a model and its tools keeps every line that was printed and never prints one twice élan".split()
# Only for xterm.js. With wide characters, after a change of its size tmux 3.3a sometimes has its cursor a row too high, and
# a finished line is lost; in xterm.js none was lost.
WIDE = ["漢字", "端末"]


def sentence(message, number, words):
    return f"m{message} s{number}: {' '.join(random.choices(words, k=random.randint(3, 40)))}."


def message(number, words):
    """Returns the turns of one message, and the finished lines that must be there."""
    lines = [sentence(number, line, words) for line in range(14)]
    code = [f"let m{number}_c{line} = {line};" for line in range(4)]
    table = f"| m{number} | value |\n|---|---|\n" + "".join(f"| cell m{number}-{row} | {row} |\n" for row in range(3))
    text = "\n\n".join(lines[:7]) + "\n\n```rust\n" + "\n".join(code) + "\n```\n\n" + table + "\n"
    calls = [
        {"call": {"name": "bash", "arguments": {"command": f"seq -f 'm{number} out %g' 300"}}},
        {"call": {"name": "read_file", "arguments": {"path": "a.txt"}}},
    ]
    turns = [
        {"faults": [{"slow": 1}], "reply": [{"text": text}, *calls]},
        {"faults": [{"slow": 1}], "reply": [{"text": "\n\n".join(lines[7:]) + f"\n\nm{number} ends."}]},
    ]
    return turns, lines[:7] + code + lines[7:] + [f"m{number} ends."]


def conversation(count, words):
    made = [message(number, words) for number in range(count)]
    return [turn for turns, _ in made for turn in turns], [lines for _, lines in made]


def judged(shown, expected):
    """Returns what is wrong with the rows of a terminal."""
    wrong = []
    # Without blanks: where a wide character does not fit, terminals fill the row in different ways.
    bare = lambda text: re.sub(r"\s", "", text)
    whole = bare("".join(shown))
    where = -1
    for line in EARLIER + [line for lines in expected for line in lines]:
        found = [match.start() for match in re.finditer(re.escape(bare(line)), whole)]
        if len(found) != 1:
            near = [row for row in shown if line[:12] in row][:3]
            wrong.append(f"{line!r} is there {len(found)} times; near: {near}")
        elif found[0] < where:
            wrong.append(f"{line!r} is out of order")
        where = max([where, *found])
    for number in range(len(expected)):
        for once in [f"› message {number}", *(f"cell m{number}-{row}" for row in range(3))]:
            count = sum(1 for row in shown if re.search(rf"{re.escape(once)}(?!\d)", row))
            if count != 1:
                wrong.append(f"{once!r} is there {count} times")
    for left in ("Esc stops", "◌ ", "waiting for scripted"):
        if any(left in row for row in shown):
            wrong.append(f"{left!r} is left behind")
    return wrong


def frames(raw):
    """Returns the sizes of the frames."""
    return [len(frame) for frame in re.findall(rb"\x1b\[\?2026h(.*?)\x1b\[\?2026l", bytes(raw), re.S)]


def drive(count, sends, resize, ends_with):
    """Sends the messages, and changes the size 20 times at random moments between."""
    at = sorted(random.sample(range(count * 10), RESIZES))
    sizes = [SIZES[(index + 1) % 3] for index in range(RESIZES)]
    for number in range(count):
        sends(f"message {number}\r")
        for tenth in range(10):
            time.sleep(random.random() * 0.05)
            if number * 10 + tenth in at:
                resize(*sizes.pop())
        ends_with(f"m{number} ends.")


def tmux(options):
    turns, expected = conversation(options.messages, WORDS)
    with Place(options.haft) as place:
        model = Model(place, turns)
        socket = os.path.join(place.root, "tmux")
        settings = os.path.join(place.root, "tmux.conf")
        raw = os.path.join(place.root, "raw")
        with open(settings, "w") as file:
            file.write("set -g history-limit 200000\nset -g default-terminal tmux-256color\n")

        def run(*words):
            done = subprocess.run(["tmux", "-S", socket, "-f", settings, *words], env=place.environment(model), capture_output=True, text=True)
            return done.stdout

        try:
            rows, columns = SIZES[1]
            run("new-session", "-d", "-s", "t", "-x", str(columns), "-y", str(rows), "-c", place.workspace, "bash --norc --noprofile")
            run("pipe-pane", "-O", "-t", "t", f"cat > {shlex.quote(raw)}")
            shown = lambda: run("capture-pane", "-p", "-J", "-t", "t", "-S", "-", "-E", "-")
            send = lambda text: run("send-keys", "-t", "t", "-l", text)

            def waits(text, also=lambda _: True):
                ends = time.monotonic() + HANGS
                while not (text in (now := shown()) and also(now)):
                    if time.monotonic() > ends:
                        raise TimeoutError(f"{text!r} does not appear:\n{now[-3000:]}")
                    time.sleep(0.02)

            send("clear; for n in $(seq 0 59); do echo \"earlier line $n of the user\"; done; " + f"{shlex.quote(place.haft)} --yolo\r")
            waits("scripted at")
            drive(
                options.messages,
                send,
                lambda rows, columns: run("resize-window", "-t", "t", "-x", str(columns), "-y", str(rows)),
                lambda text: waits(text, lambda now: "Esc stops" not in now[-3000:]),
            )
            send("\x04")
            waits("To continue this conversation")
            wrong = judged(shown().split("\n"), expected)
            with open(raw, "rb") as file:
                sizes = frames(file.read())
        finally:
            run("kill-server")
            model.stop()
    print(f"  {len(EARLIER)} earlier lines, {sum(map(len, expected))} finished lines, {RESIZES} sizes; {told(sizes)}")
    return wrong


def told(sizes):
    return f"{len(sizes)} frames, {sum(sizes) // max(1, len(sizes))} bytes each on average, {max(sizes, default=0)} at most"


def xterm(options):
    installed = os.path.join(TARGET, "xterm")
    if not os.path.isdir(os.path.join(installed, "node_modules", "@xterm", "headless")):
        os.makedirs(installed, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", installed, "--no-audit", "--no-fund", "--silent", "@xterm/headless@6"], check=True)
    turns, expected = conversation(options.messages, WORDS + WIDE)
    with Place(options.haft) as place:
        model = Model(place, turns)
        # What xterm.js is in an editor: it wraps lines again.
        environment = dict(place.environment(model), TERM="xterm-256color", TERM_PROGRAM="vscode")
        terminal = Terminal(["bash", "--norc", "--noprofile"], place.workspace, environment, SIZES[1])
        terminal.prints("$ ")
        terminal.types("for n in $(seq 0 59); do echo \"earlier line $n of the user\"; done\r")
        terminal.prints(EARLIER[-1] + "\r\n")
        terminal.types(f"{shlex.quote(place.haft)} --yolo\r")
        terminal.prints("scripted at")

        def ends_with(text):
            since = terminal.prints(text)
            ends = time.monotonic() + HANGS
            # The last whole frame has no work in it.
            while b"Esc stops" in (last := bytes(terminal.raw[since - 400 :]).split(b"\x1b[?2026h")[-1]) or b"2026l" not in last:
                if time.monotonic() > ends:
                    raise TimeoutError(f"the work does not end:\n{plain(terminal.raw[-3000:])}")
                time.sleep(0.02)

        drive(options.messages, terminal.types, terminal.resize, ends_with)
        terminal.types("\x04")
        terminal.prints("To continue this conversation")
        terminal.quiet(0.3)
        terminal.end()
        model.stop()
    events, before = [], 0
    for at, rows, columns in [*terminal.sizes, (len(terminal.raw), 0, 0)]:
        if at > before:
            events.append({"data": base64.b64encode(terminal.raw[before:at]).decode()})
        if rows:
            events.append({"rows": rows, "columns": columns})
        before = at
    script = os.path.join(ROOT, "tests", "terminal", "xterm.cjs")
    environment = dict(os.environ, NODE_PATH=os.path.join(installed, "node_modules"))
    done = subprocess.run(["node", script], input=json.dumps(events), env=environment, capture_output=True, text=True, check=True)
    print(f"  {len(EARLIER)} earlier lines, {sum(map(len, expected))} finished lines, {RESIZES} sizes; {told(frames(terminal.raw))}")
    return judged(json.loads(done.stdout), expected)
