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

/// Keeps Ctrl-C and Ctrl-\ from ending this program while another one has the terminal.
pub(crate) struct IgnoredInterrupts([(libc::c_int, libc::sighandler_t); 2]);

impl IgnoredInterrupts {
    pub(crate) fn begin() -> Self {
        // SAFETY: no handler is installed, so no code runs when the signal comes.
        #[allow(unsafe_code)]
        Self([libc::SIGINT, libc::SIGQUIT].map(|number| (number, unsafe { libc::signal(number, libc::SIG_IGN) })))
    }
}

impl Drop for IgnoredInterrupts {
    fn drop(&mut self) {
        for (number, handler) in self.0 {
            // SAFETY: it is the handler that the system had for this signal.
            #[allow(unsafe_code)]
            unsafe {
                libc::signal(number, handler);
            }
        }
    }
}
