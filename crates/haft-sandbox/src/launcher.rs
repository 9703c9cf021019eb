//! The launcher: haft, started again to run commands.
//!
//! It is a separate process, because haft must confine a command between fork and exec, where a program with threads may
//! do almost nothing. The launcher has one thread and nothing to lose.

mod command;
mod descriptors;
mod enter;
mod first_touch;
mod hands;
mod keeper;
mod line;
mod memory;
mod notify;
mod signals;
mod standby;
mod terminal;
mod watch;

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::running::detached::detach;
use crate::running::orders::{Confine, KeptAnswer, LauncherReport, NAME, Orders};
use enter::{NotEntered, SandboxSide};
pub(crate) use enter::{is_secret, knows_ports, secret_folders};
use hands::Hands;
use line::LauncherLine;
use standby::Copies;
use watch::{Bare, watch};

/// Whether this program said that it can be started as a launcher.
static CALLED: AtomicBool = AtomicBool::new(false);
/// How a launcher ends that got no orders.
const NO_ORDERS: i32 = 70;

/// Becomes the launcher if that is what this process was started as; call it as the first line of `main`.
///
/// It returns only in a process that is no launcher. A launcher copies itself, which is safe only where there is one thread;
/// so call it before an async runtime starts, and not in a function with `#[tokio::main]`.
pub fn launcher() {
    CALLED.store(true, Ordering::Relaxed);
    #[expect(clippy::disallowed_methods, reason = "only the process knows the name it was started under")]
    let name = std::env::args_os().next();
    match name {
        Some(name) if name == NAME => be_launcher(),
        Some(name) => detach(&name),
        None => {}
    }
}

fn be_launcher() -> ! {
    let Ok(haft) = LauncherLine::from_stdin() else { leave(NO_ORDERS) };
    let line = standby::stand_by(haft, Copies::Plain);
    let Ok((orders, descriptors)) = line.orders() else { leave(NO_ORDERS) };
    match &orders.confine {
        Confine::Keep(..) => keep_root(line, &orders, descriptors),
        _ => launch(line, orders, descriptors),
    }
}

/// Builds a root, and launches commands in it until haft is gone.
fn keep_root(line: LauncherLine, orders: &Orders, descriptors: Vec<OwnedFd>) -> ! {
    let Confine::Keep(visible, shares) = &orders.confine else { leave(NO_ORDERS) };
    let kept = match enter::keep(orders, (visible, shares), descriptors) {
        Ok((kept, (parts, shared))) => {
            line.tell(&KeptAnswer::Ok(parts), &shared);
            kept
        }
        Err(NotEntered::NoLayer(why) | NotEntered::Missing(why) | NotEntered::Passing(why)) => {
            line.tell(&KeptAnswer::Err(why), &[]);
            leave(0)
        }
    };
    let line = standby::stand_by(line, Copies::InNamespaces);
    let Ok((mut orders, mut descriptors)) = line.orders() else { leave(NO_ORDERS) };
    let Ok(mut hands) = Hands::take(&orders, &mut descriptors) else { leave(NO_ORDERS) };
    orders.given = hands.given();
    let Confine::Kept(roots) = &orders.confine else { leave(NO_ORDERS) };
    match kept.prepare(&orders, roots, (descriptors, hands.grounds.take())) {
        Ok(ready) => watch(line, (&orders, hands), ready),
        Err(why) => not_entered(&line, why),
    }
}

fn launch(line: LauncherLine, mut orders: Orders, mut descriptors: Vec<OwnedFd>) -> ! {
    let Ok(mut hands) = Hands::take(&orders, &mut descriptors) else { leave(NO_ORDERS) };
    orders.given = hands.given();
    let orders = &orders;
    match &orders.confine {
        Confine::No => {
            drop(descriptors);
            line.report(&LauncherReport::Watcher(line::own_pid()));
            watch(line, (orders, hands), Bare)
        }
        Confine::Partly(visible, private) => match enter::partly(orders, visible, private, &descriptors) {
            Ok(ready) => {
                drop(descriptors);
                line.report(&LauncherReport::Watcher(line::own_pid()));
                watch(line, (orders, hands), ready)
            }
            Err(why) => not_entered(&line, why),
        },
        Confine::Tried => {
            line.report(&LauncherReport::Tried(enter::trials()));
            leave(0)
        }
        Confine::Fully(visible) => match enter::fully(orders, visible, descriptors, hands.grounds.take()) {
            Ok(SandboxSide::Outside(watcher)) => {
                line.report(&LauncherReport::Watcher(watcher));
                leave(0)
            }
            Ok(SandboxSide::Inside(ready)) => watch(line, (orders, hands), ready),
            Err(why) => not_entered(&line, why),
        },
        // Both are for other launchers.
        Confine::Keep(..) | Confine::Kept(_) => leave(NO_ORDERS),
    }
}

fn not_entered(line: &LauncherLine, why: NotEntered) -> ! {
    line.report(&why.into());
    leave(0)
}

/// Ends this process immediately.
pub(crate) fn leave(status: i32) -> ! {
    #[expect(clippy::disallowed_methods, reason = "a launcher never comes back to the `main` that called it")]
    std::process::exit(status)
}

/// Which program is started as a launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    program: Option<PathBuf>,
}

impl Launcher {
    /// This very program. Commands are refused if its `main` did not call [`launcher`].
    pub fn own() -> Self {
        Self { program: None }
    }

    /// Another program whose `main` calls [`launcher`].
    pub fn at(program: &Path) -> Self {
        Self { program: Some(program.to_owned()) }
    }

    /// Returns what to start; nothing when this program cannot be a launcher.
    pub(crate) fn program(&self) -> Option<&Path> {
        match &self.program {
            Some(program) => Some(program),
            // Also right when the file was replaced or removed since this process was started.
            None => CALLED.load(Ordering::Relaxed).then_some(Path::new("/proc/self/exe")),
        }
    }
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.as_deref().unwrap_or(Path::new("/proc/self/exe")).display().fmt(f)
    }
}
