//! Examines the parts of the sandbox one by one, to report which are missing and why.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::launcher::Launcher;
use crate::running::orders::{CommandNetwork, Confine, LauncherReport, LayerTrial, Orders};
use crate::running::standby::Launchers;
use crate::running::started::LaunchedCommand;

/// How long all trials together may take.
const TIME: Duration = Duration::from_secs(10);

/// Tries each part of the sandbox in a disposable process. The error is a sentence.
pub fn examine(launcher: &Launcher) -> Result<Vec<LayerTrial>, String> {
    launcher.program().ok_or("This program cannot be started as a launcher.")?;
    let launchers = Launchers::new(launcher.clone());
    let orders = Orders {
        words: Vec::new(),
        folder: "/".into(),
        environment: Vec::new(),
        confine: Confine::Tried,
        processes: 1,
        network: CommandNetwork::Own,
        proxy: None,
        is_of_session: false,
        has_input: false,
        serves: false,
        stays: false,
        watched: Vec::new(),
        own: Vec::new(),
        streams: None,
        given: [None; 3],
        memory: None,
    };
    let failed = |error: std::io::Error| format!("The launcher {launcher} could not be started: {error}.");
    let (mut started, _streams) = LaunchedCommand::start(&launchers, &orders, &[]).map_err(failed)?;
    let until = Instant::now() + TIME;
    let mut trials = None;
    while !started.is_gone() && Instant::now() < until {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
        let mut polled: Vec<PollFd<'_>> =
            started.news().map(|news| PollFd::from_borrowed_fd(news.as_fd(), PollFlags::IN)).collect();
        let _ = poll(&mut polled, left.as_ref());
        for report in started.take_news() {
            if let LauncherReport::Tried(tried) = report {
                trials = Some(tried);
            }
        }
    }
    trials.ok_or_else(|| format!("The launcher {launcher} did not try anything in time."))
}
