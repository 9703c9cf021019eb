//! Reads the versions of secret files that the history of git holds.
//!
//! Git reads them itself, in the sandbox: first the names of everything that was ever committed, then the content of what
//! is secret by its name. Most repositories have nothing of that kind, so the second step is rare.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use haft_contract::call::CallId;
use haft_contract::context::{RunContext, Unheard};
use haft_contract::door::{Errand, FileKind, Purpose, SecretFile};
use haft_contract::effect::{CommandLine, Effect};
use haft_contract::guarded::secret_kind;
use haft_contract::path::{Extent, Place, Target};
use haft_contract::process::{Command, HowEnded, Stream};
use haft_contract::stamp::Stamp;

use crate::call_context::CallContext;
use crate::permits;

/// Longest time that one step may take.
const TIME: Duration = Duration::from_secs(5);
/// Most bytes of old versions that are read.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Most versions that are read.
const MOST_VERSIONS: usize = 2_000;
/// Most repositories of one workspace.
const MOST_REPOSITORIES: usize = 16;
/// How long it is known that a history holds nothing.
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// What changes when something comes in from elsewhere.
const SIGNS: [&str; 3] = [".git/packed-refs", ".git/FETCH_HEAD", ".git/ORIG_HEAD"];
/// Commands of git that show no content of files.
const SILENT: &[&str] = &[
    "status",
    "add",
    "commit",
    "branch",
    "init",
    "rev-parse",
    "remote",
    "tag",
    "fetch",
    "push",
    "pull",
    "ls-files",
    "mv",
    "rm",
    "clone",
    "version",
    "--version",
    "switch",
    "gc",
    "merge",
    "rebase",
    "reset",
    "config",
];
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

/// What was read of the histories, and when.
#[derive(Debug, Default)]
pub(super) struct GitHistory {
    seen: Mutex<HashMap<PathBuf, Signs>>,
}

type Signs = [Option<Stamp>; SIGNS.len()];

impl GitHistory {
    /// Learns the old versions in these repositories that are not known yet.
    pub(super) async fn learn(&self, cx: &CallContext<'_>, repositories: Vec<PathBuf>) {
        for repository in repositories.into_iter().take(MOST_REPOSITORIES) {
            let look = &cx.session.ground.doors.look;
            let inside = |path: &str| Target::Inside(Place::new(repository.join(path), Extent::Entry));
            let signs = SIGNS.map(|sign| look.stamp(&inside(sign)));
            if !self.is_new(&repository, signs) {
                continue;
            }
            // One of no commits has nothing old.
            let is_begun = look.stamp(&inside(".git/logs/HEAD")).is_some() || signs.iter().any(Option::is_some);
            let is_elsewhere = look.facts(&inside(".git")).is_ok_and(|facts| facts.kind == FileKind::File);
            if !is_begun && !is_elsewhere || self.has_none(cx, &repository, signs).await {
                continue;
            }
            match read(cx, &repository).await {
                Ok(files) if files.is_empty() => self.note_none(cx, &repository, signs).await,
                Ok(files) => cx.session.ground.redactor.also_hide_files(&files),
                Err(why) => {
                    let words =
                        format!("Old versions of secret files in the history of git are not hidden here: {why}.");
                    cx.note(|notes| notes.warnings.push(words));
                }
            }
        }
    }

    fn is_new(&self, repository: &Path, signs: Signs) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        seen.insert(repository.to_owned(), signs) != Some(signs)
    }

    /// Returns whether it is known, from another process perhaps, that there are no such versions.
    async fn has_none(&self, cx: &CallContext<'_>, repository: &Path, signs: Signs) -> bool {
        let key = key(cx, repository, signs);
        cx.session.ground.doors.store.recall(&key, KNOWN_FOR).await.is_some()
    }

    async fn note_none(&self, cx: &CallContext<'_>, repository: &Path, signs: Signs) {
        let key = key(cx, repository, signs);
        cx.session.ground.doors.store.remember(&key, Bytes::from_static(b"none")).await;
    }
}

/// What the answer depends on: the state of the repository, as far as one look shows it.
fn key(cx: &CallContext<'_>, repository: &Path, signs: Signs) -> Vec<u8> {
    let look = &cx.session.ground.doors.look;
    let head = Target::Inside(Place::new(repository.join(".git/logs/HEAD"), Extent::Entry));
    format!("secrets in the history of {}: {signs:?} {:?}", repository.display(), look.stamp(&head)).into_bytes()
}

/// Says whether a command may print what git keeps: it names git, and not only for what shows nothing.
pub(super) fn shows_history(line: &str) -> bool {
    let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))).collect();
    words.iter().enumerate().any(|(at, word)| {
        let is_git = *word == "git" || word.ends_with("/git") || word.starts_with("git-") || word.contains(".git/");
        is_git && !words.get(at + 1).is_some_and(|next| SILENT.contains(next))
    })
}

/// Returns the versions of secret files, or why they cannot be had.
async fn read(cx: &CallContext<'_>, repository: &Path) -> Result<Vec<SecretFile>, String> {
    // Without git nobody shows what it keeps.
    if cx.session.ground.doors.processes.find_program(&["git"]).is_none() {
        return Ok(Vec::new());
    }
    let names = ["log", "--all", "--reflog", "--raw", "-z", "--no-abbrev", "--no-renames", "--format="];
    let mut listed = Listed::default();
    let listing = Mutex::new(&mut listed);
    run((cx, repository), &names, Bytes::new(), &|piece| {
        if let Ok(mut listing) = listing.lock() {
            listing.take(piece);
        }
    })
    .await?;
    let versions = listed.end();
    if versions.is_empty() {
        return Ok(Vec::new());
    }
    let is_too_many = versions.len() > MOST_VERSIONS;
    let ids: String = versions.iter().take(MOST_VERSIONS).map(|(id, _)| format!("{id}\n")).collect();
    let content = Mutex::new(Vec::new());
    run((cx, repository), &["cat-file", "--batch"], ids.into(), &|piece| {
        if let Ok(mut content) = content.lock() {
            let room = MOST_BYTES.saturating_sub(content.len());
            content.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    })
    .await?;
    let content = content.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_too_many || content.len() >= MOST_BYTES {
        cx.note(|notes| {
            notes.warnings.push("The history of git holds more versions of secret files than haft reads.".to_owned())
        });
    }
    Ok(parted(&content, &versions))
}

/// Runs git in the sandbox and passes its output on.
async fn run(
    (cx, repository): (&CallContext<'_>, &Path),
    words: &[&str],
    input: Bytes,
    heard: &(dyn Fn(&[u8]) + Send + Sync),
) -> Result<(), String> {
    let doors = &cx.session.ground.doors;
    let root = Target::Inside(Place::new(repository, Extent::Tree));
    let folder = doors.look.real_path(&root).ok_or("the workspace has no real path")?;
    let git = doors.processes.find_program(&["git"]).ok_or("there is no git")?;
    let line = "git, to know the secrets in its history";
    let all = PLAIN.iter().chain(words).map(OsString::from);
    let words: Vec<OsString> = std::iter::once(git.into_os_string()).chain(all).collect();
    let mut command = Command::new(words, line, folder, TIME);
    command.input = input;
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
            HowEnded::Exited(0) => Ok(()),
            HowEnded::TimedOut => Err(format!("reading them took longer than {} s", TIME.as_secs())),
            HowEnded::Exited(_) | HowEnded::Killed(_) | HowEnded::Stopped => Err("git failed".to_owned()),
        },
        Err(error) => Err(error.what.trim_end_matches('.').to_owned()),
    }
}

/// What `git log --raw -z` lists, as it comes: a record of modes and ids, then the path.
#[derive(Debug, Default)]
struct Listed {
    held: Vec<u8>,
    ids: Option<(String, String)>,
    versions: Vec<(String, String)>,
}

impl Listed {
    fn take(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == 0) {
            self.held.extend_from_slice(part);
            if self.held.last() == Some(&0) {
                self.held.pop();
                let field = std::mem::take(&mut self.held);
                self.field(&String::from_utf8_lossy(&field));
            }
        }
    }

    fn field(&mut self, field: &str) {
        match self.ids.take() {
            Some((old, new)) => {
                if secret_kind(Path::new(field)).is_some() {
                    let known = [new, old].into_iter().filter(|id| !id.bytes().all(|digit| digit == b'0'));
                    self.versions.extend(known.map(|id| (id, field.to_owned())));
                }
            }
            None => {
                let mut words = field.trim_start_matches('\n').strip_prefix(':').unwrap_or_default().split(' ').skip(2);
                if let (Some(old), Some(new)) = (words.next(), words.next()) {
                    self.ids = Some((old.to_owned(), new.to_owned()));
                }
            }
        }
    }

    fn end(&mut self) -> Vec<(String, String)> {
        // The newest come first, and are the ones that are read where there are too many.
        let mut seen = HashSet::new();
        self.versions.retain(|(id, _)| seen.insert(id.clone()));
        std::mem::take(&mut self.versions)
    }
}

/// Parts what `git cat-file --batch` printed into the files.
fn parted(content: &[u8], versions: &[(String, String)]) -> Vec<SecretFile> {
    let mut files = Vec::new();
    let mut rest = content;
    for (_, path) in versions {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let mut words = head.split(' ').skip(1);
        let (kind, size) = (words.next(), words.next().and_then(|size| size.parse::<usize>().ok()));
        let Some(size) = size else { continue };
        let text = &rest[..size.min(rest.len())];
        if kind == Some("blob") {
            files.push(SecretFile::of(path.clone(), text));
        }
        rest = rest.get(size + 1..).unwrap_or_default();
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_may_show_what_git_keeps_are_known() {
        for line in [
            "git log -p",
            "git grep -h . HEAD",
            "git -C . show",
            "git add . && git diff --cached",
            "/usr/bin/git show HEAD",
            "python3 -c \"run(['git','log','-p'])\"",
            "GIT_PAGER=cat git stash show -p",
            "cat .git/x",
        ] {
            assert!(shows_history(line), "{line}");
        }
        for line in ["git status", "git add -A && git commit -m x", "cat .gitignore", "ls", "echo digit"] {
            assert!(!shows_history(line), "{line}");
        }
    }

    #[test]
    fn what_git_prints_is_read_in_pieces() {
        let (a, b, none) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let raw = format!(
            ":000000 100644 {none} {a} A\0.env\0:100644 100644 {a} {b} M\0.env\0:000000 100644 {none} {b} A\0x.rs\0"
        );
        let mut listed = Listed::default();
        raw.as_bytes().chunks(7).for_each(|piece| listed.take(piece));
        let versions = listed.end();
        assert_eq!(versions, [(a.clone(), ".env".to_owned()), (b.clone(), ".env".to_owned())]);
        let content = format!("{a} blob 4\nA=1\n\n{b} missing\n");
        let files = parted(content.as_bytes(), &versions);
        assert_eq!(files, [SecretFile { path: ".env".into(), text: "A=1\n".into() }]);
    }
}
