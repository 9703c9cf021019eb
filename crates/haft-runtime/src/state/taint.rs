//! Tracks three sticky facts of a session: it read something private, took in text of strangers, sent something out.
//!
//! Each fact alone is harmless; together they let secrets leave. haft derives them from the plans and surroundings of calls
//! that ran: code that has the network may have used it. They stay until the session forgets everything, including the
//! text it took in (`Session::forget`). Workspace files and information that the system shows to every user set none.
//!
//! haft asks about a call whose own words would set the last of the three (`last_taint`). It records what code may do
//! besides where no sandbox holds it, but does not ask: otherwise it would ask about every command there.
//!
//! Not here: the words of that question (`haft-policy`).

use std::collections::BTreeSet;

use haft_contract::doors::connection::{HostOutcome, ReachedHost};
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::effect::Effect;
use haft_policy::effect_kind::EffectKind;
use haft_policy::hosts::host_of;
use haft_policy::policy::{Mode, is_declared};
use haft_policy::taints::LastTaint;

use crate::confining::containment::CommandContainment;

/// One sticky fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taint {
    /// A secret by its name was read, or something outside the workspace, or may have been.
    Private,
    /// Text came in from the network or from another server, or may have come in.
    Untrusted,
    /// A host was connected to that was not granted, or may have been.
    Send,
}

impl Taint {
    /// Returns the name of the bit in records.
    pub fn code(self) -> &'static str {
        match self {
            Taint::Private => "private",
            Taint::Untrusted => "untrusted",
            Taint::Send => "send",
        }
    }

    /// Returns the bits that a call with these effects sets, where these hosts were not granted and this is around commands.
    pub(crate) fn set_by(
        effects: &[Effect],
        not_granted: &BTreeSet<String>,
        around: Option<&CommandContainment>,
    ) -> Vec<Taint> {
        // Where each connection is known, what was reached counts, and not what was planned.
        let is_known = |effect: &Effect| {
            matches!(effect, Effect::Step(_)) && around.is_some_and(CommandContainment::is_supervised)
        };
        let is_any = |is: &dyn Fn(&Effect) -> bool| effects.iter().any(is);
        let is_any_unknown = |is: &dyn Fn(&Effect) -> bool| effects.iter().filter(|effect| !is_known(effect)).any(is);
        let own = |effect: &Effect| is_of_session((effect, effects), around);
        let reads = is_any(&|effect| reads_private(effect) && !own(effect));
        let around = around.filter(|_| may_do_anything(effects));
        let may_read = around.is_some_and(|around| around.level == ConfinementLevel::None);
        let may_connect = may_read || around.is_some_and(|around| around.network);
        let mut bits = Vec::new();
        bits.extend((may_read || reads).then_some(Taint::Private));
        bits.extend((may_connect || is_any_unknown(&takes_in)).then_some(Taint::Untrusted));
        bits.extend((may_connect || is_any_unknown(&|effect| sends(effect, not_granted))).then_some(Taint::Send));
        bits
    }
}

impl Taint {
    /// Returns the bits that connections set, where these hosts were not granted before.
    pub(crate) fn set_by_hosts(reached: &[ReachedHost], not_granted: &BTreeSet<String>) -> Vec<Taint> {
        let is_any = |is: &dyn Fn(&ReachedHost) -> bool| reached.iter().any(is);
        let is_sent = |host: &ReachedHost| host.outcome == HostOutcome::Reached && not_granted.contains(&host.host);
        let mut bits = Vec::new();
        bits.extend(is_any(&|host| host.received > 0).then_some(Taint::Untrusted));
        bits.extend(is_any(&is_sent).then_some(Taint::Send));
        bits
    }
}

/// Says whether a command does more than its words tell: it runs code, or nothing is told of its parts.
pub(crate) fn may_do_anything(effects: &[Effect]) -> bool {
    let is_told = effects.iter().any(|effect| matches!(effect, Effect::Step(_)));
    effects.iter().any(|effect| match EffectKind::of(effect) {
        EffectKind::CommandRunsCode | EffectKind::CommandRunsUnknownProgram | EffectKind::CommandNotUnderstood => true,
        EffectKind::Run => !is_told,
        _ => false,
    })
}

fn reads_private(effect: &Effect) -> bool {
    matches!(
        EffectKind::of(effect),
        EffectKind::ReadSecret
            | EffectKind::ReadOutside
            | EffectKind::CommandReadsElsewhere
            | EffectKind::CommandReadsUnknown
            | EffectKind::CommandRevealsSecret
    )
}

/// Returns whether a part of a command reads only what the session itself has made, as in a home of its own.
///
/// What a tool declares to read are the user's own files, also there.
fn is_of_session((effect, all): (&Effect, &[Effect]), around: Option<&CommandContainment>) -> bool {
    !is_declared(all) && around.is_some_and(|around| around.situation(Mode::Normal, &[]).is_of_session(effect))
}

fn takes_in(effect: &Effect) -> bool {
    effect.gives_network() || matches!(effect, Effect::Connect(_) | Effect::Remote(_))
}

fn sends(effect: &Effect, not_granted: &BTreeSet<String>) -> bool {
    match host_of(effect) {
        Some(host) => not_granted.contains(&host.0),
        None => effect.gives_network(),
    }
}

/// Returns the bits that the words of a call alone set. Of a supervised command that is what names its host: everything
/// else is asked about when it connects.
pub(crate) fn told_by(
    effects: &[Effect],
    not_granted: &BTreeSet<String>,
    around: Option<&CommandContainment>,
) -> Vec<Taint> {
    let is_supervised = around.is_some_and(CommandContainment::is_supervised);
    let counts = |effect: &&Effect| {
        let is_live = is_supervised && matches!(effect, Effect::Step(_)) && effect.gives_network();
        !is_live || host_of(effect).is_some_and(|host| not_granted.contains(&host.0))
    };
    let is_any = |is: &dyn Fn(&Effect) -> bool| effects.iter().filter(counts).any(is);
    let mut bits = Vec::new();
    bits.extend(
        is_any(&|effect| reads_private(effect) && !is_of_session((effect, effects), around)).then_some(Taint::Private),
    );
    bits.extend(is_any(&takes_in).then_some(Taint::Untrusted));
    bits.extend(is_any(&|effect| sends(effect, not_granted)).then_some(Taint::Send));
    bits
}

/// Returns what a call adds that sets these bits, where the session then has all three. What is sent counts each time.
pub(crate) fn last_taint(session: &[Taint], call: &[Taint]) -> Option<LastTaint> {
    let has_all =
        [Taint::Private, Taint::Untrusted, Taint::Send].iter().all(|bit| session.contains(bit) || call.contains(bit));
    let adds = |bit: Taint| call.contains(&bit) && !session.contains(&bit);
    match () {
        () if !has_all => None,
        () if call.contains(&Taint::Send) => Some(LastTaint::Send),
        () if adds(Taint::Untrusted) => Some(LastTaint::Untrusted),
        () if adds(Taint::Private) => Some(LastTaint::Private),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::{Change, Claim, CommandLine, CommandStep, Host, RemoteClaim, StepEffect};
    use haft_contract::files::path::{Extent, FileLocation, Target};

    fn step(does: StepEffect) -> Effect {
        Effect::Step(CommandStep {
            command: "x".into(),
            folder: "".into(),
            part: (0, 1),
            words: ["x".to_owned()].into(),
            does,
        })
    }

    const SEALED: CommandContainment = CommandContainment::SEALED;

    fn check(effect: Effect, expected: &[Taint]) {
        check_where(&SEALED, &[effect], expected);
    }

    fn check_where(around: &CommandContainment, effects: &[Effect], expected: &[Taint]) {
        let not_granted = BTreeSet::from(["other.example".to_owned()]);
        assert_eq!(Taint::set_by(effects, &not_granted, Some(around)), expected, "{effects:?}");
    }

    #[test]
    fn code_that_has_the_network_or_no_sandbox_may_have_used_it() {
        let run = || Effect::Run(CommandLine("make".into()));
        let networked = CommandContainment { network: true, ..SEALED };
        let bare = CommandContainment { level: ConfinementLevel::None, ..SEALED };
        let partial = CommandContainment { level: ConfinementLevel::Partial, ..SEALED };
        for does in [
            StepEffect::Code("build".into()),
            StepEffect::Program("frob".into()),
            StepEffect::Unknown("it is computed".into()),
        ] {
            let effects = [run(), step(does)];
            check_where(&SEALED, &effects, &[]);
            check_where(&partial, &effects, &[]);
            check_where(&networked, &effects, &[Taint::Untrusted, Taint::Send]);
            check_where(&bare, &effects, &[Taint::Private, Taint::Untrusted, Taint::Send]);
        }
        check_where(&networked, &[run()], &[Taint::Untrusted, Taint::Send]);
        check_where(&bare, &[run(), step(StepEffect::Nothing)], &[]);
    }

    #[test]
    fn the_words_of_a_supervised_command_count_where_they_name_a_host_that_was_not_granted() {
        let not_granted = BTreeSet::from(["other.example".to_owned()]);
        let supervised = CommandContainment { supervised: true, ..SEALED };
        let told = |does: StepEffect, is_supervised: bool| {
            told_by(&[step(does)], &not_granted, is_supervised.then_some(&supervised))
        };
        let both = vec![Taint::Untrusted, Taint::Send];
        assert_eq!(told(StepEffect::Connect(Some(Host("other.example".into()))), true), both);
        assert_eq!(told(StepEffect::Connect(Some(Host("granted.example".into()))), true), []);
        assert_eq!(told(StepEffect::Connect(Some(Host("granted.example".into()))), false), [Taint::Untrusted]);
        assert_eq!(told(StepEffect::Connect(None), true), []);
        assert_eq!(told(StepEffect::Connect(None), false), both);
        assert_eq!(told(StepEffect::Code("build".into()), false), []);
    }

    #[test]
    fn the_last_of_the_three_is_told_in_every_order_and_each_sending_after_that() {
        use Taint::{Private, Send, Untrusted};
        let check = |session: &[Taint], call: &[Taint], last| {
            assert_eq!(last_taint(session, call), last, "{session:?} {call:?}")
        };
        for two in [[Private, Untrusted], [Untrusted, Private]] {
            check(&two, &[Send], Some(LastTaint::Send));
        }
        for two in [[Private, Send], [Send, Private]] {
            check(&two, &[Untrusted], Some(LastTaint::Untrusted));
        }
        for two in [[Untrusted, Send], [Send, Untrusted]] {
            check(&two, &[Private], Some(LastTaint::Private));
        }
        check(&[Private], &[Untrusted, Send], Some(LastTaint::Send));
        check(&[], &[Private, Untrusted, Send], Some(LastTaint::Send));
        check(&[Private], &[Send], None);
        check(&[Untrusted, Send], &[], None);
        let all = [Private, Untrusted, Send];
        check(&all, &[Send], Some(LastTaint::Send));
        check(&all, &[Private], None);
        check(&all, &[Untrusted], None);
    }

    #[test]
    fn what_a_supervised_command_reached_counts_and_not_what_it_might_have() {
        let supervised = CommandContainment { supervised: true, ..SEALED };
        check_where(&supervised, &[step(StepEffect::Connect(None))], &[]);
        check_where(&supervised, &[Effect::Connect(Host("other.example".into()))], &[Taint::Untrusted, Taint::Send]);
        let host = |name: &str, received, outcome| ReachedHost {
            host: name.into(),
            port: 443,
            connections: 1,
            sent: 1,
            received,
            gave_up: 0,
            outcome,
        };
        let not_granted = BTreeSet::from(["asked.example".to_owned()]);
        let bits = |host| Taint::set_by_hosts(&[host], &not_granted);
        assert_eq!(bits(host("granted.example", 0, HostOutcome::Reached)), []);
        assert_eq!(bits(host("granted.example", 9, HostOutcome::Reached)), [Taint::Untrusted]);
        assert_eq!(bits(host("asked.example", 9, HostOutcome::Reached)), [Taint::Untrusted, Taint::Send]);
        assert_eq!(bits(host("asked.example", 0, HostOutcome::Refused("no".into()))), []);
    }

    #[test]
    fn what_is_private_strange_or_sent_is_known_by_the_effects() {
        let inside = |path: &str| Target::Inside(FileLocation::new(path, Extent::Entry));
        let outside = |path: &str| Target::Outside(FileLocation::new(path, Extent::Entry));
        let host = |name: &str| Host(name.into());
        check(Effect::Read(inside("src/a.rs")), &[]);
        check(step(StepEffect::Read(inside("src/a.rs"))), &[]);
        check(step(StepEffect::Read(outside("/usr/include/a.h"))), &[]);
        check(Effect::Change(inside("a"), Change::Create), &[]);
        check(Effect::Run(CommandLine("make".into())), &[]);
        check(Effect::Read(inside(".env")), &[Taint::Private]);
        check(Effect::Read(outside("/srv/notes")), &[Taint::Private]);
        check(step(StepEffect::Read(outside("/srv/notes"))), &[Taint::Private]);
        check(step(StepEffect::ReadUnknown), &[Taint::Private]);
        check(Effect::Connect(host("granted.example")), &[Taint::Untrusted]);
        check(Effect::Connect(host("other.example")), &[Taint::Untrusted, Taint::Send]);
        check(step(StepEffect::Connect(Some(host("granted.example")))), &[Taint::Untrusted]);
        check(step(StepEffect::Connect(Some(host("other.example")))), &[Taint::Untrusted, Taint::Send]);
        check(step(StepEffect::Connect(None)), &[Taint::Untrusted, Taint::Send]);
        check(step(StepEffect::Publish("push".into())), &[Taint::Untrusted, Taint::Send]);
        let claim = RemoteClaim { server: "s".into(), tool: "t".into(), claims: Claim::OnlyReads };
        check(Effect::Remote(claim), &[Taint::Untrusted]);
    }
}
