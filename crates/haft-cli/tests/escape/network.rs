//! Ways to reach a listener outside.

use crate::Attempt;
use crate::canaries::Cage;
use crate::prober::probe;

/// Asks for the address of a name.
const ADDRESS: &str = "a=$(getent hosts canary.example.invalid | cut -d' ' -f1)";
/// Connects to a name, sends something, and shows what comes back.
const SENDS_BY_NAME: &str = "exec 3<>/dev/tcp/canary.example.invalid/80; \
                             printf 'GET / HTTP/1.0\\r\\nHost: canary.example.invalid\\r\\n\\r\\n' >&3; \
                             grep -q '200 OK' <&3 && echo ESCAPED; echo done";

pub(crate) fn attempts(cage: &Cage) -> Vec<Attempt> {
    let (tcp, udp) = (cage.tcp_port(), cage.udp_port());
    vec![
        Attempt::new("TCP", format!("exec 3<>/dev/tcp/127.0.0.1/{tcp} && echo ESCAPED; echo done")),
        Attempt::new("TCP by system call", probe("tcp", &format!("127.0.0.1:{tcp}"))),
        Attempt::new("TCP of the newer kind", probe("tcp", &format!("[::1]:{}", cage.tcp6_port()))),
        Attempt::new("UDP", probe("udp", &format!("127.0.0.1:{udp}"))),
        Attempt::new("UDP to everybody", probe("udp", &format!("255.255.255.255:{udp}"))),
        // The supervisor answers every name itself, with an address that leads to it; no real one comes back.
        Attempt::new("a name", format!("{ADDRESS}; case \"$a\" in ''|198.18.*|198.19.*) ;; *) echo ESCAPED ;; esac")),
        Attempt::new("a connection by name", SENDS_BY_NAME).explained("canary.example.invalid was refused"),
        Attempt::new(
            "ports that others listen on",
            format!("grep -qi ':{tcp:04x} ' /proc/net/tcp && echo ESCAPED; echo done"),
        ),
        Attempt::new("a name by system call", probe("udp", "127.0.0.53:53")),
        Attempt::new("an address far away", "(exec 3<>/dev/tcp/192.0.2.1/80) && echo ESCAPED; echo done; false")
            .explained("network"),
        Attempt::new("a socket outside", probe("unix", &cage.around("outside/socket"))),
        Attempt::new("a socket above the root", probe("unix", &format!("/..{}", cage.around("outside/socket")))),
        Attempt::new("a socket of outside in the workspace", probe("unix", "socket")),
        Attempt::new("an abstract socket", probe("abstract", cage.abstract_name())),
        Attempt::new("raw packets", probe("socket", "2:3:1")),
        Attempt::new("packets", probe("socket", "17:3:0")),
        Attempt::new("the host of a virtual machine", probe("socket", "40:1:0")),
        Attempt::new("keys of the kernel", probe("socket", "15:3:2")),
        Attempt::new("audit", probe("socket", "16:3:9")),
        Attempt::new("bluetooth", probe("socket", "31:3:0")),
        Attempt::new("a ring of the kernel", probe("syscall", "425")),
        // Its own loopback is there, else tests that listen would fail.
        Attempt { explained: Some("HEARD"), ..Attempt::new("its own loopback", probe("loopback", "")) },
    ]
}
