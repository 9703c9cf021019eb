//! Who is alive, found by a word in the command line, and how its end is waited for.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Returns the processes that have this word in their command line.
pub fn with_word(word: &str) -> Vec<Pid> {
    let numbers = std::fs::read_dir("/proc").expect("it can be read").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has_word = |number: &i32| {
        let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        // The server itself gets the word through its input, never as an argument.
        words.split(|&byte| byte == 0).any(|found| found == word.as_bytes())
    };
    numbers.filter(has_word).filter_map(Pid::from_raw).collect()
}

/// Makes sure that these processes end soon.
pub fn assert_end(processes: &[Pid]) {
    for process in processes {
        // One that has ended already cannot be opened.
        let Ok(handle) = pidfd_open(*process, PidfdFlags::empty()) else { continue };
        let mut watched = [PollFd::new(&handle, PollFlags::IN)];
        let patience = Timespec { tv_sec: 5, tv_nsec: 0 };
        let ended = poll(&mut watched, Some(&patience)).expect("it can be watched");
        assert_eq!(ended, 1, "{process:?} is still there");
    }
}

/// Waits until this holds; fails after half a minute.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}
