//! The rules of this run: haft reads them once at the start, so later changes have no effect on them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_config::file::Mistake;
use haft_config::rules::{self, FiledRule, Mistakes};
use haft_config::settings::Settings;
use haft_policy::policy::Policy;
use haft_policy::rule::Rule;
use haft_policy::rules::draft::RuleCheckContext;
use haft_policy::rules::examples::ExampleReader;
use haft_policy::rules::paths::Roots;

use super::hosts::HostsOfSettings;
use crate::notices::Notices;

/// The rules that people have written.
#[derive(Debug, Default)]
pub struct Rulebook {
    /// The user's own.
    pub own: Vec<FiledRule>,
    /// Those of a project that is trusted.
    pub project: Vec<FiledRule>,
    /// Files of the workspace that trusted code names.
    pub named: BTreeSet<PathBuf>,
    /// What holds besides, because of where calls run.
    pub besides: Vec<Rule>,
    /// The hosts of the settings.
    pub hosts: Option<Arc<HostsOfSettings>>,
}

impl Rulebook {
    /// Reads the user's file, and the text of a project's. A mistake in either stops the start.
    pub fn load(
        settings: &Settings,
        workspace: &Path,
        project: Option<(&Path, &str)>,
        notices: &dyn Notices,
    ) -> anyhow::Result<Self> {
        let tools = tools();
        let roots = Roots { home: settings.surroundings.home.clone(), workspace: Some(workspace.to_owned()) };
        let known = RuleCheckContext { tools: &tools, roots: &roots, reader: ExampleReader::default() };
        let own = rules::load(&settings.environment.rules_file(), known)?;
        let project = match project {
            None => Vec::new(),
            Some((file, text)) => {
                let (tightening, left_out) = rules::of_project(rules::parse(file, text, known)?);
                left_out.iter().for_each(|mistake| notices.note(&format!("note: haft skips a rule: {mistake}")));
                tightening
            }
        };
        Ok(Self { own, project, ..Self::default() })
    }

    /// Reads what can be read of both files, for commands that must work with broken settings too; returns the mistakes.
    pub fn salvage(settings: &Settings, workspace: &Path, project: Option<(&Path, &str)>) -> (Self, Vec<Mistake>) {
        let tools = tools();
        let roots = Roots { home: settings.surroundings.home.clone(), workspace: Some(workspace.to_owned()) };
        let known = RuleCheckContext { tools: &tools, roots: &roots, reader: ExampleReader::default() };
        let mut mistakes = Vec::new();
        let mut read = |rules: Result<Vec<FiledRule>, Mistakes>| {
            rules.unwrap_or_else(|Mistakes(found)| {
                mistakes.extend(found);
                Vec::new()
            })
        };
        let own = read(rules::load(&settings.environment.rules_file(), known));
        let project = project.map(|(file, text)| read(rules::parse(file, text, known))).unwrap_or_default();
        let project = rules::of_project(project).0;
        (Self { own, project, ..Self::default() }, mistakes)
    }

    /// Returns the judge.
    pub fn policy(&self) -> Policy {
        let written = self.own.iter().chain(&self.project);
        let rules = written.map(|filed| filed.written.rule.clone()).chain(self.besides.iter().cloned());
        let policy = Policy::default().with_rules(rules).protecting(self.named.iter().cloned());
        match &self.hosts {
            Some(hosts) => policy.with_hosts(hosts.clone()),
            None => policy,
        }
    }
}

/// Finds everything that is wrong with the text of a file of rules.
pub fn mistakes_in(file: &Path, text: &str, settings: &Settings) -> Mistakes {
    let tools = tools();
    let is_of_project = file.parent().is_some_and(|folder| folder.ends_with(haft_workspace::project::FOLDER));
    let roots = Roots { home: settings.surroundings.home.clone(), workspace: None };
    let known = RuleCheckContext { tools: &tools, roots: &roots, reader: ExampleReader::default() };
    match rules::parse(file, text, known) {
        Ok(rules) if is_of_project => Mistakes(rules::of_project(rules).1),
        Ok(_) => Mistakes(Vec::new()),
        Err(mistakes) => mistakes,
    }
}

fn tools() -> Vec<String> {
    haft_tools::names().into_iter().map(str::to_owned).collect()
}
