//! Measures how much memory the processes of a command use, from /proc.
//!
//! It looks several times a second. It sees a sudden use of much memory too late, so this is no promise.

use std::fs;
use std::time::Duration;

/// How often it is looked at.
pub(super) const EVERY: Duration = Duration::from_millis(100);

/// Returns the bytes that these processes use, if they are more than this.
pub(super) fn beyond(most: u64, processes: &[i32]) -> Option<u64> {
    let quick: u64 = processes.iter().filter_map(|pid| own_pages(*pid)).sum();
    if quick <= most {
        return None;
    }
    // Copies of a process share their memory until they write to it; only this look, which takes longer, counts it once.
    let exact: u64 = processes.iter().filter_map(|pid| proportional(*pid).or_else(|| own_pages(*pid))).sum();
    (exact > most).then_some(exact)
}

/// Returns the memory that is no file's.
fn own_pages(pid: i32) -> Option<u64> {
    let numbers = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut numbers = numbers.split_whitespace().skip(1).map(|number| number.parse::<u64>().unwrap_or(0));
    let (resident, of_files) = (numbers.next()?, numbers.next()?);
    Some(resident.saturating_sub(of_files) * rustix::param::page_size() as u64)
}

/// Returns the memory that is no file's, of which each process has its share.
fn proportional(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kilobytes = rollup.lines().find_map(|line| line.strip_prefix("Pss_Anon:"))?;
    kilobytes.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|number| number * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_uses_is_seen() {
        let own = std::process::id().cast_signed();
        let before = own_pages(own).unwrap();
        let much = vec![1_u8; 64 << 20];
        let used = own_pages(own).unwrap();
        assert!(used > before + (50 << 20) && much[1 << 20] == 1, "{before} {used}");
        assert!(beyond(1 << 20, &[own]).is_some_and(|used| used > 50 << 20));
        assert_eq!(beyond(1 << 50, &[own]), None);
        assert_eq!(beyond(0, &[i32::MAX]), None);
    }
}
