//! Reports the findings, once for each part of the command, with the places to which their paths lead.

use std::path::Path;

use haft_contract::doors::door::FileKind;
use haft_contract::effect::{Change, Host, StepEffect};
use haft_contract::files::path::{Extent, Target};

use crate::act::{CodeLanguage, PathEffect, RawEffect};
use crate::beside::renamed;
use crate::interpret::Interpreter;
use crate::interpret::streams::pipes;
use crate::path_class::{PathClass, is_temporary_folder};
use crate::places::{PathDestination, hidden_names};
use crate::value::{ShellValue, ValuePiece};
use crate::{PathLocation, places};

impl Interpreter<'_> {
    /// Tells what an act does, wherever its paths lead.
    pub(crate) fn emit(&mut self, act: RawEffect) {
        let does = match act {
            RawEffect::Path(deed, path) => return self.emit_path(deed, &path),
            RawEffect::LocalCode(code, folder) => return self.emit_local_code(&code, &folder),
            RawEffect::Connect(host) => StepEffect::Connect(host.map(Host)),
            RawEffect::Fetch(program) if self.is_there(&program) => return,
            RawEffect::Fetch(_) => StepEffect::Connect(None),
            RawEffect::ConnectElsewhere => StepEffect::Connect(None),
            RawEffect::Publish(words) => StepEffect::Publish(words),
            RawEffect::Serve(words) => StepEffect::Serve(words),
            RawEffect::SendHere(words) => StepEffect::SendHere(words),
            RawEffect::Code(words) => StepEffect::Code(words),
            RawEffect::Program(name) => StepEffect::Program(name),
            RawEffect::Unknown(why) => StepEffect::Unknown(why),
            RawEffect::Settings(words) => StepEffect::Settings(words),
            RawEffect::ShellState(words) => StepEffect::ShellState(words),
            RawEffect::History(words) => StepEffect::History(words),
            RawEffect::Process(words) => StepEffect::Process(words),
            RawEffect::Danger(danger, words) => StepEffect::Danger(danger, words),
        };
        self.tell(does);
    }

    fn emit_path(&mut self, deed: PathEffect, path: &ShellValue) {
        let path = self.with_home(path);
        let hidden = hidden_names(&path).or_else(|| self.hidden_by_stars(&path));
        if let (PathEffect::Replace | PathEffect::Remove, Some(hidden)) = (deed, hidden) {
            self.emit_path(deed, &hidden);
        }
        for folder in self.shell.folders.now.clone() {
            let place = folder.place(&path);
            let through = folder.place_through(&path, &|folder| self.real_path(folder));
            // Some programs take `..` out of a path before the system sees it.
            if through != place {
                self.emit_place(deed, through, &path);
            }
            self.emit_place(deed, place, &path);
        }
    }

    /// Returns whether something is at a path, in whichever folder the command may be.
    pub(crate) fn is_there(&self, path: &ShellValue) -> bool {
        let is_at = |place: PathDestination| match place {
            PathDestination::At(place) => self.locate.locate(&place).kind.is_some(),
            PathDestination::Anywhere => false,
        };
        self.shell.folders.now.iter().all(|folder| is_at(folder.place(path)))
    }

    /// With `dotglob` a star finds hidden names too.
    fn hidden_by_stars(&self, path: &ShellValue) -> Option<ShellValue> {
        let folder = path.prefix();
        let ends_in_star = matches!(path.pieces(), [ValuePiece::Glob] | [ValuePiece::Text(_), ValuePiece::Glob]);
        let is_whole = folder.is_empty() || folder.ends_with('/');
        (self.shell.options.finds_hidden && ends_in_star && is_whole).then(|| ShellValue::text(format!("{folder}.git")))
    }

    fn emit_place(&mut self, deed: PathEffect, place: PathDestination, path: &ShellValue) {
        match place {
            PathDestination::At(place) => {
                self.found_by_pattern(deed, path, &place);
                // A slash at the end goes through a link.
                let is_folder = path.shown().ends_with('/') && place != "/";
                self.at_place(deed, &if is_folder { format!("{place}/") } else { place }, path);
            }
            PathDestination::Anywhere if self.findings.second_look => {}
            PathDestination::Anywhere => self.anywhere(deed, path),
        }
    }

    /// Returns where a folder really is.
    pub(crate) fn real_path(&self, folder: &str) -> String {
        let through = self.files.through_links(&format!("{folder}/"));
        let through = through.trim_end_matches('/');
        let by_target = || places::path_of(self.scene, &self.locate.locate(through).target);
        self.locate.real_path(through).unwrap_or_else(by_target)
    }

    fn anywhere(&mut self, deed: PathEffect, path: &ShellValue) {
        let does = match deed {
            PathEffect::Read | PathEffect::Key => StepEffect::ReadUnknown,
            PathEffect::List => StepEffect::Nothing,
            PathEffect::Create => StepEffect::ChangeUnknown(Change::Create),
            PathEffect::Replace => StepEffect::ChangeUnknown(Change::Replace),
            PathEffect::Remove => StepEffect::ChangeUnknown(Change::Remove),
            PathEffect::Run => return self.run_foreign(path),
        };
        self.tell(does);
    }

    fn run_foreign(&mut self, path: &ShellValue) {
        match path.origin() {
            Some(origin) => self.emit(pipes::danger_of(origin)),
            None => self.emit(RawEffect::Unknown("the program is known only when it runs".to_owned())),
        }
    }

    pub(crate) fn at_place(&mut self, deed: PathEffect, place: &str, path: &ShellValue) {
        let through = self.files.through_links(place);
        let place = match through.trim_end_matches('/') {
            "" => "/",
            place => place,
        };
        if let Some(end) = self.end_of_links(deed, place) {
            // A pattern finds what is there.
            let deed = if deed == PathEffect::Create && end.contains('*') { PathEffect::Replace } else { deed };
            self.at_place_itself(deed, &end, path);
        }
        self.at_place_itself(deed, &through, path);
    }

    /// Tells what is done at a place, whatever links this command has made.
    fn at_place_itself(&mut self, deed: PathEffect, through: &str, path: &ShellValue) {
        let place = match through.trim_end_matches('/') {
            "" => "/",
            place => place,
        };
        // Removing everything in a folder amounts to removing the folder.
        let place = match place.strip_suffix("/*").filter(|_| deed == PathEffect::Remove && !path.has_unknown()) {
            Some(folder) if is_temporary_folder(Path::new(folder)) => folder,
            _ => place,
        };
        if deed == PathEffect::Run && matches!(place, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
            let input = self.streams.input.clone();
            self.run_input(CodeLanguage::Shell, &[], input.as_ref());
            return;
        }
        if deed == PathEffect::Run {
            self.suspect_put_in(path, place);
        }
        if let (PathEffect::Run, Some(flow)) = (deed, self.arrived_at(place)) {
            return self.run_arrived(path, place, &flow);
        }
        let located = match deed {
            // Removing a link leaves its target.
            PathEffect::Remove if !through.ends_with('/') => self.entry_at(place),
            _ => self.locate.locate(place),
        };
        let target = located.target;
        let is_there = located.kind.is_some();
        let is_folder = located.kind == Some(FileKind::Folder);
        // An interpreter reads the file that it runs, and prints the lines that are wrong.
        if deed == PathEffect::Run && (is_there && !is_folder || PathClass::of(&target) == PathClass::Secret) {
            self.tell(StepEffect::Read(target.clone()));
        }
        let does = match deed {
            PathEffect::Read => StepEffect::Read(target),
            PathEffect::List => StepEffect::List(target),
            PathEffect::Key if target.is_inside() => StepEffect::List(target),
            PathEffect::Key => StepEffect::Read(target),
            // A folder that is there already stays as it is.
            PathEffect::Create if located.kind == Some(FileKind::Folder) && self.findings.are_of("mkdir") => {
                StepEffect::List(target)
            }
            // A pattern finds what is there; a folder is never made over something.
            PathEffect::Create if is_there || (path.known().is_none() && !self.findings.are_of("mkdir")) => {
                StepEffect::Change(target, Change::Replace)
            }
            PathEffect::Create => StepEffect::Change(target, Change::Create),
            PathEffect::Replace => StepEffect::Change(target, Change::Replace),
            // What is in a folder goes with it, but for a folder that has to be empty.
            PathEffect::Remove if located.kind == Some(FileKind::Folder) && !self.findings.are_of("rmdir") => {
                StepEffect::Change(target.as_tree(), Change::Remove)
            }
            PathEffect::Remove => StepEffect::Change(target, Change::Remove),
            PathEffect::Run if target.is_inside() => StepEffect::Code(format!("run {target}")),
            PathEffect::Run => StepEffect::Program(path.shown()),
        };
        self.tell(does);
    }

    /// Locates an entry of a folder, without following it where it is a link.
    pub(crate) fn entry_at(&self, place: &str) -> PathLocation {
        let Some((folder, name)) = place.rsplit_once('/') else { return self.locate.locate(place) };
        let folder = self.locate.locate(if folder.is_empty() { "/" } else { folder });
        let path = folder.target.place().path().join(name);
        let entry = haft_contract::files::path::FileLocation::new(path, Extent::Entry);
        let target = if folder.target.is_inside() { Target::Inside(entry) } else { Target::Outside(entry) };
        let itself = self.locate.locate(place);
        // The workspace is an entry of the folder above it, whatever links lead to that one.
        if Path::new(&places::path_of(self.scene, &folder.target)).join(name) == Path::new(&self.scene.workspace) {
            return itself;
        }
        let is_link = itself.target != target && target.is_inside();
        let kind = if is_link { Some(FileKind::Link) } else { itself.kind };
        PathLocation { target: renamed(self.scene, target), kind }
    }

    /// Returns where the link leads that this command has put at a place, for operations that follow links.
    fn end_of_links(&self, deed: PathEffect, place: &str) -> Option<String> {
        let changes = matches!(deed, PathEffect::Create | PathEffect::Replace);
        let puts_another =
            changes && ["ln", "link", "mv", "install"].iter().any(|program| self.findings.are_of(program));
        if deed == PathEffect::Remove || puts_another {
            return None;
        }
        self.files.end_of_links(place)
    }

    /// Tells what the part does that is walked just now.
    pub(crate) fn tell(&mut self, does: StepEffect) {
        if self.findings.takes(&does) {
            self.note_taken_away(&does);
            self.findings.add(does);
        }
    }
}
