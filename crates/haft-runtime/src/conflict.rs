//! Which planned effects may not happen at the same time.
//!
//! Nobody marks tools "parallel" by hand; it follows from what they say they touch.

use std::borrow::Cow;

use haft_contract::effect::{Claim, Does, Effect, StateKey, Step};

/// Returns whether two calls with these effects must not overlap.
pub(crate) fn conflict(left: &[Effect], right: &[Effect]) -> bool {
    let (left, right) = (known(left), known(right));
    left.iter().any(|a| right.iter().any(|b| collide(a, b)))
}

/// What a command is kept to is all that it can disturb: then its steps stand for it.
fn known(effects: &[Effect]) -> Cow<'_, [Effect]> {
    let is_known = |effect: &Effect| matches!(effect, Effect::Step(Step { does: Does::NothingElse, .. }));
    if !effects.iter().any(is_known) {
        return effects.into();
    }
    let stands_for = |effect: &Effect| match effect {
        Effect::Run(_) => None,
        Effect::Step(Step { does: Does::Read(target) | Does::List(target), .. }) => Some(Effect::Read(target.clone())),
        Effect::Step(Step { does: Does::Change(target, change), .. }) => Some(Effect::Change(target.clone(), *change)),
        other => Some(other.clone()),
    };
    effects.iter().filter_map(stands_for).collect()
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
    use haft_contract::path::{Extent, Place, Target};

    fn check(a: Effect, b: Effect, expected: bool) {
        assert_eq!(collide(&a, &b), expected, "{a} against {b}");
        assert_eq!(collide(&b, &a), expected, "{b} against {a}");
    }

    #[test]
    fn a_command_that_is_kept_to_what_it_says_disturbs_only_that() {
        let file = |path: &str| Target::Inside(Place::new(path, Extent::Entry));
        let step = |does| {
            let (command, folder, words) = ("t".into(), "".into(), ["t".to_owned()].into());
            Effect::Step(Step { command, folder, part: (0, 1), words, does })
        };
        let run = || Effect::Run(CommandLine("t".into()));
        let only = |does| [run(), step(does), step(Does::NothingElse)];
        let computes = only(Does::Nothing);
        let changes = |path| only(Does::Change(file(path), Change::Replace));
        let unknown = [run(), step(Does::Program("t".into()))];

        assert!(!conflict(&computes, &computes) && !conflict(&computes, &unknown));
        assert!(!conflict(&changes("a"), &changes("b")) && conflict(&changes("a"), &changes("a")));
        assert!(conflict(&changes("a"), &unknown) && conflict(&unknown, &unknown));
        assert!(conflict(&only(Does::Read(file("a"))), &[Effect::Change(file("a"), Change::Replace)]));
        let alone =
            |effects: [Effect; 3]| [effects.to_vec(), vec![Effect::Session(StateKey("alone:t".into()))]].concat();
        assert!(conflict(&alone(computes.clone()), &alone(computes)));
    }

    #[test]
    fn only_what_can_disturb_each_other_is_kept_apart() {
        let file = |path: &str| Target::Inside(Place::new(path, Extent::Entry));
        let read = |path| Effect::Read(file(path));
        let change = |path| Effect::Change(file(path), Change::Replace);
        let run = || Effect::Run(CommandLine("make".into()));
        let far = Effect::Read(Target::Outside(Place::new("/etc/hosts", Extent::Entry)));
        let remote =
            |server: &str, claims| Effect::Remote(RemoteClaim { server: server.into(), tool: "t".into(), claims });
        let delegate = Effect::Delegate(AgentName("a".into()));
        let session = |key: &str| Effect::Session(StateKey(key.into()));

        check(read("a"), read("a"), false);
        check(read("a"), change("a"), true);
        check(change("a"), change("a"), true);
        check(change("a"), change("b"), false);
        check(Effect::Read(Target::Inside(Place::new("", Extent::Tree))), change("b"), true);
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
