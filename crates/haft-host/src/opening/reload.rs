//! Notices changes of files that describe tools, and new consent of the user to tools of servers.
//!
//! It is for callers that stay longer than one call.
//!
//! At the start of a turn haft compares the stamps of their folders. If one differs, haft reads everything again. No thread
//! watches, and nothing changes in the middle of a turn. haft withdraws what a project changes until the user trusts it
//! again. `--trust` covers only the files that existed when the run started.
//!
//! Not here: settings, rules, hooks and the dialect, which stay the same from the start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft_config::settings::Settings;
use haft_contract::files::stamp::FileStamp;
use haft_workspace::project::{FOLDER, SKILL_FOLDERS};
use haft_workspace::state::stamps_of;
use haft_workspace::state::trust::{FolderTrust, TrustStore};

use super::described_tools::{ToolDescriptions, own_skill_folders};
use super::project_files::{ProjectFiles, load_again};
use super::servers::watched;
use crate::host::described_in;
use crate::notices::Notices;
use crate::options::Options;

/// What is looked at again.
pub struct Reload {
    places: Vec<PathBuf>,
    /// What this run trusts whatever is remembered.
    vouched: Option<FolderTrust>,
    seen: Mutex<ReloadState>,
    notices: Arc<dyn Notices>,
}

/// The stamps of the files at the last look, and the notes that were given already.
#[derive(Default)]
struct ReloadState {
    places: Stamps,
    /// Definitions that lists name, wherever they lie.
    named: Stamps,
    /// What was said already.
    told: BTreeSet<String>,
}

type Stamps = BTreeMap<PathBuf, Option<FileStamp>>;

impl Reload {
    /// Looks for the first time.
    pub fn new(options: &Options, settings: &Settings, (workspace, loaded): (&Path, &ProjectFiles)) -> Self {
        let config = &settings.environment.config_folder;
        let trust = TrustStore::new(&settings.environment.state_folder);
        let own = [config.clone(), config.join("tools"), config.join("prompts")];
        let of_project = ["", "tools", "prompts"].map(|below| workspace.join(FOLDER).join(below));
        let of_servers = options.servers.as_ref().map(|_| watched(settings, workspace)).unwrap_or_default();
        let own_skills = own_skill_folders(config, &settings.surroundings.home);
        let skills = SKILL_FOLDERS.map(|folder| workspace.join(folder)).into_iter().chain(own_skills);
        let places = own.into_iter().chain(of_project).chain(skills).chain([trust.path().to_owned()]).chain(of_servers);
        let places: Vec<PathBuf> = places.collect();
        let told = loaded.told.iter().cloned().collect();
        let seen = ReloadState { places: stamps_of(&places), named: Stamps::new(), told };
        Self {
            places,
            vouched: options.trust.then(|| loaded.trusted.clone()),
            seen: Mutex::new(seen),
            notices: options.notices.clone(),
        }
    }

    /// Remembers which definitions lists name, and what is said of all of them.
    pub fn note(&self, found: &ToolDescriptions) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.named = stamps_of(&found.named);
        seen.told.extend(found.notes.iter().cloned());
    }

    /// Reads everything again where something is another one than before; what was said already is not said again.
    pub fn found(&self, settings: &Settings, workspace: &Path) -> Option<ToolDescriptions> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let named: Vec<PathBuf> = seen.named.keys().cloned().collect();
        // Before it is read: what changes meanwhile looks different the next time.
        let (places, named) = (stamps_of(&self.places), stamps_of(&named));
        if places == seen.places && named == seen.named {
            return None;
        }
        let (loaded, told) = match load_again(settings, workspace, self.vouched.as_ref(), &*self.notices) {
            Ok(loaded) => loaded,
            Err(error) => {
                self.notices.note(&format!("note: the tools stay unchanged: {error:#}"));
                return None;
            }
        };
        let mut found = described_in(settings, workspace, loaded);
        found.notes.splice(..0, told);
        found.notes.retain(|note| seen.told.insert(note.clone()));
        seen.places = places;
        seen.named = found.named.iter().map(|path| stamp_before(path, &named)).collect();
        Some(found)
    }
}

/// Returns how a definition looked before it was read, or looks now where no list had named it yet.
fn stamp_before(path: &Path, before: &Stamps) -> (PathBuf, Option<FileStamp>) {
    let now = || stamps_of(&[path.to_owned()]).remove(path).flatten();
    (path.to_owned(), before.get(path).copied().unwrap_or_else(now))
}
