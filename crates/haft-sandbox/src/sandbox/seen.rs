//! Decides what a command sees: folders of the workspace and of the system, its home, and what is hidden.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::doors::door::Permit;
use haft_contract::doors::process::{CommandSpec, ConfinementLevel, Processes, Staging};
use haft_contract::outcome::error::ToolError;

use super::{Sandbox, shown, visible_roots};
use crate::running::orders::{HomeAccess, Visible, VisibleCode};
use crate::session::ahead;
use crate::session::caches::only_read;
use crate::session::covered::{covered, keys_of_toolchains};
use crate::session::home::{is_plain, is_shown, settings_in};
use crate::session::private::SessionPlace;
use crate::session::remembered::LevelMemory;
use crate::session::whose_home::WhoseHome;

/// What the first command of a session says where there are no namespaces.
const WEAKER: &str = "weaker sandbox: without namespaces, commands see other processes and can change modes and times of \
                      your other files";
/// What it says where there is no layer over the workspace.
const WITHOUT_LAYER: &str = "weaker sandbox: commands change the real files, and haft restores protected files only when \
                             the command has ended";
/// What it says of the network.
const BY_PROXY: &str = ", and reach hosts only by a proxy";

/// How long it is known which keys lie in folders of toolchains.
const KEYS_HOLD: Duration = Duration::from_secs(20);

impl Sandbox {
    /// Says what a command sees on this ground.
    pub(super) fn visible(&self, command: &CommandSpec, ground: &dyn Staging) -> Result<Visible, ToolError> {
        let (roots, shown) = (visible_roots(ground), shown(&command.readable)?);
        let code = command.code.as_ref().map(|code| VisibleCode {
            folder: code.folder.clone(),
            root: code.workspace.clone(),
            places: code.places.clone(),
        });
        let layers = ground.layers().iter().filter_map(|path| path.canonicalize().ok()).collect();
        let mut visible = Visible { roots, shown, code, layers, ..self.visible_without_ground() };
        visible.hidden.extend_from_slice(ground.hidden());
        // Where a workspace lies in the folder of a toolchain, its own files stay visible.
        let is_of_root = |key: &&PathBuf| visible.roots.iter().any(|root| key.starts_with(&root.path));
        let keys: Vec<PathBuf> = self.keys().into_iter().filter(|key| !is_of_root(&key)).collect();
        visible.hidden.extend(keys);
        Ok(visible)
    }

    /// Returns the folders of the session, with their paths inside and outside.
    pub(super) fn folders(&self, ground: &dyn Staging) -> Vec<(PathBuf, PathBuf)> {
        self.place(ground).map(|place| place.folder.folders(&self.settings.home)).unwrap_or_default()
    }

    /// Gives a command its home and its temporary folders.
    pub(super) fn with_home(&self, visible: Visible, whose: WhoseHome, ground: &dyn Staging) -> Visible {
        let home = &self.settings.home;
        let place = || self.place(ground);
        let of_session = || self.folders(ground);
        let caches = || place().map(|place| place.caches.visible.clone()).unwrap_or_default();
        // A home in which the workspace lies, or that is one, is shown as it is.
        let is_apart = !visible.roots.iter().any(|root| home.starts_with(&root.path));
        match whose {
            WhoseHome::Own => visible,
            WhoseHome::Session | WhoseHome::SessionToLookAt => {
                Visible { folders: of_session(), caches: caches(), ..visible }
            }
            WhoseHome::SessionWithoutSettings => Visible { folders: of_session(), ..visible },
            WhoseHome::Clean | WhoseHome::Withheld | WhoseHome::ForOneCommand => {
                let folders = of_session().into_iter().filter(|(inside, _)| inside != home).collect();
                let home_access = match whose {
                    _ if !is_apart => HomeAccess::AsGiven,
                    WhoseHome::ForOneCommand => HomeAccess::ForOneCommand,
                    _ => HomeAccess::ReadOnly,
                };
                Visible { folders, home_access, ..visible }
            }
        }
    }

    /// Finds out which home a command has.
    pub(super) fn whose_home(&self, permit: &Permit, command: &CommandSpec, ground: &dyn Staging) -> WhoseHome {
        let home = &self.settings.home;
        WhoseHome::of(permit, command, home, || {
            let Some(place) = self.place(ground) else { return true };
            let has_workspace = ground.roots().iter().any(|root| root.path.starts_with(home));
            let is_harmless = if has_workspace { is_plain } else { is_shown };
            // A command that is still running, as a job is, could put something there at any time.
            Arc::strong_count(&self.guests) > 1
                || settings_in(&place.folder.home(), &self.settings.home_files, is_harmless).is_some()
        })
    }

    /// Returns the folders of the session, which are made with its first command.
    pub(super) fn place(&self, ground: &dyn Staging) -> Option<&SessionPlace> {
        self.launchers.place.get_or_init(|| SessionPlace::of(&self.settings, ground)).as_ref()
    }

    /// Says what a command left in the home of the session, and how much.
    pub(super) fn left_in_home(&self, ground: &dyn Staging) -> Option<(usize, String)> {
        let place = &self.launchers.place.get()?.as_ref()?.folder;
        let home = &self.settings.home;
        let is_own = |name: &Path| {
            let path = home.join(name);
            let roots = ground.roots().iter().map(|root| &root.path);
            let is_file = self.settings.home_files.iter().any(|(file, _)| file.starts_with(name));
            let caches = self.settings.caches.iter().map(|cache| &cache.folder);
            is_file || self.settings.readable.iter().chain(roots).chain(caches).any(|shown| shown.starts_with(&path))
        };
        self.home.news(&place.home(), is_own)
    }

    /// Returns the keys in folders of toolchains. Those that come later are found after a while.
    fn keys(&self) -> Vec<PathBuf> {
        let memory = self.remembered.as_ref().map(LevelMemory::keys);
        keys_in(&self.keys, &self.settings.hidden, &self.settings.readable, memory.as_deref())
    }

    /// Looks through the folders that commands see, beside what this process does meanwhile, if it is about to run one.
    #[must_use]
    pub fn looking_ahead(self) -> Self {
        if ahead::is_wanted() {
            let (keys, found) = (Arc::clone(&self.keys), Arc::clone(&self.covered));
            let (hidden, readable) = (self.settings.hidden.clone(), self.settings.readable.clone());
            let memory = self.remembered.as_ref().map(|memory| (memory.keys(), memory.closed_settings()));
            let (known_keys, known_settings) = memory.unzip();
            ahead::beside("haft-look", move || {
                keys_in(&keys, &hidden, &readable, known_keys.as_deref());
                found.get_or_init(|| covered(&hidden, known_settings.as_deref()));
            });
        }
        self
    }

    /// Says once which caches commands can only read, though their tools write there.
    pub(super) fn caches_only_read(&self) -> Option<String> {
        let mut folders = self.launchers.kept.refused_caches();
        if !self.told_of_caches.swap(true, Ordering::Relaxed) {
            let place = self.launchers.place.get().and_then(Option::as_ref);
            folders.extend(place.into_iter().flat_map(|place| place.caches.unwritable.iter().cloned()));
        }
        only_read(&folders)
    }

    /// Leaves out what holds for every command at this level. The first command of a session says in one line that there
    /// is less than the full level, and where to read what that means.
    pub(super) fn without_limits_of_level(&self, notes: &[String], ground: &dyn Staging) -> Vec<String> {
        let confinement = self.confinement();
        let is_of_level = |note: &&String| confinement.missing.contains(note);
        let mut told: Vec<String> = notes.iter().filter(|note| !is_of_level(note)).cloned().collect();
        let weaker = match (confinement.reached, ground.layerless()) {
            (ConfinementLevel::Partial, _) if confinement.supervised => format!("{WEAKER}{BY_PROXY}"),
            (ConfinementLevel::Partial, _) => WEAKER.to_owned(),
            (ConfinementLevel::Full, Some(why)) => format!("{WITHOUT_LAYER} ({why})"),
            (ConfinementLevel::Full | ConfinementLevel::None, _) => return told,
        };
        if !self.told_of_level.swap(true, Ordering::Relaxed) {
            told.insert(0, format!("{weaker}; \"haft doctor\" says more"));
        }
        told
    }

    fn hidden(&self) -> Vec<PathBuf> {
        let memory = self.remembered.as_ref().map(LevelMemory::closed_settings);
        self.covered.get_or_init(|| covered(&self.settings.hidden, memory.as_deref())).clone()
    }

    pub(super) fn visible_without_ground(&self) -> Visible {
        Visible {
            roots: Vec::new(),
            readable: self.settings.readable.clone(),
            shown: Vec::new(),
            layers: Vec::new(),
            hidden: self.hidden(),
            home: self.settings.home.clone(),
            folders: Vec::new(),
            home_access: HomeAccess::AsGiven,
            is_supervised: false,
            caches: Vec::new(),
            home_files: self.settings.home_files.clone(),
            code: None,
        }
    }
}

/// The keys in folders of toolchains, and the time of the last search for them.
pub(super) type ToolchainKeyCache = Mutex<Option<(Instant, Vec<PathBuf>)>>;

fn keys_in(known: &ToolchainKeyCache, hidden: &[PathBuf], readable: &[PathBuf], memory: Option<&Path>) -> Vec<PathBuf> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, keys)) = known.as_ref().filter(|(when, _)| when.elapsed() < KEYS_HOLD) {
        return keys.clone();
    }
    let keys = keys_of_toolchains(hidden, readable, memory);
    *known = Some((Instant::now(), keys.clone()));
    keys
}
