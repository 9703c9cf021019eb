//! Runs a program to its end and reports how long it took and how much memory it used.

use std::fs::File;
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a run went.
#[derive(Clone, Copy)]
pub struct Ended {
    /// From before it was started until it was gone.
    pub took: Duration,
    /// The peak of resident memory.
    pub peak_bytes: u64,
}

/// Runs a program in a home of its own, where no settings are; it reads this file, where there is one.
pub fn run_to_end(program: &Path, words: &[&str], (home, input): (&Path, Option<&Path>)) -> Result<Ended, String> {
    let shown = program.display();
    let mut command = Command::new(program);
    command.args(words).current_dir(home).env_clear().env("HOME", home);
    for folder in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env(folder, home.join(folder));
    }
    let stdin = match input {
        Some(file) => File::open(file).map_err(|error| format!("{}: {error}", file.display()))?.into(),
        None => Stdio::null(),
    };
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::inherit());

    let began = Instant::now();
    let child = command.spawn().map_err(|error| format!("{shown} cannot be started: {error}"))?;
    let (status, peak_bytes) = wait(child.id()).map_err(|error| format!("{shown}: {error}"))?;
    let took = began.elapsed();
    if status != 0 {
        return Err(format!("{shown} {} ended with the wait status {status}", words.join(" ")));
    }
    Ok(Ended { took, peak_bytes })
}

/// Waits for a child. The standard library waits too, but does not say what the child used.
///
/// The peak is never below our own memory at the start of the child, which the kernel counts for it;
/// so this program stays small.
fn wait(id: u32) -> std::io::Result<(i32, u64)> {
    let id = libc::pid_t::try_from(id).expect("a process id fits its type");
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to variables that outlive the call; `rusage` is valid as zeros.
    let (waited, usage) = unsafe { (libc::wait4(id, &mut status, 0, usage.as_mut_ptr()), usage.assume_init()) };
    if waited != id {
        return Err(std::io::Error::last_os_error());
    }
    // Linux counts in kibibytes, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Ok((status, u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit))
}
