//! Decides which planned effects may not happen at the same time.
//!
//! No tool is marked "parallel" by hand: the decision follows from what each tool says it touches.

use std::borrow::Cow;

use haft_contract::effect::{Claim, CommandStep, Effect, StateKey, StepEffect};

use crate::confining::containment::CommandContainment;
use crate::runtime::RuntimeCore;

/// Whether commands run side by side: each over its own layer, so that its changes are compared with those of others when
/// they are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    /// They do. Only what is known to touch the same waits.
    SideBySide,
    /// They do not: there is no layer, or the user does not want it.
    OneByOne,
}

impl Commands {
    /// Returns how commands run here that have these effects. A call without a command leaves it to the others.
    pub(crate) fn of(effects: &[Effect], ground: &RuntimeCore) -> Self {
        let is_beside = || ground.overlap && CommandContainment::of(&ground.doors).is_layered();
        if !runs(effects) || is_beside() { Commands::SideBySide } else { Commands::OneByOne }
    }

    /// Returns what holds for two calls.
    pub(crate) fn and(self, other: Self) -> Self {
        if self == other { self } else { Commands::OneByOne }
    }
}

/// Returns whether two calls with these effects must not overlap, whichever came first.
pub(crate) fn conflict(left: &[Effect], right: &[Effect], commands: Commands) -> bool {
    match commands {
        Commands::OneByOne => collide_somewhere(left, right, collide),
        Commands::SideBySide => {
            let are_commands = runs(left) && runs(right);
            (are_commands && takes_git_locks(left) && takes_git_locks(right))
                || collide_somewhere(left, right, collide_side_by_side)
        }
    }
}

/// Returns whether a call has to wait for one before it in the same turn. A change that was asked for first is there when a
/// command begins, and reads wait for no command.
pub(crate) fn follows(earlier: &[Effect], later: &[Effect], commands: Commands) -> bool {
    let builds_on_jobs = awaits_jobs(earlier) && (runs(later) || connects(later));
    if conflict(earlier, later, commands) || builds_on_jobs || (asks_of_jobs(later) && may_concern_jobs(earlier)) {
        return true;
    }
    commands == Commands::SideBySide
        && runs(later)
        && if runs(earlier) {
            let theirs = declared(earlier);
            declared(later).iter().any(|own| theirs.iter().any(|theirs| collide(theirs, own)))
        } else {
            !only_looks(later) && earlier.iter().any(|effect| matches!(effect, Effect::Change(..)))
        }
}

/// Returns whether a call changes nothing and runs nothing but commands that only look.
pub(crate) fn only_looks(effects: &[Effect]) -> bool {
    effects.iter().all(|effect| match effect {
        Effect::Read(_) | Effect::Run(_) => true,
        Effect::Step(step) => matches!(
            step.does,
            StepEffect::Nothing | StepEffect::NothingElse | StepEffect::Read(_) | StepEffect::List(_)
        ),
        _ => false,
    }) && (!runs(effects) || effects.iter().any(|effect| matches!(effect, Effect::Step(_))))
}

/// Returns whether a call waits for a job or changes it: what comes later builds on that. Only in one turn; the commands of
/// another session do not wait until a port is open.
fn awaits_jobs(effects: &[Effect]) -> bool {
    effects.contains(&Effect::Session(StateKey::job_states()))
}

/// Returns whether a call asks how jobs are, or changes that.
fn asks_of_jobs(effects: &[Effect]) -> bool {
    effects.contains(&Effect::Session(StateKey::jobs()))
}

/// Returns whether a call may start a job, use it, or change what it reads: who stops or restarts the job comes after that.
fn may_concern_jobs(effects: &[Effect]) -> bool {
    runs(effects) || connects(effects) || effects.iter().any(|effect| matches!(effect, Effect::Change(..)))
}

fn connects(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Connect(_)))
}

fn runs(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Run(_)))
}

/// Returns what the parts of a command are known to read and change.
fn declared(effects: &[Effect]) -> Vec<Effect> {
    let stands_for = |effect: &Effect| match effect {
        Effect::Step(CommandStep { does: StepEffect::Read(target), .. }) => Some(Effect::Read(target.clone())),
        // A list has the names of what was changed below.
        Effect::Step(CommandStep { does: StepEffect::List(target), .. }) => Some(Effect::Read(target.as_tree())),
        Effect::Step(CommandStep { does: StepEffect::Change(target, change), .. }) => {
            Some(Effect::Change(target.clone(), *change))
        }
        _ => None,
    };
    effects.iter().filter_map(stands_for).collect()
}

/// Returns whether git would lock its index or its references: two commands side by side would each make their own commit.
fn takes_git_locks(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| {
        let Effect::Step(step) = effect else { return false };
        let is_git = step.words.first().is_some_and(|word| word.rsplit('/').next() == Some("git"));
        is_git
            && !matches!(
                step.does,
                StepEffect::Nothing | StepEffect::Read(_) | StepEffect::List(_) | StepEffect::Connect(_)
            )
    })
}

fn collide_somewhere(left: &[Effect], right: &[Effect], collide: impl Fn(&Effect, &Effect) -> bool) -> bool {
    let (left, right) = (known(left), known(right));
    left.iter().any(|a| right.iter().any(|b| collide(a, b)))
}

/// What a command is kept to is all that it can disturb: then its steps stand for it.
fn known(effects: &[Effect]) -> Cow<'_, [Effect]> {
    let is_known = |effect: &Effect| matches!(effect, Effect::Step(CommandStep { does: StepEffect::NothingElse, .. }));
    if !effects.iter().any(is_known) {
        return effects.into();
    }
    let of_command = declared(effects);
    effects.iter().filter(|effect| !matches!(effect, Effect::Run(_))).cloned().chain(of_command).collect()
}

/// The same for commands over layers: only what they are known to change keeps others waiting.
fn collide_side_by_side(a: &Effect, b: &Effect) -> bool {
    let changed = |effect: &Effect| match effect {
        Effect::Step(CommandStep { does: StepEffect::Change(target, _), .. }) => Some(target.clone()),
        _ => None,
    };
    match (a, b) {
        // What is listed of the history has the changes of commands before.
        (Effect::Run(_), Effect::Session(key)) | (Effect::Session(key), Effect::Run(_)) => {
            *key == StateKey::change_sets()
        }
        (Effect::Run(_), _) | (_, Effect::Run(_)) => false,
        (Effect::Step(_), Effect::Change(target, _)) => changed(a).is_some_and(|changed| changed.overlaps(target)),
        (Effect::Change(target, _), Effect::Step(_)) => changed(b).is_some_and(|changed| changed.overlaps(target)),
        (Effect::Step(_), Effect::Step(_)) => {
            changed(a).zip(changed(b)).is_some_and(|(a, b)| a.is_inside() && b.is_inside() && a.overlaps(&b))
        }
        (a, b) => collide(a, b),
    }
}

fn collide(a: &Effect, b: &Effect) -> bool {
    use Effect::{
        Change, ChangeFollowed, Connect, Delegate, Expose, PlantRepository, Read, Remote, Run, Session, Step,
    };
    match (a, b) {
        // A sub-agent would wait for its parent for ever; a connection touches nothing here.
        (Connect(_) | Delegate(_), _) | (_, Connect(_) | Delegate(_)) => false,
        // They come beside a command or a change, which says it all.
        (Expose(_) | Step(_) | PlantRepository(_) | ChangeFollowed(_), _)
        | (_, Expose(_) | Step(_) | PlantRepository(_) | ChangeFollowed(_)) => false,
        (Read(_), Read(_)) => false,
        (Read(x) | Change(x, _), Change(y, _)) | (Change(x, _), Read(y)) => x.overlaps(y),
        // A command may touch anything in the workspace, and the session's state is no file.
        (Run(_), Read(target)) | (Read(target), Run(_)) => target.is_inside(),
        (Run(_), Change(..) | Run(_)) | (Change(..), Run(_)) => true,
        (Run(_), Remote(_) | Session(_)) | (Remote(_) | Session(_), Run(_)) => true,
        (Session(x), Session(y)) => x == y,
        (Remote(x), Remote(y)) => {
            x.server == y.server && !(x.claims == Claim::OnlyReads && y.claims == Claim::OnlyReads)
        }
        // A list of the change sets has those of earlier calls too.
        (Session(key), Change(..)) | (Change(..), Session(key)) => *key == StateKey::change_sets(),
        (Session(_), Read(_) | Remote(_)) | (Read(_) | Remote(_), Session(_)) => false,
        (Remote(_), Read(_) | Change(..)) | (Read(_) | Change(..), Remote(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::{AgentName, Change, CommandLine, Host, RemoteClaim};
    use haft_contract::files::path::{Extent, FileLocation, Target};

    fn check(a: Effect, b: Effect, expected: bool) {
        assert_eq!(collide(&a, &b), expected, "{a} against {b}");
        assert_eq!(collide(&b, &a), expected, "{b} against {a}");
    }

    #[test]
    fn a_command_that_is_kept_to_what_it_says_disturbs_only_that() {
        let file = |path: &str| Target::Inside(FileLocation::new(path, Extent::Entry));
        let step = |does| {
            let (command, folder, words) = ("t".into(), "".into(), ["t".to_owned()].into());
            Effect::Step(CommandStep { command, folder, part: (0, 1), words, does })
        };
        let run = || Effect::Run(CommandLine("t".into()));
        let only = |does| [run(), step(does), step(StepEffect::NothingElse)];
        let computes = only(StepEffect::Nothing);
        let changes = |path| only(StepEffect::Change(file(path), Change::Replace));
        let unknown = [run(), step(StepEffect::Program("t".into()))];

        let conflict = |left: &[Effect], right: &[Effect]| conflict(left, right, Commands::OneByOne);
        assert!(!conflict(&computes, &computes) && !conflict(&computes, &unknown));
        assert!(!conflict(&changes("a"), &changes("b")) && conflict(&changes("a"), &changes("a")));
        assert!(conflict(&changes("a"), &unknown) && conflict(&unknown, &unknown));
        assert!(conflict(&only(StepEffect::Read(file("a"))), &[Effect::Change(file("a"), Change::Replace)]));
        let alone =
            |effects: [Effect; 3]| [effects.to_vec(), vec![Effect::Session(StateKey("alone:t".into()))]].concat();
        assert!(conflict(&alone(computes.clone()), &alone(computes.clone())));
        assert!(super::conflict(&alone(computes.clone()), &alone(computes), Commands::SideBySide));
    }

    #[test]
    fn calls_about_jobs_keep_their_place_among_the_commands_of_a_turn_and_other_sessions_do_not_wait() {
        let jobs = Effect::Session(StateKey::jobs());
        let (listed, waited) = (vec![jobs.clone()], vec![jobs, Effect::Session(StateKey::job_states())]);
        let read = vec![Effect::Read(Target::Inside(FileLocation::new("a", Extent::Entry)))];
        let run = vec![Effect::Run(CommandLine("curl localhost:3000".into()))];
        let fetch = vec![Effect::Connect(Host("localhost".into()))];
        let edit = vec![Effect::Change(Target::Inside(FileLocation::new("a", Extent::Entry)), Change::Replace)];
        for (earlier, later, waits) in [
            (&waited, &run, true),
            (&waited, &fetch, true),
            (&waited, &read, false),
            (&waited, &waited, true),
            (&run, &waited, true),
            (&run, &listed, true),
            (&fetch, &waited, true),
            (&edit, &waited, true),
            (&read, &waited, false),
            (&listed, &run, false),
        ] {
            assert_eq!(follows(earlier, later, Commands::SideBySide), waits, "{earlier:?} {later:?}");
        }
        assert!(!conflict(&waited, &run, Commands::SideBySide));
    }

    #[test]
    fn commands_over_layers_wait_only_for_what_is_known_to_touch_the_same() {
        let file = |path: &str| Target::Inside(FileLocation::new(path, Extent::Entry));
        let command = |parts: &[(&str, StepEffect)]| -> Vec<Effect> {
            let step = |(word, does): &(&str, StepEffect)| {
                let (command, folder, words) = ("t".into(), "".into(), [(*word).to_owned()].into());
                Effect::Step(CommandStep { command, folder, part: (0, 1), words, does: does.clone() })
            };
            std::iter::once(Effect::Run(CommandLine("t".into()))).chain(parts.iter().map(step)).collect()
        };
        let build = command(&[("make", StepEffect::Code("build".into()))]);
        let writes = |path: &str| command(&[("echo", StepEffect::Change(file(path), Change::Replace))]);
        let cat = |path: &str| command(&[("cat", StepEffect::Read(file(path)))]);
        let commit = command(&[("git", StepEffect::History("make a commit".into()))]);
        let status = command(&[("git", StepEffect::List(file("")))]);
        let read = |path: &str| vec![Effect::Read(file(path))];
        let change = |path: &str| vec![Effect::Change(file(path), Change::Replace)];
        let list = vec![Effect::Session(StateKey::change_sets())];

        // The earlier, the later, whether the later one waits in a turn, and whether both wait for each other anywhere.
        for (earlier, later, waits, excludes) in [
            (&build, &build, false, false),
            (&build, &read("a"), false, false),
            (&build, &change("a"), false, false),
            (&build, &writes("a"), false, false),
            (&change("a"), &build, true, false),
            (&change("a"), &cat("b"), false, false),
            (&writes("a"), &read("a"), false, false),
            (&writes("a"), &writes("b"), false, false),
            (&writes("a"), &writes("a"), true, true),
            (&writes("a"), &change("a"), true, true),
            (&writes("a"), &cat("a"), true, false),
            (&cat("a"), &writes("a"), true, false),
            (&cat("a"), &cat("a"), false, false),
            (&writes("d/a"), &command(&[("ls", StepEffect::List(file("d")))]), true, false),
            (&commit, &commit, true, true),
            (&commit, &status, false, false),
            (&build, &list, true, true),
        ] {
            let said = format!("{earlier:?} before {later:?}");
            assert_eq!(follows(earlier, later, Commands::SideBySide), waits, "{said}");
            assert_eq!(conflict(earlier, later, Commands::SideBySide), excludes, "{said}");
            assert_eq!(conflict(later, earlier, Commands::SideBySide), excludes, "{said}");
        }
    }

    #[test]
    fn only_what_can_disturb_each_other_is_kept_apart() {
        let file = |path: &str| Target::Inside(FileLocation::new(path, Extent::Entry));
        let read = |path| Effect::Read(file(path));
        let change = |path| Effect::Change(file(path), Change::Replace);
        let run = || Effect::Run(CommandLine("make".into()));
        let far = Effect::Read(Target::Outside(FileLocation::new("/etc/hosts", Extent::Entry)));
        let remote =
            |server: &str, claims| Effect::Remote(RemoteClaim { server: server.into(), tool: "t".into(), claims });
        let delegate = Effect::Delegate(AgentName("a".into()));
        let session = |key: &str| Effect::Session(StateKey(key.into()));

        check(read("a"), read("a"), false);
        check(read("a"), change("a"), true);
        check(change("a"), change("a"), true);
        check(change("a"), change("b"), false);
        check(Effect::Read(Target::Inside(FileLocation::new("", Extent::Tree))), change("b"), true);
        check(run(), read("a"), true);
        check(run(), far, false);
        check(run(), run(), true);
        check(run(), session("todo"), true);
        check(delegate.clone(), run(), false);
        check(delegate.clone(), delegate, false);
        check(Effect::Connect(Host("x".into())), change("a"), false);
        check(session("todo"), session("todo"), true);
        check(session("todo"), change("a"), false);
        check(Effect::Session(StateKey::change_sets()), change("a"), true);
        check(Effect::Session(StateKey::change_sets()), read("a"), false);
        check(session("todo"), session("notes"), false);
        check(remote("s", Claim::OnlyReads), remote("s", Claim::OnlyReads), false);
        check(remote("s", Claim::OnlyReads), remote("s", Claim::MayChange), true);
        check(remote("s", Claim::MayChange), remote("other", Claim::MayChange), false);
    }
}
