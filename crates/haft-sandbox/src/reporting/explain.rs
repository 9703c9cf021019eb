//! Finds the rule of the sandbox that a command has probably met, and the smallest change that would permit it.
//!
//! Programs report what the system answered, but not why. A reader of "Read-only file system" for a writable folder would
//! look for the wrong fault. So haft looks for such messages in the end of the output, and explains them by what it knows
//! of the place in the message.
//!
//! Not here: what the commit of a command's changes refuses (`haft-workspace`).

mod places;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use haft_contract::doors::process::{CommandSpec, ConfinementLevel, HowEnded, Staging};

use crate::running::attend::Finish;
use crate::sandbox::Around;
use crate::session::whose_home::WhoseHome;
use crate::settings::{Network, SandboxSettings};
use places::{DisplayPath, HOME, PlaceRole, cache_variable, named_place, opening, readable};

/// Most sentences of one result.
const MOST: usize = 3;
/// The number of an error stands in a line as the number of a port does.
const LARGEST_NUMBER_OF_AN_ERROR: u32 = 255;
const REFUSED_CALLS: &str = "The sandbox refuses system calls that mount, make namespaces, look into other processes or \
                             are those of another architecture. No setting permits them.";

/// A command that has ended, and the facts that explain what it met.
#[derive(Clone, Copy)]
pub(crate) struct ExplanationContext<'a> {
    pub(crate) settings: &'a SandboxSettings,
    pub(crate) command: &'a CommandSpec,
    pub(crate) ground: &'a dyn Staging,
    pub(crate) around: Around,
    /// The ports at which haft listens in the network of the session.
    pub(crate) ports: &'a [u16],
}

/// How a command ended, and the last output of both its streams.
struct FinalOutput {
    how: HowEnded,
    out: String,
    err: String,
}

/// Words of a line by which a denial is recognised.
struct Sign {
    /// One of these stands in the line, in any case of letters.
    words: &'static [&'static str],
    /// One of these, too; none when the words say enough.
    with: &'static [&'static str],
    means: Means,
}

/// What a sign means, if what is known fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// A place that cannot be written.
    NotWritable,
    /// A place that is not visible.
    NotVisible,
    /// An address or a kind of connection that cannot be reached.
    NoNetwork,
    /// A name that has no address.
    NoName,
    /// A right that is given up.
    NoPrivilege,
    /// Another owner cannot be set.
    NoOwner,
    /// A mode that gives away rights cannot be set.
    NoSetId,
    /// A system call that is refused.
    SystemCall,
    /// A file of another owner cannot be copied into the layer.
    ForeignOwner,
    /// Something cannot be moved or linked from one place to another.
    OtherDevice,
    /// Two names of one file look like two files.
    SecondNames,
    /// There are too many processes.
    TooManyProcesses,
    /// Something lies at a place by itself.
    Mounted,
    /// Another program already listens at a port.
    PortTaken,
}

/// In the order in which they are tried: of one line the first that fits is told.
#[rustfmt::skip]
const SIGNS: [Sign; 20] = [
    Sign { words: &["network is unreachable", "enetunreach"], with: &[], means: Means::NoNetwork },
    Sign { words: &["could not resolve host", "temporary failure in name resolution", "name or service not known", "no address associated with hostname", "failed to lookup address", "eai_again", "getaddrinfo", "no such host", "dns error"], with: &[], means: Means::NoName },
    Sign { words: &["operation not permitted", "permission denied"], with: &["socket", "connect", "bind"], means: Means::NoNetwork },
    Sign { words: &["no new privileges", "effective user id is not 0", "must be setuid root"], with: &[], means: Means::NoPrivilege },
    Sign { words: &["cannot change ownership", "changing ownership", "changing group"], with: &[], means: Means::NoOwner },
    Sign { words: &["operation not permitted", "permission denied", "must be superuser"], with: &["chown", "lchown", "fchown"], means: Means::NoOwner },
    Sign { words: &["operation not permitted", "(os error 1)"], with: &["changing permissions", "change mode", "setting permissions", "preserving permissions", "chmod"], means: Means::NoSetId },
    Sign { words: &["operation not permitted", "permission denied", "must be superuser", "function not implemented"], with: &["mount", "ptrace", "unshare", "chroot", "setns", "pivot_root", "io_uring", "perf_event", "bpf", "keyctl", "mknod", "namespace", "attach"], means: Means::SystemCall },
    Sign { words: &["bad system call"], with: &[], means: Means::SystemCall },
    Sign { words: &["value too large for defined data type", "eoverflow", "(os error 75)"], with: &[], means: Means::ForeignOwner },
    Sign { words: &["hardlink different from source"], with: &[], means: Means::SecondNames },
    Sign { words: &["invalid cross-device link", "exdev", "(os error 18)"], with: &[], means: Means::OtherDevice },
    Sign { words: &["resource temporarily unavailable", "(os error 11)"], with: &["fork", "thread", "process", "clone", "spawn"], means: Means::TooManyProcesses },
    Sign { words: &["can't start new thread", "failed to create new os thread", "unable to create native thread"], with: &[], means: Means::TooManyProcesses },
    Sign { words: &["address already in use", "eaddrinuse", "(os error 98)"], with: &[], means: Means::PortTaken },
    Sign { words: &["device or resource busy", "ebusy", "(os error 16)"], with: &[], means: Means::Mounted },
    Sign { words: &["read-only file system", "erofs", "(os error 30)"], with: &[], means: Means::NotWritable },
    Sign { words: &["permission denied", "eacces", "(os error 13)"], with: &[], means: Means::NotWritable },
    Sign { words: &["operation not permitted", "eperm"], with: &[], means: Means::NotWritable },
    Sign { words: &["no such file or directory", "enoent", "(os error 2)", "cannot find the path"], with: &[], means: Means::NotVisible },
];

/// Said to a command that names the home and does not fail without it.
const WITHHELD_HOME: &str = "The home of this command was empty and not that of the session: the command runs without a \
    question, so settings that an earlier command may have left there must not change what its programs do. Look at the \
    home with a separate command, such as ls or cat.";

/// Explains denials, a sentence each; nothing when nothing fits.
pub(crate) fn explain(scene: &ExplanationContext<'_>, finish: &Finish) -> Vec<String> {
    let [out, err] = &finish.tails;
    explain_printed(scene, &FinalOutput { how: finish.how, out: out.text(), err: err.text() })
}

fn explain_printed(scene: &ExplanationContext<'_>, printed: &FinalOutput) -> Vec<String> {
    if scene.around.level == ConfinementLevel::None {
        return Vec::new();
    }
    let mut told = Vec::new();
    if printed.how == HowEnded::Killed(libc::SIGSYS) {
        told.push(REFUSED_CALLS.to_owned());
    }
    // What a successful command prints is most likely a text that speaks of errors, not an error.
    let succeeded = printed.how == HowEnded::Exited(0);
    let out = if succeeded { "" } else { &printed.out };
    let mut seen = BTreeSet::new();
    let mut another_port_is_taken = false;
    for line in printed.err.lines().chain(out.lines()) {
        let lower = line.to_lowercase();
        let is_left_out = |means: Means| match means {
            // Who succeeds without the network did not need it.
            Means::NoNetwork | Means::NoName => succeeded,
            // Programs name the port once, and then repeat the error without it.
            Means::PortTaken => another_port_is_taken,
            _ => false,
        };
        let fits = |sign: &&Sign| sign.fits(&lower) && !is_left_out(sign.means);
        let meant = SIGNS.iter().filter(fits).find_map(|sign| scene.sentence(sign.means, line));
        another_port_is_taken |=
            names_port(line) && SIGNS.iter().any(|sign| sign.means == Means::PortTaken && sign.fits(&lower));
        told.extend(meant.filter(|sentence| seen.insert(sentence.clone())));
        if told.len() >= MOST {
            break;
        }
    }
    if scene.around.home == WhoseHome::Withheld && told.is_empty() {
        told.push(WITHHELD_HOME.to_owned());
    }
    told
}

impl Sign {
    fn fits(&self, line: &str) -> bool {
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        has(self.words) && (self.with.is_empty() || has(self.with))
    }
}

impl ExplanationContext<'_> {
    /// Says what is meant by a line, if it fits what is known.
    fn sentence(&self, means: Means, line: &str) -> Option<String> {
        match means {
            Means::NotWritable => self.not_writable(line),
            Means::NotVisible => self.not_visible(line),
            Means::NoNetwork => self.no_network(),
            // What was asked of the supervisor is told of each host.
            Means::NoName => self.no_network().filter(|_| self.around.network != Network::Supervised),
            Means::NoPrivilege => {
                Some("Commands cannot gain the rights of another user. No setting permits it.".into())
            }
            Means::NoOwner => Some(
                "Commands cannot give files to another owner or group. With tar, --no-same-owner leaves them alone."
                    .into(),
            ),
            Means::NoSetId => Some(
                "If that mode has the set-uid bit: no command can set it, and as root none can set the set-gid bit \
                 either. No setting permits it."
                    .into(),
            ),
            Means::SystemCall => Some(REFUSED_CALLS.into()),
            Means::ForeignOwner => self.is_layered().then(|| {
                "A command cannot change a file or folder of another owner or group, because its copy could not belong \
                 to them. The file tools can change it, or the user can run chown."
                    .into()
            }),
            Means::OtherDevice => self.is_layered().then(|| {
                "Where a folder of the workspace cannot be renamed or a file linked, mv and cp do it by copying.".into()
            }),
            Means::SecondNames => self.is_layered().then(|| {
                "In the layer over the workspace a hard link looks like another file: use git clone --no-hardlinks, or \
                 name the repository as file:// with its whole path."
                    .into()
            }),
            Means::TooManyProcesses => {
                let most = self.settings.processes;
                Some(format!(
                    "A command may have at most {most} processes and threads: processes = {most} under [sandbox] in \
                     config.toml. Start fewer at a time; the user can raise the limit."
                ))
            }
            Means::Mounted => self.mounted(line),
            Means::PortTaken => self.port_taken(line),
        }
    }

    fn no_network(&self) -> Option<String> {
        let words = match self.around.network {
            Network::On => return None,
            Network::Off => {
                "This command had no network, because nothing in its words says that it uses one. Name the connection \
                 in the command itself, such as curl or git fetch with the address: haft then asks the user. The \
                 user can also allow it for all commands, with network = true under [sandbox] in config.toml."
            }
            Network::Supervised => {
                "Over the network commands reach hosts only by name and over TCP, and only those that the user allows; \
                 not by address, and not over UDP. Use the name of the host."
            }
            Network::Proxied => {
                "This command reaches the network only through haft's proxy, by name, and only hosts that the user allows: \
                 HTTP_PROXY and HTTPS_PROXY say where it is. Use a program that uses a proxy, such as curl, git over https, \
                 pip, npm or cargo; SOCKS 5 works at the same address."
            }
        };
        Some(words.to_owned())
    }

    fn not_writable(&self, line: &str) -> Option<String> {
        let (path, place) = named_place(self, line)?;
        match place {
            PlaceRole::Protected => Some(format!(
                "{path} is protected: commands cannot change it. A person can change it, or allow a file tool to change \
                 it."
            )),
            PlaceRole::System => Some(format!(
                "{path} belongs to the system, which commands cannot change. Write in the workspace; the user \
                 installs programs."
            )),
            PlaceRole::Covered => Some(covered(&path)),
            PlaceRole::Own => Some(own(&path)),
            PlaceRole::Hidden(HOME) if self.around.home.is_clean() => Some(clean_home(&path)),
            PlaceRole::Outside | PlaceRole::Hidden(_) => Some(format!(
                "{path} is outside the workspace, where commands write nothing and read only what belongs to the system \
                 and to toolchains. {}",
                self.grant(&path, line)
            )),
            // In the workspace only what is protected answers so: a link must have led there.
            PlaceRole::Root if line.to_lowercase().contains("read-only file system") => Some(format!(
                "{path} leads to something that is protected: commands cannot change it. A person can change it, or allow a \
                 file tool to change it."
            )),
            PlaceRole::Root => None,
        }
    }

    /// Whether it exists outside is not looked at: a command could ask for anything by printing its name.
    fn not_visible(&self, line: &str) -> Option<String> {
        let (path, place) = named_place(self, line)?;
        let private = match place {
            PlaceRole::Hidden(HOME) if self.around.home.is_clean() => return Some(clean_home(&path)),
            PlaceRole::Hidden(private) => private,
            PlaceRole::Own => return Some(own(&path)),
            PlaceRole::Covered => return Some(covered(&path)),
            PlaceRole::Root | PlaceRole::Protected | PlaceRole::System | PlaceRole::Outside => return None,
        };
        let grant = match readable(self, &path) {
            Some(setting) => format!("Put a copy into the workspace, or the user lets commands read it: {setting}"),
            None => "The user can put a copy into the workspace.".to_owned(),
        };
        Some(format!(
            "If {path} exists outside, it is not visible to commands: they have their own private {private}, which \
             lasts for the session and which file tools do not write to. {grant}"
        ))
    }

    /// Says the least that would permit what was tried.
    fn grant(&self, path: &DisplayPath, line: &str) -> String {
        let writes = match (cache_variable(self, path), opening(self, path)) {
            (Some(variable), _) => {
                format!("Write {variable}=/tmp/cache in front of the command: it then keeps its files there.")
            }
            (None, Some(folder)) => format!("Work in the workspace, or the user starts haft with --add-dir {folder}"),
            (None, None) => "Work in the workspace; the user can put a copy there.".to_owned(),
        };
        // With a file system of their own, commands are refused nothing that they can see but writing.
        let may_be_read =
            self.around.level != ConfinementLevel::Full && !line.to_lowercase().contains("read-only file system");
        match readable(self, path).filter(|_| may_be_read) {
            Some(setting) => format!("To let commands read it, the user sets {setting} To change it: {writes}"),
            None => writes,
        }
    }

    fn mounted(&self, line: &str) -> Option<String> {
        match named_place(self, line)? {
            (path, PlaceRole::Protected) => Some(format!("{path} is protected: commands cannot replace or remove it.")),
            _ => None,
        }
    }

    /// Ports that neither the line nor the command names may be the one that was meant.
    fn port_taken(&self, line: &str) -> Option<String> {
        if self.around.network != Network::Supervised {
            return None;
        }
        let is_named = |port: &&u16| numbers(line).chain(numbers(&self.command.line)).any(|number| number == **port);
        let ports = match self.ports.iter().filter(is_named).collect::<Vec<_>>().as_slice() {
            [] if names_port(line) => return None,
            [] => self.ports.iter().collect(),
            named => named.to_vec(),
        };
        let ports: Vec<String> = ports.into_iter().map(u16::to_string).collect();
        let (ports, are) = match ports.as_slice() {
            [] => return None,
            [port] => (format!("port {port}"), "is"),
            [others @ .., last] => (format!("ports {} and {last}", others.join(", ")), "are"),
        };
        Some(format!(
            "In the network of the session {ports} {are} taken: haft listens there and passes connections of commands on \
             to the hosts that the user allows. Let the server listen at another port, such as 8080."
        ))
    }

    fn is_layered(&self) -> bool {
        self.ground.roots().iter().any(|root| root.layer.is_some())
    }
}

/// Returns the numbers in a text that may be ports.
fn numbers(text: &str) -> impl Iterator<Item = u16> {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// Returns whether a line has a number that is a port and no number of an error.
fn names_port(line: &str) -> bool {
    numbers(line).any(|number| u32::from(number) > LARGEST_NUMBER_OF_AN_ERROR)
}

fn covered(path: &DisplayPath) -> String {
    format!(
        "{path} holds secrets and is covered: commands can neither read nor change it. To let commands read this file \
         alone, list it under \"readable\" in [sandbox] of config.toml."
    )
}

fn clean_home(path: &DisplayPath) -> String {
    format!(
        "{path} is in the home of the session, which this command does not have: it runs without a question, so settings \
         that an earlier command may have left there must not change what its programs do. Read or write it with a \
         separate command, such as cat, cp or touch."
    )
}

fn own(path: &DisplayPath) -> String {
    format!("{path} belongs to haft itself: commands can neither read nor change it. No setting permits it.")
}
