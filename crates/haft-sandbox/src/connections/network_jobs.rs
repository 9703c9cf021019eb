//! Keeps track of the background jobs that use the network of a session.
//!
//! A connection does not show which process made it. So if jobs ran beside a command, the result says that the command
//! or one of these jobs reached a host.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_contract::doors::process::CommandSpec;
use haft_contract::files::path::one_line;

/// How many characters of a job's command are shown at most.
const LONGEST: usize = 60;

/// The running jobs, in the order in which they started.
#[derive(Clone, Default)]
pub(crate) struct NetworkJobs(Arc<Mutex<Vec<Arc<str>>>>);

/// A registered job; dropping it removes the job from the list.
pub(crate) struct NetworkJob {
    jobs: NetworkJobs,
    line: Arc<str>,
}

impl NetworkJobs {
    /// Adds a command if it is a job.
    pub(crate) fn add(&self, command: &CommandSpec) -> Option<NetworkJob> {
        if !command.stays {
            return None;
        }
        let line = one_line(&command.line);
        let shown: String = line.chars().take(LONGEST).collect();
        let line: Arc<str> = if shown.len() < line.len() { format!("{shown}…").into() } else { shown.into() };
        self.lock().push(line.clone());
        Some(NetworkJob { jobs: self.clone(), line })
    }

    /// Returns the running jobs, except this one.
    pub(crate) fn others(&self, own: Option<&NetworkJob>) -> Vec<Arc<str>> {
        let is_other = |line: &&Arc<str>| own.is_none_or(|own| !Arc::ptr_eq(&own.line, line));
        self.lock().iter().filter(is_other).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for NetworkJob {
    fn drop(&mut self) {
        self.jobs.lock().retain(|line| !Arc::ptr_eq(line, &self.line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn jobs_are_known_while_they_run_and_other_commands_never() {
        let command = |line: &str, stays| {
            let made = CommandSpec::new(Vec::new(), line.to_owned(), "/".into(), Duration::from_secs(1));
            CommandSpec { stays, ..made }
        };
        let jobs = NetworkJobs::default();
        assert!(jobs.add(&command("make", false)).is_none());
        let (one, two) = (jobs.add(&command("npm run dev", true)), jobs.add(&command(&"x".repeat(99), true)));
        let shown = |own: Option<&NetworkJob>| jobs.others(own).iter().map(|line| line.len()).collect::<Vec<_>>();
        assert_eq!(shown(None), [11, LONGEST + "…".len()]);
        assert_eq!(shown(one.as_ref()), [LONGEST + "…".len()]);
        drop((one, two));
        assert!(jobs.others(None).is_empty());
    }
}
