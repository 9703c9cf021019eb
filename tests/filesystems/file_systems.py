"""Does a day's work with haft on each kind of file system, and compares whole trees after undo and redo.

Each kind says what is expected of it: that commands are undone from a layer or from kept contents ("exact"), that
haft says that they are not covered ("told"), or that nothing can be written ("refused"). A kind that behaves otherwise
fails the run.
"""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile

SIZE = "400M"


def image(folder, *command):
    """Makes a file with a file system in it."""
    path = os.path.join(folder, "image")
    subprocess.run(["truncate", "-s", SIZE, path], check=True)
    subprocess.run([*command, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def loop(*command, options=""):
    def mount(folder, place):
        mounted = ",".join(filter(None, ["loop", options]))
        subprocess.run(["mount", "-o", mounted, image(folder, *command), place], check=True, stderr=subprocess.DEVNULL)
    return mount


def tmpfs(folder, place):
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)


def overlay(folder, place):
    """As the root of a container is: files in a lower layer, changes above."""
    parts = [os.path.join(folder, name) for name in ("lower", "upper", "work")]
    for part in parts:
        os.mkdir(part)
    fill(parts[0])
    lower, upper, work = parts
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, place], check=True)


def casefold(folder, place):
    loop("mkfs.ext4", "-q", "-O", "casefold", "-E", "encoding=utf8")(folder, place)
    workspace = os.path.join(place, "ws")
    os.mkdir(workspace)
    subprocess.run(["chattr", "+F", workspace], check=True)


def fuse(folder, place):
    real = os.path.join(folder, "real")
    os.mkdir(real)
    subprocess.run(["bindfs", real, place], check=True, stderr=subprocess.DEVNULL)


def nfs_like(folder, place):
    """No extended attributes and no second names, as on shares of other machines."""
    real = os.path.join(folder, "real")
    os.mkdir(real)
    subprocess.run(["bindfs", "--xattr-none", real, place], check=True, stderr=subprocess.DEVNULL)


def ntfs(*command):
    def mount(folder, place):
        made = image(folder, "mkntfs", "-q", "-Q", "-F")
        subprocess.run([*command, made, place], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return mount


def read_only(folder, place):
    tmpfs(folder, place)
    fill(os.path.join(place, "ws"))
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)


# The kind, how it is mounted, and what is expected of commands.
KINDS = {
    "tmpfs": (tmpfs, "exact"),
    "overlay": (overlay, "exact"),
    "ext4": (loop("mkfs.ext4", "-q"), "exact"),
    "ext4-casefold": (casefold, "any"),
    "ext2-one-second": (loop("mkfs.ext2", "-q", "-I", "128"), "exact"),
    "xfs": (loop("mkfs.xfs", "-q"), "exact"),
    "btrfs": (loop("mkfs.btrfs", "-q"), "exact"),
    "vfat": (loop("mkfs.vfat"), "any"),
    "ntfs": (ntfs("ntfs-3g"), "any"),
    "ntfs-ignoring-case": (ntfs("lowntfs-3g", "-o", "ignore_case"), "any"),
    "fuse": (fuse, "exact"),
    "fuse-no-xattrs": (nfs_like, "exact"),
    "read-only": (read_only, "refused"),
}


def fill(workspace):
    """Makes the files that commands change."""
    os.makedirs(os.path.join(workspace, "src", "deep"), exist_ok=True)
    for name, content in {"a.txt": "one\n", "src/lib.rs": "fn a() {}\n", "src/deep/x": "x" * 100000}.items():
        with open(os.path.join(workspace, name), "w", encoding="utf-8") as file:
            file.write(content)
    try:
        os.chmod(os.path.join(workspace, "a.txt"), 0o640)
    except OSError:
        pass  # Some have no modes.


def tree(workspace):
    """Everything that undo must bring back: names, kinds, modes, contents, where links lead."""
    found = {}
    for folder, folders, files in os.walk(workspace):
        # haft's own store, where the state is on another file system.
        folders[:] = [name for name in folders if name != ".haft-trees"]
        for name in folders + files:
            path = os.path.join(folder, name)
            facts = os.lstat(path)
            kind = stat.filemode(facts.st_mode)
            content = ""
            if stat.S_ISLNK(facts.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(facts.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            found[os.path.relpath(path, workspace)] = (kind, content)
    return found


# In this order: what fails on a file system that has no links or modes does not stop the rest.
SCRIPT = """
echo two > a.txt; echo new > made.txt; rm src/lib.rs; mv src/deep src/moved; mkdir -p n/e/w; echo y > n/e/w/y
chmod 600 made.txt; ln -s a.txt link 2>/dev/null; ln made.txt second 2>/dev/null; : > src/moved/x
mv made.txt MADE.tmp && mv MADE.tmp Made2.txt; echo done
"""


class Failed(Exception):
    """haft did not do what is expected."""


class Place:
    """A workspace, and haft in it."""

    homes = []

    def __init__(self, haft, workspace, state, verbose):
        self.haft_program, self.workspace, self.state, self.verbose = haft, workspace, state, verbose
        self.home = tempfile.mkdtemp(prefix="haft-fs-home-")
        Place.homes.append(self.home)
        os.makedirs(os.path.join(self.home, "config", "haft"))
        with open(os.path.join(self.home, "config", "haft", "config.toml"), "w", encoding="utf-8") as file:
            file.write('[sandbox]\nrequired = "none"\n')

    def haft(self, *words):
        environment = {
            "HOME": self.home, "PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": self.home,
            "XDG_STATE_HOME": self.state, "XDG_CONFIG_HOME": os.path.join(self.home, "config"),
        }
        ran = subprocess.run([self.haft_program, *words], cwd=self.workspace, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
        if self.verbose:
            print(f"    haft {' '.join(words)[:70]} [{ran.returncode}]\n" + "".join(f"      {line}\n" for line in ran.stdout.splitlines()))
        if "panicked" in ran.stdout or ran.returncode < 0:
            raise Failed(f"haft {words[0]} ended with {ran.returncode}: {ran.stdout}")
        return ran

    def must(self, *words):
        ran = self.haft(*words)
        if ran.returncode != 0:
            raise Failed(f"haft {' '.join(words)[:60]} ended with {ran.returncode}: {ran.stdout}")
        return ran.stdout

    def same(self, expected, when):
        now = tree(self.workspace)
        if now != expected:
            names = sorted(name for name in now.keys() | expected.keys() if now.get(name) != expected.get(name))
            told = "; ".join(f"{name}: {expected.get(name)} is {now.get(name)}" for name in names[:5])
            raise Failed(f"{when}: {told}")


def files(place):
    """The file tools: write, edit, undo both, redo."""
    before = tree(place.workspace)
    place.must("--yes", "call", "write_file", '{"path":"new/made.txt","content":"x\\n"}')
    place.must("--yes", "call", "edit_file", '{"path":"a.txt","old_text":"one","new_text":"uno"}')
    changed = tree(place.workspace)
    place.must("undo")
    place.must("undo")
    place.same(before, "after undo of the file tools")
    place.must("redo")
    place.must("redo")
    place.same(changed, "after redo of the file tools")
    place.must("undo")
    place.must("undo")
    place.same(before, "after the second undo of the file tools")


def commands(place):
    """Commands: returns "exact" where undo and redo are, "told" where the result says that there is no undo."""
    before = tree(place.workspace)
    ran = place.must("--yes=all", "call", "bash", SCRIPT)
    changed = tree(place.workspace)
    if changed == before:
        raise Failed(f"the command changed nothing: {ran}")
    if "cannot be undone" in ran:
        return "told: " + next(line for line in ran.splitlines() if "cannot be undone" in line)[:150]
    place.must("undo")
    place.same(before, "after undo of a command")
    place.must("redo")
    place.same(changed, "after redo of a command")
    place.must("undo")
    place.same(before, "after the second undo of a command")
    if "bash" not in place.must("log"):
        raise Failed("the log does not name the command")
    return "exact"


def state_on(place):
    """haft keeps nothing in a folder that everybody can write, and then changes nothing."""
    before = tree(place.workspace)
    first = place.haft("--yes", "call", "write_file", '{"path":"first.txt","content":"x\\n"}')
    if "others can write it" in first.stdout:
        place.same(before, "without a place for the state")
        return "refused, because its files have no modes"
    place.must("undo")
    files(place)
    return commands(place)


def refused(place):
    """A read-only workspace: what cannot be written is refused with its reason, and reading works."""
    if "one" not in place.must("call", "read_file", "path=a.txt"):
        raise Failed("the file cannot be read")
    for words in [("call", "write_file", '{"path":"x","content":"x"}'), ("call", "bash", "echo x > a.txt")]:
        ran = place.haft("--yes=all", *words)
        if "ead-only" not in ran.stdout:
            raise Failed(f"the reason is missing: {ran.stdout}")
    return "refused, with the reason"


def work(haft, kind, verbose):
    mount, expected = KINDS[kind]
    folder = tempfile.mkdtemp(prefix="haft-fs-")
    mounted = os.path.join(folder, "mounted")
    os.mkdir(mounted)
    try:
        try:
            mount(folder, mounted)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            return f"SKIPPED {kind}: cannot be mounted here ({error.__class__.__name__})", True
        workspace = mounted if kind == "overlay" else os.path.join(mounted, "ws")
        place = Place(haft, workspace, os.path.join(folder, "state"), verbose)
        if expected == "refused":
            return f"{kind}: {refused(place)}", True
        fill(workspace)
        files(place)
        came = commands(place)
        # The other way round: the state on this kind of file system, the workspace elsewhere.
        elsewhere = os.path.join(folder, "elsewhere")
        fill(elsewhere)
        other = Place(haft, elsewhere, os.path.join(mounted, "state"), verbose)
        on_state = state_on(other)
        is_right = expected == "any" or (came == expected and on_state == "exact")
        return f"{kind}: files exact; commands {came}; as the place of the state: {on_state}", is_right
    except (Failed, subprocess.TimeoutExpired, OSError) as failed:
        return f"{kind}: FAILED {failed}", False
    finally:
        subprocess.run(["umount", "-l", mounted], check=False, stderr=subprocess.DEVNULL)
        for left in [folder, *Place.homes]:
            shutil.rmtree(left, ignore_errors=True)


def main():
    words = [word for word in sys.argv[1:] if word != "--verbose"]
    haft = next((word for word in words if word not in KINDS), "haft")
    haft = os.path.abspath(haft) if os.path.sep in haft else shutil.which(haft)
    if not haft:
        sys.exit("There is no program haft.")
    kinds = [word for word in words if word in KINDS] or list(KINDS)
    all_right = True
    for kind in kinds:
        line, is_right = work(haft, kind, "--verbose" in sys.argv)
        all_right &= is_right
        print(line, flush=True)
    sys.exit(0 if all_right else 1)


if __name__ == "__main__":
    main()
