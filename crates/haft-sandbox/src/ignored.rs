//! Whether whoever started this program wants it to outlive its terminal, as `nohup` does.

/// Returns whether a terminal that closes is to be of no matter. To be asked before anybody listens for that.
pub fn ignores_hang_up() -> bool {
    // SAFETY: nothing is set, and the kernel fills all of what is zero and of the right type.
    #[allow(unsafe_code)]
    unsafe {
        let mut set: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut set) == 0 && set.sa_sigaction == libc::SIG_IGN
    }
}
