//! What is laid out before the call of a case, and who interferes during it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, Mode, RenameFlags};
use serde::Deserialize;

use super::Base;

/// One step. Paths are relative to the base.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Step {
    File {
        path: String,
        content: String,
        mode: Option<String>,
    },
    Dir {
        path: String,
        mode: Option<String>,
    },
    Symlink {
        path: String,
        target: String,
    },
    Hardlink {
        path: String,
        target: String,
    },
    Fifo {
        path: String,
    },
    Socket {
        path: String,
    },
    Sparse {
        path: String,
        size: u64,
    },
    /// A file whose name is given as hex bytes, in a folder.
    Rawname {
        path: String,
        name: String,
        content: Option<String>,
    },
    /// A second thread swaps `path` with a link to `target`.
    RaceSwap {
        path: String,
        target: String,
    },
}

impl Step {
    pub(super) fn lay_out(&self, base: &Base) {
        match self {
            Step::File { path, content, mode } => {
                fs::write(with_folder(base, path), content).expect("a file can be written");
                set_mode(&base.path(path), mode.as_deref());
            }
            Step::Dir { path, mode } => {
                fs::create_dir_all(base.path(path)).expect("a folder can be made");
                set_mode(&base.path(path), mode.as_deref());
            }
            Step::Symlink { path, target } => {
                symlink(base.expanded(target), with_folder(base, path)).expect("a link can be made");
            }
            Step::Hardlink { path, target } => {
                let target = base.path(&base.expanded(target));
                fs::hard_link(target, with_folder(base, path)).expect("a link can be made");
            }
            Step::Fifo { path } => {
                let pipe = with_folder(base, path);
                rustix::fs::mknodat(CWD, pipe, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                    .expect("a pipe can be made");
            }
            // The file stays when the listener goes.
            Step::Socket { path } => drop(UnixListener::bind(with_folder(base, path)).expect("a socket can be made")),
            Step::Sparse { path, size } => {
                let file = fs::File::create(with_folder(base, path)).expect("a file can be made");
                file.set_len(*size).expect("a file can have a hole");
            }
            Step::Rawname { path, name, content } => {
                let file = with_folder(base, &format!("{path}/x")).with_file_name(OsString::from_vec(bytes(name)));
                fs::write(file, content.as_deref().unwrap_or("x\n")).expect("a file can be written");
            }
            Step::RaceSwap { .. } => {}
        }
    }

    /// Begins to swap, until the race is dropped.
    pub(super) fn begin_race(&self, base: &Base) -> Option<Race> {
        let Step::RaceSwap { path, target } = self else { return None };
        let path = base.path(path);
        let other = path.with_extension("swapped");
        symlink(base.expanded(target), &other).expect("a link can be made");
        let over = Arc::new(AtomicBool::new(false));
        let is_over = over.clone();
        let swapping = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                // The tested call may be replacing the file at this moment.
                let _ = rustix::fs::renameat_with(CWD, &path, CWD, &other, RenameFlags::EXCHANGE);
                std::thread::yield_now();
            }
        });
        Some(Race { over, swapping: Some(swapping) })
    }
}

/// A thread that swaps a file with a link all the time.
pub(super) struct Race {
    over: Arc<AtomicBool>,
    swapping: Option<JoinHandle<()>>,
}

impl Drop for Race {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.swapping.take().map(JoinHandle::join);
    }
}

fn with_folder(base: &Base, path: &str) -> PathBuf {
    let path = base.path(path);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
    path
}

fn set_mode(path: &Path, mode: Option<&str>) {
    if let Some(mode) = mode {
        let mode = u32::from_str_radix(mode, 8).expect("a mode is octal");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode can be set");
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("hex is text"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("names are hex bytes")).collect()
}
