//! Decides about the connections that a command makes while it runs, as about any other effect of its call.
//!
//! The command waits at its connection meanwhile. Hosts that wait at the same time are one question. An answer "once"
//! holds for this call. If a person refuses a host, haft does not ask about it again in this call.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use haft_contract::doors::connection::{ConnectionQuestion, ConnectionRequest, Decision, Speaks};
use haft_contract::effect::{CommandLine, CommandStep, Effect, Host, StepEffect};
use haft_contract::plan::Preview;
use haft_policy::decision::{self, Ruling};
use haft_policy::hosts::{HostSetting, HostSettings, setting_for};
use haft_policy::policy::{Mode, Policy, Situation};
use haft_policy::taints::{self, LastTaint};
use tokio::sync::mpsc::Receiver;

use super::authorize::NOT_COVERED;
use crate::asking::approval::{ApprovalRequest, Verdict};
use crate::asking::question::{CallQuestion, QuestionSubject};
use crate::catalogue::entry::CatalogEntry;
use crate::confining::containment::CommandContainment;
use crate::events::{CallEventContent, EventKind};
use crate::hooks::HookedCall;
use crate::pipeline::call_context::CallContext;
use crate::state::taint;
use crate::state::taint::Taint;

/// The port of ssh, which does not name its host.
const SSH: u16 = 22;
const PLAN: &str = "In plan mode no command reaches the network.";

/// A running call whose command may connect.
pub(crate) struct ConnectingCall<'a> {
    pub(crate) cx: &'a CallContext<'a>,
    pub(crate) policy: &'a Policy,
    pub(crate) entry: &'a CatalogEntry,
    pub(crate) called: &'a HookedCall,
    /// What was planned and approved.
    pub(crate) effects: &'a [Effect],
}

/// The answers about hosts in this call: allowed, or why not.
type HostAnswers = BTreeMap<String, Result<(), String>>;

impl ConnectingCall<'_> {
    /// Decides until the call is over.
    pub(crate) async fn decide_all(&self, mut asked: Receiver<ConnectionQuestion>) -> Infallible {
        let mut said = HostAnswers::new();
        while let Some(first) = asked.recv().await {
            let mut open = Vec::new();
            let mut next = Some(first);
            while let Some(question) = next {
                match self.at_once(&question, &said) {
                    Some(decision) => question.answer(decision),
                    None => open.push(question),
                }
                next = asked.try_recv().ok();
            }
            if !open.is_empty() {
                self.ask(&open, &mut said).await;
            }
            for question in open {
                let refused = || Decision::Refuse { why: "haft did not decide about it.".to_owned() };
                let decision = self.at_once(&question, &said).unwrap_or_else(refused);
                question.answer(decision);
            }
        }
        std::future::pending().await
    }

    /// Decides where no question is needed.
    fn at_once(&self, question: &ConnectionQuestion, said: &HostAnswers) -> Option<Decision> {
        let ConnectionQuestion { wanted, is_granted, .. } = question;
        let (mode, host) = (self.cx.session.mode(), Host(wanted.host.clone()));
        if mode == Mode::Plan {
            return Some(Decision::Refuse { why: PLAN.to_owned() });
        }
        let is_planned = |effect: &Effect| match effect {
            Effect::Step(CommandStep { does: StepEffect::Connect(Some(planned)), .. }) | Effect::Connect(planned) => {
                *planned == host
            }
            _ => false,
        };
        match said.get(&wanted.host) {
            Some(Ok(())) => return Some(allowed(wanted)),
            Some(Err(why)) => return Some(Decision::Refuse { why: why.clone() }),
            None => {}
        }
        let ruling = self.judge(&host);
        let last_taint = self.last_taint(&ruling, question);
        // Where the settings allow a host at some ports, the words of a command were allowed because of those.
        if self.effects.iter().any(is_planned) && !self.is_by_port(&host) {
            if ruling.decision != decision::Decision::Allow {
                self.cx.note(|notes| notes.hosts_not_granted.insert(wanted.host.clone()));
            }
            return Some(allowed(wanted));
        }
        match ruling.decision {
            // Even if the settings allow it, no person has agreed to that.
            decision::Decision::Allow | decision::Decision::Ask if last_taint.is_some() => None,
            // What has left the machine cannot be discarded, so it is asked about.
            decision::Decision::Allow | decision::Decision::Ask if mode == Mode::Try => None,
            decision::Decision::Allow => Some(allowed_by_rules(wanted)),
            decision::Decision::Ask if *is_granted && ruling.class == decision::Class::Ordinary => {
                Some(allowed_by_rules(wanted))
            }
            decision::Decision::Deny => {
                Some(Decision::Refuse { why: format!("The rule \"{}\" denies it.", ruling.rule) })
            }
            decision::Decision::Ask => None,
        }
    }

    /// Returns what a connection adds, where the session would then have all three of private data, text from outside and a
    /// way out. What the running call has read so far counts.
    fn last_taint(&self, ruling: &Ruling, question: &ConnectionQuestion) -> Option<LastTaint> {
        let mut session = self.cx.session.bits();
        let runs = self.effects.iter().any(|effect| matches!(effect, Effect::Run(_)));
        let around = runs.then(|| CommandContainment::of(&self.cx.session.ground.doors));
        let own = taint::told_by(self.effects, &BTreeSet::new(), around.as_ref());
        session.extend(own.into_iter().filter(|bit| *bit == Taint::Private));
        session.extend((!self.cx.redactor.met().is_empty()).then_some(Taint::Private));
        let is_sent = !question.is_granted && ruling.decision != decision::Decision::Allow;
        let adds: &[Taint] = if is_sent { &[Taint::Untrusted, Taint::Send] } else { &[Taint::Untrusted] };
        taint::last_taint(&session, adds)
    }

    /// Judges a connection by rules about connections and by rules about commands that use the network. A denial of
    /// either counts, then a dangerous question, then what one of them allows.
    fn judge(&self, host: &Host) -> Ruling {
        let does = StepEffect::Connect(Some(host.clone()));
        let (command, folder, words) = (self.line(), Arc::from(""), Arc::from([]));
        let step = Effect::Step(CommandStep { command, folder, part: (0, 0), words, does });
        let [connection, command] = [Effect::Connect(host.clone()), step].map(|effect| self.judge_effects(&[effect]));
        let is_final = |ruling: &Ruling| {
            ruling.decision == decision::Decision::Deny
                || ruling.decision == decision::Decision::Ask && ruling.class == decision::Class::Dangerous
        };
        match (is_final(&connection), is_final(&command)) {
            (true, _) | (_, true) => connection.stricter(command),
            // The words of a command are allowed also where the settings allow the host at another port.
            _ if command.decision == decision::Decision::Allow && !self.is_by_port(host) => command,
            _ => connection,
        }
    }

    /// Returns whether the settings allow a host at some ports only.
    fn is_by_port(&self, host: &Host) -> bool {
        self.policy.hosts().is_some_and(|hosts| hosts.at_some_port(host).is_some())
    }

    fn judge_effects(&self, effects: &[Effect]) -> Ruling {
        let grants = self.cx.session.grants();
        let arguments = Some(&self.called.arguments);
        let situation = Situation { grants: &grants, arguments, ..self.cx.session.mode().into() };
        self.policy.judge(self.entry.native_name(), effects, situation)
    }

    /// Returns the text of the command that runs.
    fn line(&self) -> Arc<str> {
        let line = self.effects.iter().find_map(|effect| match effect {
            Effect::Run(CommandLine(line)) => Some(line.as_str()),
            _ => None,
        });
        Arc::from(line.unwrap_or_default())
    }

    /// Returns the smallest setting that would allow these.
    fn setting(&self, hosts: &[&ConnectionRequest]) -> HostSetting {
        let mut names: Vec<&str> = hosts.iter().map(|wanted| wanted.host.as_str()).collect();
        names.dedup();
        setting_for(&names, self.policy.hosts().map(|hosts| &**hosts as &dyn HostSettings))
    }

    /// Says what waits for which hosts.
    fn preview(&self, hosts: &[&ConnectionRequest], setting: &HostSetting) -> Preview {
        let named: Vec<String> = hosts.iter().map(|wanted| format!("{} (port {})", wanted.host, wanted.port)).collect();
        let belongs = match setting.belongs.as_slice() {
            [] => String::new(),
            belongs => format!(" {}.", belongs.join(", ")),
        };
        let runs = self.effects.iter().any(|effect| matches!(effect, Effect::Run(_)));
        let who = if runs { "The running command waits" } else { "The document is redirected, and the call waits" };
        Preview::Text(format!("{who} to connect to {}.{belongs}", named.join(", ")))
    }

    /// Asks about hosts, and remembers the answer.
    async fn ask(&self, open: &[ConnectionQuestion], said: &mut HostAnswers) {
        let cx = self.cx;
        // One question at a time. When this one is next, a grant may have answered it.
        let _asking = cx.waiting(cx.session.asking.lock()).await;
        let mut open: Vec<&ConnectionQuestion> = open.iter().collect();
        open.retain(|question| self.at_once(question, said).is_none());
        open.dedup_by_key(|question| (&question.wanted.host, question.wanted.port));
        let hosts: Vec<&ConnectionRequest> = open.iter().map(|question| &question.wanted).collect();
        if hosts.is_empty() {
            return;
        }
        let mut effects: Vec<Effect> = hosts.iter().map(|wanted| Effect::Connect(Host(wanted.host.clone()))).collect();
        effects.dedup();
        let effects: Arc<[Effect]> = effects.into();
        let setting = self.setting(&hosts);
        let preview = self.preview(&hosts, &setting);
        let about = QuestionSubject { entry: self.entry, called: self.called, effects: &effects, preview: &preview };
        let taint = |question: &&ConnectionQuestion| {
            self.last_taint(&self.judge(&Host(question.wanted.host.clone())), question)
        };
        let last_taint = open.iter().find_map(taint);
        let question = CallQuestion { cx, policy: self.policy, about, around: None, eviction: None, last_taint };
        let ruling = taints::asked_too(self.judge_effects(&effects), last_taint);
        let reason = ruling.reason.clone();
        let running = |request| ApprovalRequest { is_running: true, ..request };
        let request = running(question.request(ruling.clone()));
        cx.session.note_asked(question.asked_call());
        cx.tell(EventKind::ApprovalAsked, || {
            CallEventContent::ApprovalAsked(Arc::new(running(question.recorded(ruling))))
        });
        let verdict = cx.waiting(cx.session.approver.ask(&request)).await;
        cx.tell(EventKind::ApprovalGiven, || CallEventContent::ApprovalGiven {
            verdict: verdict.clone(),
            scope: question.recorded_scope(&request, &verdict),
        });
        let answer = match verdict {
            Verdict::AllowOnce => Ok(()),
            Verdict::AllowFor(scope) if request.offers.iter().any(|offer| offer.scope == scope) => {
                scope.parts().iter().cloned().for_each(|scope| cx.session.grant(scope));
                Ok(())
            }
            Verdict::AllowFor(_) => Err("The answer was not one of those offered.".to_owned()),
            Verdict::Refuse { note: Some(note) } => Err(format!("The user said no: {note}")),
            Verdict::Refuse { note: None } => Err("The user said no.".to_owned()),
            Verdict::StopTurn => {
                cx.turn.stop.cancel();
                Err("The user stopped the turn.".to_owned())
            }
            Verdict::NoAnswer { .. } | Verdict::NotCovered if last_taint.is_some() => {
                Err(format!("There is no one to ask. {reason}"))
            }
            Verdict::NoAnswer { how } => Err(refused(&setting, &format!("there is no one to ask; {how}"))),
            Verdict::NotCovered => Err(refused(&setting, NOT_COVERED.trim_end_matches('.'))),
        };
        if answer.is_ok() {
            cx.note(|notes| notes.hosts_not_granted.extend(hosts.iter().map(|wanted| wanted.host.clone())));
        }
        said.extend(hosts.iter().map(|wanted| (wanted.host.clone(), answer.clone())));
    }
}

fn refused(setting: &HostSetting, why: &str) -> String {
    let names = setting.names.join(" ");
    format!("no rule allows it, and {why}. The user can allow it with \"haft network allow {names}\": {setting}")
}

/// What is allowed by a person or by the words of the command may speak anything.
fn allowed(wanted: &ConnectionRequest) -> Decision {
    Decision::Allow { raw: wanted.speaks == Speaks::Other, private: false }
}

/// What only rules or settings allow may not hide its host, but for ssh.
fn allowed_by_rules(wanted: &ConnectionRequest) -> Decision {
    Decision::Allow { raw: wanted.speaks == Speaks::Other && wanted.port == SSH, private: false }
}
