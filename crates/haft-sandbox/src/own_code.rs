//! Releases the memory of this program's code.
//!
//! haft needs most of the code only at the start: to read words and settings, and to put tools and rules together. A
//! process that stays releases it.

use std::path::Path;

use rustix::mm::{Advice, madvise};

/// Lets go of the code of this program. What is needed again comes back from the file, which the system keeps in memory.
pub fn let_go() {
    let (Ok(maps), Ok(own)) = (std::fs::read_to_string("/proc/self/maps"), std::fs::read_link("/proc/self/exe")) else {
        return;
    };
    for (start, length) in code(&maps, &own) {
        let pages = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: these pages are never written, so the next access to one gets the same bytes from the file again.
        #[allow(unsafe_code)]
        let _ = unsafe { madvise(pages, length, Advice::LinuxDontNeed) };
    }
}

/// Returns where code of a program lies, and how much: what can be run and cannot be written.
fn code(maps: &str, program: &Path) -> Vec<(usize, usize)> {
    let place = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (rights, rest) = rest.split_once(' ')?;
        let is_own = rest.splitn(4, ' ').nth(3).is_some_and(|path| Path::new(path.trim_start()) == program);
        let (start, end) = range.split_once('-')?;
        let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16).ok());
        let (start, end) = (start?, end?);
        (is_own && rights == "r-xp").then(|| (start, end.saturating_sub(start)))
    };
    maps.lines().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
        1000-2000 r--p 00000000 fe:00 7                          /bin/a b\n\
        2000-5000 r-xp 00001000 fe:00 7                          /bin/a b\n\
        5000-6000 rw-p 00004000 fe:00 7                          /bin/a b\n\
        7000-8000 r-xp 00000000 fe:00 8                          /lib/c.so\n\
        9000-a000 r-xp 00000000 00:00 0                          [vdso]\n";

    #[test]
    fn only_what_is_run_and_never_written_is_code() {
        assert_eq!(code(MAPS, Path::new("/bin/a b")), [(0x2000, 0x3000)]);
        assert_eq!(code(MAPS, Path::new("/bin/a")), []);
        assert_eq!(code("rubbish\n1-x r-xp 0 0 0 /bin/a\n", Path::new("/bin/a")), []);
    }

    #[test]
    fn whoever_lets_go_goes_on() {
        for _ in 0..3 {
            let_go();
        }
        let maps = std::fs::read_to_string("/proc/self/maps").expect("it is there");
        let own = std::fs::read_link("/proc/self/exe").expect("it is there");
        assert!(!code(&maps, &own).is_empty(), "there was something to let go of");
    }
}
