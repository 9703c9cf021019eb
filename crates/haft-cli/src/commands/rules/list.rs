//! `haft rules list`: lists the active rules, the strictest first.

use haft_config::rules::FiledRule;
use haft_policy::decision::{Class, Decision};
use haft_policy::rule::{Rule, defaults};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText, safe};
use haft_host::opening::loaded_workspace::LoadedWorkspace;
use haft_host::opening::project_files::OnUntrusted;

/// A rule with its source.
struct ListedRule {
    rule: Rule,
    place: Option<(String, usize)>,
    from: &'static str,
}

/// Runs the command.
pub(super) fn run(common: &Common) -> anyhow::Result<Exit> {
    let LoadedWorkspace { rulebook, .. } = LoadedWorkspace::open(&common.options(), OnUntrusted::Report)?;
    let mut all: Vec<ListedRule> =
        defaults().into_iter().map(|rule| ListedRule { rule, place: None, from: "built in" }).collect();
    all.extend(rulebook.own.into_iter().map(|filed| ListedRule::of(filed, "user")));
    all.extend(rulebook.project.into_iter().map(|filed| ListedRule::of(filed, "project")));
    // Written rules go before ours, in the order in which they were written.
    all.sort_by_key(|listed| (std::cmp::Reverse((listed.rule.decision, listed.rule.class)), listed.place.is_none()));
    if common.json {
        let records: Vec<Value> = all.iter().map(ListedRule::record).collect();
        screen::record(&Value::from(records).to_string())?;
        return Ok(Exit::Ok);
    }
    let width =
        |text: fn(&ListedRule) -> String| all.iter().map(|listed| text(listed).chars().count()).max().unwrap_or(0);
    let (names, abouts) = (width(ListedRule::name), width(ListedRule::about));
    for listed in &all {
        let decision = format!("{:<5}", listed.rule.decision.code());
        let decision = match listed.rule.decision {
            Decision::Deny => StyledText::Bad(&decision),
            Decision::Ask => StyledText::Strong(&decision),
            Decision::Allow => StyledText::Good(&decision),
        };
        let middle = format!("  {:<names$}  {:<abouts$}  ", listed.name(), listed.about());
        screen::line(&[decision, StyledText::Plain(&middle), StyledText::Faint(&listed.origin())])?;
    }
    Ok(Exit::Ok)
}

impl ListedRule {
    fn of(filed: FiledRule, from: &'static str) -> Self {
        Self { rule: filed.written.rule, place: Some((filed.file.display().to_string(), filed.line)), from }
    }

    fn name(&self) -> String {
        safe(&self.rule.name).into_owned()
    }

    fn about(&self) -> String {
        safe(&self.rule.matches.to_string()).into_owned()
    }

    fn origin(&self) -> String {
        let place = match &self.place {
            Some((file, line)) => format!("{file}:{line}"),
            None => self.from.to_owned(),
        };
        let each_time = self.rule.class == Class::Dangerous;
        if each_time { format!("{place} (asked each time)") } else { place }
    }

    fn record(&self) -> Value {
        let mut record = json!({
            "name": self.rule.name,
            "decision": self.rule.decision.code(),
            "dangerous": self.rule.class == Class::Dangerous,
            "about": self.rule.matches.to_string(),
            "from": self.from,
        });
        if let Some((file, line)) = &self.place {
            record["file"] = json!(file);
            record["line"] = json!(line);
            record["reason"] = json!(self.rule.reason);
            record["instead"] = json!(self.rule.instead);
        }
        record
    }
}
