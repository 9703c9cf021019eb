//! Writes the part of a result about hosts that a command reached or that were refused.

use std::sync::Arc;

use haft_contract::doors::connection::{HostOutcome, ReachedHost};
use haft_contract::doors::process::HowEnded;
use haft_contract::effect::{Effect, StepEffect};

/// Most hosts in one line.
const MOST_NAMED: usize = 6;
/// Ports that need no mention.
const USUAL: [u16; 3] = [0, 80, 443];

/// The command or jobs that may have made the connections while a command ran.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Suspects<'a> {
    /// The command, or one of these jobs.
    Command(&'a [Arc<str>]),
    /// One of these jobs: nothing that the command runs makes connections.
    Jobs(&'a [Arc<str>]),
    /// A job, or the commands that ran meanwhile.
    Job,
}

/// Reports all reached hosts in one line, and each other host in its own line.
pub(crate) fn notes(hosts: &[ReachedHost], how: HowEnded, suspects: Suspects<'_>) -> Vec<String> {
    let reached: Vec<&ReachedHost> = hosts.iter().filter(|host| host.outcome == HostOutcome::Reached).collect();
    let mut notes = Vec::new();
    if !reached.is_empty() {
        let named: Vec<String> = reached.iter().take(MOST_NAMED).map(|host| named(host)).collect();
        let more = match reached.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more hosts"),
        };
        let bytes = |count: fn(&ReachedHost) -> u64| in_words(reached.iter().map(|host| count(host)).sum());
        let (sent, received) = (bytes(|host| host.sent), bytes(|host| host.received));
        let by = suspects.words();
        notes.push(format!("network{by}: {}{more}; {sent} sent, {received} received", named.join(", ")));
    }
    let others = hosts.iter().filter_map(|host| match &host.outcome {
        HostOutcome::Reached if host.gave_up > 0 => {
            Some(format!("{} was allowed after the program had given up: run it again", named(host)))
        }
        HostOutcome::Reached => None,
        // A command that succeeded did not need it.
        HostOutcome::Failed(_) if how == HowEnded::Exited(0) => None,
        // Some reasons name the host themselves.
        HostOutcome::Refused(why) | HostOutcome::Failed(why) if why.starts_with(&host.host) => {
            Some(why.trim_end_matches('.').to_owned())
        }
        HostOutcome::Refused(why) => Some(format!("{} was refused: {}", named(host), why.trim_end_matches('.'))),
        HostOutcome::Failed(why) => Some(format!("{} was not reached: {}", named(host), why.trim_end_matches('.'))),
    });
    notes.extend(others.take(MOST_NAMED).map(|words| format!("{words}.")));
    notes
}

impl<'a> Suspects<'a> {
    /// Returns who may have made the connections while a command with these effects ran beside these jobs.
    pub(crate) fn beside(jobs: &'a [Arc<str>], effects: &[Effect]) -> Self {
        let steps = || {
            effects.iter().filter_map(|effect| match effect {
                Effect::Step(step) => Some(&step.does),
                _ => None,
            })
        };
        let is_local = |does: &StepEffect| {
            matches!(
                does,
                StepEffect::Nothing
                    | StepEffect::NothingElse
                    | StepEffect::Read(_)
                    | StepEffect::List(_)
                    | StepEffect::Change(..)
            )
        };
        let is_known = steps().next().is_some() && steps().all(is_local);
        if is_known && !jobs.is_empty() { Self::Jobs(jobs) } else { Self::Command(jobs) }
    }

    fn words(self) -> String {
        let (jobs, command) = match self {
            Self::Command(jobs) => (jobs, "this command or "),
            Self::Jobs(jobs) => (jobs, ""),
            Self::Job => return " (by this job, or by commands that ran beside it)".to_owned(),
        };
        let mut names: Vec<String> = Vec::new();
        for name in jobs.iter().map(|job| format!("\"{job}\"")) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.len() {
            0 => String::new(),
            1 => format!(" (by {command}the job {})", names[0]),
            _ => format!(" (by {command}the jobs {})", names.join(", ")),
        }
    }
}

/// Returns the hosts that were refused.
pub(crate) fn refused(hosts: &[ReachedHost]) -> Vec<String> {
    let refused = hosts.iter().filter(|host| matches!(host.outcome, HostOutcome::Refused(_)));
    refused.map(|host| host.host.clone()).collect()
}

fn named(host: &ReachedHost) -> String {
    if USUAL.contains(&host.port) { host.host.clone() } else { format!("{}:{}", host.host, host.port) }
}

fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use haft_contract::effect::{CommandLine, CommandStep};

    use super::*;

    fn host(name: &str, port: u16, outcome: HostOutcome) -> ReachedHost {
        let (connections, sent, received, gave_up) = (2, 500, 1_500_000, 0);
        ReachedHost { host: name.into(), port, connections, sent, received, gave_up, outcome }
    }

    #[test]
    fn what_was_reached_is_one_line_and_what_was_not_has_its_reason() {
        let why = "No rule allows it.".to_owned();
        let hosts = [
            host("a.example", 443, HostOutcome::Reached),
            host("b.example", 5432, HostOutcome::Reached),
            host("c.example", 443, HostOutcome::Refused(why)),
            host("d.example", 22, HostOutcome::Failed("it does not exist".into())),
        ];
        assert_eq!(
            notes(&hosts, HowEnded::Exited(1), Suspects::Command(&[])),
            [
                "network: a.example, b.example:5432; 1.0 kB sent, 3.0 MB received",
                "c.example was refused: No rule allows it.",
                "d.example:22 was not reached: it does not exist.",
            ]
        );
        assert_eq!(notes(&[], HowEnded::Exited(0), Suspects::Command(&["npm run dev".into()])), [""; 0]);
    }

    #[test]
    fn jobs_that_ran_at_the_same_time_are_named() {
        let told = |jobs: &[&str]| {
            let jobs: Vec<Arc<str>> = jobs.iter().map(|job| (*job).into()).collect();
            let hosts = [host("a.example", 443, HostOutcome::Reached)];
            notes(&hosts, HowEnded::Exited(0), Suspects::Command(&jobs)).remove(0)
        };
        let of_job = notes(&[host("a.example", 443, HostOutcome::Reached)], HowEnded::Exited(0), Suspects::Job);
        assert!(of_job[0].starts_with("network (by this job, or by commands that ran beside it): a.example;"));
        assert!(told(&[]).starts_with("network: a.example;"));
        assert!(told(&["web", "web"]).starts_with("network (by this command or the job \"web\"): a.example;"));
        assert!(told(&["a", "b"]).starts_with("network (by this command or the jobs \"a\", \"b\"): "));
    }

    #[test]
    fn a_command_that_runs_nothing_that_connects_is_not_suspected() {
        let told = |does: &[StepEffect], jobs: &[Arc<str>]| {
            let step = |does: &StepEffect| {
                let (command, folder, words) = ("t".into(), "".into(), ["t".to_owned()].into());
                Effect::Step(CommandStep { command, folder, part: (0, 1), words, does: does.clone() })
            };
            let run = Effect::Run(CommandLine("t".into()));
            let effects: Vec<Effect> = std::iter::once(run).chain(does.iter().map(step)).collect();
            let hosts = [host("a.example", 443, HostOutcome::Reached)];
            notes(&hosts, HowEnded::Exited(0), Suspects::beside(jobs, &effects)).remove(0)
        };
        let jobs: [Arc<str>; 1] = ["npx vite".into()];
        let of_job = "network (by the job \"npx vite\"): a.example;";
        let of_either = "network (by this command or the job \"npx vite\"): a.example;";
        assert!(told(&[StepEffect::Nothing, StepEffect::NothingElse], &jobs).starts_with(of_job));
        assert!(told(&[StepEffect::Nothing, StepEffect::Program("x".into())], &jobs).starts_with(of_either));
        assert!(told(&[StepEffect::Connect(None)], &jobs).starts_with(of_either));
        assert!(told(&[], &jobs).starts_with(of_either), "a command of which nothing is known");
        assert!(told(&[StepEffect::Nothing], &[]).starts_with("network: a.example;"));
    }
}
