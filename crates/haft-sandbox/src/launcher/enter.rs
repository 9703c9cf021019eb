//! Enters the sandbox: everything between reading the orders and starting the command.
//!
//! The launcher splits in two. The process outside has nothing more to do. The process inside is the first of its
//! namespaces and a child of haft itself. It builds the file system, gives up every right that it does not need, and then
//! starts and watches the command. Without namespaces, the launcher restricts itself by Landlock and seccomp alone.
//!
//! If a layer is missing, the launcher refuses to run the command: it never leaves a layer out silently.
//!
//! Not here: reading orders, reporting, starting and watching the command (`launcher`).

mod confining;
mod detached;
mod mounting;
#[cfg_attr(not(test), expect(dead_code, reason = "sessions with a network by name use it"))]
mod network;
mod trials;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{DumpableBehavior, Pid, set_dumpable_behavior};

pub(crate) use self::confining::file_rights::knows_ports;
pub(crate) use self::mounting::covers::{is_secret, secret_folders};
pub(crate) use self::mounting::grounds::Grounds;
pub(crate) use self::mounting::partly::partly;
pub(crate) use self::trials::trials;

use self::confining::file_rights::{FileRights, Ports};
use self::confining::namespaces::{NamespaceSide, SharedNamespaces};
use self::confining::renames::Renames;
use self::confining::system_calls::{Filters, Sockets, Tracing};
use self::mounting::caches::Caches;
use self::mounting::new_root::NewRoot;
use self::mounting::places::{PlaceContent, RootPlace};
use self::mounting::sources::{RootDescriptors, Sources};
use super::keeper::{self, KeeperSetup};
use super::line::LauncherLine;
use super::notify::Handover;
use super::watch::{self, ProcessScope};
use crate::running::orders::{
    CommandNetwork, KeptNetwork, KeptParts, KeptShares, LauncherReport, NotStarted, Orders, Visible, VisibleRoot,
};

/// On which side of the sandbox a launcher is after it has entered it.
#[expect(clippy::large_enum_variant, reason = "there is one for a process")]
pub(crate) enum SandboxSide {
    /// Still outside, with nothing more to do than to report this process and to end.
    Outside(i32),
    /// Inside; the command can be started.
    Inside(ReadyToRun),
}

/// A process that is restricted as its command will be, up to what the command takes on itself.
pub(crate) struct ReadyToRun {
    /// What could not be had that is not required, a sentence each.
    notes: Vec<String>,
    filters: Filters,
    signals: SignalExposure,
    folders: RenameSupport,
    /// Who keeps the ground of a worker.
    keeper: Option<Pid>,
    /// The layers of a command that stays.
    layers: Vec<OwnedFd>,
    /// What the command may use of the file system, where this process must not be restricted to it.
    files: Option<FileRights>,
}

/// How folders of a layer are renamed.
enum RenameSupport {
    /// There is no layer, or no help with it.
    AsTheyAre,
    /// The command will hand over where its renames are asked about.
    Promised(Handover),
    /// This process renames them.
    Renamed(Renames),
}

/// Whether a command could send signals to the process that watches it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignalExposure {
    /// It could; so the watcher is not restricted with it, and what restricts the command keeps its signals inside.
    ReachTheWatcher,
    /// The first process of a namespace gets none.
    DoNotMatter,
}

/// Why the sandbox was not entered. Nothing was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotEntered {
    /// A layer was refused, for this reason; without it all may be well.
    NoLayer(String),
    /// This is missing; a sentence.
    Missing(String),
    /// This could not be had just now; a sentence. It says nothing about what the system gives the next time.
    Passing(String),
}

impl From<NotEntered> for LauncherReport {
    fn from(why: NotEntered) -> Self {
        match why {
            NotEntered::NoLayer(why) => LauncherReport::NoLayer(why),
            NotEntered::Missing(what) => LauncherReport::Missing(what),
            NotEntered::Passing(what) => LauncherReport::Passing(what),
        }
    }
}

impl ReadyToRun {
    /// Takes on the last restrictions. For the process that becomes the command, right before it does.
    fn restrict_command(&self) -> std::io::Result<()> {
        if let Some(files) = &self.files {
            confining::file_rights::restrict_to(files).map_err(|error| std::io::Error::other(format!("{error:?}")))?;
        }
        if let RenameSupport::Promised(handover) = &self.folders {
            // When it fails, nothing arrives, and the watcher says so.
            let _ = handover.install();
        }
        self.filters.apply()
    }

    fn answer_question(&mut self) {
        let RenameSupport::Renamed(renames) = &self.folders else { return };
        renames.answer();
        if renames.0.is_over() {
            self.folders = RenameSupport::AsTheyAre;
        }
    }
}

impl watch::WatcherConfinement for ReadyToRun {
    fn tree(&self) -> ProcessScope {
        match self.signals {
            SignalExposure::DoNotMatter => ProcessScope::Namespace,
            SignalExposure::ReachTheWatcher => ProcessScope::Descendants,
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn keeper(&self) -> Option<Pid> {
        self.keeper
    }

    fn take_layers(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.layers)
    }

    fn confine(&mut self) -> Result<(), NotStarted> {
        let unconfined = |error| NotStarted::Unconfined(format!("The command could not be confined: {error}."));
        self.restrict_command().map_err(unconfined)
    }

    fn started(&mut self) {
        let RenameSupport::Promised(handover) = std::mem::replace(&mut self.folders, RenameSupport::AsTheyAre) else {
            return;
        };
        match handover.receive() {
            Some(listener) => self.folders = RenameSupport::Renamed(Renames(listener)),
            None => self.notes.push(FOLDERS_CANNOT_BE_RENAMED.into()),
        }
    }

    fn listener(&self) -> Option<BorrowedFd<'_>> {
        match &self.folders {
            RenameSupport::Renamed(renames) => Some(renames.0.as_fd()),
            RenameSupport::AsTheyAre | RenameSupport::Promised(_) => None,
        }
    }

    fn answer(&mut self, _line: &LauncherLine) {
        self.answer_question();
    }
}

const FOLDERS_CANNOT_BE_RENAMED: &str =
    "Folders of the workspace cannot be renamed by programs (\"Invalid cross-device link\"); mv copies them.";

/// Enters namespaces with a file system of their own. Call it while the process has one thread.
///
/// For a worker, haft uses the other end of the socket to say which ground the worker is on.
pub(crate) fn fully(
    orders: &Orders,
    visible: &Visible,
    descriptors: Vec<OwnedFd>,
    socket: Option<OwnedFd>,
) -> Result<SandboxSide, NotEntered> {
    let given = mounting::sources::given(&visible.roots, descriptors).map_err(|error| match error.raw_os_error() {
        Some(libc::EXDEV) => NotEntered::NoLayer("the two folders for the changes are not side by side".into()),
        _ => NotEntered::Passing(format!("The descriptors of the workspace are missing: {error}.")),
    })?;
    let places = mounting::places::plan(visible, orders.network);
    let listening = detached::listening();
    let sources = take_identity(&places, &given, visible)?;
    let filters = Filters::prepare(Sockets::Internet, Tracing::OwnProcesses)?;
    let identity = confining::namespaces::own_identity();
    let (gate, held) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).or_missing("A pipe")?;
    match confining::namespaces::split(orders.network).or_missing("A user namespace with namespaces of its own")? {
        NamespaceSide::Outside(pid) => {
            // Closed when this process ends, and not before: the other one waits for its report.
            std::mem::forget(held);
            Ok(SandboxSide::Outside(pid))
        }
        NamespaceSide::Inside => {
            drop(held);
            confining::namespaces::map_identity(identity.0, identity.1)
                .or_missing("The identity in a user namespace")?;
            let building = SandboxBuilder { orders, visible, places: &places, listening: &listening };
            let BuiltSandbox { mut notes, keeper, files } = building.inside(sources, given, socket)?;
            notes.extend(mounting::places::without_effect(&places));
            let _ = rustix::io::read(&gate, &mut [0_u8; 1]);
            let folders = renamed_folders(&visible.roots)?;
            let (signals, layers) = (SignalExposure::DoNotMatter, Vec::new());
            Ok(SandboxSide::Inside(ReadyToRun { notes, filters, signals, folders, keeper, layers, files }))
        }
    }
}

fn renamed_folders(roots: &[VisibleRoot]) -> Result<RenameSupport, NotEntered> {
    if roots.iter().any(|root| root.layered) {
        Ok(RenameSupport::Promised(Handover::prepare(confining::renames::filter()).or_missing("A pair of sockets")?))
    } else {
        Ok(RenameSupport::AsTheyAre)
    }
}

/// As root, becomes the owner of the workspace, after having gathered what that owner may not reach.
fn take_identity(places: &[RootPlace], given: &[RootDescriptors], visible: &Visible) -> Result<Sources, NotEntered> {
    let first = given.first();
    let owner = first.map(|root| confining::namespaces::owner_to_become(root.folder.as_fd())).transpose();
    let Some(owner) = owner.or_missing("The owner of the workspace")?.flatten() else { return Ok(Sources::Paths) };
    let sources = Sources::staged(places, given, visible).or_missing("A place to gather the parts of the sandbox")?;
    confining::namespaces::become_owner(owner).or_missing("The identity of the workspace's owner")?;
    Ok(sources)
}

/// A root that is kept for the commands of a session, in namespaces of its own but for that of processes.
pub(crate) struct KeptRoot {
    places: Vec<RootPlace>,
    grounds: Grounds,
    filters: Filters,
    notes: Vec<String>,
}

/// Builds a root and moves this process into it, and returns what other roots of the session need. Call it while the
/// process has one thread.
pub(crate) fn keep(
    orders: &Orders,
    (visible, shares): (&Visible, &KeptShares),
    mut descriptors: Vec<OwnedFd>,
) -> Result<(KeptRoot, (KeptParts, Vec<OwnedFd>)), NotEntered> {
    let network = &shares.network;
    let earlier = match network {
        KeptNetwork::Earlier => {
            let (network, user) = (descriptors.pop(), descriptors.pop());
            let both = network.zip(user).map(|(network, user)| SharedNamespaces { user, network });
            Some(both.ok_or(Errno::BADF).or_missing("The network of the session")?)
        }
        KeptNetwork::Host | KeptNetwork::New(_) => None,
    };
    let mounts = descriptors.split_off(descriptors.len().saturating_sub(shares.caches.len()));
    let given = mounting::sources::given(&visible.roots, descriptors).or_missing("The descriptors of the workspace")?;
    let places = mounting::places::plan(visible, orders.network);
    let listening = detached::listening();
    let sources = take_identity(&places, &given, visible)?;
    let filters = Filters::prepare(Sockets::Internet, Tracing::OwnProcesses)?;
    let entered = match &earlier {
        Some(earlier) => confining::namespaces::enter_earlier(earlier),
        None => confining::namespaces::enter_new(orders.network),
    };
    entered.or_missing("A user namespace with namespaces of its own")?;
    let SharedNamespaces { user, network: own } =
        SharedNamespaces::own().or_missing("The namespaces of the session")?;
    let mut told = vec![user, own];
    let mut network_note = None;
    if let KeptNetwork::New(ports) = network {
        match if ports.is_empty() { Ok(Vec::new()) } else { network::sockets(ports) } {
            Ok(sockets) => told.extend(sockets),
            Err(error) => network_note = Some(format!("Commands have no network: {error}.")),
        }
        confining::namespaces::raise_loopback().or_missing("A loopback of its own")?;
    }
    mounting::mounts::make_all_private().or_missing("Mounts of its own")?;
    let mut root = NewRoot::begin(visible, sources, orders.processes)?;
    root.keep(Caches::begin(&shares.caches, mounts))?;
    root.furnish(&places, &given, &listening)?;
    if visible.is_supervised {
        root.look_names_up_inside()?;
    }
    drop(given);
    let (parts, caches) = root.shared_caches();
    let (mut notes, grounds) = root.enter()?;
    notes.extend(network_note);
    let grounds = grounds.ok_or(Errno::INVAL).or_missing("A place to make grounds of")?;
    notes.extend(mounting::places::without_effect(&places));
    confining::limits::resources()?;
    rustix::thread::set_no_new_privs(true).or_missing("no_new_privs")?;
    hide_from_command()?;
    told.extend(caches);
    Ok((KeptRoot { places, grounds, filters, notes }, (parts, told)))
}

impl KeptRoot {
    /// Prepares a command on a ground. For pid 1 of a namespace of processes, in a copy of this root's mounts.
    pub(crate) fn prepare(
        self,
        orders: &Orders,
        roots: &[VisibleRoot],
        (descriptors, socket): (Vec<OwnedFd>, Option<OwnedFd>),
    ) -> Result<ReadyToRun, NotEntered> {
        let Self { places, grounds, filters, mut notes } = self;
        let mut grounds = grounds.reopened().or_missing("The kept root")?;
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).or_missing("The kept root")?;
        notes.extend(mounting::new_root::put_processes(root.as_fd(), orders.processes)?);
        grounds.change(roots, descriptors)?;
        let layers = if orders.stays { grounds.layers(roots) } else { Vec::new() };
        let folders = renamed_folders(roots)?;
        let grounds = changes_grounds(orders, roots).then_some(grounds);
        let keeper = socket.map(|socket| keeper::start(socket, KeeperSetup::grounds(grounds)));
        let keeper = keeper.transpose().or_missing("A process that keeps the ground of the worker")?;
        let files = restrict(files(&places, orders, roots), orders, &mut notes)?;
        confining::limits::give_up_capabilities().or_missing("Giving up capabilities")?;
        Ok(ReadyToRun { notes, filters, signals: SignalExposure::DoNotMatter, folders, keeper, layers, files })
    }
}

/// The result of building the sandbox.
struct BuiltSandbox {
    notes: Vec<String>,
    keeper: Option<Pid>,
    files: Option<FileRights>,
}

/// Restricts this process to these files, or returns them for the command: a watcher that keeps what the command changes
/// needs more than the command.
fn restrict(files: FileRights, orders: &Orders, notes: &mut Vec<String>) -> Result<Option<FileRights>, NotEntered> {
    let files = FileRights { given: orders.given, ..files };
    if orders.watched.is_empty() {
        notes.extend(confining::file_rights::restrict_to(&files)?);
        return Ok(None);
    }
    notes.extend(confining::file_rights::cannot_restrict()?);
    Ok(Some(files))
}

struct SandboxBuilder<'a> {
    orders: &'a Orders,
    visible: &'a Visible,
    places: &'a [RootPlace],
    /// The sockets at which processes listen outside.
    listening: &'a [PathBuf],
}

impl SandboxBuilder<'_> {
    /// Does what the first process of the namespaces has to do before it starts the command.
    fn inside(
        &self,
        sources: Sources,
        given: Vec<RootDescriptors>,
        socket: Option<OwnedFd>,
    ) -> Result<BuiltSandbox, NotEntered> {
        mounting::mounts::make_all_private().or_missing("Mounts of its own")?;
        let mut root = NewRoot::begin(self.visible, sources, self.orders.processes)?;
        if changes_grounds(self.orders, &self.visible.roots) {
            root.change_grounds()?;
        }
        root.furnish(self.places, &given, self.listening)?;
        let (mut notes, mut grounds) = root.enter()?;
        if let Some(grounds) = &mut grounds {
            grounds.enter(&self.visible.roots, &given)?;
        }
        drop(given);
        if self.orders.network == CommandNetwork::Own {
            confining::namespaces::raise_loopback().or_missing("A loopback of its own")?;
        }
        confining::limits::resources()?;
        rustix::thread::set_no_new_privs(true).or_missing("no_new_privs")?;
        // Before anybody is started beside this process, which would be looked into else.
        hide_from_command()?;
        let keeper = socket.map(|socket| keeper::start(socket, KeeperSetup::grounds(grounds))).transpose();
        let keeper = keeper.or_missing("A process that keeps the ground of the worker")?;
        let files = files(self.places, self.orders, &self.visible.roots);
        let files = restrict(files, self.orders, &mut notes)?;
        confining::limits::give_up_capabilities().or_missing("Giving up capabilities")?;
        Ok(BuiltSandbox { notes, keeper, files })
    }
}

/// Whether each call has another ground. Without layers there is only one.
fn changes_grounds(orders: &Orders, roots: &[VisibleRoot]) -> bool {
    orders.serves && roots.iter().any(|root| root.layered)
}

fn files(places: &[RootPlace], orders: &Orders, roots: &[VisibleRoot]) -> FileRights {
    let changes_grounds = changes_grounds(orders, roots);
    let written = |place: &&RootPlace| {
        matches!(place.what, PlaceContent::Private(_) | PlaceContent::Root(_) | PlaceContent::Cache(_))
    };
    // A right is one for what is mounted now. For what will be mounted there, it must be one for the folder above.
    let above = |place: &RootPlace| match (&place.what, place.path.parent()) {
        (PlaceContent::Root(_), Some(parent)) if changes_grounds => parent.to_owned(),
        _ => place.path.clone(),
    };
    let writable = places.iter().filter(written).map(above);
    let readable = vec![PathBuf::from("/")];
    FileRights { readable, writable: writable.collect(), ports: Ports::All, ..FileRights::default() }
}

/// Keeps the memory and the descriptors of this process from the command, which runs as the same user.
fn hide_from_command() -> Result<(), NotEntered> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).or_missing("A watching process that is not looked into")
}

/// Turns an error of the kernel into a sentence about what is missing.
trait OrMissing<T> {
    fn or_missing(self, what: &str) -> Result<T, NotEntered>;
}

impl<T, E: Into<std::io::Error>> OrMissing<T> for Result<T, E> {
    fn or_missing(self, what: &str) -> Result<T, NotEntered> {
        self.map_err(|error| {
            let error = error.into();
            let said = format!("{what} is not possible: {error}.");
            if may_pass(&error) { NotEntered::Passing(said) } else { NotEntered::Missing(said) }
        })
    }
}

/// Whether the system has too little of something just now.
fn may_pass(error: &std::io::Error) -> bool {
    let number = error.raw_os_error();
    matches!(number, Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EAGAIN | libc::EIO | libc::ESTALE))
}

#[cfg(test)]
mod tests;
