//! Ways to a file that lies outside.

use crate::Attempt;
use crate::canaries::{Cage, SECRET};
use crate::prober::probe;

pub(crate) fn attempts(cage: &Cage) -> Vec<Attempt> {
    let outside = cage.around("outside");
    let mut all = writes(&outside);
    all.extend(reads(cage, &outside));
    all
}

fn writes(outside: &str) -> Vec<Attempt> {
    vec![
        Attempt::new("a path outside", format!("echo ESC > {outside}/song; echo done"))
            .explained("not visible to commands"),
        Attempt::new("a path with dots", "echo ESC > ../outside/song; echo done"),
        Attempt::new(
            "above the root",
            format!(
                "for up in /.. /../.. /../../..; do chmod 4777 $up{outside}/song; touch -d 2001-01-01 $up{outside}/song; \
             echo ESC > $up{outside}/song; stat $up{outside}/song && echo ESCAPED; done; \
             [ \"$(stat -c %d:%i /)\" = \"$(stat -c %d:%i /..)\" ] || echo ESCAPED; \
             [ $(awk '$5 == \"/\"' /proc/self/mountinfo | wc -l) = 1 ] || echo ESCAPED; echo done"
            ),
        ),
        Attempt::new(
            "modes, times and attributes outside",
            format!(
                "chmod 777 {outside}/song && echo ESCAPED; touch {outside}/song && echo ESCAPED; chown 0 {outside}/song && echo ESCAPED; \
             truncate -s 0 {outside}/song && echo ESCAPED; chmod 777 /usr/bin/env && echo ESCAPED; touch /etc/passwd && echo ESCAPED; echo done"
            ),
        ),
        Attempt::new(
            "a way through the root and back",
            "cat /usr/../etc/hostname > /dev/null || echo ESCAPED; cd /usr && cat ../etc/passwd > /dev/null || echo ESCAPED; cat /etc/os-release > /dev/null || echo ESCAPED; echo done",
        ),
        Attempt::new("a link to a file", "echo ESC > link; echo done"),
        Attempt::new("a link to a folder", "echo ESC > folder-link/new; echo done"),
        Attempt::new("a link that was just made", format!("ln -s {outside} l && echo ESC > l/song; echo done")),
        Attempt::new("a hard link in", format!("ln {outside}/song here && echo ESC > here; echo done")),
        Attempt::new("a rename out", format!("mv inside.txt {outside}/moved; echo done")),
        Attempt::new("a rename in", format!("mv {outside}/song stolen && echo ESCAPED; echo done")),
        Attempt::new("removing", format!("rm -rf {outside} ../outside; echo done")),
        Attempt::new("a root of another process", format!("echo ESC > /proc/1/root{outside}/song; echo done")),
        Attempt::new("the folder of another process", "cd /proc/1/cwd/../../outside && echo ESC > song; echo done"),
        Attempt::new(
            "an inherited descriptor",
            format!(
                "for fd in /proc/self/fd/* /proc/1/fd/*; do echo ESC > $fd/../outside/song; echo ESC > $fd{outside}/song; done; echo done"
            ),
        ),
        Attempt::new("a setting of the kernel", "echo 1 > /proc/sys/kernel/panic && echo ESCAPED; echo done"),
        Attempt::new("the magic keys", "echo h > /proc/sysrq-trigger && echo ESCAPED; echo done"),
        Attempt::new(
            "a system folder",
            "echo ESC > /usr/escaped && echo ESCAPED; touch /etc/escaped && echo ESCAPED; echo done",
        )
        .explained("belongs to the system"),
        Attempt::new("remounting", "mount -o remount,rw /usr && echo ESCAPED; echo done").explained("sandbox"),
        Attempt::new(
            "mounting",
            "mount -t tmpfs none /mnt && echo ESCAPED; mkdir m; mount -t proc p m && echo ESCAPED; echo done",
        ),
        Attempt::new("mounting by system call", probe("mount", "")),
        Attempt::new("a new namespace to mount in", "unshare -Urm mount -t tmpfs none /mnt && echo ESCAPED; echo done"),
        Attempt::new("another root", "chroot / true && echo ESCAPED; echo done"),
        Attempt::new(
            "a device",
            "mknod d b 8 0 && echo ESCAPED; mknod e c 1 1 && echo ESCAPED; ls /dev/vda /dev/sda /dev/mem; echo done",
        ),
        Attempt::new("a handle", probe("open_by_handle", "/")),
    ]
}

fn reads(cage: &Cage, outside: &str) -> Vec<Attempt> {
    let (home, state, config) = (cage.around("home"), cage.around("state"), cage.around("config"));
    let read =
        |name, path: String| Attempt::new(name, format!("cat {path}; find {path} 2>&1; echo done")).never(SECRET);
    vec![
        read("home", format!("{home}/secret")).explained("not visible to commands"),
        read("home by its variable", "$HOME/secret".to_owned()),
        read("home by its sign", "~/secret ~root/.profile".to_owned()),
        read("the state of haft", format!("{state}/haft/secret")),
        read("the settings of haft", format!("{config}/haft/secret")),
        read("beside the workspace", format!("{outside}/secret ../outside/secret folder-link/secret")),
        read("through another process", format!("/proc/1/root{outside}/secret /proc/1/cwd/../outside/secret")),
        Attempt::new("everything that can be found", "grep -rls canary-4c1b7e20-[s]ecret / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=prober 2>/dev/null; echo done")
            .never("/secret"),
        Attempt::new("the environment", "env; cat /proc/*/environ; echo done").never(SECRET),
        Attempt::new("passwords of the system", "cat /etc/shadow /etc/gshadow /etc/shadow- /etc/ssh/ssh_host_*_key && echo ESCAPED; grep -c : /etc/shadow && echo ESCAPED; echo done"),
        Attempt::new("other homes", "ls -A /root /home/* 2>/dev/null | grep -v '^/' | grep . && find /root /home -name '.ssh' -o -name '.bash_history' -o -name .bashrc | grep . && echo ESCAPED; echo done"),
        Attempt::new("what is running", "ls /run/*.sock /run/docker.sock /run/systemd /run/user 2>/dev/null | grep . && echo ESCAPED; echo done"),
        Attempt::new("the words of other processes", "cat /proc/*/cmdline | tr '\\0' ' ' | grep -a 'call [-]' && echo ESCAPED; echo done"),
    ]
}
