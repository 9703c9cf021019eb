//! Everyday sessions of developers and of agents, and how many questions haft would ask in them.
//!
//! Users switch off a judge that asks too often. So this counts the questions of ordinary sessions, for a person who
//! approves and takes the longer approval that is offered. Agents write differently from people: they repeat the
//! folder, chain commands, limit their output, write files with here-documents and try things in one line.

use std::path::Path;

use haft_contract::effect::Effect;
use haft_policy::containment::Containment;
use haft_policy::decision::Decision;
use haft_policy::examples::steps_in_scene;
use haft_policy::grant::GrantScope;
use haft_policy::policy::{Mode, Policy, Situation};

const TOOL: &str = "bash";

/// A session as it is written down.
#[derive(Clone, Debug)]
pub struct EverydaySession {
    /// What it is about.
    pub name: String,
    /// The commands, in order.
    pub commands: Vec<String>,
}

/// What a session cost.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// The commands that a person was asked about.
    pub asked: Vec<String>,
    /// The commands that were refused, without a question.
    pub denied: Vec<String>,
}

/// Returns the sessions of developers.
pub fn sessions() -> Vec<EverydaySession> {
    read(include_str!("everyday.txt"))
}

/// Returns the sessions of agents, twenty commands each.
pub fn agent_sessions() -> Vec<EverydaySession> {
    read(include_str!("agent_sessions.txt"))
}

fn read(text: &str) -> Vec<EverydaySession> {
    let mut sessions: Vec<EverydaySession> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("== "), sessions.last_mut()) {
            (Some(name), _) => sessions.push(EverydaySession { name: name.to_owned(), commands: Vec::new() }),
            (None, Some(session)) => session.commands.push(line.replace('⏎', "\n")),
            (None, None) => panic!("a command comes before the first session: {line}"),
        }
    }
    sessions
}

impl EverydaySession {
    /// Judges its commands by the default rules, in a session in the full sandbox whose connections are judged when they are
    /// made, with a person who takes the widest grant that is offered.
    pub fn cost(&self) -> Cost {
        let policy = Policy::default();
        let mut grants: Vec<GrantScope> = Vec::new();
        let mut cost = Cost::default();
        for command in &self.commands {
            let effects: Vec<Effect> = steps_in_scene(command);
            let contained = Containment::Contained;
            let own_home = Some(Path::new("/home/user"));
            let situation = Situation {
                grants: &grants,
                mode: Mode::Normal,
                contained,
                by_name: true,
                own_home,
                ..Situation::default()
            };
            match policy.judge(TOOL, &effects, situation).decision {
                Decision::Allow => {}
                Decision::Deny => cost.denied.push(command.clone()),
                Decision::Ask => {
                    cost.asked.push(command.clone());
                    grants.extend(policy.offers(TOOL, &effects, situation).pop());
                }
            }
        }
        cost
    }
}
