//! Tries ways out of the real sandbox at both levels, as every user; all must be shut.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;

use rustix::mount::{MountFlags, mount};

use super::refusals::{as_root, with_own_mounts};
use super::scene::{FixtureUser, SandboxFixture, tried};

/// Tries things and prints the names of the errors that they end in.
const TRY: &str = r#"
import ctypes, errno, os, socket, sys, signal
libc = ctypes.CDLL(None, use_errno=True)
def said(number): return errno.errorcode.get(number, str(number))
def attempt(name, what):
    try:
        what(); print(name, "worked")
    except OSError as e: print(name, said(e.errno))
def call(name, *arguments):
    ctypes.set_errno(0)
    answer = libc.syscall(*arguments)
    print(name, "worked" if answer >= 0 else said(ctypes.get_errno()))
"#;

fn fully() -> Vec<SandboxFixture> {
    tried(FixtureUser::all().into_iter().map(SandboxFixture::new).collect(), "python3")
}

fn partly() -> Vec<SandboxFixture> {
    tried(FixtureUser::all().into_iter().map(|who| SandboxFixture::new(who).partly()).collect(), "python3")
}

fn everywhere() -> Vec<SandboxFixture> {
    fully().into_iter().chain(partly()).collect()
}

fn python(scene: &SandboxFixture, script: &str) -> String {
    let seen = scene.run(&format!("python3 -I - <<'END'\n{TRY}{script}\nEND"));
    assert_eq!(seen.status, Some(0), "{seen:?}");
    seen.text
}

#[test]
fn files_outside_are_neither_read_nor_written() {
    for scene in everywhere() {
        scene.secret("outside");
        let seen = scene.run(
            "o=../outside; ln -s $PWD/$o link; for f in $o link /proc/self/root$PWD/$o /proc/self/cwd/$o; do \
             cat $f; echo changed > $f; ln $f hard; mv $f moved; rm -f $f; done 2> /dev/null; \
             (echo new > ../new) 2> /dev/null; find / -name outside -exec cat {} + 2> /dev/null",
        );
        assert!(!seen.text.contains("canary"), "{seen:?}");
        assert_eq!(std::fs::read_to_string(scene.at("outside")).unwrap(), "canary");
        assert!(!scene.at("new").exists());
    }
}

#[test]
fn the_home_is_not_read() {
    for scene in everywhere() {
        let seen = scene.run("cat ~/secret; ls -A ~; grep -r canary ~ /tmp /var/tmp");
        assert!(!seen.text.contains("canary"), "{seen:?}");
    }
}

#[test]
fn no_listener_outside_hears_anything() {
    for scene in everywhere() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let name = format!("haft-test-{}-{}", std::process::id(), scene.at("w").display());
        let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        for refuses in [tcp.set_nonblocking(true), udp.set_nonblocking(true), hidden.set_nonblocking(true)] {
            refuses.unwrap();
        }
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        python(
            &scene,
            &format!(
                "attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {tcp_port}), 2))\n\
                 attempt('udp', lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp_port})))\n\
                 attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0{name}'))\n"
            ),
        );
        assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(udp.recv(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(hidden.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}

/// A folder of the system that commands can read and in which root can listen.
const OF_THE_SYSTEM: &str = "/opt";

/// A listener at a path of the file system outside, for streams and for single messages.
struct Listening {
    streams: UnixListener,
    messages: UnixDatagram,
    folder: tempfile::TempDir,
}

impl Listening {
    fn in_folder(folder: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let all = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        all(folder.path(), 0o777);
        let streams = UnixListener::bind(folder.path().join("streams")).unwrap();
        let messages = UnixDatagram::bind(folder.path().join("messages")).unwrap();
        ["streams", "messages"].iter().for_each(|name| all(&folder.path().join(name), 0o777));
        streams.set_nonblocking(true).unwrap();
        messages.set_nonblocking(true).unwrap();
        Self { streams, messages, folder }
    }

    /// Tries every way to reach it, and says which worked.
    fn attempts(&self) -> String {
        let at = self.folder.path().display();
        format!(
            "attempt('stream', lambda: socket.socket(socket.AF_UNIX).connect('{at}/streams'))\n\
             attempt('message', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '{at}/messages'))\n\
             attempt('connected', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect('{at}/messages'))\n\
             os.chdir('{at}')\n\
             attempt('from its folder', lambda: socket.socket(socket.AF_UNIX).connect('streams'))\n\
             os.symlink('{at}/streams', '/tmp/link')\n\
             attempt('through a link', lambda: socket.socket(socket.AF_UNIX).connect('/tmp/link'))\n\
             attempt('through a descriptor', lambda: socket.socket(socket.AF_UNIX).connect('/proc/self/fd/%d' % \
             os.open('{at}/streams', os.O_PATH)))\n"
        )
    }

    fn assert_nothing_was_heard(&self, said: &str) {
        assert!(!said.contains("worked"), "{said}");
        assert_eq!(self.streams.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "{said}");
        assert_eq!(self.messages.recv(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock, "{said}");
    }
}

#[test]
fn no_socket_of_the_file_system_outside_is_reached() {
    let is_there = rustix::process::geteuid().is_root() && Path::new(OF_THE_SYSTEM).is_dir();
    for folder in ["granted/deep"].into_iter().chain(is_there.then_some(OF_THE_SYSTEM)) {
        for (number, scene) in fully().into_iter().chain(fully()).enumerate() {
            std::fs::create_dir_all(scene.at("granted/deep")).unwrap();
            scene.readable("granted");
            let scene = if number % 2 == 0 { scene.with_network() } else { scene };
            let listening = Listening::in_folder(&scene.at(folder));
            listening.assert_nothing_was_heard(&python(&scene, &listening.attempts()));
        }
    }
}

#[test]
fn a_socket_that_comes_later_is_not_reached_either() {
    for scene in fully() {
        std::fs::create_dir_all(scene.at("granted")).unwrap();
        scene.readable("granted");
        let listening = Listening::in_folder(&scene.at("granted"));
        let at = listening.folder.path().to_owned();
        // Bound by a path from another folder, and moved: no list of the kernel has its name.
        for name in ["streams", "messages"] {
            std::fs::rename(at.join(name), at.join(format!("moved-{name}"))).unwrap();
        }
        let script = listening.attempts().replace("/streams", "/moved-streams").replace("/messages", "/moved-messages");
        let script = script.replace("connect('streams')", "connect('moved-streams')");
        listening.assert_nothing_was_heard(&python(&scene, &script));
    }
}

#[test]
fn where_something_is_mounted_below_a_folder_the_sockets_in_it_are_covered() {
    let mounted_below = |scene: &SandboxFixture| {
        with_own_mounts();
        std::fs::create_dir_all(scene.at("granted/mounted")).unwrap();
        mount("none", scene.at("granted/mounted"), "tmpfs", MountFlags::empty(), None).unwrap();
    };
    for scene in tried(as_root(mounted_below), "python3") {
        std::fs::create_dir_all(scene.at("granted")).unwrap();
        scene.readable("granted");
        let listening = Listening::in_folder(&scene.at("granted"));
        listening.assert_nothing_was_heard(&python(&scene, &listening.attempts()));
    }
}

#[test]
fn sockets_of_the_own_workspace_home_and_temporary_folders_work() {
    let script = "\
for folder in ['.', '/tmp', '/var/tmp', '/dev/shm', os.environ['HOME'], '/run']:
    path = os.path.join(folder, 'sock')
    def both():
        server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
        client = socket.socket(socket.AF_UNIX); client.connect(path)
        server.accept()[0].send(b'x'); assert client.recv(1) == b'x'
        heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); heard.bind(path + 'd')
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'y', path + 'd'); assert heard.recv(1) == b'y'
    attempt(folder.replace(os.environ['HOME'], 'home'), both)
";
    for scene in fully() {
        let all = [".", "/tmp", "/var/tmp", "/dev/shm", "home", "/run"].map(|folder| format!("{folder} worked\n"));
        assert_eq!(python(&scene, script), all.concat());
    }
}

#[test]
fn a_granted_network_is_the_real_one() {
    for who in FixtureUser::all() {
        for scene in [SandboxFixture::new(who), SandboxFixture::new(who).partly()] {
            let scene = scene.with_network();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let script = format!(
                "attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {port}), 2))\n\
                 attempt('names', lambda: (open('/etc/resolv.conf').read(), socket.gethostbyname('localhost')))"
            );
            assert_eq!(python(&scene, &script), "tcp worked\nnames worked\n");
        }
    }
}

#[test]
fn sockets_of_other_kinds_are_not_opened() {
    let script = "for name, family, kind, protocol in [('raw', 2, 3, 1), ('packet', 17, 3, 0), ('vsock', 40, 1, 0), \
                  ('alg', 38, 5, 0), ('bluetooth', 31, 3, 1), ('netfilter', 16, 3, 12), ('ip', 2, 10, 0)]:\n\
                  \x20   attempt(name, lambda: socket.socket(family, kind, protocol))";
    let refused = "raw EPERM\npacket EPERM\nvsock EPERM\nalg EPERM\nbluetooth EPERM\nnetfilter EPERM\nip EPERM\n";
    for scene in everywhere() {
        assert_eq!(python(&scene, script), refused);
    }
    let inet = "attempt('tcp', lambda: socket.socket(2, 1)); attempt('pair', lambda: socket.socketpair())";
    for scene in partly() {
        assert_eq!(python(&scene, inet), "tcp EPERM\npair worked\n");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn system_calls_around_the_walls_are_refused() {
    let script = "\
call('mount', 165, b'none', b'/tmp', b'tmpfs', 0, None)
call('unshare', 272, 0x10000000)
call('setns', 308, 0, 0)
call('clone into a namespace', 56, 0x10000000 | 17, 0, 0, 0, 0)
call('clone3', 435, 0, 0)
call('chroot', 161, b'/tmp')
call('pivot_root', 155, b'/', b'/')
call('open_tree', 428, -100, b'/', 1)
call('fsopen', 430, b'tmpfs', 0)
call('pidfd_getfd', 438, 0, 0, 0)
call('keyctl', 250, 0, 0)
call('bpf', 321, 0, 0, 0)
call('perf_event_open', 298, 0, 0, 0, 0, 0)
call('userfaultfd', 323, 0)
call('io_uring_setup', 425, 1, 0)
call('open_by_handle_at', 304, -100, 0, 0)
call('personality', 135, 0x0400000)
call('ask personality', 135, 0xffffffff)
call('TIOCSTI', 16, 0, 0x5412, b'x')
call('TIOCSTI in 64 bits', 16, 0, 0x100005412, b'x')
call('sethostname', 170, b'x', 1)
call('x32', 0x40000000 + 39)
";
    let refused = "mount EPERM\nunshare EPERM\nsetns EPERM\nclone into a namespace EPERM\nclone3 ENOSYS\nchroot EPERM\n\
                   pivot_root EPERM\nopen_tree EPERM\nfsopen EPERM\n\
                   pidfd_getfd EPERM\nkeyctl EPERM\nbpf EPERM\nperf_event_open EPERM\nuserfaultfd EPERM\n\
                   io_uring_setup ENOSYS\nopen_by_handle_at EPERM\npersonality EPERM\nask personality worked\n\
                   TIOCSTI EPERM\nTIOCSTI in 64 bits EPERM\nsethostname EPERM\nx32 ENOSYS\n";
    for scene in everywhere() {
        assert_eq!(python(&scene, script), refused);
    }
}

/// Tries to look into a process in every way, and says which worked.
const LOOK_INTO: &str = r#"
class Piece(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
def look_into(name, pid, address):
    here = ctypes.create_string_buffer(b'0123456')
    near, far = Piece(ctypes.addressof(here), 8), Piece(address, 8)
    for how, request in [('seize', 0x4206), ('attach', 16)]:
        call(f'{name} {how}', 101, request, pid, 0, 0)
    for how, number in [('read', 310), ('write', 311)]:
        one, none = ctypes.c_long(1), ctypes.c_long(0)
        call(f'{name} {how}', number, pid, ctypes.byref(near), one, ctypes.byref(far), one, none)
    attempt(f'{name} memory', lambda: os.open(f'/proc/{pid}/mem', os.O_RDONLY))
    attempt(f'{name} program', lambda: os.readlink(f'/proc/{pid}/exe'))
"#;

#[test]
#[cfg(target_arch = "x86_64")]
fn only_own_processes_are_looked_into() {
    let outside = std::process::id();
    let address = "address = ctypes.addressof(ctypes.create_string_buffer(8))";
    for scene in fully() {
        let script = format!(
            "{LOOK_INTO}\nbuffer = ctypes.create_string_buffer(b'original')\nchild = os.fork()\n\
             if child == 0: signal.pause()\n\
             look_into('child', child, ctypes.addressof(buffer))\n\
             for name, pid in [('first', 1), ('outside', {outside}), ('haft', {})]:\n    look_into(name, pid, ctypes.addressof(buffer))\n\
             os.kill(child, 9)",
            outside.saturating_sub(1)
        );
        let text = python(&scene, &script);
        // The first way makes it a tracee, so that the second one is refused.
        let own = ["seize", "read", "write", "memory", "program"];
        for line in text.lines() {
            let is_own = own.iter().any(|how| line == format!("child {how} worked"));
            let is_refused = line.ends_with(" EPERM")
                || line.ends_with(" EACCES")
                || line.ends_with(" ESRCH")
                || line.ends_with(" ENOENT");
            assert!(is_own || is_refused, "{line} of:\n{text}");
        }
        assert_eq!(text.lines().filter(|line| line.ends_with("worked")).count(), own.len(), "{text}");
    }
    for scene in partly() {
        let script = format!(
            "{LOOK_INTO}\n{address}\nfor pid in [1, os.getpid(), os.getppid(), {outside}]:\n    look_into('any', pid, address)"
        );
        let text = python(&scene, &script);
        let traced =
            text.lines().filter(|line| ["seize", "attach", "read", "write"].iter().any(|how| line.contains(how)));
        assert!(traced.clone().count() == 16 && traced.clone().all(|line| line.ends_with("EPERM")), "{text}");
    }
}

#[test]
fn debuggers_work_on_own_processes_in_the_full_sandbox() {
    let debuggers = [
        ("strace", "strace -f -e trace=execve sh -c '/bin/true; exit 0' 2>&1", "execve(\"/bin/true\""),
        ("gdb", "gdb -nx -batch -ex run -ex 'info inferiors' /bin/true 2>&1", "exited normally"),
    ];
    for (program, command, says) in debuggers {
        for scene in tried(FixtureUser::all().into_iter().map(SandboxFixture::new).collect(), program) {
            let seen = scene.run(command);
            assert!(seen.text.contains(says), "{program}: {seen:?}");
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_program_that_makes_32_bit_calls_is_killed() {
    let script = "import mmap\n\
                  code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n\
                  code.write(bytes.fromhex('b814000000cd80c3'))\n\
                  ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()\n\
                  print('worked')";
    for scene in everywhere() {
        let seen = scene.run(&format!("python3 -I - <<'END'\n{TRY}{script}\nEND\necho $?"));
        assert!(seen.text.ends_with("159\n"), "{seen:?}");
    }
}

#[test]
fn nobody_outside_gets_a_signal() {
    let own = std::process::id();
    for scene in everywhere() {
        let text = python(&scene, &format!("attempt('outside', lambda: os.kill({own}, 0))"));
        assert!(text == "outside ESRCH\n" || text == "outside EPERM\n", "{text}");
    }
    for scene in fully() {
        assert_eq!(python(&scene, "os.kill(1, 9); os.kill(1, 15); print('still here')"), "still here\n");
    }
    for scene in partly() {
        let seen = scene.run("kill -9 $PPID; echo still here");
        assert!(seen.text.ends_with("still here\n") && seen.text.contains("not permitted"), "{seen:?}");
        assert_eq!(seen.status, Some(0), "{seen:?}");
    }
}

#[test]
fn secret_files_are_read_at_no_level() {
    for scene in everywhere() {
        let seen = scene.run("cat /etc/shadow && echo read; cat /etc/passwd > /dev/null && echo users");
        assert!(seen.text.ends_with("users\n") && !seen.text.contains("read\n"), "{seen:?}");
    }
}

#[test]
fn a_fork_bomb_ends_at_the_limit() {
    for scene in fully() {
        let text = python(
            &scene,
            "count = 0\ntry:\n    while count < 2000:\n        if os.fork() == 0: signal.pause()\n        count += 1\n\
             except OSError as e: print('ended', said(e.errno), 200 <= count <= 600)",
        );
        assert_eq!(text, "ended EAGAIN True\n");
    }
}

#[test]
fn partly_confined_commands_work_in_their_workspace() {
    for scene in partly() {
        let seen = scene.run("mkdir d && echo x > d/f && mv d e && cat e/f; echo y > $TMPDIR/t && cat $TMPDIR/t; echo z > /dev/null && echo ok");
        assert_eq!(seen.text, "x\ny\nok\n", "{seen:?}");
        assert!(scene.at("w/e/f").exists());
    }
}
