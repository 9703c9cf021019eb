"""haft ends at random moments, in each way that it can end: what `haft --continue` has afterwards."""

import os
import random
import re
import shlex
import signal
import time

from scene import Model, Place, Terminal, child_named, plain

WAYS = ("killed", "closed", "stopped", "model gone")
# haft records unsent input a second after the first key; a kill in between loses it.
DRAFT = 1.5


def turns():
    """A long piece of work: text, calls and results; each answer has a last word of its own."""
    made = []
    for number in range(40):
        call = {"call": {"name": "write_file", "arguments": {"path": f"n{number}.txt", "content": f"content {number}"}}}
        run = {"call": {"name": "bash", "arguments": {"command": f"sleep 0.1; echo output {number}"}}}
        text = f"Step {number} begins. {'It takes a while. ' * 6}\\n\\nStep {number} ends."
        made.append({"faults": [{"slow": 4}], "reply": [{"text": text.replace("\\n", "\n")}, call, run]})
    return [*made, {"reply": [{"text": "All done."}]}, {"reply": [{"text": "Afterwards done."}]}]


class Scene:
    """A shell in a terminal, with haft in it, at work."""

    def __init__(self, place):
        self.place = place
        self.model = Model(place, turns())
        environment = dict(place.environment(self.model), TERM="xterm-256color")
        self.terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], place.workspace, environment)
        self.terminal.prints("$ ")
        self.terminal.types(f"{shlex.quote(place.haft)} --yolo\r")
        self.terminal.prints("scripted at")
        # What the user has seen haft take.
        self.kept = []
        self.drafted = None

    def sends(self, text, key, shows):
        since = len(self.terminal.raw)
        self.terminal.types(text)
        # One key after the other, as a user types: a terminal that sends both together means Escape.
        time.sleep(0.02)
        self.terminal.types(key)
        self.terminal.prints(shows, since)
        self.kept.append(text)

    def works(self, moment):
        """Sends, queues and types until the moment comes."""
        ends = time.monotonic() + moment
        left = lambda: ends - time.monotonic()
        self.sends("the very first", "\r", "the very first")
        for text, key in (("steer it there", "\r"), ("and afterwards this", "\x1b\r")):
            pause = random.random() * 0.6
            if left() < pause + 0.1:
                break
            time.sleep(pause)
            # It is in the row of its queue, or has gone to the model already.
            self.sends(text, key, text)
            time.sleep(0.05)
        if left() > 0.2:
            since = len(self.terminal.raw)
            self.terminal.types("half a sentence")
            self.terminal.prints("half a sentence", since)
            self.drafted = time.monotonic()
        time.sleep(max(0, left()))

    def haft(self):
        return child_named(self.terminal.pid, os.path.basename(self.place.haft)[:15])


def ends(scene, way):
    """Ends haft; returns whether the unsent input must be there afterwards."""
    terminal = scene.terminal
    drafted = scene.drafted is not None
    if way == "killed":
        os.kill(scene.haft(), signal.SIGKILL)
        drafted = drafted and time.monotonic() - scene.drafted > DRAFT
    elif way == "closed":
        haft = scene.haft()
        terminal.close()
        gone(haft)
    elif way == "stopped":
        since = len(terminal.raw)
        terminal.types("\x1a")
        terminal.prints("Stopped", since)
        since = len(terminal.raw)
        terminal.types("fg\r")
        terminal.prints("scripted", since)
        if drafted:
            terminal.prints("half a sentence", since)
        terminal.types("\x1a")
        time.sleep(0.3)
        os.kill(scene.haft(), signal.SIGKILL)
        # Ctrl-Z records it first.
        time.sleep(0.1)
    else:
        scene.model.stop()
        since = len(terminal.raw)
        time.sleep(0.5)
        terminal.types("\x1b")
        terminal.quiet(0.4, 3)
        # What waited is in the line again; the terminal closes with it.
        haft = scene.haft()
        terminal.close()
        gone(haft)
    return drafted


def gone(pid):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if ") Z " in file.read():
                    return
        except FileNotFoundError:
            return
        time.sleep(0.02)
    raise TimeoutError("haft does not end with its terminal")


def answered(raw):
    """Returns the ends of the answers that were on the screen before a later step began."""
    shown = [int(number) for number in re.findall(r"Step (\d+) ends\.", plain(raw))]
    begun = [int(number) for number in re.findall(r"Step (\d+) begins\.", plain(raw))]
    return [f"Step {number} ends." for number in set(shown) if any(later > number for later in begun)]


def run(options):
    wrong = []
    counts = dict.fromkeys(WAYS, 0)
    drafts = answers = 0
    for number in range(options.moments):
        way = WAYS[number % len(WAYS)]
        moment = random.random() * 4
        with Place(options.haft) as place:
            scene = Scene(place)
            scene.works(moment)
            before = answered(scene.terminal.raw)
            drafted = ends(scene, way)
            if way in ("killed", "stopped"):
                scene.terminal.end()
            scene.model.stop()
            found = restored(place)
            wanted = [*scene.kept, *before, *(["half a sentence"] if drafted else [])]
            lost = [text for text in wanted if text not in found]
            counts[way] += 1
            drafts += drafted
            answers += len(before)
            if lost:
                wrong.append(f"{way} after {moment:.2f} s: {lost} lost; there is:\n{found[-800:]}")
    print(f"  {', '.join(f'{count} {way}' for way, count in counts.items())}; {drafts} drafts, {answers} answers looked for")
    return wrong


def restored(place):
    """Returns what `haft --continue` shows and what the session has."""
    model = Model(place, [{"reply": [{"text": "Never asked."}]}])
    terminal = Terminal([place.haft, "--continue"], place.workspace, dict(place.environment(model), TERM="xterm-256color"))
    try:
        terminal.prints("Continuing session")
        terminal.prints("scripted")
        terminal.quiet(0.3, 5)
        shown = plain(terminal.raw)
    except TimeoutError as error:
        shown = str(error)
    terminal.end()
    model.stop()
    return shown + place.run("sessions", "export")
