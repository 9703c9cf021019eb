//! Which ports programs listen on, as /proc says of a network.

use std::fs;

use rustix::process::Pid;

/// The port on which programs ask for names.
pub(crate) const NAMES: u16 = 53;
/// The state of a socket that waits for connections.
const LISTENS: &str = "0A";
/// The column of the local address, and that of the state.
const COLUMNS: (usize, usize) = (1, 3);

/// Returns whether a program listens on this port, on the network of this process or else on our own.
pub(crate) fn is_listening(inside: Option<Pid>, port: u16) -> Option<bool> {
    let process = inside.map_or_else(|| "self".to_owned(), |pid| pid.as_raw_nonzero().to_string());
    let read = |table: &str| fs::read_to_string(format!("/proc/{process}/net/{table}")).ok();
    let tables = [read("tcp"), read("tcp6")];
    // A system without the newer protocol has one table.
    let mut known = tables.iter().flatten().peekable();
    known.peek()?;
    Some(known.any(|table| listens_in(table, port)))
}

fn listens_in(table: &str, port: u16) -> bool {
    let end = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let column = |number: usize| columns.get(number).copied().unwrap_or_default();
        column(COLUMNS.0).ends_with(&end) && column(COLUMNS.1) == LISTENS
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "a test listens")]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_is_found_as_long_as_a_program_listens_on_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(is_listening(None, port), Some(true));
        drop(listener);
        assert_eq!(is_listening(None, port), Some(false));
        assert_eq!(is_listening(Pid::from_raw(i32::MAX), port), None);
    }

    #[test]
    fn a_connection_to_a_port_is_no_listener() {
        let line = |state: &str| format!("head\n   0: 0100007F:1F90 00000000:0000 {state} 00000000:00000000\n");
        assert!(listens_in(&line("0A"), 8080));
        assert!(!listens_in(&line("01"), 8080));
        assert!(!listens_in(&line("0A"), 80));
    }
}
