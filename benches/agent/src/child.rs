//! Runs a program to its end and reports what it used.

use std::mem::MaybeUninit;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How a run went.
#[derive(Clone, Copy)]
pub struct Ended {
    /// When it was started.
    pub began: Instant,
    /// Its processor time, with that of the processes it waited for.
    pub cpu: Duration,
    /// The peak of resident memory.
    pub peak_bytes: u64,
}

/// Runs a program; it must end with status 0.
pub fn run_to_end(command: &mut Command) -> Result<Ended, String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let child = command.spawn().map_err(|error| format!("{shown} cannot be started: {error}"))?;
    let (status, usage) = wait(&child).map_err(|error| format!("{shown}: {error}"))?;
    if status != 0 {
        return Err(format!("{shown} ended with the wait status {status}"));
    }
    let cpu = time(usage.ru_utime) + time(usage.ru_stime);
    // Linux counts in kibibytes, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Ok(Ended { began, cpu, peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit })
}

/// Waits for a child. The standard library waits too, but does not say what the child used.
fn wait(child: &Child) -> std::io::Result<(i32, libc::rusage)> {
    let id = libc::pid_t::try_from(child.id()).expect("a process id fits its type");
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to variables that outlive the call; `rusage` is valid as zeros.
    let (waited, usage) = unsafe { (libc::wait4(id, &mut status, 0, usage.as_mut_ptr()), usage.assume_init()) };
    if waited == id { Ok((status, usage)) } else { Err(std::io::Error::last_os_error()) }
}

fn time(time: libc::timeval) -> Duration {
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_micros(part(time.tv_usec))
}
