//! `ip`, `bridge`, `tc` and `nmcli`: an object and a verb; the user may shorten both to their first letters.
//!
//! The meaning of a short word depends on the order of a list inside the program: `ip link s` is `set`, `ip addr s` is
//! `show`, `ip vrf e` is `exec`. So haft knows the spellings that only look. Every other verb changes the network, runs
//! something, or is unknown.

use haft_contract::effect::Danger;

use crate::act::{NestedRun, ProgramReading, RawEffect, StreamContent};
use crate::value::ShellValue;

/// A program, its options, and the words by which it only looks. Words are separated by blanks.
struct NetworkProgram {
    /// Options by their meaning, without dashes.
    options: &'static [(Opt, &'static str)],
    /// Objects in full. A cut one may be any that begins with it.
    objects: &'static str,
    /// Verbs that look at any object, in every spelling that can mean nothing else.
    looks: &'static str,
    /// Objects in every spelling, and verbs that look at these alone.
    more: &'static [(&'static str, &'static str)],
}

/// What an option means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opt {
    Plain,
    Value,
    /// Commands from a file.
    Batch,
    /// Another network of the system.
    OtherNetwork,
    /// The names of addresses.
    Names,
    /// Passwords.
    Secrets,
}

const IP: NetworkProgram = NetworkProgram {
    options: &[
        (
            Opt::Plain,
            "4 6 0 M B N Numeric V Version a all br brief c color d details echo force h help human iec j json",
        ),
        (Opt::Plain, "human-readable o oneline p pretty s stats statistics t timestamp ts tshort"),
        (Opt::Value, "f family l loops rc rcvbuf"),
        (Opt::Batch, "b batch"),
        (Opt::OtherNetwork, "n netns"),
        (Opt::Names, "r resolve"),
    ],
    objects: "address addrlabel fou help ila ioam l2tp link macsec maddress monitor mptcp mroute mrule neighbor neighbour \
              netconf netns nexthop ntable ntbl route rule sr stats tap tcp_metrics tcpmetrics token tunl tunnel tuntap vrf",
    looks: "show sho sh list lis lst ls help get",
    more: &[
        ("a addr address r ro route ru rule n neigh neighbor neighbour", "s l"),
        ("l li link", "l afstats xstats"),
        ("netns", "identify pids list-id monitor"),
        ("vrf", "identify pids"),
        ("mon monitor", "all link address route neigh rule label"),
    ],
};

const BRIDGE: NetworkProgram = NetworkProgram {
    objects: "fdb help link mdb monitor mst vlan vni",
    looks: "show sho sh list lis lst ls help get tunnelshow",
    more: &[("monitor", "all link fdb mdb vlan")],
    ..IP
};

const TC: NetworkProgram = NetworkProgram {
    options: &[
        (
            Opt::Plain,
            "br brief c color d details force g graph h help i iec j json N Numeric nm name o oneline p pretty",
        ),
        (Opt::Plain, "r raw s stats statistics t timestamp V Version"),
        (Opt::Batch, "b batch"),
        (Opt::OtherNetwork, "n netns"),
    ],
    objects: "actions chain class filter help monitor qdisc",
    looks: "show sho sh list lis lst ls help get",
    more: &[],
};

const NMCLI: NetworkProgram = NetworkProgram {
    options: &[
        (Opt::Plain, "a ask h help o overview p pretty t terse v version"),
        (Opt::Value, "c colors e escape f fields g get-values m mode w wait"),
        (Opt::Secrets, "s show-secrets"),
    ],
    objects: "connection device general help monitor networking radio",
    looks: "show sho sh status stat help monitor",
    more: &[
        ("c con conn connection", "s"),
        ("g gen general", "s permissions"),
        ("networking", "connectivity"),
        ("d dev device", "s"),
    ],
};

/// What a verb that does not look begins like.
const CHANGES: &str = "add append attach change chg connect del delete disable disconnect down edit enable flush import link \
                       modify off on prepend reapply reload replace restore set test up";

pub(crate) fn read_ip(words: &[ShellValue]) -> ProgramReading {
    read(&IP, words)
}

pub(crate) fn read_bridge(words: &[ShellValue]) -> ProgramReading {
    read(&BRIDGE, words)
}

pub(crate) fn read_tc(words: &[ShellValue]) -> ProgramReading {
    read(&TC, words)
}

pub(crate) fn read_nmcli(words: &[ShellValue]) -> ProgramReading {
    read(&NMCLI, words)
}

fn read(tool: &NetworkProgram, given: &[ShellValue]) -> ProgramReading {
    let mut reading =
        ProgramReading { output: StreamContent::Text(ShellValue::unknown()), ..ProgramReading::default() };
    let mut rest = given;
    while let [word, after @ ..] = rest
        && word.prefix().starts_with('-')
    {
        rest = after.get(tool.option(word, &mut reading.acts)..).unwrap_or_default();
    }
    let [object, rest @ ..] = rest else { return reading };
    let Some(object) = object.known() else {
        reading.acts.push(unknown("what it does is known only when it runs"));
        return reading;
    };
    match rest {
        [] if tool.is_object(object) => {}
        [verb, ..] if verb.known().is_some_and(|verb| tool.looks(object, verb)) => {}
        [verb, words @ ..] if tool.is_wireless(object, verb) => reading.acts.extend(wireless(words)),
        _ => tool.change(object, rest, &mut reading),
    }
    reading
}

impl NetworkProgram {
    /// Reads an option, and returns how many words behind it are its value.
    fn option(&self, word: &ShellValue, acts: &mut Vec<RawEffect>) -> usize {
        let Some(text) = word.known() else {
            acts.push(unknown("a word that may be a flag"));
            return 0;
        };
        let (name, is_attached) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
        let name = name.trim_start_matches('-');
        let options =
            || self.options.iter().flat_map(|(meaning, names)| listed(names).map(move |name| (name, *meaning)));
        let mut meanings: Vec<Opt> =
            options().filter(|(option, _)| *option == name).map(|(_, meaning)| meaning).collect();
        if meanings.is_empty() && !name.is_empty() {
            meanings = options().filter(|(option, _)| option.starts_with(name)).map(|(_, meaning)| meaning).collect();
        }
        if meanings.is_empty() || meanings.iter().any(|meaning| *meaning != meanings[0]) {
            acts.push(unknown("an option that is not known"));
        }
        let mut taken = 0;
        for meaning in meanings {
            taken |= usize::from(matches!(meaning, Opt::Value | Opt::Batch | Opt::OtherNetwork) && !is_attached);
            acts.extend(match meaning {
                Opt::Plain | Opt::Value => None,
                Opt::Batch => Some(changes_network()),
                Opt::OtherNetwork => Some(in_other_network()),
                Opt::Names => Some(RawEffect::Connect(None)),
                Opt::Secrets => Some(RawEffect::Danger(Danger::Secret, "print passwords of networks".to_owned())),
            });
        }
        taken
    }

    fn is_object(&self, word: &str) -> bool {
        !word.is_empty() && listed(self.objects).any(|object| object.starts_with(word))
    }

    fn looks(&self, object: &str, verb: &str) -> bool {
        let has = |list: &'static str, word: &str| listed(list).any(|known| known == word);
        let of_object = self.more.iter().any(|(objects, verbs)| has(objects, object) && has(verbs, verb));
        self.is_object(object) && (has(self.looks, verb) || of_object)
    }

    /// Returns whether these are `device wifi` or `radio wifi` of nmcli.
    fn is_wireless(&self, object: &str, verb: &ShellValue) -> bool {
        let is_of_tool = listed(self.objects).any(|name| name == "radio");
        is_of_tool && ["device", "radio"].iter().any(|name| name.starts_with(object)) && verb.known() == Some("wifi")
    }

    /// Adds what is known of words that do not look.
    fn change(&self, object: &str, words: &[ShellValue], reading: &mut ProgramReading) {
        // `ip netns exec NAME COMMAND`, `ip -all netns exec COMMAND`, `ip vrf exec NAME COMMAND`, `tc exec bpf … run COMMAND`.
        let may_run = |word: &ShellValue| word.known().is_some_and(|word| !word.is_empty() && "exec".starts_with(word));
        if "exec".starts_with(object) || words.first().is_some_and(may_run) {
            reading.acts.push(in_other_network());
            (1..words.len()).for_each(|at| reading.inner.push(NestedRun::Words(words[at..].to_vec())));
            return;
        }
        let verb = words.first().and_then(ShellValue::known).unwrap_or_default();
        let is_change = !verb.is_empty() && listed(CHANGES).any(|change| change.starts_with(verb));
        reading.acts.push(if is_change { changes_network() } else { unknown("whether it only looks is not known") });
    }
}

fn changes_network() -> RawEffect {
    RawEffect::Danger(Danger::System, "change the network of the system".to_owned())
}

fn in_other_network() -> RawEffect {
    RawEffect::Danger(Danger::Rights, "run it in another network of the system".to_owned())
}

fn unknown(why: &str) -> RawEffect {
    RawEffect::Unknown(why.to_owned())
}

/// Reads what stands behind `wifi`.
fn wireless(words: &[ShellValue]) -> Option<RawEffect> {
    match words.first().map(ShellValue::known) {
        None | Some(Some("list" | "lis" | "li" | "l")) => None,
        Some(Some(verb)) if verb.starts_with('s') => {
            Some(RawEffect::Danger(Danger::Secret, "print passwords of networks".to_owned()))
        }
        Some(_) => Some(changes_network()),
    }
}

fn listed(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_whitespace()
}
