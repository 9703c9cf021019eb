//! Finds the host that an address names.
//!
//! Some addresses are special: services that give secrets to any program on a machine, and transports that are
//! commands.

use std::net::{Ipv4Addr, Ipv6Addr};

use haft_contract::effect::{Danger, Host};

use crate::act::{NestedRun, PathEffect, ProgramReading, RawEffect};
use crate::value::{ShellValue, ValuePiece};

/// Addresses at which clouds give credentials to the machines in them.
pub const METADATA: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "instance-data",
    "instance-data.ec2.internal",
];

/// How addresses begin, for programs that do not look for two slashes.
const SCHEMES: &[&str] = &["http:", "https:", "ftp:", "ftps:", "ws:", "wss:", "ssh:", "git:"];

/// Reads a URL, or a host with a path.
pub(crate) fn of_url(word: &ShellValue) -> ProgramReading {
    if let Some(path) = word.strip_prefix("file://") {
        return one(RawEffect::Path(PathEffect::Read, as_programs_read_it(&path)));
    }
    if let Some(script) = word.strip_prefix("ext::") {
        return ProgramReading { inner: vec![NestedRun::Script(script, Vec::new())], ..ProgramReading::default() };
    }
    let text = word.prefix();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']);
    match (end, word.known()) {
        // `http:host` and `http:/host` are understood by some programs.
        _ if rest.len() == text.len() && SCHEMES.iter().any(|scheme| text.starts_with(scheme)) => elsewhere(),
        (None, None) => elsewhere(),
        (end, _) => host(&rest[..end.unwrap_or(rest.len())]),
    }
}

/// Returns whether a word is an address that programs fetch in the place of a file.
pub(crate) fn is_of_web(word: &ShellValue) -> bool {
    ["http://", "https://", "ftp://", "ftps://"].iter().any(|scheme| word.prefix().to_lowercase().starts_with(scheme))
}

/// Returns a path in an address as it is opened: `%2e` is a letter, and of `{a,b}` and `[a-z]` curl makes names.
fn as_programs_read_it(path: &ShellValue) -> ShellValue {
    let mut read = ShellValue::default();
    for piece in path.pieces() {
        let ValuePiece::Text(text) = piece else {
            read.push(piece.clone());
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['%', '{', '[']) {
            read.push(ValuePiece::Text(rest[..at].to_owned()));
            let close = match rest.as_bytes()[at] {
                b'{' => rest[at..].find('}'),
                b'[' => rest[at..].find(']'),
                _ => rest[at..].char_indices().nth(2).map(|(end, _)| end),
            };
            read.push(ValuePiece::Glob);
            let end = close.map_or(rest.len(), |close| at + close);
            rest = rest.get(rest[end..].chars().next().map_or(end, |last| end + last.len_utf8())..).unwrap_or_default();
        }
        read.push(ValuePiece::Text(rest.to_owned()));
    }
    read
}

/// Returns the name under which a program keeps what it fetches, where the address tells it.
pub(crate) fn file_name(word: &ShellValue) -> ShellValue {
    let Some(text) = word.known() else { return ShellValue::unknown() };
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    // `host:path`, as git and ssh write it, or a host with a path behind it.
    let has_path = rest.contains('/') || (rest.len() == text.len() && rest.contains(':'));
    match last_name(text) {
        _ if !has_path || rest.ends_with('/') => ShellValue::text("index.html"),
        // Programs read such signs in their own ways.
        name if name.contains(['%', '{', '[', '*']) => ShellValue::unknown(),
        name => ShellValue::text(name),
    }
}

/// Returns the name that something at an address gets here: `host:dir/x` and `https://host/x?y` become `x`.
pub(crate) fn last_name(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    last.rsplit(':').next().unwrap_or_default().trim_end_matches(".git").to_owned()
}

/// Reads a host, perhaps with a user and a port.
pub(crate) fn of_host(word: &ShellValue) -> ProgramReading {
    match word.known() {
        Some(text) if text.contains("://") => of_url(word),
        Some(text) => host(text),
        None => elsewhere(),
    }
}

/// Reads `host:path` or a URL; none when it is a path.
pub(crate) fn of_remote(word: &ShellValue) -> Option<ProgramReading> {
    let text = word.prefix();
    if text.contains("://") || text.starts_with("ext::") {
        return Some(of_url(word));
    }
    let (before, _) = text.split_once(':')?;
    (!before.contains('/') && !before.is_empty()).then(|| host(before))
}

/// Reads an address of socat: a kind, `:`, and what it is about.
pub(crate) fn of_socat(word: &ShellValue) -> ProgramReading {
    let Some((kind, _)) = word.prefix().split_once(':') else {
        return match word.known() {
            Some(_) => ProgramReading::default(),
            None => one(RawEffect::Unknown("an address is known only when it runs".to_owned())),
        };
    };
    let rest = word.strip_prefix(&format!("{kind}:")).unwrap_or_default();
    let bare = match rest.prefix().split_once(',') {
        Some((before, _)) => ShellValue::text(before),
        None => rest.clone(),
    };
    match kind.to_ascii_lowercase().as_str() {
        "exec" | "system" | "shell" => ProgramReading {
            acts: vec![RawEffect::Danger(Danger::DownloadedCode, "give a program to another machine".to_owned())],
            inner: vec![NestedRun::Script(bare, Vec::new())],
            ..ProgramReading::default()
        },
        "file" | "open" | "gopen" if !rest.prefix().contains(",") => one(RawEffect::Path(PathEffect::Read, bare)),
        "file" | "open" | "gopen" | "create" | "creat" | "pipe" | "fifo" => {
            one(RawEffect::Path(PathEffect::Replace, bare))
        }
        "stdio" | "fd" | "stdin" | "stdout" => ProgramReading::default(),
        listens if listens.contains("listen") => one(RawEffect::Serve("let other machines connect".to_owned())),
        _ => of_host(&bare),
    }
}

/// What is sent to a server on this machine, in words.
pub(crate) const SENT_HERE: &str = "send data to a server on this machine";

/// Returns whether a host is the machine itself.
pub(crate) fn is_here(word: &ShellValue) -> bool {
    word.known().is_some_and(|text| Host(host_name(text)).is_here())
}

fn host(text: &str) -> ProgramReading {
    let name = host_name(text);
    // Whatever else is in it is a pattern (`{a,b}`), an encoding, or a letter that looks like another one.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) || text.contains(['{', '}', '\\']) {
        return elsewhere();
    }
    let hands_out_secrets = METADATA.contains(&name.as_str());
    let mut reading = one(RawEffect::Connect(Some(name)));
    if hands_out_secrets {
        let what = "ask the service that gives credentials to this machine".to_owned();
        reading.acts.push(RawEffect::Danger(Danger::Secret, what));
    }
    reading
}

/// Returns an address in the one form that it is compared in; a name stays as it is.
pub fn normal(name: &str) -> String {
    let long = name.parse::<Ipv6Addr>().ok();
    let short = number(name).map(Ipv4Addr::from).or(long.and_then(|address| address.to_ipv4_mapped()));
    match (short, long) {
        (Some(address), _) => address.to_string(),
        (None, Some(address)) => address.to_string(),
        (None, None) => name.to_owned(),
    }
}

/// Returns the host in an address without user and port, in small letters and in the one form that it is compared in.
pub fn host_name(text: &str) -> String {
    normal(&bare(text))
}

/// Returns the host without user and port.
fn bare(text: &str) -> String {
    let name = text.rsplit_once('@').map_or(text, |(_, name)| name);
    let name = match name.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        // Only a port may follow; `[e]vil.com` is a pattern.
        Some((address, port)) if port.is_empty() || port.starts_with(':') => address,
        None if name.matches(':').count() > 1 => name,
        Some(_) | None => name.split_once(':').map_or(name, |(name, _)| name),
    };
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Reads an address in any of the forms that programs take: `127.1`, `0x7f000001`, `2130706433`.
fn number(name: &str) -> Option<u32> {
    let part = |text: &str| match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    };
    let parts: Vec<u32> = name.split('.').map(part).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|&byte| byte > 255) {
        return None;
    }
    let high = first.iter().enumerate().fold(0, |sum, (at, byte)| sum | byte << (24 - 8 * at));
    (u64::from(*last) < 1_u64 << (32 - 8 * first.len())).then_some(high | last)
}

/// Words of filters for connections that are no names of machines.
const WORDS_OF_FILTERS: &str = "state exclude sport dport src dst and or not eq ne gt lt ge le neq all connected \
    synchronized bucket big established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed close-wait last-ack \
    listening listen closing";

/// Reads a filter for connections: the program asks the network for the address of a machine that the filter names.
pub(crate) fn of_sockets(word: &ShellValue) -> ProgramReading {
    let is_number = |text: &str| text.chars().all(|letter| letter.is_ascii_digit() || "./*".contains(letter));
    let is_port = |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric());
    let is_plain = |text: &str| {
        let (address, port) = text.rsplit_once(':').unwrap_or((text, ""));
        let inner = address.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        let is_long = inner.unwrap_or(address).contains(':')
            && address.chars().all(|letter| letter.is_ascii_hexdigit() || ":[]".contains(letter));
        WORDS_OF_FILTERS.split_whitespace().any(|known| known == text)
            || ((is_number(address) || is_long) && is_port(port))
    };
    let marks = |letter: char| letter.is_whitespace() || "()=!<>&|".contains(letter);
    match word.known() {
        Some(filter) if filter.split(marks).all(is_plain) => ProgramReading::default(),
        _ => one(RawEffect::Connect(None)),
    }
}

fn elsewhere() -> ProgramReading {
    one(RawEffect::ConnectElsewhere)
}

fn one(act: RawEffect) -> ProgramReading {
    ProgramReading { acts: vec![act], ..ProgramReading::default() }
}
