//! Ways out of the sandbox that must all be shut, tried for real at both levels, as everyone.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use super::scene::{Scene, Who, tried};

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

fn fully() -> Vec<Scene> {
    tried(Who::all().into_iter().map(Scene::new).collect(), "python3")
}

fn partly() -> Vec<Scene> {
    tried(Who::all().into_iter().map(|who| Scene::new(who).partly()).collect(), "python3")
}

fn everywhere() -> Vec<Scene> {
    fully().into_iter().chain(partly()).collect()
}

fn python(scene: &Scene, script: &str) -> String {
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

#[test]
fn a_granted_network_is_the_real_one() {
    for who in Who::all() {
        for scene in [Scene::new(who), Scene::new(who).partly()] {
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
call('ptrace', 101, 16, os.getppid(), 0, 0)
call('process_vm_readv', 310, os.getppid(), 0, 0, 0, 0, 0)
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
                   pivot_root EPERM\nopen_tree EPERM\nfsopen EPERM\nptrace EPERM\nprocess_vm_readv EPERM\n\
                   pidfd_getfd EPERM\nkeyctl EPERM\nbpf EPERM\nperf_event_open EPERM\nuserfaultfd EPERM\n\
                   io_uring_setup ENOSYS\nopen_by_handle_at EPERM\npersonality EPERM\nask personality worked\n\
                   TIOCSTI EPERM\nTIOCSTI in 64 bits EPERM\nsethostname EPERM\nx32 ENOSYS\n";
    for scene in everywhere() {
        assert_eq!(python(&scene, script), refused);
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
