"""Real containers: Podman with its default profile, capabilities and masked paths, as root and rootless.

The root of a container is an empty folder under an overlay, with this system's own /usr and /etc, read-only: no image is
needed. What is changed are limits and control groups alone, and only where the machine does not let Podman set them.
"""

import glob
import os
import shutil
import signal
import subprocess

ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
LINKS = ["bin", "sbin", "lib", "lib64"]
FOLDERS = ["usr", "etc", "proc", "sys", "dev", "run", "root", "home", "everywhere"]
LIMITS = ["--cgroups=disabled", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=2000:2000"]
# For root: the mounts of Podman go with the namespace. Where both versions of control groups are mounted, its runtime
# gives up; in the last way it sees only the second version.
PRIVATE = ["unshare", "--mount"]
ALONE = [*PRIVATE, "sh", "-c", 'umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$0" "$@"']
WAYS = [(PRIVATE, []), (PRIVATE, LIMITS), (ALONE, LIMITS)]


def may_become_others():
    """Whether this process can start others as an ordinary user. A rootless container may know one user alone."""
    return subprocess.run([*ORDINARY, "true"], capture_output=True).returncode == 0


class Container:
    """A way to run programs in a container that works here."""

    def __init__(self, name, words):
        self.name, self.words = name, words

    def run(self, chosen, root):
        """Does all parts in the container; returns its name and what is wrong."""
        inside = lambda path: os.path.join("/everywhere", os.path.basename(path))
        words = ["python3", "-B", "/everywhere/run", inside(chosen.haft), "--lacking", "/everywhere/lacking"]
        words += ["--where", self.name, "--moments", str(chosen.moments), "--only", *chosen.only]
        words += ["--losses", inside(chosen.losses)] if chosen.losses else []
        mounts = []
        if chosen.suite_program:
            words += ["--suite-program", chosen.suite_program]
            programs = os.path.dirname(os.path.dirname(chosen.suite_program))
            # The tests know the paths at which they were built.
            for path in root, chosen.suite_program, os.path.join(programs, "haft"):
                mounts += ["--volume", f"{path}:{path}:ro"]
        ended = subprocess.run(self.command(words, mounts))
        return self.name, [] if ended.returncode == 0 else [f"exit {ended.returncode}, see above"]

    def command(self, words, mounts=()):
        at = self.words.index("--rootfs")
        return [*self.words[:at], *mounts, *self.words[at:], *words]


def containers(around, reachable):
    """Finds the containers that this system can run; prints a line for those that it cannot.

    `around` is a folder for their roots and their state, `reachable` the one with the programs."""
    if not shutil.which("podman"):
        print("SKIPPED containers: podman is not installed", flush=True)
        return
    kinds = {"in a container of root": (os.path.join(around, "of-root"), [])}
    if os.geteuid() == 0:
        kinds["in a rootless container"] = (os.path.join(around, "rootless"), ORDINARY)
    else:
        kinds = {"in a rootless container": (os.path.join(around, "rootless"), [])}
    for name, (folder, user) in kinds.items():
        lay_out(folder, user)
        found, why = working(reachable, folder, user)
        if found:
            yield Container(name, found)
        else:
            print(f"SKIPPED {name}: {why}", flush=True)


def lay_out(folder, user):
    for name in FOLDERS:
        os.makedirs(os.path.join(folder, "root", name))
    for name in ("tmp", "var/tmp"):
        os.makedirs(os.path.join(folder, "root", name))
        os.chmod(os.path.join(folder, "root", name), 0o1777)
    for name in LINKS:
        os.symlink(os.path.join("usr", name), os.path.join(folder, "root", name))
    for number in range(len(WAYS)):
        os.mkdir(os.path.join(folder, f"state-{number}"), 0o700)
    if user:
        subprocess.run(["chown", "-R", "--no-dereference", "65534:65534", folder], check=True)


def working(reachable, folder, user):
    """Returns the words that run a program in a container, or why there are none."""
    mounts = ["--volume", "/usr:/usr:ro", "--volume", "/etc:/etc:ro", "--volume", f"{reachable}:/everywhere:ro"]
    why = ""
    for number, (outer, options) in enumerate(WAYS):
        # A rootless Podman leaves a process behind that has the mounts of the way before, and finds it in its state.
        state = os.path.join(folder, f"state-{number}")
        environment = ["env", f"HOME={state}", f"XDG_RUNTIME_DIR={state}"]
        storage = ["--root", f"{state}/storage", "--runroot", f"{state}/run"]
        engine = [*environment, "podman", "--log-level=fatal", *storage, "run", "--rm", "--network=none"]
        outer = outer if os.geteuid() == 0 else []
        words = [*outer, *user, *engine, *options, *mounts, "--rootfs", f"{os.path.join(folder, 'root')}:O"]
        tried = subprocess.run([*words, "true"], capture_output=True, text=True)
        if tried.returncode == 0:
            return words, ""
        why = " ".join(tried.stderr.split())[-300:]
    return None, why


def end_left_behind(around):
    """Ends the process that a rootless Podman leaves behind to hold its namespaces."""
    for found in glob.glob(os.path.join(around, "*/state-*/libpod/tmp/pause.pid")):
        with open(found) as file:
            try:
                os.kill(int(file.read()), signal.SIGKILL)
            except (OSError, ValueError):
                pass
