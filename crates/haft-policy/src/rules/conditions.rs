//! Conditions of a written rule, all of which must hold.

use std::fmt;

use haft_contract::effect::{Change, CommandStep, Effect, StepEffect};
use haft_contract::files::path::Target;

use serde_json::Value;

use super::arguments::ArgumentPattern;
use super::fit::Fit;
use super::names::{GAP, NamePattern};
use super::paths::{PathPattern, Touch};
use super::words::{FlagPattern, ProgramPattern};
use crate::effect_kind::EffectKind;
use haft_command::path_class::PathClass;
use haft_command::programs::address::host_name;

/// What a written rule is about. All conditions must hold; an empty list holds always, and of the others one is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The native name of the tool.
    pub tools: Vec<NamePattern>,
    /// The sort of effect.
    pub effects: Vec<EffectKind>,
    /// The program and subcommand of a part of a command.
    pub programs: Vec<ProgramPattern>,
    /// Flags of it, one of which is given.
    pub flags: Vec<FlagPattern>,
    /// What is touched.
    pub paths: Vec<PathPattern>,
    /// What is connected to.
    pub hosts: Vec<NamePattern>,
    /// Text in the words of a command, or in a path. Capitals do not matter.
    pub texts: Vec<String>,
    /// What the arguments of the call are. Each must fit.
    pub arguments: Vec<ArgumentPattern>,
}

/// Returns how well the best of several patterns fits; where there is none, everything does.
fn best<T>(patterns: &[T], fit: impl Fn(&T) -> Fit) -> Fit {
    patterns.iter().map(fit).max().unwrap_or(Fit::Exactly)
}

impl Conditions {
    /// Says how well an effect of a call of this tool fits.
    pub fn fit(&self, tool: &str, effect: &Effect) -> Fit {
        best(&self.tools, |name| Fit::exactly_if(name.is(tool))).min(self.fit_of_effect(effect))
    }

    /// Returns whether the arguments of a call fit. Conditions on unknown arguments never fit.
    pub fn fits_arguments(&self, arguments: Option<&Value>) -> bool {
        self.arguments.iter().all(|pattern| arguments.is_some_and(|arguments| pattern.fits(arguments)))
    }

    /// Says how well an effect fits, whichever tool has it.
    fn fit_of_effect(&self, effect: &Effect) -> Fit {
        let sort = best(&self.effects, |sort| Fit::exactly_if(*sort == EffectKind::of(effect)));
        let program = best(&self.programs, |program| program.fit(words(effect)));
        let flags = best(&self.flags, |flag| flag.fit(words(effect)));
        // What hides the subcommand may hide its flags: `git ci`, with a setting that says what that is.
        let flags = if program == Fit::Perhaps { flags.max(Fit::Perhaps) } else { flags };
        let path = best(&self.paths, |path| self.fit_of_path(path, effect));
        let host = best(&self.hosts, |host| fit_of_host(host, effect));
        let text = best(&self.texts, |text| fit_of_text(text, effect));
        [sort, program, flags, path, host, text].into_iter().min().unwrap_or(Fit::Not)
    }

    fn fit_of_path(&self, path: &PathPattern, effect: &Effect) -> Fit {
        let Some((target, touch)) = touched(effect) else {
            return match effect {
                Effect::Step(CommandStep { does: StepEffect::ReadUnknown | StepEffect::ChangeUnknown(_), .. }) => {
                    Fit::Perhaps
                }
                _ => Fit::Not,
            };
        };
        // What is wider than its words, or a secret that the rule does not name, is no part of a permission.
        let is_named = !self.effects.is_empty() || PathClass::of(target) != PathClass::Secret;
        let most = if is_named && is_well_known(effect, target) { Fit::Exactly } else { Fit::Loosely };
        path.fit(target, touch).min(most)
    }

    /// Returns whether a call of this tool is meant as such, whatever it would touch.
    pub fn is_of_tool(&self, tool: &str) -> bool {
        let rest = Conditions { tools: Vec::new(), arguments: Vec::new(), ..self.clone() };
        let says_something = !self.tools.is_empty() || !self.arguments.is_empty();
        let is_meant = self.tools.is_empty() || self.tools.iter().any(|name| name.is(tool));
        rest == Conditions::default() && says_something && is_meant
    }

    /// Returns whether it is about the words of commands.
    pub fn is_about_commands(&self) -> bool {
        !self.programs.is_empty() || !self.flags.is_empty()
    }
}

/// Says what a rule is about, as its file says it.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn either<'t>(texts: impl Iterator<Item = &'t str>) -> String {
            texts.collect::<Vec<_>>().join(" or ")
        }
        let programs: Vec<String> = self.programs.iter().map(ProgramPattern::text).collect();
        let arguments: Vec<String> = self.arguments.iter().map(ArgumentPattern::text).collect();
        let all = [
            ("tool", either(self.tools.iter().map(NamePattern::text))),
            ("effect", either(self.effects.iter().map(|sort| sort.name()))),
            ("program", programs.join(" or ")),
            ("flag", either(self.flags.iter().map(FlagPattern::text))),
            ("path", either(self.paths.iter().map(PathPattern::text))),
            ("host", either(self.hosts.iter().map(NamePattern::text))),
            ("text", either(self.texts.iter().map(String::as_str))),
            ("argument", arguments.join(" and ")),
        ];
        let told: Vec<String> = all
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
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
            StepEffect::Read(target) | StepEffect::Change(target, Change::Replace | Change::Remove) => {
                Some((target, Touch::Whole))
            }
            StepEffect::Change(target, Change::Create) => Some((target, Touch::Made)),
            StepEffect::List(target) => Some((target, Touch::Listed)),
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
        Effect::Connect(name) => host.fit(&host_name(&name.0)),
        Effect::Step(step) => match &step.does {
            StepEffect::Connect(Some(name)) => host.fit(&host_name(&name.0)),
            // Where it goes is known only when it runs, or to a setting.
            StepEffect::Connect(None) | StepEffect::Publish(_) | StepEffect::Serve(_) | StepEffect::SendHere(_) => {
                Fit::Perhaps
            }
            _ => Fit::Not,
        },
        _ => Fit::Not,
    }
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
