//! A scene for tests: a workspace, a layer, a user who runs haft, and a shell inside.

use std::cell::RefCell;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Gid, Mode, OFlags, Uid};

use super::single_thread::in_one_thread;
use crate::launcher::enter::partly;
use crate::launcher::enter::{NotEntered, ReadyToRun, SandboxSide, fully};
use crate::launcher::watch::WatcherConfinement as _;
use crate::require::Need;
use crate::running::orders::{CommandNetwork, Confine, HomeAccess, Orders, Visible, VisibleRoot};

const NOBODY: u32 = 65534;

/// The user who runs haft, and the owner of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FixtureUser {
    /// An ordinary user in the own workspace.
    User,
    /// Root in root's workspace.
    Root,
    /// Root in the workspace of an ordinary user.
    RootForUser,
}

impl FixtureUser {
    /// All users that the test process can become.
    #[track_caller]
    pub(super) fn all() -> Vec<FixtureUser> {
        if Need::Users.met(rustix::process::geteuid().is_root()) {
            vec![FixtureUser::User, FixtureUser::Root, FixtureUser::RootForUser]
        } else {
            vec![FixtureUser::User]
        }
    }

    fn owner(self) -> Option<u32> {
        (self != FixtureUser::Root && rustix::process::geteuid().is_root()).then_some(NOBODY)
    }
}

/// Returns the scenes if the system has a program that they need.
#[track_caller]
pub(super) fn tried(scenes: Vec<SandboxFixture>, program: &str) -> Vec<SandboxFixture> {
    let is_there = ["/usr/bin", "/usr/local/bin"].iter().any(|folder| Path::new(folder).join(program).exists());
    if Need::of_program(program).met(is_there) { scenes } else { Vec::new() }
}

/// A workspace, its user and a sandbox in which a test runs a shell.
pub(super) struct SandboxFixture {
    who: FixtureUser,
    folder: tempfile::TempDir,
    layered: bool,
    namespaces: bool,
    read_only: RefCell<Vec<PathBuf>>,
    before: Option<fn(&SandboxFixture)>,
    /// The writable folder, if it is not the usual one.
    root: Option<PathBuf>,
    network: CommandNetwork,
    pub(super) visible: RefCell<Visible>,
}

/// The output, the status and the report of one run.
#[derive(Debug, Default)]
pub(super) struct FixtureRun {
    pub(super) text: String,
    pub(super) status: Option<i32>,
    pub(super) report: String,
    pub(super) took: std::time::Duration,
}

impl SandboxFixture {
    pub(super) fn new(who: FixtureUser) -> Self {
        Self::in_folder(who, tempfile::tempdir().unwrap())
    }

    /// The same in a folder whose name is an odd one.
    pub(super) fn oddly_named(who: FixtureUser) -> Self {
        let name = std::ffi::OsString::from_vec(b"a,b:c\\d \n\"\xff".to_vec());
        Self::in_folder(who, tempfile::Builder::new().prefix(&name).tempdir().unwrap())
    }

    fn in_folder(who: FixtureUser, folder: tempfile::TempDir) -> Self {
        let at = |name: &str| folder.path().join(name);
        for name in ["w/sub", "layer/upper", "layer/work", "home", "state", "private"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::fs::write(at("w/sub/file"), "x").unwrap();
        std::fs::write(at("home/secret"), "canary").unwrap();
        let visible = Visible {
            roots: Vec::new(),
            readable: Vec::new(),
            shown: Vec::new(),
            layers: Vec::new(),
            hidden: vec![at("state"), at("layer")],
            home: at("home"),
            folders: Vec::new(),
            home_access: HomeAccess::AsGiven,
            is_supervised: false,
            home_files: vec![(PathBuf::from(".greeting"), "hello\n".into())],
            code: None,
            ..Visible::default()
        };
        Self {
            who,
            folder,
            layered: true,
            namespaces: true,
            read_only: RefCell::default(),
            before: None,
            root: None,
            network: CommandNetwork::Own,
            visible: RefCell::new(visible),
        }
    }

    pub(super) fn who(&self) -> FixtureUser {
        self.who
    }

    pub(super) fn without_layer(mut self) -> Self {
        self.layered = false;
        self
    }

    /// Confined without namespaces, and so without a layer.
    pub(super) fn partly(mut self) -> Self {
        self.namespaces = false;
        self.layered = false;
        self
    }

    /// The whole system is the workspace.
    pub(super) fn whole_system(mut self) -> Self {
        self.root = Some("/".into());
        self.without_layer()
    }

    pub(super) fn with_network(mut self) -> Self {
        self.network = CommandNetwork::Host;
        self
    }

    pub(super) fn read_only(&self, name: &str) -> &Self {
        self.read_only.borrow_mut().push(name.into());
        self
    }

    /// Lets commands read a folder beside the workspace.
    pub(super) fn readable(&self, name: &str) -> &Self {
        self.visible.borrow_mut().readable.push(self.at(name));
        self
    }

    /// Does something first, as the user who runs the tests, in a disposable process.
    pub(super) fn before(mut self, before: fn(&SandboxFixture)) -> Self {
        self.before = Some(before);
        self
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn file(&self, name: &str, content: &str) -> &Self {
        std::fs::write(self.at("w").join(name), content).unwrap();
        self
    }

    pub(super) fn secret(&self, name: &str) -> &Self {
        std::fs::write(self.at(name), "canary").unwrap();
        self
    }

    pub(super) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.at("w").join(name)).unwrap()
    }

    pub(super) fn in_upper(&self, name: &str) -> String {
        std::fs::read_to_string(self.at("layer/upper").join(name)).unwrap()
    }

    pub(super) fn names_in_upper(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.at("layer/upper")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    /// Runs a script of the shell until everything has ended.
    pub(super) fn run(&self, script: &str) -> FixtureRun {
        if let Some(owner) = self.who.owner() {
            give(self.folder.path(), owner);
        }
        let began = std::time::Instant::now();
        let (output, output_end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let (report, report_end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        // A part of the sandbox becomes a child of the launcher's parent, which waits for all its children.
        let parent = in_one_thread(|| {
            in_one_thread(|| {
                let said = self.launch(script, &output_end);
                let _ = rustix::io::write(&report_end, said.as_bytes());
            });
            while rustix::process::wait(rustix::process::WaitOptions::empty()).is_ok() {}
        });
        drop((output_end, report_end));
        let mut seen = FixtureRun { text: everything(output), report: everything(report), ..FixtureRun::default() };
        rustix::process::waitpid(Some(parent), rustix::process::WaitOptions::empty()).unwrap();
        seen.took = began.elapsed();
        seen.status = seen.report.lines().find_map(|line| line.strip_prefix("status ")?.parse().ok());
        seen
    }

    fn launch(&self, script: &str, output: &OwnedFd) -> String {
        if let Some(before) = self.before {
            before(self);
        }
        if self.who == FixtureUser::User && rustix::process::geteuid().is_root() {
            let (uid, gid) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
            rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
            rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable).unwrap();
        }
        let mut visible = self.visible.borrow().clone();
        let path = self.root.clone().unwrap_or_else(|| self.at("w"));
        let mut descriptors = vec![open(&path)];
        if self.layered {
            descriptors.extend([open(&self.at("layer/upper")), open(&self.at("layer/work"))]);
        }
        visible.roots.insert(
            0,
            VisibleRoot {
                path,
                layered: self.layered,
                read_only: self.read_only.borrow().clone(),
                covers_rest: false,
                shown: Vec::new(),
            },
        );
        let orders = Orders {
            streams: None,
            given: [None; 3],
            words: Vec::new(),
            folder: self.at("w"),
            environment: Vec::new(),
            confine: Confine::Fully(visible.clone()),
            processes: 256,
            is_of_session: false,
            proxy: None,
            network: self.network,
            has_input: false,
            serves: false,
            stays: false,
            watched: Vec::new(),
            own: Vec::new(),
            memory: None,
        };
        if !self.namespaces {
            return match partly(&orders, &visible, &self.at("private"), &descriptors) {
                Ok(ready) => self.command(ready, script, output),
                Err(why) => format!("{why:?}\n"),
            };
        }
        match fully(&orders, &visible, descriptors, None) {
            Ok(SandboxSide::Outside(_)) => String::new(),
            Ok(SandboxSide::Inside(ready)) => self.command(ready, script, output),
            Err(NotEntered::NoLayer(why)) => format!("no layer: {why}\n"),
            Err(NotEntered::Missing(what)) => format!("missing: {what}\n"),
            Err(NotEntered::Passing(what)) => format!("not now: {what}\n"),
        }
    }

    fn command(&self, mut ready: ReadyToRun, script: &str, output: &OwnedFd) -> String {
        // SAFETY: this process has one thread.
        #[allow(unsafe_code)]
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: both numbers are descriptors of this process.
            #[allow(unsafe_code)]
            unsafe {
                libc::dup2(output.as_raw_fd(), 1);
                libc::dup2(output.as_raw_fd(), 2);
            }
            rustix::process::chdir(self.root.as_ref().unwrap_or(&self.at("w"))).unwrap();
            ready.restrict_command().unwrap();
            let failed = std::process::Command::new("/bin/bash")
                .args(["-c", script])
                .env_clear()
                .env("PATH", "/usr/local/bin:/usr/bin:/bin")
                .env("HOME", self.at("home"))
                .env("TMPDIR", if self.namespaces { PathBuf::from("/tmp") } else { self.at("private") })
                .env("STATE", self.at("state"))
                .exec();
            panic!("{failed}");
        }
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let ended = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap();
        let mut handed_over = false;
        let status = loop {
            if !handed_over {
                ready.started();
                handed_over = true;
            }
            let waited: Vec<_> = ready.listener().into_iter().chain([ended.as_fd()]).collect();
            let mut polled: Vec<_> = waited.iter().map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN)).collect();
            poll(&mut polled, None).unwrap();
            let is_question = polled.len() > 1 && polled[0].revents().contains(PollFlags::IN);
            if is_question {
                ready.answer_question();
            } else if !polled.last().unwrap().revents().is_empty() {
                break rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()).unwrap().unwrap().1;
            }
        };
        let notes: Vec<String> = ready.notes.iter().map(|note| format!("note {note}\n")).collect();
        format!("{}status {}\n", notes.concat(), status.exit_status().unwrap_or(-1))
    }
}

fn open(path: &Path) -> OwnedFd {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

fn everything(pipe: OwnedFd) -> String {
    let mut bytes = Vec::new();
    std::fs::File::from(pipe).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn give(folder: &Path, owner: u32) {
    let chown = |path: &Path| std::os::unix::fs::lchown(path, Some(owner), Some(owner)).unwrap();
    chown(folder);
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() { give(&entry.path(), owner) } else { chown(&entry.path()) }
    }
}
