//! What runs inside: this very test program, copied into the workspace, asked by a variable to try one thing.
//!
//! It says `ESCAPED` when the thing worked, and the system's answer when not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

const ASKED: &str = "HAFT_PROBE";

/// Returns the command that tries one thing inside.
pub(crate) fn probe(what: &str, about: &str) -> String {
    probe_of("./prober", what, about)
}

/// The same with another copy of this program.
pub(crate) fn probe_of(program: &str, what: &str, about: &str) -> String {
    format!("{ASKED}={what}={about} {program} --exact prober::inside --nocapture; echo done")
}

/// Not a test by itself: it does what it is asked when it runs inside.
#[test]
fn inside() {
    let Ok(asked) = std::env::var(ASKED) else { return };
    let (what, about) = asked.split_once('=').expect("it is asked well");
    let outcome = match what {
        "tcp" => TcpStream::connect(about).map(drop),
        // Sending always works on the session's own loopback; the listener outside tells whether it heard anything.
        "udp" => UdpSocket::bind("0.0.0.0:0")
            .and_then(|udp| {
                let _ = udp.set_broadcast(true);
                udp.send_to(b"canary", about)
            })
            .and_then(|_| Err(std::io::Error::other("sent into the void"))),
        "unix" => UnixStream::connect(about).map(drop),
        "abstract" => SocketAddr::from_abstract_name(about).and_then(|name| UnixStream::connect_addr(&name)).map(drop),
        "identity" => {
            let (real, effective) = (rustix::process::getuid(), rustix::process::geteuid());
            if real == effective { Err(std::io::Error::other("nobody else")) } else { Ok(()) }
        }
        "loopback" => return println!("{}", own_loopback()),
        what => system_call(what, about),
    };
    match outcome {
        Ok(()) => println!("ESCAPED by {what}"),
        Err(error) => println!("{what}: {error}"),
    }
}

fn own_loopback() -> String {
    let heard = TcpListener::bind("127.0.0.1:0").and_then(|listener| {
        let address = listener.local_addr()?;
        let mut caller = TcpStream::connect(address)?;
        caller.write_all(b"HEARD")?;
        drop(caller);
        let mut heard = String::new();
        listener.accept()?.0.read_to_string(&mut heard)?;
        Ok(heard)
    });
    heard.unwrap_or_else(|error| format!("no loopback: {error}"))
}

/// Makes a system call that must not work.
#[allow(unsafe_code, reason = "there is no safe way to ask for what must be refused")]
fn system_call(what: &str, about: &str) -> std::io::Result<()> {
    let numbers: Vec<i64> = about.split(':').filter_map(|number| number.parse().ok()).collect();
    let first = numbers.first().copied().unwrap_or(0);
    // SAFETY: each call is refused, or fails, or changes only this process, which ends right after.
    let answer = unsafe {
        match what {
            "socket" => libc::syscall(libc::SYS_socket, first, numbers[1], numbers[2]),
            "ptrace" => libc::syscall(libc::SYS_ptrace, libc::PTRACE_SEIZE, first, 0, 0),
            "process_vm_readv" | "process_vm_writev" => {
                let mut here = [0_u8; 8];
                let near = libc::iovec { iov_base: here.as_mut_ptr().cast(), iov_len: here.len() };
                let call =
                    if what == "process_vm_readv" { libc::SYS_process_vm_readv } else { libc::SYS_process_vm_writev };
                libc::syscall(call, first, &raw const near, 1, &raw const near, 1, 0)
            }
            "setuid" => libc::syscall(libc::SYS_setuid, first),
            "setgroups" => libc::syscall(libc::SYS_setgroups, 1, [0_u32].as_ptr()),
            "unshare" => libc::syscall(libc::SYS_unshare, first),
            "mount" => {
                let (kind, at) = (c"tmpfs".as_ptr(), c"/tmp".as_ptr());
                libc::syscall(libc::SYS_mount, kind, at, kind, 0, 0)
            }
            "open_by_handle" => {
                // The root folder of most file systems.
                let handle: [u32; 4] = [8, 1, 2, 0];
                let folder = libc::open(c".".as_ptr(), libc::O_RDONLY);
                libc::syscall(libc::SYS_open_by_handle_at, folder, handle.as_ptr(), libc::O_RDONLY)
            }
            "int80" => int80(),
            "syscall" => libc::syscall(first, 0, 0, 0, 0, 0, 0),
            _ => panic!("nobody knows how to try {what}"),
        }
    };
    let error = std::io::Error::last_os_error();
    // Only these say that it was refused; any other error means that the kernel had looked at it.
    let code = error.raw_os_error().unwrap_or(0);
    let is_refused = [libc::EPERM, libc::EACCES, libc::ENOSYS, libc::EAFNOSUPPORT, libc::ESRCH].contains(&code);
    // There is no other user inside that one could become.
    let is_refused = is_refused || what == "setuid" && code == libc::EINVAL;
    if answer < 0 && is_refused { Err(error) } else { Ok(()) }
}

/// Asks for the process id in the 32-bit way.
#[allow(unsafe_code, reason = "there is no safe way to ask for what must be refused")]
#[cfg(target_arch = "x86_64")]
unsafe fn int80() -> i64 {
    let answer: i64;
    // SAFETY: the call has no arguments and changes nothing.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => answer, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    answer
}

/// There are no such calls here.
#[cfg(not(target_arch = "x86_64"))]
fn int80() -> i64 {
    -1
}
