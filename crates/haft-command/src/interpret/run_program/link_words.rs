//! Links that a command makes: a later write through one goes where it leads.

use crate::interpret::Interpreter;
use crate::places::{Folder, PathDestination};
use crate::value::{ShellValue, ValuePiece};
use haft_contract::doors::door::FileKind;

/// What one `ln` makes.
#[derive(Default)]
struct MadeLinks {
    targets: Vec<ShellValue>,
    /// The link, or the folder for links; nothing where it is the folder of the shell.
    at: Option<ShellValue>,
    /// Whether that is a folder, a link, or whichever is there.
    is: LinkSpot,
    /// Whether the targets are meant from where the links are.
    from_links: bool,
}

/// What the last word of a command that makes links is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LinkSpot {
    Folder,
    Link,
    #[default]
    Either,
}

impl Interpreter<'_> {
    /// Notes the links that `ln`, `link`, `cp -s` and `cp -l` make. A hard link is another name of the same file.
    pub(crate) fn link(&mut self, words: &[ShellValue]) {
        let links = MadeLinks::of(words);
        for folder in self.shell.folders.now.clone() {
            for target in &links.targets {
                for link in self.places_of_link(&links, &folder, target) {
                    let from = match link.rsplit_once('/') {
                        Some((parent, _)) if links.from_links => Folder::Known(parent.to_owned()),
                        _ => folder.clone(),
                    };
                    if let PathDestination::At(target) = from.place(&self.with_home(target)) {
                        self.files.links.insert(link, target);
                    }
                }
            }
        }
    }

    /// Returns where a link may be put: in the folder that is named, at that name itself, or one of both where an earlier
    /// part of this command has made something there.
    fn places_of_link(&self, links: &MadeLinks, folder: &Folder, target: &ShellValue) -> Vec<String> {
        let inner = links.at.clone().unwrap_or_else(|| ShellValue::text("."));
        let in_folder = folder.place(&below(&inner, target));
        let itself = links.at.as_ref().map(|at| folder.place(at)).filter(|_| links.targets.len() == 1);
        let places = match (itself, links.is) {
            (Some(itself), LinkSpot::Link) => vec![itself],
            (Some(itself), LinkSpot::Either) if self.is_folder(&itself) => vec![in_folder],
            (Some(itself), LinkSpot::Either) if self.is_made(&itself) => vec![itself, in_folder],
            (Some(itself), LinkSpot::Either) => vec![itself],
            (Some(_), LinkSpot::Folder) | (None, _) => vec![in_folder],
        };
        let known = |place| if let PathDestination::At(place) = place { Some(place) } else { None };
        places.into_iter().filter_map(known).collect()
    }

    fn is_folder(&self, place: &PathDestination) -> bool {
        matches!(place, PathDestination::At(place) if self.locate.locate(place).kind == Some(FileKind::Folder))
    }

    fn is_made(&self, place: &PathDestination) -> bool {
        matches!(place, PathDestination::At(place) if self.is_made_folder(place))
    }
}

impl MadeLinks {
    fn of(words: &[ShellValue]) -> Self {
        let name = words[0].known().unwrap_or_default();
        let (is_link, is_ln) = (name.ends_with("link"), name.ends_with("ln"));
        let told = LinkWords::of(&words[1..]);
        let makes_links = is_link || is_ln || told.has('s', "--symbolic-link") || told.has('l', "--link");
        if !makes_links {
            return Self::default();
        }
        let is_whole = is_link || told.has('T', "--no-target-directory");
        let from_links = told.has('s', "--symbolic-link") && !(is_ln && told.has('r', "--relative"));
        let mut targets = told.operands;
        let (at, is) = match told.into {
            Some(folder) => (Some(folder), LinkSpot::Folder),
            None if targets.len() < 2 => (None, LinkSpot::Folder),
            None => (targets.pop(), if is_whole { LinkSpot::Link } else { LinkSpot::Either }),
        };
        Self { targets, at, is, from_links }
    }
}

/// The words of `ln` and `cp`, told apart.
#[derive(Default)]
struct LinkWords {
    flags: Vec<String>,
    operands: Vec<ShellValue>,
    /// The folder that a flag names.
    into: Option<ShellValue>,
}

impl LinkWords {
    fn of(words: &[ShellValue]) -> Self {
        let mut told = Self::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match word.prefix() {
                "--" if word.known().is_some() => {
                    told.operands.extend(rest.by_ref().cloned());
                }
                flag if flag.starts_with("--") => {
                    let name = flag.split('=').next().unwrap_or_default();
                    let takes_value = |long: &str| name.len() > 2 && long.starts_with(name);
                    let mut value = || word.strip_prefix(&format!("{name}=")).or_else(|| rest.next().cloned());
                    if takes_value("--target-directory") {
                        told.into = value();
                    } else if name.len() > 3 && takes_value("--suffix") {
                        value();
                    }
                    told.flags.push(name.to_owned());
                }
                flag if flag.starts_with('-') && flag.len() > 1 => told.bundle(word, &mut rest),
                _ => told.operands.push(word.clone()),
            }
        }
        told
    }

    /// Takes letters that stand together; the rest of the word is the value of one.
    fn bundle<'a>(&mut self, word: &ShellValue, rest: &mut impl Iterator<Item = &'a ShellValue>) {
        for (at, letter) in word.prefix().char_indices().skip(1) {
            self.flags.push(format!("-{letter}"));
            if !matches!(letter, 't' | 'S') {
                continue;
            }
            let attached = word.strip_prefix(&word.prefix()[..=at]).filter(|value| !value.is_empty());
            let value = attached.or_else(|| rest.next().cloned());
            if letter == 't' {
                self.into = value;
            }
            return;
        }
    }

    fn has(&self, short: char, long: &str) -> bool {
        let is = |flag: &String| *flag == format!("-{short}") || (flag.len() > 3 && long.starts_with(flag.as_str()));
        self.flags.iter().any(is)
    }
}

/// Returns the name of a target in a folder.
fn below(folder: &ShellValue, target: &ShellValue) -> ShellValue {
    let mut path = folder.clone();
    path.push(ValuePiece::Text("/".to_owned()));
    match target.known() {
        Some(target) => {
            path.push(ValuePiece::Text(target.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()))
        }
        None => path.push(ValuePiece::Glob),
    }
    path
}
