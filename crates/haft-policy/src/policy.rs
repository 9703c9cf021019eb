//! The judge: all rules over all effects of a call, the strictest wins.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::doors::history::Eviction;
use haft_contract::doors::process::Disposition;
use haft_contract::effect::{Change, CommandStep, Effect, StepEffect};
use serde_json::Value;

use crate::containment::Containment;
use crate::decision::{Class, Decision, Ruling};
use crate::effect_kind::EffectKind;
use crate::full_journal;
use crate::grant::GrantScope;
use crate::hosts::{HostSettings, host_of};
use crate::named::NamedFiles;
use crate::rule::{Rule, defaults};
use crate::taints::{self, LastTaint};
use haft_command::path_class::{PathClass, temporary_folder_of};

/// All rules that hold.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The default ones.
    defaults: Vec<Rule>,
    /// Those that were added.
    rules: Vec<Rule>,
    /// Files of the workspace that trusted code names.
    named: NamedFiles,
    /// What the settings say of hosts.
    hosts: Option<Arc<dyn HostSettings>>,
}

/// Whether calls may change anything, and whether the changes of commands are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are, by the rules.
    #[default]
    Normal,
    /// Calls change nothing: haft refuses changes, and shows and discards what commands change.
    Plan,
    /// As normal, but haft shows and discards what commands change, so that it needs no question.
    Try,
}

impl Mode {
    /// Returns what becomes of what a command changes.
    pub fn settling(self) -> Disposition {
        match self {
            Mode::Normal => Disposition::Commit,
            Mode::Plan | Mode::Try => Disposition::Discard,
        }
    }
}

/// What holds at the moment of judging.
#[derive(Clone, Copy, Debug, Default)]
pub struct Situation<'a> {
    /// Whether changes are possible at all.
    pub mode: Mode,
    /// What was granted in the session.
    pub grants: &'a [GrantScope],
    /// Whether commands are contained here.
    pub contained: Containment,
    /// Whether commands reach hosts by name, and each connection is judged when it is made.
    pub by_name: bool,
    /// The home, where what commands see there is the session's own, as their folders for temporary files are.
    pub own_home: Option<&'a Path>,
    /// Paths that a call would remove from there and that the user's own home does not have.
    pub not_in_home: &'a [PathBuf],
    /// The change sets that a change would cost, because the journal is full.
    pub eviction: Option<Eviction>,
    /// What a call would add to a session that then has read private data and text from outside, and has a way out.
    pub last_taint: Option<LastTaint>,
    /// The arguments of the call, under haft's own names. If they are unknown, rules about arguments say nothing.
    pub arguments: Option<&'a Value>,
}

impl Situation<'_> {
    /// Returns the situation of a call with these effects.
    fn of_call(self, effects: &[Effect]) -> Self {
        let contained = if self.by_name { self.contained } else { self.contained.of_call(effects) };
        Self { contained, ..self }
    }

    /// Returns whether a part of a command reads or changes only what the session itself has made.
    pub fn is_of_session(self, effect: &Effect) -> bool {
        self.own_folder(effect, EffectKind::of(effect)).is_some()
    }

    /// Returns which folder of the session a part of a command reads or changes, if it is one; as commands name it.
    ///
    /// What is removed from the home and is there for the user too, and names in it that are secret or make programs run,
    /// are judged by their words: in another place they would mean the user's.
    fn own_folder(self, effect: &Effect, sort: EffectKind) -> Option<&'static str> {
        let home = self.own_home.filter(|_| self.contained < Containment::WithoutSandbox)?;
        let Effect::Step(step) = effect else { return None };
        let (target, is_read) = match &step.does {
            StepEffect::Read(target) | StepEffect::List(target) => (target, true),
            StepEffect::Change(target, Change::Create | Change::Replace) => (target, false),
            StepEffect::Change(target, Change::Remove)
                if sort == EffectKind::CommandChangesTemporary
                    || PathClass::of(target) == PathClass::Secret
                    || self.not_in_home.iter().any(|path| path == target.place().path()) =>
            {
                (target, false)
            }
            _ => return None,
        };
        let path = target.place().path();
        match (PathClass::of(target), sort) {
            (PathClass::Temporary, EffectKind::CommandChangesTemporary) => temporary_folder_of(path),
            // What has a secret's name there was made by the session.
            (PathClass::Secret, EffectKind::CommandRevealsSecret | EffectKind::CommandChangesOutside) => {
                temporary_folder_of(path).filter(|_| !target.is_inside())
            }
            (PathClass::Elsewhere, EffectKind::CommandReadsElsewhere | EffectKind::CommandChangesOutside) => {
                let below = path.strip_prefix("~").or_else(|_| path.strip_prefix(home)).ok()?;
                let is_known = !below.to_string_lossy().contains('*');
                (is_known && (is_read || below.components().next().is_some())).then_some("home")
            }
            _ => None,
        }
    }
}

impl From<Mode> for Situation<'_> {
    fn from(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self { defaults: defaults(), rules: Vec::new(), named: NamedFiles::default(), hosts: None }
    }
}

impl Policy {
    /// Adds rules. What they ask or deny makes things stricter, from any source. What they allow answers an ordinary
    /// question of the default rules, and nothing else.
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Protects files of the workspace that trusted code names: a change of one changes what is run.
    pub fn protecting(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.named.extend(files);
        self
    }

    /// Lets the settings speak about hosts, as rules do: what they allow answers an ordinary question, what they deny wins.
    pub fn with_hosts(mut self, hosts: Arc<dyn HostSettings>) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// Returns what the settings say of hosts.
    pub fn hosts(&self) -> Option<&Arc<dyn HostSettings>> {
        self.hosts.as_ref()
    }

    /// Judges the name of a tool, known or not, and the arguments of the call.
    pub fn judge_tool(&self, tool: &str, arguments: Option<&Value>) -> Option<Ruling> {
        // The default ones speak about effects.
        self.rules_about(arguments).filter_map(|rule| rule.on_tool(tool)).reduce(Ruling::stricter)
    }

    /// Returns the added rules that say nothing of arguments, or that fit these.
    fn rules_about<'a>(&'a self, arguments: Option<&'a Value>) -> impl Iterator<Item = &'a Rule> {
        self.rules.iter().filter(move |rule| rule.fits_arguments(arguments))
    }

    /// Judges a call by what it would touch. An effect that no rule knows is asked about.
    pub fn judge(&self, tool: &str, effects: &[Effect], situation: Situation<'_>) -> Ruling {
        let by_effect = self.judge_each(tool, effects, situation).into_iter().map(|(_, ruling)| ruling);
        let judged = self.judge_tool(tool, situation.arguments).into_iter().chain(by_effect).reduce(Ruling::stricter);
        let judged = judged.unwrap_or_else(touches_nothing);
        let judged = full_journal::asked_too(judged, effects, situation.of_call(effects));
        taints::asked_too(judged, situation.last_taint)
    }

    /// Returns the effects of a call of this tool that still need a yes, each with its ruling.
    pub fn open_questions<'a>(
        &self,
        tool: &str,
        effects: &'a [Effect],
        situation: Situation<'_>,
    ) -> Vec<(&'a Effect, Ruling)> {
        let mut open = self.judge_each(tool, effects, situation);
        open.retain(|(_, ruling)| ruling.decision != Decision::Allow);
        open
    }

    /// Judges the effects of a call of this tool one by one, each as a part of the call.
    pub fn judge_each<'a>(
        &self,
        tool: &str,
        effects: &'a [Effect],
        situation: Situation<'_>,
    ) -> Vec<(&'a Effect, Ruling)> {
        let situation = situation.of_call(effects);
        let told = first_step(effects);
        let judge = |effect: &'a Effect| match (effect, told) {
            (Effect::Run(_), Some(told)) => Some((effect, self.judge_told(tool, (effect, told), situation)?)),
            _ => Some((effect, self.judge_effect(tool, (effect, effects), situation))),
        };
        effects.iter().filter_map(judge).collect()
    }

    /// Returns the grants that would answer everything that is open about a call, the narrowest first.
    ///
    /// None where a person has to say yes each time, or where the tool itself is asked about.
    pub fn offers(&self, tool: &str, effects: &[Effect], situation: Situation<'_>) -> Vec<GrantScope> {
        let open = self.open_questions(tool, effects, situation);
        // A command that is told has its folder in its parts.
        let told = |effect| matches!(effect, &Effect::Run(_)).then(|| first_step(effects)).flatten().unwrap_or(effect);
        let open: Vec<&Effect> = open.into_iter().map(|(effect, _)| told(effect)).collect();
        let contained = situation.of_call(effects).contained;
        let mut offers = GrantScope::offered_for(&open, contained);
        offers.retain(|scope| self.would_allow(scope, (tool, effects), situation));
        offers
    }

    /// Returns whether a call would run unasked if this were granted, too.
    pub fn would_allow(
        &self,
        scope: &GrantScope,
        (tool, effects): (&str, &[Effect]),
        situation: Situation<'_>,
    ) -> bool {
        let grants: Vec<GrantScope> = situation.grants.iter().chain([scope]).cloned().collect();
        self.judge(tool, effects, Situation { grants: &grants, ..situation }).decision == Decision::Allow
    }

    /// Judges the running of a command whose parts are told. They stand for the default rule about it, and not for a
    /// user's rules about running commands.
    fn judge_told(&self, tool: &str, (run, told): (&Effect, &Effect), situation: Situation<'_>) -> Option<Ruling> {
        let rules = self.rules_about(situation.arguments);
        let stricter = rules.filter(|rule| rule.decision != Decision::Allow);
        let sort = EffectKind::of(run);
        let judged = stricter.filter_map(|rule| rule.on_effect(tool, run, sort)).reduce(Ruling::stricter)?;
        let is_granted = situation.grants.iter().any(|grant| grant.is_of_command(told))
            || is_thrown_away(situation.mode, told, situation.contained);
        Some(if judged.is_ordinary_question() && is_granted { judged.granted() } else { judged })
    }

    fn judge_effect(&self, tool: &str, (effect, all): (&Effect, &[Effect]), situation: Situation<'_>) -> Ruling {
        let Situation { mode, grants, contained, .. } = situation;
        let judged = self.judge_by_rules(tool, (effect, all), situation);
        if is_too_much_for(mode, effect) {
            return judged.stricter(nothing_is_kept(mode, effect));
        }
        // A grant answers an ordinary question. It never loosens a denial, and the dangerous class is asked each time.
        let is_granted = || grants.iter().any(|grant| grant.covers(effect, contained));
        let needs_no_yes = || is_thrown_away(mode, effect, contained) || is_granted();
        if judged.is_ordinary_question() && needs_no_yes() { judged.granted() } else { judged }
    }

    /// Returns what the settings say of the host of an effect.
    fn by_settings(&self, effect: &Effect) -> Option<Ruling> {
        let (hosts, host) = (self.hosts.as_ref()?, host_of(effect)?);
        let at_some_port = || hosts.at_some_port(host).filter(|_| matches!(effect, Effect::Step(_)));
        hosts.opinion(host).or_else(at_some_port).map(Ruling::from)
    }

    /// Judges by all rules: the default ones first, then those that make it stricter, then, where an ordinary question
    /// of a default rule is left, those that allow.
    fn judge_by_rules(&self, tool: &str, (effect, all): (&Effect, &[Effect]), situation: Situation<'_>) -> Ruling {
        let Situation { contained, by_name, .. } = situation;
        // Finding the sort looks at paths, so it is done once for all rules.
        let sort = sort_where_declared(self.named.sort_of(effect), (effect, all));
        let opinion = |rule: &Rule| rule.on_effect(tool, effect, sort);
        let by_default = self.defaults.iter().filter_map(opinion).reduce(Ruling::stricter);
        let mut by_default = by_default.unwrap_or_else(|| no_rule_knows(effect));
        if let Some(folder) = situation.own_folder(effect, sort).filter(|_| !is_declared(all)) {
            by_default = of_session(effect, folder);
        }
        if rests_on_containment(effect, sort, contained) {
            by_default = by_default.stricter(not_contained(effect, contained));
        }
        // Which hosts it means is known when it connects, and is judged then. The machine itself is the sandbox.
        if by_name && by_default.is_ordinary_question() && (is_connection_without_host(effect) || stays_here(effect)) {
            by_default = by_default.granted();
        }
        by_default.reason.push_str(self.named.why(effect).unwrap_or_default());
        let (allowing, others): (Vec<Ruling>, Vec<Ruling>) = self
            .rules_about(situation.arguments)
            .filter_map(opinion)
            .chain(self.by_settings(effect))
            .partition(|ruling| ruling.decision == Decision::Allow);
        let is_answerable = by_default.is_ordinary_question()
            && sort.is_answerable()
            && (by_name || !gets_network_of_another(effect, all));
        match (others.into_iter().reduce(Ruling::stricter), allowing.into_iter().next()) {
            // Written rules go before the default ones.
            (Some(added), _) => added.stricter(by_default),
            (None, Some(allowing)) if is_answerable => allowing,
            (None, _) => by_default,
        }
    }
}

/// Returns whether a command may do this unasked only because it is contained: what it creates can be taken back, and
/// the folders for temporary files that it sees are its own.
fn rests_on_containment(effect: &Effect, sort: EffectKind, contained: Containment) -> bool {
    match (sort, contained) {
        (_, Containment::Contained) => false,
        (EffectKind::CommandCreatesInside, _) => true,
        (EffectKind::CommandReadsSystem, Containment::WithoutSandbox) => looks_at_temporary(effect),
        _ => false,
    }
}

fn is_connection_without_host(effect: &Effect) -> bool {
    matches!(effect, Effect::Step(CommandStep { does: StepEffect::Connect(None), .. }))
}

fn stays_here(effect: &Effect) -> bool {
    matches!(effect, Effect::Step(step) if step.does.stays_here())
}

/// Returns whether a tool declared its effects. The sandbox shows it what it declares to read: the user's own files, also
/// in the home and in the folders for temporary files.
pub fn is_declared(all: &[Effect]) -> bool {
    all.iter().any(|effect| matches!(effect, Effect::Step(CommandStep { does: StepEffect::NothingElse, .. })))
}

/// Returns the sort of an effect, beside the other effects of the call.
fn sort_where_declared(sort: EffectKind, (effect, all): (&Effect, &[Effect])) -> EffectKind {
    let is_users = sort == EffectKind::CommandReadsSystem && looks_at_temporary(effect) && is_declared(all);
    if is_users { EffectKind::CommandReadsElsewhere } else { sort }
}

/// What a command does in folders that only this session has changes nothing of the user's.
fn of_session(effect: &Effect, folder: &str) -> Ruling {
    Ruling {
        decision: Decision::Allow,
        class: Class::Ordinary,
        rule: "folders of the session".to_owned(),
        reason: format!("It would {effect}, in the session's own {folder}."),
        instead: String::new(),
    }
}

fn looks_at_temporary(effect: &Effect) -> bool {
    let Effect::Step(step) = effect else { return false };
    matches!(&step.does, StepEffect::Read(target) | StepEffect::List(target) if PathClass::of(target) == PathClass::Temporary)
}

/// Returns whether an effect would stay although nothing is to be kept. The door discards the changes of a command to
/// files; it cannot discard what has left the machine.
fn is_too_much_for(mode: Mode, effect: &Effect) -> bool {
    match (mode, effect) {
        (Mode::Normal, _) | (_, Effect::Run(_)) => false,
        (Mode::Plan, effect) => effect.changes() || effect.gives_network(),
        (Mode::Try, Effect::Step(step)) => matches!(step.does, StepEffect::Publish(_)),
        (Mode::Try, _) => false,
    }
}

/// Returns whether haft discards all that a part of a command could leave behind, so that there is nothing to say yes to.
/// What it reads elsewhere has been read, and what it does to other processes or over the network has been done.
fn is_thrown_away(mode: Mode, effect: &Effect, contained: Containment) -> bool {
    let is_discarded = match EffectKind::of(effect) {
        EffectKind::CommandChangesSecret
        | EffectKind::CommandNotUnderstood
        | EffectKind::CommandChangesSettings
        | EffectKind::CommandChangesHistory
        | EffectKind::CommandPrints => contained == Containment::Contained,
        _ => GrantScope::Contained.covers(effect, contained),
    };
    mode == Mode::Try && is_discarded
}

/// Returns whether a part runs code with the network that another part of the command needs. A rule that allows each of
/// them does not allow that.
fn gets_network_of_another(effect: &Effect, all: &[Effect]) -> bool {
    let Effect::Step(step) = effect else { return false };
    let runs_code = matches!(
        EffectKind::of(effect),
        EffectKind::CommandRunsCode | EffectKind::CommandRunsUnknownProgram | EffectKind::CommandNotUnderstood
    );
    let is_of_another = |other: &&Effect| matches!(other, Effect::Step(other) if other.part != step.part);
    let has_own = all.iter().any(|other| !is_of_another(&other) && other.gives_network());
    runs_code && !has_own && all.iter().filter(is_of_another).any(Effect::gives_network)
}

/// A command whose parts are told is judged by them.
fn first_step(effects: &[Effect]) -> Option<&Effect> {
    effects.iter().find(|effect| matches!(effect, Effect::Step(_)))
}

fn touches_nothing() -> Ruling {
    Ruling {
        decision: Decision::Allow,
        class: Class::Ordinary,
        rule: "no effects".to_owned(),
        reason: "It touches nothing.".to_owned(),
        instead: String::new(),
    }
}

fn no_rule_knows(effect: &Effect) -> Ruling {
    Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "unknown effect".to_owned(),
        reason: format!("It would {effect}, which no rule covers."),
        instead: "ask the user to allow it".to_owned(),
    }
}

/// What cannot be undone, or is only harmless in a sandbox, is at least asked about.
fn not_contained(effect: &Effect, contained: Containment) -> Ruling {
    let instead = match looks_at_temporary(effect) {
        true => "use files of the workspace, or ask the user to allow it",
        false => "use \"write_file\", or ask the user to allow it",
    };
    Ruling {
        decision: Decision::Ask,
        class: Class::Ordinary,
        rule: "not contained".to_owned(),
        reason: format!("It would {effect}, and {contained}."),
        instead: instead.to_owned(),
    }
}

fn nothing_is_kept(mode: Mode, effect: &Effect) -> Ruling {
    let (rule, why, instead) = match mode {
        Mode::Try => (
            "try mode",
            "data that has left the machine cannot be discarded",
            "leave that part out, or let the user run it without --try",
        ),
        Mode::Normal | Mode::Plan => (
            "plan mode",
            "nothing is changed in plan mode",
            "describe the change instead, and let the user leave plan mode",
        ),
    };
    Ruling {
        decision: Decision::Deny,
        class: Class::Ordinary,
        rule: rule.to_owned(),
        reason: format!("It would {effect}, and {why}."),
        instead: instead.to_owned(),
    }
}

#[cfg(test)]
mod tests;
