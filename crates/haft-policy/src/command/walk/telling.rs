//! Tells what was found, once for each part of the command, with paths where they lead.

use std::path::Path;

use haft_contract::door::FileKind;
use haft_contract::effect::{Change, Does, Host};
use haft_contract::path::{Extent, Target};

use super::super::Located;
use super::super::act::{Act, Deed, Language};
use super::super::beside::renamed;
use super::super::patterns;
use super::super::places::{self, Place, hidden_names};
use super::super::value::{Piece, Value};
use super::{Found, Walk, pipes};
use crate::zone::{Zone, is_temporary_folder};

impl Walk<'_> {
    /// Tells what an act does, wherever its paths lead.
    pub(super) fn emit(&mut self, act: Act) {
        let does = match act {
            Act::Path(deed, path) => return self.emit_path(deed, &path),
            Act::LocalCode(code, folder) => return self.emit_local_code(&code, &folder),
            Act::Connect(host) => Does::Connect(host.map(Host)),
            Act::Fetch(program) if self.is_there(&program) => return,
            Act::Fetch(_) => Does::Connect(None),
            Act::ConnectElsewhere => Does::Connect(None),
            Act::Publish(words) => Does::Publish(words),
            Act::Serve(words) => Does::Serve(words),
            Act::SendHere(words) => Does::SendHere(words),
            Act::Code(words) => Does::Code(words),
            Act::Program(name) => Does::Program(name),
            Act::Unknown(why) => Does::Unknown(why),
            Act::Settings(words) => Does::Settings(words),
            Act::ShellState(words) => Does::ShellState(words),
            Act::History(words) => Does::History(words),
            Act::Process(words) => Does::Process(words),
            Act::Danger(danger, words) => Does::Danger(danger, words),
        };
        self.tell(does);
    }

    fn emit_path(&mut self, deed: Deed, path: &Value) {
        let path = self.with_home(path);
        let hidden = hidden_names(&path).or_else(|| self.hidden_by_stars(&path));
        if let (Deed::Replace | Deed::Remove, Some(hidden)) = (deed, hidden) {
            self.emit_path(deed, &hidden);
        }
        for folder in self.shell.folders.clone() {
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
    pub(super) fn is_there(&self, path: &Value) -> bool {
        let is_at = |place: Place| match place {
            Place::At(place) => self.locate.locate(&place).kind.is_some(),
            Place::Anywhere => false,
        };
        self.shell.folders.iter().all(|folder| is_at(folder.place(path)))
    }

    /// With `dotglob` a star finds hidden names too.
    fn hidden_by_stars(&self, path: &Value) -> Option<Value> {
        let folder = path.prefix();
        let ends_in_star = matches!(path.pieces(), [Piece::Glob] | [Piece::Text(_), Piece::Glob]);
        let is_whole = folder.is_empty() || folder.ends_with('/');
        (self.shell.finds_hidden && ends_in_star && is_whole).then(|| Value::text(format!("{folder}.git")))
    }

    fn emit_place(&mut self, deed: Deed, place: Place, path: &Value) {
        match place {
            Place::At(place) => {
                self.found_by_pattern(deed, path, &place);
                // A slash at the end goes through a link.
                let is_folder = path.shown().ends_with('/') && place != "/";
                self.at_place(deed, &if is_folder { format!("{place}/") } else { place }, path);
            }
            Place::Anywhere if self.second_look => {}
            Place::Anywhere => self.anywhere(deed, path),
        }
    }

    /// Returns where a folder really is.
    pub(super) fn real_path(&self, folder: &str) -> String {
        let through = self.through_links(&format!("{folder}/"));
        let through = through.trim_end_matches('/');
        let by_target = || places::path_of(self.scene, &self.locate.locate(through).target);
        self.locate.real_path(through).unwrap_or_else(by_target)
    }

    fn anywhere(&mut self, deed: Deed, path: &Value) {
        let does = match deed {
            Deed::Read | Deed::Key => Does::ReadUnknown,
            Deed::List => Does::Nothing,
            Deed::Create => Does::ChangeUnknown(Change::Create),
            Deed::Replace => Does::ChangeUnknown(Change::Replace),
            Deed::Remove => Does::ChangeUnknown(Change::Remove),
            Deed::Run => return self.run_foreign(path),
        };
        self.tell(does);
    }

    fn run_foreign(&mut self, path: &Value) {
        match path.origin() {
            Some(origin) => self.emit(pipes::danger_of(origin)),
            None => self.emit(Act::Unknown("the program is known only when it runs".to_owned())),
        }
    }

    pub(super) fn at_place(&mut self, deed: Deed, place: &str, path: &Value) {
        let through = self.through_links(place);
        let place = match through.trim_end_matches('/') {
            "" => "/",
            place => place,
        };
        if let Some(end) = self.end_of_links(deed, place) {
            // A pattern finds what is there.
            let deed = if deed == Deed::Create && end.contains('*') { Deed::Replace } else { deed };
            self.at_place_itself(deed, &end, path);
        }
        self.at_place_itself(deed, &through, path);
    }

    /// Tells what is done at a place, whatever links this command has made.
    fn at_place_itself(&mut self, deed: Deed, through: &str, path: &Value) {
        let place = match through.trim_end_matches('/') {
            "" => "/",
            place => place,
        };
        // Whoever removes everything in a folder removes what the folder is.
        let place = match place.strip_suffix("/*").filter(|_| deed == Deed::Remove && !path.has_unknown()) {
            Some(folder) if is_temporary_folder(Path::new(folder)) => folder,
            _ => place,
        };
        if deed == Deed::Run && matches!(place, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
            let input = self.input.clone();
            self.run_input(Language::Shell, &[], input.as_ref());
            return;
        }
        if deed == Deed::Run {
            self.suspect_put_in(path, place);
        }
        if let (Deed::Run, Some(flow)) = (deed, self.arrived_at(place)) {
            return self.run_arrived(path, place, &flow);
        }
        let located = match deed {
            // Whoever removes a link removes the link.
            Deed::Remove if !through.ends_with('/') => self.entry_at(place),
            _ => self.locate.locate(place),
        };
        let target = located.target;
        let is_there = located.kind.is_some();
        let is_folder = located.kind == Some(FileKind::Folder);
        // Whoever runs a file reads it, and says what is wrong with its lines.
        if deed == Deed::Run && (is_there && !is_folder || Zone::of(&target) == Zone::Secret) {
            self.tell(Does::Read(target.clone()));
        }
        let does = match deed {
            Deed::Read => Does::Read(target),
            Deed::List => Does::List(target),
            Deed::Key if target.is_inside() => Does::List(target),
            Deed::Key => Does::Read(target),
            // A folder that is there already stays as it is.
            Deed::Create if located.kind == Some(FileKind::Folder) && self.runs("mkdir") => Does::List(target),
            // A pattern finds what is there; a folder is never made over something.
            Deed::Create if is_there || (path.known().is_none() && !self.runs("mkdir")) => {
                Does::Change(target, Change::Replace)
            }
            Deed::Create => Does::Change(target, Change::Create),
            Deed::Replace => Does::Change(target, Change::Replace),
            // What is in a folder goes with it, but for a folder that has to be empty.
            Deed::Remove if located.kind == Some(FileKind::Folder) && !self.runs("rmdir") => {
                Does::Change(target.as_tree(), Change::Remove)
            }
            Deed::Remove => Does::Change(target, Change::Remove),
            Deed::Run if target.is_inside() => Does::Code(format!("run {target}")),
            Deed::Run => Does::Program(path.shown()),
        };
        self.tell(does);
    }

    /// Locates an entry of a folder, without following it where it is a link.
    pub(super) fn entry_at(&self, place: &str) -> Located {
        let Some((folder, name)) = place.rsplit_once('/') else { return self.locate.locate(place) };
        let folder = self.locate.locate(if folder.is_empty() { "/" } else { folder });
        let path = folder.target.place().path().join(name);
        let entry = haft_contract::path::Place::new(path, Extent::Entry);
        let target = if folder.target.is_inside() { Target::Inside(entry) } else { Target::Outside(entry) };
        let itself = self.locate.locate(place);
        // The workspace is an entry of the folder above it, whatever links lead to that one.
        if Path::new(&places::path_of(self.scene, &folder.target)).join(name) == Path::new(&self.scene.workspace) {
            return itself;
        }
        let is_link = itself.target != target && target.is_inside();
        let kind = if is_link { Some(FileKind::Link) } else { itself.kind };
        Located { target: renamed(self.scene, target), kind }
    }

    pub(super) fn runs(&self, program: &str) -> bool {
        self.words.first().is_some_and(|name| name == program)
    }

    /// Returns where a path leads through links that this command has made.
    fn through_links(&self, place: &str) -> String {
        let mut place = place.to_owned();
        for _ in 0..4 {
            if self.link_at(&place).is_some() {
                break;
            }
            let links = self.links.iter().filter_map(|(link, target)| {
                let rest = place.strip_prefix(link.as_str()).filter(|rest| rest.starts_with('/'))?;
                Some((link.len(), format!("{target}{}", rest.trim_end_matches('/'))))
            });
            // The last link on the way is the one that was made in what the others lead to.
            let Some((_, through)) = links.max_by_key(|(length, _)| *length) else { break };
            place = through;
        }
        place
    }

    /// Returns where the link leads that this command has put at a place, or may have put there with others.
    fn link_at(&self, place: &str) -> Option<&String> {
        let by_pattern = || {
            let mut links = self.links.iter().filter(|(link, _)| link.contains('*'));
            links.find(|(link, _)| patterns::fits(link, place)).map(|(_, target)| target)
        };
        self.links.get(place).or_else(by_pattern)
    }

    /// Returns where the link leads that this command has put at a place, for whoever follows it.
    fn end_of_links(&self, deed: Deed, place: &str) -> Option<String> {
        let changes = matches!(deed, Deed::Create | Deed::Replace);
        let puts_another = changes && ["ln", "link", "mv", "install"].iter().any(|program| self.runs(program));
        if deed == Deed::Remove || puts_another {
            return None;
        }
        let mut end = self.link_at(place)?;
        for _ in 0..4 {
            end = self.links.get(end).unwrap_or(end);
        }
        Some(self.through_links(end))
    }

    /// Tells what the part does that is walked just now.
    pub(super) fn tell(&mut self, does: Does) {
        // The second look is for what is grave; the rest was told in the first one.
        let is_grave = match &does {
            Does::Danger(..) | Does::Change(_, Change::Remove | Change::Replace) => true,
            Does::Read(target) => Zone::of(target) == Zone::Secret,
            _ => false,
        };
        // A program that is not in the table may be a function that is defined further on.
        let depends = matches!(does, Does::Unknown(_) | Does::ReadUnknown | Does::ChangeUnknown(_) | Does::Program(_));
        if (self.second_look && !is_grave) || (self.only_known && depends) {
            return;
        }
        self.connects += usize::from(matches!(does, Does::Connect(_)));
        self.note_taken_away(&does);
        if self.told.insert((self.part.0, self.list, does.clone())) {
            self.names_made += usize::from(matches!(does, Does::Change(_, Change::Create | Change::Replace)));
            self.found.push(Found { part: self.part, words: self.words.clone(), does });
        }
    }
}
