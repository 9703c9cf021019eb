//! Reads the versions of secret files that git keeps: in commits, logs of references, stashes, indexes, tags.
//!
//! Git reads them itself, in the sandbox: first the names of everything that was ever committed, then the content of what
//! is secret by its name. The names are remembered for later processes, never the content. When references change, git
//! lists only what is new since. Most repositories have nothing of that kind; then nothing is read.
//!
//! Not here: finding the repositories and what changed in them (`haft-workspace`), what git prints (`listing`).

mod listing;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use haft_contract::call::CallId;
use haft_contract::context::{RunContext, Unheard};
use haft_contract::door::{Errand, GitStore, Purpose, SecretFile};
use haft_contract::effect::{CommandLine, Effect};
use haft_contract::path::{Extent, Place, Target, one_line};
use haft_contract::process::{Command, HowEnded, Stream};
use serde::{Deserialize, Serialize};

use crate::call_context::CallContext;
use crate::permits;
use listing::{Listed, Refs, of_trees, parted};

/// Longest time that one step may take.
const TIME: Duration = Duration::from_secs(5);
/// Most bytes of old versions that are read.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Most versions of one repository that are read.
const MOST_VERSIONS: usize = 2_000;
/// Most repositories of one workspace.
const MOST_REPOSITORIES: usize = 16;
/// Most references that are remembered; with more, everything is listed anew.
const MOST_TIPS: usize = 5_000;
/// Most tags on trees that are read.
const MOST_TREES: usize = 50;
/// Most protected names in one line.
const MOST_NAMED: usize = 5;
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
type Version = (String, String);

/// What takes the output of git.
type Heard<'h> = dyn Fn(&[u8]) + Send + Sync + 'h;

/// What was read of the histories.
#[derive(Debug, Default)]
pub(super) struct GitHistory {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The states of the repositories that are known.
    states: HashMap<PathBuf, (String, Vec<(PathBuf, String)>)>,
    /// The objects whose content is known.
    objects: HashSet<String>,
    /// Whether it was told that not everything was read.
    told: bool,
}

/// What is remembered of a repository.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Remembered {
    state: String,
    /// The references whose history was listed.
    tips: Vec<String>,
    versions: Vec<Version>,
    is_whole: bool,
    /// What each index looked like, and the secret files in it.
    staged: BTreeMap<PathBuf, (String, Vec<Version>)>,
    /// The protected names that the newest commits add or change; nothing that is remembered.
    #[serde(skip)]
    protected: BTreeSet<String>,
}

impl GitHistory {
    /// Learns the versions in these repositories that are not known yet.
    pub(super) async fn learn(&self, cx: &CallContext<'_>, stores: Vec<GitStore>) {
        let is_too_many = stores.len() > MOST_REPOSITORIES;
        for store in stores.into_iter().take(MOST_REPOSITORIES) {
            if let Err(why) = self.learn_one(cx, &store).await {
                self.tell(cx, &why);
            }
        }
        if is_too_many {
            self.tell(cx, "there are more repositories than haft reads");
        }
    }

    async fn learn_one(&self, cx: &CallContext<'_>, store: &GitStore) -> Result<(), String> {
        let was_known = self.is_known(store);
        if !self.is_new(store) {
            return Ok(());
        }
        let known = history(cx, store).await?;
        if was_known && !known.protected.is_empty() {
            cx.note(|notes| notes.warnings.push(protected_words(&known.protected)));
        }
        if !known.is_whole {
            self.tell(cx, &format!("there are more than {MOST_VERSIONS}, or listing them takes too long"));
        }
        let staged = known.staged.into_values().flat_map(|(_, versions)| versions);
        let unread: Vec<Version> = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let versions = staged.chain(known.versions);
            versions.filter(|(object, _)| seen.objects.insert(object.clone())).collect()
        };
        if !unread.is_empty() {
            let (files, is_whole) = contents(cx, store, &unread).await?;
            cx.session.ground.redactor.also_hide_files(&files);
            if !is_whole {
                self.tell(cx, "there are more than haft reads");
            }
        }
        Ok(())
    }

    fn is_known(&self, store: &GitStore) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).states.contains_key(&store.git_dir)
    }

    fn is_new(&self, store: &GitStore) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = (store.state.clone(), store.indexes.clone());
        let is_known = seen.states.get(&store.git_dir) == Some(&now);
        if !is_known {
            seen.states.insert(store.git_dir.clone(), now);
        }
        !is_known
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

fn protected_words(names: &BTreeSet<String>) -> String {
    let named = names.iter().take(MOST_NAMED).map(|name| one_line(name).into_owned()).collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "New commits have protected names: {named}{more}. A checkout of them writes what other programs run; look at it first."
    )
}

/// Returns the versions in a history: remembered, and what is new since.
async fn history(cx: &CallContext<'_>, store: &GitStore) -> Result<Remembered, String> {
    let doors = &cx.session.ground.doors;
    let key = format!("secrets that git keeps in {}", store.git_dir.display()).into_bytes();
    let recalled = doors.store.recall(&key, KNOWN_FOR).await;
    let mut known: Remembered =
        recalled.and_then(|recalled| serde_json::from_slice(&recalled.kept).ok()).unwrap_or_default();
    // Without git nothing can be read.
    if doors.processes.find_program(&["git"]).is_none() {
        return Ok(Remembered { is_whole: true, ..Remembered::default() });
    }
    let has_same_indexes = restage(cx, store, &mut known);
    if has_same_indexes && known.state == store.state {
        return Ok(known);
    }
    if known.state != store.state {
        known = list(cx, store, known).await?;
    }
    if let Ok(bytes) = serde_json::to_vec(&known) {
        doors.store.remember(&key, bytes.into()).await;
    }
    Ok(known)
}

/// Reads each index that changed; says whether none did.
fn restage(cx: &CallContext<'_>, store: &GitStore, known: &mut Remembered) -> bool {
    let before = std::mem::take(&mut known.staged);
    let mut has_same = before.len() == store.indexes.len();
    for (index, sign) in &store.indexes {
        let staged = before.get(index).filter(|(then, _)| then == sign).cloned();
        has_same &= staged.is_some();
        let staged = staged.unwrap_or_else(|| {
            let secrets = cx.session.ground.doors.look.staged_secrets(index);
            (sign.clone(), secrets.into_iter().take(MOST_VERSIONS).collect())
        });
        known.staged.insert(index.clone(), staged);
    }
    has_same
}

/// Lists what is new.
async fn list(cx: &CallContext<'_>, store: &GitStore, known: Remembered) -> Result<Remembered, String> {
    let (text, has_all_refs) = output((cx, store), LIST_REFS, Bytes::new()).await?;
    let refs = Refs::of(&text);
    let listed = Mutex::new(Listed::default());
    let hear = |piece: &[u8]| listed.lock().unwrap_or_else(PoisonError::into_inner).take(piece);
    let known_tips = known.tips.iter().map(|tip| format!("^{tip}\n"));
    let input: String = store.named.iter().map(|named| format!("{named}\n")).chain(known_tips).collect();
    let mut is_whole = run((cx, store), LIST, (input.into(), &hear)).await? && has_all_refs;
    let (mut versions, protected) = listed.into_inner().unwrap_or_else(PoisonError::into_inner).end();
    for tree in refs.trees.iter().chain(&store.trees).take(MOST_TREES) {
        let (text, has_all) =
            output((cx, store), &["ls-tree", "-r", "-z", tree], Bytes::new()).await.unwrap_or_default();
        versions.extend(of_trees(&text));
        is_whole &= has_all || text.is_empty();
    }
    // A tag on a single file says nothing of its name.
    versions.extend(refs.blobs);
    versions.extend(known.versions);
    let mut seen = HashSet::new();
    versions.retain(|(object, _)| seen.insert(object.clone()));
    is_whole &= versions.len() <= MOST_VERSIONS && (known.is_whole || known.state.is_empty());
    versions.truncate(MOST_VERSIONS);
    let tips = if refs.tips.len() <= MOST_TIPS { refs.tips } else { Vec::new() };
    Ok(Remembered { state: store.state.clone(), tips, versions, is_whole, staged: known.staged, protected })
}

/// Reads versions; says whether those are all.
async fn contents(
    cx: &CallContext<'_>,
    store: &GitStore,
    versions: &[Version],
) -> Result<(Vec<SecretFile>, bool), String> {
    let objects: String = versions.iter().map(|(object, _)| format!("{object}\n")).collect();
    let (content, is_whole) = output((cx, store), &["cat-file", "--batch"], objects.into()).await?;
    Ok((parted(&content, versions), is_whole))
}

/// Runs git and returns what it prints, and whether that is all.
async fn output(place: (&CallContext<'_>, &GitStore), words: &[&str], input: Bytes) -> Result<(Vec<u8>, bool), String> {
    let content = Mutex::new(Vec::new());
    let hear = |piece: &[u8]| {
        let mut content = content.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST_BYTES.saturating_sub(content.len());
        content.extend_from_slice(&piece[..piece.len().min(room)]);
    };
    let is_whole = run(place, words, (input, &hear)).await?;
    let content = content.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_whole = is_whole && content.len() < MOST_BYTES;
    Ok((content, is_whole))
}

/// Runs git in the sandbox and passes its output on; says whether it came to its end in time.
async fn run(
    (cx, store): (&CallContext<'_>, &GitStore),
    words: &[&str],
    (input, heard): (Bytes, &Heard<'_>),
) -> Result<bool, String> {
    let doors = &cx.session.ground.doors;
    let root = Target::Inside(Place::new(Path::new(""), Extent::Tree));
    let folder = doors.look.real_path(&root).ok_or("the workspace has no real path")?;
    let git = doors.processes.find_program(&["git"]).ok_or("there is no git")?;
    let line = "git, to know the secrets in its history";
    let mut all = vec![git.into_os_string()];
    all.extend(PLAIN.iter().map(OsString::from));
    all.extend(["--git-dir".into(), store.git_dir.clone().into(), "--work-tree".into(), folder.clone().into()]);
    all.extend(words.iter().map(OsString::from));
    let mut command = Command::new(all, line, folder, TIME);
    command.input = input;
    // A worktree has it outside the workspace.
    command.readable = vec![store.git_dir.clone()];
    command.environment = vec![("GIT_NO_LAZY_FETCH".into(), "1".into()), ("GIT_TERMINAL_PROMPT".into(), "0".into())];
    let errand = Errand {
        call: CallId::fresh(),
        tool: "secrets".to_owned(),
        session: cx.session.name.clone(),
        run: cx.session.run.clone(),
        turn: cx.turn.number,
        purpose: Purpose::default(),
    };
    let effect = Effect::Run(CommandLine(line.into()));
    let permit = permits::issue(errand, [effect].into(), cx.place.stop.clone());
    let context = RunContext::new(&permit, doors, &Unheard, (&cx.session.name, cx.limits()));
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
