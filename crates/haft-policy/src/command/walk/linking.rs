//! Links that a command makes: whoever writes through one later writes where it leads.

use super::super::places::{Folder, Place};
use super::super::value::{Piece, Value};
use super::Walk;
use haft_contract::door::FileKind;

/// What one `ln` makes.
struct Links<'a> {
    targets: Vec<&'a Value>,
    /// The link, or the folder for links; nothing where it is the folder of the shell.
    at: Option<&'a Value>,
    /// Whether the targets are meant from where the links are.
    from_links: bool,
}

impl Walk<'_> {
    /// Notes the links that `ln`, `cp -s` and `cp -l` make. A hard link is another name of the same file.
    pub(super) fn link(&mut self, words: &[Value]) {
        let links = Links::of(words);
        let is_only = links.targets.len() == 1;
        for folder in self.shell.folders.clone() {
            for target in &links.targets {
                let inner = links.at.map_or_else(|| Value::text("."), Clone::clone);
                let in_folder = folder.place(&below(&inner, target));
                let itself = links.at.map(|at| folder.place(at)).filter(|_| is_only);
                let is_folder = itself.as_ref().is_none_or(|place| self.is_folder(place));
                let place = if is_folder { in_folder } else { itself.unwrap_or(Place::Anywhere) };
                let Place::At(link) = place else { continue };
                let from = match link.rsplit_once('/') {
                    Some((parent, _)) if links.from_links => Folder::Known(parent.to_owned()),
                    _ => folder.clone(),
                };
                if let Place::At(target) = from.place(&self.with_home(target)) {
                    self.links.insert(link, target);
                }
            }
        }
    }

    fn is_folder(&self, place: &Place) -> bool {
        matches!(place, Place::At(place) if self.locate.locate(place).kind == Some(FileKind::Folder))
    }
}

impl<'a> Links<'a> {
    fn of(words: &'a [Value]) -> Self {
        let has = |short: char, long: &str| {
            words[1..].iter().map(Value::prefix).any(|flag| {
                let is_bundle = flag.starts_with('-') && !flag.starts_with("--");
                (is_bundle && flag.contains(short)) || (flag.len() > 3 && long.starts_with(flag))
            })
        };
        let is_ln = words[0].known().is_some_and(|name| name.ends_with("ln"));
        let mut operands: Vec<&Value> = Vec::new();
        let mut into = None;
        let mut rest = words[1..].iter();
        while let Some(word) = rest.next() {
            match word.prefix() {
                "-t" | "--target-directory" => into = rest.next(),
                flag if flag.starts_with('-') => {}
                _ => operands.push(word),
            }
        }
        let makes_links = is_ln || has('s', "--symbolic-link") || has('l', "--link");
        let at = match operands.len() {
            _ if !makes_links => return Self { targets: Vec::new(), at: None, from_links: false },
            _ if into.is_some() => into,
            0 | 1 => None,
            _ => operands.pop(),
        };
        let is_symbolic = has('s', if is_ln { "--symbolic" } else { "--symbolic-link" });
        Self { targets: operands, at, from_links: is_symbolic && !has('r', "--relative") }
    }
}

/// Returns the name of a target in a folder.
fn below(folder: &Value, target: &Value) -> Value {
    let mut path = folder.clone();
    path.push(Piece::Text("/".to_owned()));
    match target.known() {
        Some(target) => {
            path.push(Piece::Text(target.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()))
        }
        None => path.push(Piece::Glob),
    }
    path
}
