//! What a written rule is about: several conditions, all of which must hold.

use std::fmt;

use haft_contract::effect::{Change, Does, Effect, Host, Step};
use haft_contract::path::Target;

use super::fit::Fit;
use super::names::{GAP, NamePattern};
use super::paths::{PathPattern, Touch};
use super::words::{FlagPattern, ProgramPattern};
use crate::command::programs::address::normal;
use crate::rule::EffectSort;
use crate::zone::Zone;

/// What a written rule is about. A condition that is missing holds always; there is at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The native name of the tool.
    pub tool: Option<NamePattern>,
    /// The sort of effect.
    pub effect: Option<EffectSort>,
    /// The program and subcommand of a part of a command.
    pub program: Option<ProgramPattern>,
    /// Flags of it, one of which is given; empty for any.
    pub flags: Vec<FlagPattern>,
    /// What is touched.
    pub path: Option<PathPattern>,
    /// What is connected to.
    pub host: Option<NamePattern>,
    /// Text in the words of a command, or in a path. Capitals do not matter.
    pub text: Option<String>,
}

impl Conditions {
    /// Says how well an effect of a call of this tool fits.
    pub fn fit(&self, tool: &str, effect: &Effect) -> Fit {
        let tool = self.tool.as_ref().map_or(Fit::Exactly, |name| Fit::exactly_if(name.is(tool)));
        tool.min(self.fit_of_effect(effect))
    }

    /// Says how well an effect fits, whichever tool has it.
    fn fit_of_effect(&self, effect: &Effect) -> Fit {
        let sort = self.effect.map_or(Fit::Exactly, |sort| Fit::exactly_if(sort == EffectSort::of(effect)));
        let program = self.program.as_ref().map_or(Fit::Exactly, |program| program.fit(words(effect)));
        let flags = self.flags.iter().map(|flag| flag.fit(words(effect))).max().unwrap_or(Fit::Exactly);
        // What hides the subcommand may hide its flags: `git ci`, with a setting that says what that is.
        let flags = if program == Fit::Perhaps { flags.max(Fit::Perhaps) } else { flags };
        let path = self.path.as_ref().map_or(Fit::Exactly, |path| self.fit_of_path(path, effect));
        let host = self.host.as_ref().map_or(Fit::Exactly, |host| fit_of_host(host, effect));
        let text = self.text.as_ref().map_or(Fit::Exactly, |text| fit_of_text(text, effect));
        [sort, program, flags, path, host, text].into_iter().min().unwrap_or(Fit::Not)
    }

    fn fit_of_path(&self, path: &PathPattern, effect: &Effect) -> Fit {
        let Some((target, touch)) = touched(effect) else {
            return match effect {
                Effect::Step(Step { does: Does::ReadUnknown | Does::ChangeUnknown(_), .. }) => Fit::Perhaps,
                _ => Fit::Not,
            };
        };
        // What is wider than its words, or a secret that nobody has spoken of, is no part of a permission.
        let is_named = self.effect.is_some() || Zone::of(target) != Zone::Secret;
        let most = if is_named && is_well_known(effect, target) { Fit::Exactly } else { Fit::Loosely };
        path.fit(target, touch).min(most)
    }

    /// Returns whether a call is meant by its tool alone, whatever it would touch.
    pub fn is_of_tool(&self, tool: &str) -> bool {
        let rest = Conditions { tool: None, ..self.clone() };
        rest == Conditions::default() && self.tool.as_ref().is_some_and(|name| name.is(tool))
    }

    /// Returns whether it is about the words of commands.
    pub fn is_about_commands(&self) -> bool {
        self.program.is_some() || !self.flags.is_empty()
    }
}

/// Says what a rule is about, as its file says it.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags: Vec<&str> = self.flags.iter().map(FlagPattern::text).collect();
        let all = [
            ("tool", self.tool.as_ref().map(|name| name.text().to_owned())),
            ("effect", self.effect.map(|sort| sort.name().to_owned())),
            ("program", self.program.as_ref().map(ProgramPattern::text)),
            ("flag", Some(flags.join(" or ")).filter(|flags| !flags.is_empty())),
            ("path", self.path.as_ref().map(|path| path.text().to_owned())),
            ("host", self.host.as_ref().map(|host| host.text().to_owned())),
            ("text", self.text.clone()),
        ];
        let told: Vec<String> = all.into_iter().filter_map(|(key, value)| Some(format!("{key} {}", value?))).collect();
        f.write_str(&told.join(", "))
    }
}

fn words(effect: &Effect) -> &[String] {
    match effect {
        Effect::Step(step) => &step.words,
        _ => &[],
    }
}

fn target(effect: &Effect) -> Option<&Target> {
    touched(effect).map(|(target, _)| target)
}

fn touched(effect: &Effect) -> Option<(&Target, Touch)> {
    match effect {
        Effect::Read(target) | Effect::Change(target, _) | Effect::PlantRepository(target) => {
            Some((target, Touch::Named))
        }
        Effect::ChangeFollowed(change) => Some((&change.target, Touch::Named)),
        Effect::Step(step) => match &step.does {
            Does::Read(target) | Does::Change(target, Change::Replace | Change::Remove) => Some((target, Touch::Whole)),
            Does::Change(target, Change::Create) => Some((target, Touch::Made)),
            Does::List(target) => Some((target, Touch::Listed)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether a target of a command is known, or found by a pattern that stands in its words. What comes out of a
/// variable may lead up again (`build/$X`).
fn is_well_known(effect: &Effect, target: &Target) -> bool {
    let has_gap = matches!(effect, Effect::Step(_)) && target.place().path().to_string_lossy().contains('*');
    let words = words(effect);
    !has_gap || (words.iter().any(|word| word.contains('*')) && !words.iter().any(|word| word.contains(GAP)))
}

fn fit_of_host(host: &NamePattern, effect: &Effect) -> Fit {
    match effect {
        Effect::Connect(name) => host.fit(&plain(name)),
        Effect::Step(step) => match &step.does {
            Does::Connect(Some(name)) => host.fit(&plain(name)),
            // Where it goes is known only when it runs, or to a setting.
            Does::Connect(None) | Does::Publish(_) | Does::Serve(_) | Does::SendHere(_) => Fit::Perhaps,
            _ => Fit::Not,
        },
        _ => Fit::Not,
    }
}

/// The name of a host without user, port and the dot at its end, in small letters; an address in its one form.
fn plain(host: &Host) -> String {
    let name = host.0.rsplit('@').next().unwrap_or_default();
    let name = match name.strip_prefix('[').and_then(|name| name.split_once(']')) {
        Some((address, _)) => address,
        // An address with several colons has no port that could be told from it.
        None if name.matches(':').count() == 1 => name.split(':').next().unwrap_or_default(),
        None => name,
    };
    normal(&name.trim_end_matches('.').to_lowercase())
}

fn fit_of_text(text: &str, effect: &Effect) -> Fit {
    let text = text.to_lowercase();
    let is_in = |place: &str| place.to_lowercase().contains(&text);
    if is_in(&words(effect).join(" ")) || target(effect).is_some_and(|target| is_in(&target.to_string())) {
        return Fit::Exactly;
    }
    // Whatever the text is, a gap may be it.
    let has_gap = words(effect).iter().any(|word| word.contains(GAP));
    if has_gap { Fit::Perhaps } else { Fit::Not }
}
