//! The user's files, opened beneath the root of the workspace.
//!
//! A [`Target`] says where a path led when the call was planned. This module opens the path again by descriptor, beneath the
//! root and without following links. If the path no longer leads to the target, haft does nothing.
//!
//! Blocking work runs on the blocking pool, in steps that ask the permit whether to continue.

mod agent_edit;
pub(crate) mod change;
mod clock;
mod compare;
pub(crate) mod fingerprint;
pub(crate) mod guarding;
mod layer;
pub(crate) mod read;
pub(crate) mod searching;
mod structure;
pub(crate) mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::door::{
    Breadth, Doors, FileCopy, FileFacts, FileOp, FileOpResult, Files, Look, OpeningFile, Page, PageRequest, Permit,
    ReadVersion, Receipt, SecretLook, StagedEntries,
};
use haft_contract::doors::idle_workers::IdleWorkers;
use haft_contract::doors::net::NoNet;
use haft_contract::doors::process::{NoProcesses, Staging, StagingMode};
use haft_contract::effect::{Change, Effect, Exposure};
use haft_contract::files::path::{Extent, FileLocation, RawPath, Target};
use haft_contract::files::search::{
    FindRequest, FindResult, FolderListing, ListRequest, SearchRequest, SearchResult, SearchedSoFar,
};
use haft_contract::files::stamp::FileStamp;
use haft_contract::outcome::error::{FailedOperation, Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::Image;

use crate::history::WorkspaceHistory;
use crate::state::WorkspaceState;
use crate::state::journal::Journal;
pub use agent_edit::{AgentEdit, AgentTurn, EditEnd};
use guarding::followed::FollowedPlaces;
pub use guarding::followed::GitSecret;
pub use guarding::guarded_folder::is_guarded_folder;
use guarding::secrets::SecretFiles;
use layer::Layers;
use read::open::WorkspaceRoot;
use searching::search::Watch;

pub use crate::history::git::stashes::StashedSecret;
pub use guarding::secrets::FolderReader;
use guarding::wide::FolderConsents;

/// How often a long search says how far it is.
const BETWEEN_WORDS: Duration = Duration::from_secs(1);

/// Returns an image that models take, if these bytes are one.
pub fn image_of(bytes: &bytes::Bytes) -> Option<Image> {
    read::page::image(bytes)
}

/// One workspace: the root that everything is opened beneath.
#[derive(Clone)]
pub struct Workspace {
    root: Arc<WorkspaceRoot>,
    home: Option<PathBuf>,
    /// What a person agreed to, where there is a state that remembers it.
    agreed: Option<FolderConsents>,
    /// What is known of files that are secret.
    secrets: Arc<SecretFiles>,
    masks_secrets: bool,
}

/// What else is inside a workspace, and what never is.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Folders that count as inside because the user said so.
    pub added: Vec<PathBuf>,
    /// Folders that are outside wherever they lie: haft's own state and settings.
    pub left_out: Vec<PathBuf>,
    /// The user's home: a workspace that holds it needs a person's word before commands run in it.
    pub home: Option<PathBuf>,
}

impl Workspace {
    /// Opens the folder as a workspace.
    pub fn open(folder: &Path) -> io::Result<Self> {
        Self::open_within(folder, &Bounds::default())
    }

    /// Opens the folder as a workspace with other bounds than its own.
    pub fn open_within(folder: &Path, bounds: &Bounds) -> io::Result<Self> {
        let mut root = WorkspaceRoot::open(folder)?;
        bounds.added.iter().try_for_each(|folder| root.add(folder))?;
        bounds.left_out.iter().for_each(|folder| root.leave_out(folder));
        root.leave_out_stores();
        let home = bounds.home.as_deref().map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
        root.at_home(home.clone());
        let secrets = root.index().clone();
        Ok(Self { root: Arc::new(root), home, agreed: None, secrets, masks_secrets: false })
    }

    /// Lets commands see blank files in the place of those that hold secrets, or lets them see all.
    pub fn with_masked_secrets(mut self, masked_secrets: bool) -> Self {
        self.masks_secrets = masked_secrets;
        self
    }

    /// Protects files that trusted code names, by their paths from the root: no command changes them.
    pub fn protect(&self, files: impl IntoIterator<Item = PathBuf>) {
        self.root.protect(files);
    }

    /// Returns the doors of this workspace; the journal and what is too long to show are kept in the state.
    ///
    /// No command can be run and no request sent through them yet: see [`Doors::with_processes`], [`Doors::with_net`].
    pub fn doors(mut self, state: &WorkspaceState) -> Doors {
        let journal = state.journal();
        if journal.is_unfinished() {
            // A reader must not see half of a change. If recovery fails, the next change reports why.
            let _ = change::transaction::recover(&self.root, &journal);
        }
        self.secrets.know_earlier(journal.clone());
        let agreed = FolderConsents::new(state.agreed());
        self.agreed = Some(agreed.clone());
        let mut layers = Layers::new(self.root.clone(), Arc::new(journal.clone()), state);
        // This index is separate from the one that hides values: each of them must see every change.
        layers.covered = self.masks_secrets.then(Arc::default);
        let layers = Arc::new(layers);
        let history = self.history(state);
        let files = JournalledFiles { root: self.root.clone(), journal: Arc::new(journal), layers, agreed };
        Doors {
            look: Arc::new(self),
            files: Arc::new(files),
            processes: Arc::new(NoProcesses),
            net: Arc::new(NoNet),
            store: Arc::new(state.store()),
            history: Arc::new(history),
            idle_workers: IdleWorkers::default(),
        }
    }

    /// Returns what was changed here, and takes it back.
    pub fn history(&self, state: &WorkspaceState) -> WorkspaceHistory {
        WorkspaceHistory::new(self.root.clone(), state.journal())
    }

    /// Returns the real path of the root, for people and for naming the workspace's state.
    pub fn path(&self) -> &Path {
        self.root.path()
    }
}

/// Removes the layers in a folder of them that a haft left behind when it was killed; those in use stay.
pub(crate) fn remove_layers_left_behind(layers: &Path) {
    layer::remove_left_behind(layers);
}

impl Look for Workspace {
    fn locate(&self, raw: &RawPath, extent: Extent) -> Result<Target, ToolError> {
        read::locate::locate(&self.root, raw, extent)
    }

    fn facts(&self, target: &Target) -> Result<FileFacts, ToolError> {
        read::facts::facts(&self.root, target)
    }

    fn stamp(&self, target: &Target) -> Option<FileStamp> {
        read::facts::stamp(&self.root, target)
    }

    fn read(&self, target: &Target, most: u64) -> Result<FileCopy, ToolError> {
        change::copy::copy(&self.root, target, most)
    }

    fn names_in(&self, folder: &Target) -> Vec<String> {
        read::missing::names_in(&self.root, folder.place().path())
    }

    fn file_names(&self, most: usize) -> Vec<String> {
        searching::find::file_names(&self.root, most)
    }

    fn planted(&self, changed: &[(&Target, Change)]) -> Vec<Effect> {
        let inside: Vec<(&Target, Change)> = changed.iter().copied().filter(|(target, _)| target.is_inside()).collect();
        if inside.is_empty() {
            return Vec::new();
        }
        let written = inside.iter().filter(|(_, change)| *change != Change::Remove).map(|(target, _)| *target);
        let planted = guarding::repository::planted_by(&self.root, &written.collect::<Vec<_>>()).into_iter();
        let planted =
            planted.map(|folder| Effect::PlantRepository(Target::Inside(FileLocation::new(folder, Extent::Entry))));
        let followed = FollowedPlaces::look(&self.root);
        planted.chain(inside.into_iter().filter_map(|change| followed.question(change))).collect()
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_there(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn way_to(&self, path: &Path) -> Vec<PathBuf> {
        read::locate::way_to(path)
    }

    fn secrets(&self, breadth: Breadth) -> SecretLook {
        self.secrets.look(&self.root, breadth)
    }

    fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn wide_workspace(&self) -> Option<String> {
        guarding::wide::wide(&self.root, self.home.as_deref(), self.agreed.as_ref())
    }

    fn staged(&self, index: &Path) -> Option<StagedEntries> {
        guarding::git_stores::staged(index)
    }

    fn real_path(&self, target: &Target) -> Option<PathBuf> {
        match target {
            Target::Inside(place) => Some(self.root.path().join(place.path())),
            Target::Outside(_) => None,
        }
    }
}

/// Files up to this size are remembered as they were read.
const REMEMBERED: u64 = 1024 * 1024;

/// The files of a workspace; whatever is changed is in the journal first.
struct JournalledFiles {
    root: Arc<WorkspaceRoot>,
    journal: Arc<Journal>,
    layers: Arc<Layers>,
    agreed: FolderConsents,
}

impl Files for JournalledFiles {
    fn uncovered(&self) -> Option<String> {
        self.layers.uncovered()
    }

    fn layerless(&self) -> Option<String> {
        self.layers.layerless()
    }

    fn page<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>> {
        Box::pin(async move {
            permit.admit(&Effect::Read(target.clone()))?;
            if let Some((bytes, stamp)) = read::at_once::read(&self.root, target) {
                let page = read::page::page_of_bytes(target, &bytes, request)?;
                let version = ReadVersion { stamp, bytes: Some(bytes.into()), left: None };
                permit.receipts().note(Receipt::Read(target.clone(), version));
                return Ok(page);
            }
            let (root, place, stop) = (self.root.clone(), target.clone(), permit.stop().clone());
            let (page, version) = blocking(move || {
                let (page, stamp) = read::page::page_of_file(&root, &place, request, &stop)?;
                let copy =
                    change::copy::copy(&root, &place, REMEMBERED).ok().filter(|copy| copy.version.stamp == stamp);
                Ok((page, ReadVersion { stamp, bytes: copy.map(|copy| copy.bytes), left: None }))
            })
            .await?;
            permit.receipts().note(Receipt::Read(target.clone(), version));
            Ok(page)
        })
    }

    fn image<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        most: u64,
    ) -> BoxFuture<'a, Result<Option<Image>, ToolError>> {
        Box::pin(async move {
            permit.admit(&Effect::Read(target.clone()))?;
            let (root, place) = (self.root.clone(), target.clone());
            let copy = match blocking(move || change::copy::copy(&root, &place, most)).await {
                Err(error) if error.kind == ErrorKind::TooLarge => return Ok(None),
                copy => copy?,
            };
            let Some(image) = read::page::image(&copy.bytes) else { return Ok(None) };
            let version = ReadVersion { stamp: copy.version.stamp, bytes: None, left: None };
            permit.receipts().note(Receipt::Read(target.clone(), version));
            Ok(Some(image))
        })
    }

    fn open<'a>(&'a self, permit: &'a Permit, target: &'a Target) -> OpeningFile<'a> {
        Box::pin(read::open_file::open(&self.root, permit, target))
    }

    fn list<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: ListRequest,
    ) -> BoxFuture<'a, Result<FolderListing, ToolError>> {
        Box::pin(async move {
            // The plan for one entry does not cover what is below it.
            permit.admit(&Effect::Read(target.as_tree()))?;
            let (root, place, stop) = (self.root.clone(), target.clone(), permit.stop().clone());
            blocking(move || searching::list::list(&root, &place, &request, &stop)).await
        })
    }

    fn find<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: FindRequest,
    ) -> BoxFuture<'a, Result<FindResult, ToolError>> {
        Box::pin(async move {
            permit.admit(&Effect::Read(target.as_tree()))?;
            let (root, place, stop) = (self.root.clone(), target.clone(), permit.stop().clone());
            blocking(move || searching::find::find(&root, &place, &request, &stop)).await
        })
    }

    fn search<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: SearchRequest,
        told: &'a (dyn Fn(SearchedSoFar) + Send + Sync),
    ) -> BoxFuture<'a, Result<SearchResult, ToolError>> {
        Box::pin(async move {
            // A target of one entry is one file; what lies below a folder was planned only as a tree.
            permit.admit(&Effect::Read(target.clone()))?;
            let watch = Arc::new(Watch::new(permit.stop().clone()));
            let (root, place, watched) = (self.root.clone(), target.clone(), watch.clone());
            let searching = blocking(move || searching::search::search(&root, &place, &request, &watched));
            telling(searching, BETWEEN_WORDS, || told(watch.so_far())).await
        })
    }

    fn change<'a>(
        &'a self,
        permit: &'a Permit,
        ops: &'a [FileOp],
    ) -> BoxFuture<'a, Result<Vec<FileOpResult>, ToolError>> {
        Box::pin(async move {
            let write = change::write::Write::admitted(&self.root, permit, ops)?;
            let (root, journal) = (self.root.clone(), self.journal.clone());
            blocking(move || write.commit(&root, &journal)).await
        })
    }

    fn ground<'a>(
        &'a self,
        permit: &'a Permit,
        wanted: StagingMode,
    ) -> BoxFuture<'a, Result<Box<dyn Staging>, ToolError>> {
        Box::pin(async move {
            permit.go_on()?;
            self.admit_command(permit)?;
            let (layers, errand) = (self.layers.clone(), permit.errand().clone());
            let ground = match layers.at_hand(&wanted) {
                Some(ground) => ground,
                None => blocking(move || layers.prepare(wanted, Some(&errand))).await?,
            };
            Ok(Box::new(ground) as Box<dyn Staging>)
        })
    }
}

impl JournalledFiles {
    /// Refuses a ground to who has planned no command, and remembers what a person agreed to.
    fn admit_command(&self, permit: &Permit) -> Result<(), ToolError> {
        if !permit.effects().iter().any(|effect| matches!(effect, Effect::Run(_))) {
            return Err(ToolError::of(ErrorKind::Bug, "The tool tried to run a command, which it had not planned."));
        }
        for effect in permit.effects() {
            if let Effect::Expose(Exposure::WideWorkspace(path)) = effect {
                // When it cannot be remembered, the question comes again.
                let _ = self.agreed.remember(path);
            }
        }
        Ok(())
    }
}

/// Waits for some work and tells now and then that it goes on.
async fn telling<T>(work: impl Future<Output = T>, between: Duration, tell: impl Fn()) -> T {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            outcome = &mut work => return outcome,
            () = tokio::time::sleep(between) => tell(),
        }
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(ToolError::of(ErrorKind::Bug, format!("The file door broke: {error}")).caused_by(error)),
    }
}

/// Says what the system's answer means for this file.
fn system_error(error: io::Error, path: &str, operation: FailedOperation) -> ToolError {
    let doing = match operation {
        FailedOperation::Read | FailedOperation::Decode => "read",
        FailedOperation::Write => "write",
        FailedOperation::Access => "open",
    };
    let told = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            ToolError::of(ErrorKind::Permission, format!("The system does not let this user {doing} {path}."))
        }
        io::ErrorKind::NotFound => ToolError::of(ErrorKind::MissingFile, format!("{path} does not exist.")),
        io::ErrorKind::NotADirectory => ToolError::of(
            ErrorKind::MissingFile,
            format!("{path} does not exist: a part of it is a file, not a folder."),
        ),
        io::ErrorKind::InvalidFilename => ToolError::of(ErrorKind::BadPath, format!("{path} is too long for a path.")),
        io::ErrorKind::StorageFull => ToolError::new(
            ErrorKind::Io,
            format!("The disk is full; {path} keeps its old content."),
            Next::AskUser("ask the user to free some space".into()),
        ),
        _ => ToolError::of(ErrorKind::Io, format!("The system could not {doing} {path}: {error}.")),
    };
    told.about_file(path, operation).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_work_is_told_again_and_again_until_it_ends() {
        let told = std::cell::Cell::new(0);
        let until_told_thrice = std::future::poll_fn(|cx| match told.get() {
            3 => std::task::Poll::Ready("done"),
            _ => {
                cx.waker().wake_by_ref();
                std::task::Poll::Pending
            }
        });
        let outcome = telling(until_told_thrice, Duration::from_millis(1), || told.set(told.get() + 1)).await;
        assert_eq!((outcome, told.get()), ("done", 3));
    }
}
