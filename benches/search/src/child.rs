//! Runs a program to its end and reports its processor time, its time and its memory.

use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run cost.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Processor time of all its threads, its own and the kernel's for it.
    pub processor: Duration,
    /// From before it was started until it was gone.
    pub took: Duration,
    /// The peak of resident memory.
    pub peak_bytes: u64,
}

/// Runs a program in a folder, with a home of its own where no settings are.
pub fn run_to_end(words: &[&str], folder: &Path, home: &Path) -> Result<Cost, String> {
    let shown = words.join(" ");
    let (program, arguments) = words.split_first().ok_or("no program was given")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().env("HOME", home);
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, home.join(variable));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());

    let began = Instant::now();
    let child = command.spawn().map_err(|error| format!("{shown} cannot be started: {error}"))?;
    let (status, usage) = wait(child.id()).map_err(|error| format!("{shown}: {error}"))?;
    let took = began.elapsed();
    // ripgrep ends with 1 when nothing matches; of haft that is a call that failed, which costs nothing and proves nothing.
    let most = if program.ends_with("rg") { 1 } else { 0 };
    if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) > most {
        return Err(format!("{shown} ended with the wait status {status}"));
    }
    let processor = time(usage.ru_utime) + time(usage.ru_stime);
    // Linux counts in kibibytes, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Ok(Cost { processor, took, peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit })
}

/// Waits for a child. The standard library waits too, but does not say what the child used.
fn wait(id: u32) -> std::io::Result<(i32, libc::rusage)> {
    let id = libc::pid_t::try_from(id).expect("a process id fits its type");
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to variables that outlive the call; `rusage` is valid as zeros.
    let (waited, usage) = unsafe { (libc::wait4(id, &mut status, 0, usage.as_mut_ptr()), usage.assume_init()) };
    if waited == id { Ok((status, usage)) } else { Err(std::io::Error::last_os_error()) }
}

fn time(time: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}
