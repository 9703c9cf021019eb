//! The minimum cost of a command in such a sandbox: bash in new namespaces, over a layer, with a fresh `/proc`.
//!
//! It judges, records and commits nothing, and the layer is empty. Forked processes do all the work, as in haft.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;

/// The folders of a layer over a workspace.
pub struct Floor {
    workspace: PathBuf,
    mount: Mount,
}

struct Mount {
    target: CString,
    options: CString,
    uid_map: CString,
    gid_map: CString,
}

impl Floor {
    /// Makes the folders.
    pub fn new(folder: &Path, files: usize) -> Result<Self, String> {
        let workspace = folder.join("ws");
        let (upper, work) = (folder.join("upper"), folder.join("work"));
        for folder in [&workspace, &upper, &work] {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        for number in 0..files {
            std::fs::write(workspace.join(format!("file-{number}")), "content\n").map_err(|error| error.to_string())?;
        }
        let (lower, upper, work) = (workspace.display(), upper.display(), work.display());
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work},userxattr");
        let text = |text: Vec<u8>| CString::new(text).map_err(|error| error.to_string());
        // SAFETY: these calls have no preconditions.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        let mount = Mount {
            target: text(workspace.as_os_str().as_bytes().to_vec())?,
            options: text(options.into_bytes())?,
            uid_map: text(format!("{uid} {uid} 1").into_bytes())?,
            gid_map: text(format!("{gid} {gid} 1").into_bytes())?,
        };
        Ok(Self { workspace, mount })
    }

    /// Runs a command of the shell in it.
    pub fn bash(&self, command: &str) -> Result<(), String> {
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", command]).current_dir(&self.workspace);
        bash.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mount = &self.mount;
        let (target, options) = (mount.target.as_ptr() as usize, mount.options.as_ptr() as usize);
        let (uid_map, gid_map) = (mount.uid_map.clone(), mount.gid_map.clone());
        // SAFETY: the closure makes system calls only; the texts live until the command has ended.
        unsafe { bash.pre_exec(move || enter((target as _, options as _), [&uid_map, &gid_map])) };
        let output = bash.output().map_err(|error| error.to_string())?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

fn enter((target, options): (*const libc::c_char, *const libc::c_char), maps: [&CString; 2]) -> io::Result<()> {
    // SAFETY: the process has one thread, and all pointers are to texts that end in NUL.
    unsafe {
        done(libc::unshare(NAMESPACES))?;
        tell(c"/proc/self/setgroups", c"deny")?;
        tell(c"/proc/self/uid_map", maps[0])?;
        tell(c"/proc/self/gid_map", maps[1])?;
        let none = std::ptr::null();
        done(libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast()))?;
        done(libc::mount(c"overlay".as_ptr(), target, c"overlay".as_ptr(), 0, options.cast()))?;
        done(libc::chdir(target))?;
        match libc::fork() {
            0 => done(libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), 0, none.cast())),
            child => {
                let mut status = 0;
                libc::waitpid(child, &raw mut status, 0);
                libc::_exit(libc::WEXITSTATUS(status))
            }
        }
    }
}

/// Writes a text to a file of the kernel.
///
/// # Safety
///
/// Async-signal-safe calls only; there are no other conditions.
unsafe fn tell(path: &std::ffi::CStr, text: &std::ffi::CStr) -> io::Result<()> {
    // SAFETY: both texts end in NUL, and the descriptor is this one's own.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        done(file)?;
        let written = libc::write(file, text.as_ptr().cast(), text.to_bytes().len());
        libc::close(file);
        if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

fn done(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
