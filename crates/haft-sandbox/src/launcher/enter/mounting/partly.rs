//! Restricts a command without namespaces: by Landlock and seccomp alone.
//!
//! A right for a folder covers everything in it, so haft can hide nothing in a folder that the command writes. If a
//! command would need that, haft does not run it.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use super::covers::{names_in, secret_files};
use super::places::{self, PlaceContent, file_type};
use crate::launcher::enter::confining::file_rights;
use crate::launcher::enter::confining::file_rights::{FileRights, Ports};
use crate::launcher::enter::confining::system_calls::{Filters, Sockets, Tracing};
use crate::launcher::enter::confining::{limits, namespaces};
use crate::launcher::enter::{NotEntered, OrMissing, ReadyToRun, RenameSupport, SignalExposure, hide_from_command};
use crate::running::orders::{CommandNetwork, Orders, Visible};

/// Restricts this process, and the command with it, by Landlock and seccomp.
pub(crate) fn partly(
    orders: &Orders,
    visible: &Visible,
    private: &Path,
    descriptors: &[OwnedFd],
) -> Result<ReadyToRun, NotEntered> {
    let (sockets, ports) = match (orders.network, orders.proxy) {
        (CommandNetwork::Host, _) => (Sockets::Internet, Ports::All),
        // An older kernel would leave this rule out without a word.
        (CommandNetwork::Own, Some(port)) if file_rights::knows_ports() => (Sockets::Streams, Ports::Connect(port)),
        (CommandNetwork::Own, _) => (Sockets::Unix, Ports::None),
    };
    file_rights::confines_alone()?;
    nothing_hidden_in_roots(visible)?;
    let files = FileRights { ports, given: orders.given, ..files(orders, visible, private)? };
    let owner = descriptors.first().map(|folder| namespaces::owner_to_become(folder.as_fd())).transpose();
    // What could be brought back later is given up while there still is the right to do so.
    limits::give_up_bounding_set().or_missing("Giving up capabilities")?;
    if let Some(owner) = owner.or_missing("The owner of the workspace")?.flatten() {
        namespaces::become_owner(owner).or_missing("The identity of the workspace's owner")?;
    }
    let filters = Filters::prepare(sockets, Tracing::No)?;
    let limit = limits::processes_beside_others(orders.processes, "there is no namespace around the command")?;
    // Every command has the same limits. Who tries the level is told of them, and says so once.
    let is_tried = orders.words.is_empty();
    let mut notes: Vec<String> = limit.note().into_iter().filter(|_| is_tried).collect();
    limits::resources()?;
    rustix::thread::set_no_new_privs(true).or_missing("no_new_privs")?;
    notes.extend(file_rights::cannot_restrict()?);
    limits::give_up_capabilities().or_missing("Giving up capabilities")?;
    hide_from_command()?;
    if is_tried {
        notes.extend(limits_of_this_level());
    }
    Ok(ReadyToRun {
        notes,
        filters,
        signals: SignalExposure::ReachTheWatcher,
        folders: RenameSupport::AsTheyAre,
        keeper: None,
        layers: Vec::new(),
        files: Some(files),
    })
}

fn nothing_hidden_in_roots(visible: &Visible) -> Result<(), NotEntered> {
    let lies_in_root = |hidden: &&PathBuf| {
        visible.roots.iter().any(|root| hidden.starts_with(&root.path)) && file_type(hidden).is_some()
    };
    match visible.hidden.iter().find(lies_in_root) {
        None => Ok(()),
        Some(hidden) => Err(NotEntered::Missing(format!(
            "{hidden:?} is in the workspace and can only be hidden from commands with namespaces."
        ))),
    }
}

fn limits_of_this_level() -> Vec<String> {
    let mut notes = vec![
        "Without namespaces commands see which processes run, and reach sockets that are files.".into(),
        "Landlock does not keep commands from changing modes, owners, times and attributes of the user's other files."
            .into(),
    ];
    if !file_rights::keeps_abstract_sockets() {
        notes.push(
            "This kernel does not keep commands from sockets that have a name and no file (abstract ones).".into(),
        );
    }
    notes.push(
        "Without namespaces haft restores protected files of the workspace after a command, and cannot keep the command \
         from changing them while it runs."
            .into(),
    );
    notes
}

fn files(orders: &Orders, visible: &Visible, private: &Path) -> Result<FileRights, NotEntered> {
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).or_missing("The root folder")?;
    let secret = secret_files(root.as_fd()).into_iter().map(|path| Path::new("/").join(path));
    let kept_back: Vec<PathBuf> = secret.chain(visible.hidden.iter().cloned()).collect();
    let mut files = FileRights { readable: vec![PathBuf::from("/proc")], ..FileRights::default() };
    for place in places::plan(visible, orders.network) {
        match place.what {
            PlaceContent::Readable if visible.shown.contains(&place.path) => {
                let inside: Vec<PathBuf> =
                    kept_back.iter().filter(|kept| !place.path.starts_with(kept)).cloned().collect();
                all_but(&place.path, &inside, &mut files);
            }
            PlaceContent::Readable => all_but(&place.path, &kept_back, &mut files),
            PlaceContent::Root(_) => files.writable.push(place.path),
            PlaceContent::Link(_)
            | PlaceContent::Cache(_)
            | PlaceContent::Programs
            | PlaceContent::Private(_)
            | PlaceContent::Devices
            | PlaceContent::Processes => {}
        }
    }
    files.writable.push(private.to_owned());
    Ok(files)
}

/// Lets everything in a folder be read but what is kept back.
fn all_but(path: &Path, kept_back: &[PathBuf], files: &mut FileRights) {
    if kept_back.iter().any(|kept| path.starts_with(kept)) {
        return;
    }
    let holds_one = kept_back.iter().any(|kept| kept.starts_with(path) && file_type(kept).is_some());
    if !holds_one {
        files.readable.push(path.to_owned());
        return;
    }
    files.listed.push(path.to_owned());
    let Ok(root) = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return };
    for name in names_in(root.as_fd(), Path::new(".")).unwrap_or_default() {
        let inner = path.join(name);
        // Where a link leads has its own rights, or none.
        if file_type(&inner) != Some(FileType::Symlink) {
            all_but(&inner, kept_back, files);
        }
    }
}
