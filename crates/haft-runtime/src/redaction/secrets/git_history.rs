//! Reads the versions of secret files that git keeps: in commits, logs of references, stashes, indexes, tags.
//!
//! Git reads them itself, in the sandbox: first all names that were ever committed, then the content of files with a
//! secret name. haft remembers the names for later processes, never the content. When references change, git lists only
//! the new part. Most repositories have no such files; then haft reads nothing.
//!
//! The list also shows which protected names came in through git: a checkout would write them (`guarded`).
//!
//! Not here: finding the repositories and what changed in them (`haft-workspace`), what git prints (`listing`).

mod guarded;
mod listing;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use haft_contract::call::CallId;
use haft_contract::context::RunContext;
use haft_contract::doors::door::{GitStore, Provenance, Purpose, SecretFile, StagedEntries};
use haft_contract::doors::process::{CommandSpec, HowEnded, Stream};
use haft_contract::effect::{CommandLine, Effect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use serde::{Deserialize, Serialize};

use crate::confining::permits;
use crate::pipeline::call_context::CallContext;
use guarded::{NewProtectedNames, ProtectedIndexNames};
use listing::{GitLogListing, Refs, parted, staged_by_git, tree_files};

/// Longest time that one step may take.
const TIME: Duration = Duration::from_secs(5);
/// Most bytes of old versions that are read.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Most versions of one repository that are read.
const MOST_VERSIONS: usize = 2_000;
/// Most repositories of one workspace.
const MOST_REPOSITORIES: usize = 16;
/// Most references that are remembered; with more, git lists everything again.
const MOST_TIPS: usize = 5_000;
/// Most tags on trees that are read.
const MOST_TREES: usize = 50;
/// How long the names are remembered.
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// What keeps git from running anything of the repository, and from fetching what it lacks.
const PLAIN: &[&str] = &[
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "log.showSignature=false",
    "-c",
    "log.showRoot=true",
];
/// Lists what each commit changed; of a merge only what no parent has.
const LIST: &[&str] = &[
    "log",
    "--all",
    "--reflog",
    "--ignore-missing",
    "--stdin",
    "-c",
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--format=",
];
const LIST_REFS: &[&str] = &["for-each-ref", "--format=%(objecttype) %(*objecttype) %(objectname) %(refname)"];

/// A version of a secret file: the name of its object, and its path.
type SecretVersion = (String, String);

/// A function that takes the output of git.
type GitOutputSink<'h> = dyn Fn(&[u8]) + Send + Sync + 'h;

/// What was read of the histories.
#[derive(Debug, Default)]
pub(super) struct GitHistory {
    /// Held while histories are read: a call that comes meanwhile could show what is not known yet.
    learning: tokio::sync::Mutex<()>,
    seen: Mutex<KnownRepositories>,
}

#[derive(Debug, Default)]
struct KnownRepositories {
    /// The states of the repositories that are known.
    states: HashMap<PathBuf, (String, Vec<(PathBuf, String)>)>,
    /// The objects whose content is known.
    objects: HashSet<String>,
    /// The protected names that git keeps.
    guarded: ProtectedIndexNames,
    /// Whether it was told that not everything was read.
    told: bool,
}

/// Whether a look is before or after a call: only a look after it can tell that a repository is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookTiming {
    Before,
    After,
}

/// The state and the secret versions of a repository that are remembered.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RepositoryHistory {
    state: String,
    /// The references whose history was listed.
    tips: Vec<String>,
    versions: Vec<SecretVersion>,
    is_whole: bool,
    /// What each index looked like, and what it lists under names that mean something.
    indexes: BTreeMap<PathBuf, IndexThen>,
    /// Trees that references name, and references that put one object in the place of another.
    others: BTreeSet<String>,
    /// What came since; nothing that is remembered.
    #[serde(skip)]
    arrived: NewProtectedNames,
}

/// What an index was when it was last read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct IndexThen {
    sign: String,
    secrets: Vec<SecretVersion>,
    guarded: BTreeSet<SecretVersion>,
    is_whole: bool,
}

impl GitHistory {
    /// Learns the versions in these repositories that are not known yet, and names what is protected and new in them.
    pub(super) async fn learn(&self, cx: &CallContext<'_>, stores: Vec<GitStore>, when: LookTiming) {
        let _others_wait = self.learning.lock().await;
        let is_too_many = stores.len() > MOST_REPOSITORIES;
        let mut arrived = NewProtectedNames { is_whole: !is_too_many, ..NewProtectedNames::default() };
        for store in stores.into_iter().take(MOST_REPOSITORIES) {
            match self.learn_one(cx, &store, when).await {
                Ok(found) => arrived.add(found),
                Err(why) => {
                    arrived.is_whole = false;
                    self.tell(cx, &why);
                }
            }
        }
        if is_too_many {
            self.tell(cx, "there are more repositories than haft reads");
        }
        cx.note(|notes| notes.warnings.extend(arrived.words(when)));
    }

    async fn learn_one(
        &self,
        cx: &CallContext<'_>,
        store: &GitStore,
        when: LookTiming,
    ) -> Result<NewProtectedNames, String> {
        let is_baseline = when == LookTiming::Before && !self.is_known(store);
        if self.knows(store) {
            return Ok(NewProtectedNames::nothing());
        }
        let learned = self.learn_new(cx, store).await;
        // Only now: a call that is stopped on the way leaves the rest to the next one.
        self.note(store);
        Ok(if is_baseline { learned.map(|_| NewProtectedNames::nothing())? } else { learned? })
    }

    async fn learn_new(&self, cx: &CallContext<'_>, store: &GitStore) -> Result<NewProtectedNames, String> {
        let mut known = history(cx, store).await?;
        let mut arrived = std::mem::take(&mut known.arrived);
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            arrived.staged = seen.guarded.staged_since(&store.git_dir, &known.indexes);
            arrived.is_whole &= known.indexes.values().all(|index| index.is_whole);
        }
        if !known.is_whole {
            self.tell(cx, &format!("there are more than {MOST_VERSIONS}, or listing them takes too long"));
        }
        let staged = known.indexes.into_values().flat_map(|index| index.secrets);
        let unread: Vec<SecretVersion> = {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let mut found = HashSet::new();
            let is_unread = |object: &String| !seen.objects.contains(object);
            let versions = staged.chain(known.versions);
            versions.filter(|(object, _)| is_unread(object) && found.insert(object.clone())).collect()
        };
        if !unread.is_empty() {
            let (files, is_whole) = contents(cx, store, &unread).await?;
            cx.session.ground.redactor.also_hide_files(&files);
            let read = unread.into_iter().map(|(object, _)| object);
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).objects.extend(read);
            if !is_whole {
                self.tell(cx, "there are more than haft reads");
            }
        }
        Ok(arrived)
    }

    fn is_known(&self, store: &GitStore) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).states.contains_key(&store.git_dir)
    }

    fn knows(&self, store: &GitStore) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.states
            .get(&store.git_dir)
            .is_some_and(|(state, indexes)| *state == store.state && *indexes == store.indexes)
    }

    fn note(&self, store: &GitStore) {
        let now = (store.state.clone(), store.indexes.clone());
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).states.insert(store.git_dir.clone(), now);
    }

    /// Tells once that not everything is known.
    fn tell(&self, cx: &CallContext<'_>, why: &str) {
        let was_told = std::mem::replace(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner).told, true);
        if !was_told {
            let words = format!("haft does not hide all values of old secret files that git keeps: {why}.");
            cx.note(|notes| notes.warnings.push(words));
        }
    }
}

/// Returns the versions in a history: remembered, and what is new since.
async fn history(cx: &CallContext<'_>, store: &GitStore) -> Result<RepositoryHistory, String> {
    let doors = &cx.session.ground.doors;
    let key = format!("secrets that git keeps in {}", store.git_dir.display()).into_bytes();
    let recalled = doors.store.recall(&key, KNOWN_FOR).await;
    let mut known: RepositoryHistory =
        recalled.and_then(|recalled| serde_json::from_slice(&recalled.kept).ok()).unwrap_or_default();
    known.arrived = NewProtectedNames::nothing();
    // Without git nothing can be read. Where no command can run, no call shows what git keeps.
    if !doors.processes.can_run() || doors.processes.find_program(&["git"]).is_none() {
        return Ok(RepositoryHistory {
            is_whole: true,
            arrived: NewProtectedNames::nothing(),
            ..RepositoryHistory::default()
        });
    }
    let has_same_indexes = restage(cx, store, &mut known).await;
    if has_same_indexes && known.state == store.state {
        return Ok(known);
    }
    if known.state != store.state {
        known = list(cx, store, known).await?;
    }
    if let Ok(mut remembered) = serde_json::to_value(&known) {
        // Names of files may hold secrets. One that is hidden counts as new later on, which costs a line.
        cx.redactor.redact_known_value(&mut remembered);
        doors.store.remember(&key, remembered.to_string().into_bytes().into()).await;
    }
    Ok(known)
}

/// Reads each index that changed; says whether none did.
async fn restage(cx: &CallContext<'_>, store: &GitStore, known: &mut RepositoryHistory) -> bool {
    let before = std::mem::take(&mut known.indexes);
    let mut has_same = before.len() == store.indexes.len();
    for (index, sign) in &store.indexes {
        let then = before.get(index).filter(|then| then.sign == *sign && then.is_whole).cloned();
        has_same &= then.is_some();
        let now = match then {
            Some(then) => then,
            None => {
                let (staged, is_whole) = staged(cx, store, index).await;
                let secrets = staged.secrets.into_iter().take(MOST_VERSIONS).collect();
                IndexThen { sign: sign.clone(), secrets, guarded: staged.guarded.into_iter().collect(), is_whole }
            }
        };
        known.indexes.insert(index.clone(), now);
    }
    has_same
}

/// Reads an index, through git where it has a form that only git reads; says whether that is all of it.
async fn staged(cx: &CallContext<'_>, store: &GitStore, index: &Path) -> (StagedEntries, bool) {
    let look = &cx.session.ground.doors.look;
    if let Some(staged) = look.staged(index) {
        return (staged, true);
    }
    let Some(folder) = index.parent() else { return (StagedEntries::default(), false) };
    let of_index = GitStore { git_dir: folder.to_owned(), ..store.clone() };
    match (GitReader { cx, store: &of_index }).output(&["ls-files", "-s", "-z"], Bytes::new()).await {
        Ok((text, is_whole)) => (staged_by_git(&text), is_whole),
        Err(_) => (StagedEntries::default(), false),
    }
}

/// Lists what is new.
async fn list(cx: &CallContext<'_>, store: &GitStore, known: RepositoryHistory) -> Result<RepositoryHistory, String> {
    let (text, has_all_refs) = GitReader { cx, store }.output(LIST_REFS, Bytes::new()).await?;
    let refs = Refs::of(&text);
    let listed = Mutex::new(GitLogListing::default());
    let hear = |piece: &[u8]| listed.lock().unwrap_or_else(PoisonError::into_inner).take(piece);
    let known_tips = known.tips.iter().map(|tip| format!("^{tip}\n"));
    let input: String = store.named.iter().map(|named| format!("{named}\n")).chain(known_tips).collect();
    let mut is_whole = GitReader { cx, store }.run(LIST, input.into(), &hear).await? && has_all_refs;
    let (mut versions, committed) = listed.into_inner().unwrap_or_else(PoisonError::into_inner).end();
    let mut arrived = NewProtectedNames { committed, is_whole, ..NewProtectedNames::default() };
    arrived.replaced(&refs.replaced, &known.others);
    let mut others = refs.replaced;
    for tree in refs.trees.iter().chain(&store.trees).take(MOST_TREES) {
        let (text, has_all) =
            GitReader { cx, store }.output(&["ls-tree", "-r", "-z", tree], Bytes::new()).await.unwrap_or_default();
        let files = tree_files(&text);
        if !known.others.contains(tree) {
            arrived.of_tree(files.guarded, &known.indexes);
        }
        others.insert(tree.clone());
        versions.extend(files.secrets);
        is_whole &= has_all || text.is_empty();
    }
    arrived.is_whole &= is_whole && refs.trees.len() + store.trees.len() <= MOST_TREES;
    // A tag on a single file says nothing of its name.
    versions.extend(refs.blobs);
    versions.extend(known.versions);
    let mut seen = HashSet::new();
    versions.retain(|(object, _)| seen.insert(object.clone()));
    is_whole &= versions.len() <= MOST_VERSIONS && (known.is_whole || known.state.is_empty());
    versions.truncate(MOST_VERSIONS);
    let tips = if refs.tips.len() <= MOST_TIPS { refs.tips } else { Vec::new() };
    Ok(RepositoryHistory {
        state: store.state.clone(),
        tips,
        versions,
        is_whole,
        indexes: known.indexes,
        others,
        arrived,
    })
}

/// Reads versions; says whether those are all.
async fn contents(
    cx: &CallContext<'_>,
    store: &GitStore,
    versions: &[SecretVersion],
) -> Result<(Vec<SecretFile>, bool), String> {
    let objects: String = versions.iter().map(|(object, _)| format!("{object}\n")).collect();
    let (content, is_whole) = GitReader { cx, store }.output(&["cat-file", "--batch"], objects.into()).await?;
    Ok((parted(&content, versions), is_whole))
}

/// Runs git on a repository, in the sandbox.
struct GitReader<'a> {
    cx: &'a CallContext<'a>,
    store: &'a GitStore,
}

impl GitReader<'_> {
    /// Runs git and returns what it prints, and whether that is all.
    async fn output(&self, words: &[&str], input: Bytes) -> Result<(Vec<u8>, bool), String> {
        let content = Mutex::new(Vec::new());
        let hear = |piece: &[u8]| {
            let mut content = content.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_BYTES.saturating_sub(content.len());
            content.extend_from_slice(&piece[..piece.len().min(room)]);
        };
        let is_whole = self.run(words, input, &hear).await?;
        let content = content.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_whole = is_whole && content.len() < MOST_BYTES;
        Ok((content, is_whole))
    }

    /// Runs git in the sandbox and passes its output on; says whether it came to its end in time.
    async fn run(&self, words: &[&str], input: Bytes, heard: &GitOutputSink<'_>) -> Result<bool, String> {
        let Self { cx, store } = self;
        let doors = &cx.session.ground.doors;
        let root = Target::Inside(FileLocation::new(Path::new(""), Extent::Tree));
        let folder = doors.look.real_path(&root).ok_or("the workspace has no real path")?;
        let git = doors.processes.find_program(&["git"]).ok_or("there is no git")?;
        let line = "git, to know the secrets in its history";
        let mut all = vec![git.into_os_string()];
        all.extend(PLAIN.iter().map(OsString::from));
        all.extend(["--git-dir".into(), store.git_dir.clone().into(), "--work-tree".into(), folder.clone().into()]);
        all.extend(words.iter().map(OsString::from));
        let mut command = CommandSpec::new(all, line, folder, TIME);
        command.input = input;
        // A worktree has it outside the workspace.
        command.readable = vec![store.git_dir.clone()];
        command.environment =
            vec![("GIT_NO_LAZY_FETCH".into(), "1".into()), ("GIT_TERMINAL_PROMPT".into(), "0".into())];
        let errand = Provenance {
            call: CallId::fresh(),
            tool: "secrets".to_owned(),
            session: cx.session.name.clone(),
            run: cx.session.run.clone(),
            turn: cx.turn.number,
            purpose: Purpose::default(),
            old_changes: haft_contract::doors::door::OldChanges::Stay,
        };
        let effect = Effect::Run(CommandLine(line.into()));
        let permit = permits::issue(errand, [effect].into(), cx.place.stop.clone());
        let context = RunContext::new(&permit, doors, &cx.session.name, cx.limits());
        let hear = |stream: Stream, piece: &[u8]| {
            if stream == Stream::Out {
                heard(piece);
            }
        };
        match context.run(&command, &hear).await {
            Ok(ran) => match ran.ended.how {
                HowEnded::Exited(0) => Ok(true),
                HowEnded::TimedOut => Ok(false),
                HowEnded::Exited(_) | HowEnded::Killed(_) | HowEnded::Stopped => Err("git failed".to_owned()),
            },
            Err(error) => Err(error.what.trim_end_matches('.').to_owned()),
        }
    }
}
