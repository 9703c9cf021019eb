//! Signals that this program ignores, or that its user wants it to ignore (as with `nohup`).

/// Returns whether a terminal that closes is to be of no matter. To be asked before anybody listens for that.
pub fn ignores_hang_up() -> bool {
    // SAFETY: nothing is set, and the kernel fills all of what is zero and of the right type.
    #[allow(unsafe_code)]
    unsafe {
        let mut set: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut set) == 0 && set.sa_sigaction == libc::SIG_IGN
    }
}

/// Makes a limit of file size (`ulimit -f`) an error of the write, which a result can report. Its signal would end the
/// program without one. Commands get the signal as usual.
pub fn ignore_file_size_signal() {
    // SAFETY: no handler is installed, so no code runs when the signal comes.
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
