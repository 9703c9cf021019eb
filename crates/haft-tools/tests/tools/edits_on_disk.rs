//! The cases of `tests/cases/edits.jsonl` and `more_edits.jsonl`, through the tools: a model reads, then edits.
//!
//! What is compared are the bytes on disk, the kind of the error and the words of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use haft_contract::outcome::result::{Did, ToolResult};
use haft_runtime::asking::approval::YesToOrdinary;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::nobody;
use haft_testkit::snapshot::told;
use serde::Deserialize;
use serde_json::{Value, json};

const CASES: [&str; 2] =
    [include_str!("../../../../tests/cases/edits.jsonl"), include_str!("../../../../tests/cases/more_edits.jsonl")];

/// One case, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    class: String,
    why: String,
    before: Option<String>,
    before_b64: Option<String>,
    r#gen: Option<Generated>,
    edits: Vec<Sent>,
    expect: Expected,
    #[serde(default)]
    also_ok: Vec<Expected>,
    /// What stands on disk when the edit arrives.
    disk_after_read: Option<String>,
    /// The file is written again with the same content.
    #[serde(default)]
    touch: bool,
    #[serde(default)]
    removed_after_read: bool,
    #[serde(default)]
    not_read: bool,
    /// The mode, octal.
    mode: Option<String>,
    #[serde(default)]
    via_symlink: bool,
    #[serde(default)]
    hard_link: bool,
    /// Attributes and their values.
    #[serde(default)]
    xattr: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Generated {
    parts: Vec<(String, usize)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
}

/// How it may end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    after: Option<String>,
    after_b64: Option<String>,
    after_len: Option<usize>,
    after_suffix: Option<String>,
    after_contains: Option<String>,
    error: Option<String>,
    near_line: Option<usize>,
    count: Option<usize>,
    /// Which edit is at fault, counted from 0.
    edit: Option<usize>,
}

#[tokio::test]
async fn the_edit_cases_hold_on_disk() {
    let mut wrong = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for line in CASES.iter().flat_map(|cases| cases.lines()).filter(|line| !line.trim().is_empty()) {
        let case: Case = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(ids.insert(case.id.clone()), "{} is there twice", case.id);
        if let Err(why) = case.run().await {
            wrong.push(format!("{} ({}): {why}\n   {}", case.id, case.class, case.why));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases are wrong:\n{}", wrong.len(), ids.len(), wrong.join("\n"));
}

impl Case {
    async fn run(&self) -> Result<(), String> {
        let scene = Scene::new().approver(YesToOrdinary::or_ask(nobody()));
        let (name, real) = self.lay_out(&scene.root());
        if !self.not_read {
            scene.call("read_file", json!({ "path": name })).await;
        }
        self.interfere(&real);
        let before = fs::read(&real).ok();
        let facts = Facts::of(&real);
        let result = scene.call("edit_file", json!({ "path": name, "edits": self.sent() })).await;
        let after = fs::read(&real).ok();
        if result.error.is_some() && (before != after || !matches!(result.did, Did::Nothing)) {
            return Err(format!("an error changed the file:\n{}", told(&result)));
        }
        self.check_kept(&scene.root(), &facts, &Facts::of(&real))?;
        let fits = |expected: &Expected| expected.fits(&result, after.as_deref().unwrap_or_default());
        if std::iter::once(&self.expect).chain(&self.also_ok).any(fits) {
            return Ok(());
        }
        let after = after.map(|after| String::from_utf8_lossy(&after).chars().take(300).collect::<String>());
        Err(format!("{}\n   on disk: {after:?}", told(&result).chars().take(1_000).collect::<String>()))
    }

    /// Returns the name that is called and the path of the file itself.
    fn lay_out(&self, root: &Path) -> (&'static str, PathBuf) {
        let (name, real) = if self.via_symlink {
            ("link.txt", root.join("real/file.txt"))
        } else {
            ("file.txt", root.join("file.txt"))
        };
        fs::create_dir_all(real.parent().expect("a file has a folder")).expect("folders can be made");
        fs::write(&real, self.content()).expect("a file can be written");
        if self.via_symlink {
            std::os::unix::fs::symlink("real/file.txt", root.join(name)).expect("a link can be made");
        }
        if self.hard_link {
            fs::hard_link(&real, root.join("other.txt")).expect("a link can be made");
        }
        for (attribute, value) in &self.xattr {
            rustix::fs::setxattr(&real, attribute.as_str(), value.as_bytes(), rustix::fs::XattrFlags::empty())
                .expect("attributes can be set here");
        }
        if let Some(mode) = &self.mode {
            let mode = u32::from_str_radix(mode, 8).expect("a mode is octal");
            fs::set_permissions(&real, fs::Permissions::from_mode(mode)).expect("a mode can be set");
        }
        (name, real)
    }

    /// Changes the file as another program would, between the reading and the edit.
    fn interfere(&self, real: &Path) {
        if let Some(text) = &self.disk_after_read {
            fs::write(real, text).expect("a file can be written");
        }
        if self.touch {
            fs::write(real, self.content()).expect("a file can be written");
        }
        if self.removed_after_read {
            fs::remove_file(real).expect("a file can be removed");
        }
    }

    fn content(&self) -> Vec<u8> {
        match (&self.before, &self.before_b64, &self.r#gen) {
            (Some(text), None, None) => text.clone().into_bytes(),
            (None, Some(encoded), None) => base64(encoded),
            (None, None, Some(generated)) => {
                generated.parts.iter().map(|(text, times)| text.repeat(*times)).collect::<String>().into_bytes()
            }
            _ => panic!("{}: one of before, before_b64 and gen is needed", self.id),
        }
    }

    fn sent(&self) -> Vec<Value> {
        let one = |sent: &Sent| match sent.replace_all {
            true => json!({ "old_text": sent.old, "new_text": sent.new, "count": "all" }),
            false => json!({ "old_text": sent.old, "new_text": sent.new }),
        };
        self.edits.iter().map(one).collect()
    }

    /// Mode, links and attributes stay, and nothing lies about.
    fn check_kept(&self, root: &Path, before: &Facts, after: &Facts) -> Result<(), String> {
        if before != after {
            return Err(format!("{before:?} became {after:?}"));
        }
        if self.via_symlink && !root.join("link.txt").is_symlink() {
            return Err("the link is no link any more".to_owned());
        }
        if self.hard_link && fs::read(root.join("other.txt")).ok() != Some(self.content()) {
            return Err("the other name has another content".to_owned());
        }
        let mut entries = fs::read_dir(root).expect("the root can be listed").flatten();
        match entries.find(|entry| entry.file_name().to_string_lossy().starts_with(".haft-")) {
            Some(left) => Err(format!("{} was left", left.path().display())),
            None => Ok(()),
        }
    }
}

/// What an edit keeps.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    mode: Option<u32>,
    attributes: Vec<(String, Vec<u8>)>,
}

impl Facts {
    fn of(path: &Path) -> Self {
        let mut names = vec![0; 4096];
        let size = rustix::fs::listxattr(path, &mut names).unwrap_or(0);
        let names = names[..size].split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned());
        let value = |name: &str| {
            let mut value = vec![0; 4096];
            let size = rustix::fs::getxattr(path, name, &mut value).unwrap_or(0);
            value.truncate(size);
            value
        };
        let attributes = names.filter(|name| name.starts_with("user.")).map(|name| (name.clone(), value(&name)));
        Self { mode: path.metadata().ok().map(|facts| facts.permissions().mode()), attributes: attributes.collect() }
    }
}

impl Expected {
    fn fits(&self, result: &ToolResult, after: &[u8]) -> bool {
        match (&self.error, &result.error) {
            (Some(kind), Some(error)) => {
                let says_near = |line| lines_in(&error.what).any(|(first, last)| (first..=last).contains(&line));
                error.kind.code() == kind
                    && self.near_line.is_none_or(says_near)
                    && self.count.is_none_or(|count| error.what.contains(&format!("{count} times")))
                    && self.edit.is_none_or(|edit| error.what.contains(&format!("edit {}", edit + 1)))
            }
            (None, None) => self.describes(after),
            _ => false,
        }
    }

    fn describes(&self, after: &[u8]) -> bool {
        let has = |text: &str| after.windows(text.len().max(1)).any(|window| window == text.as_bytes());
        self.after.as_deref().is_none_or(|text| text.as_bytes() == after)
            && self.after_b64.as_deref().is_none_or(|text| base64(text) == after)
            && self.after_len.is_none_or(|length| length == after.len())
            && self.after_suffix.as_deref().is_none_or(|text| after.ends_with(text.as_bytes()))
            && self.after_contains.as_deref().is_none_or(has)
    }
}

/// The lines that a sentence names: `line 4`, `lines 4-7`, `lines 4, 7`.
fn lines_in(words: &str) -> impl Iterator<Item = (usize, usize)> {
    let numbers = |rest: &str| {
        let rest = rest.trim_start_matches('s').trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && !", -".contains(c)).unwrap_or(rest.len());
        rest[..end].to_owned()
    };
    let named: Vec<String> = words.split("line").skip(1).map(numbers).collect();
    named.into_iter().flat_map(|named| {
        let ranges = named.split(',').filter_map(|range| {
            let (first, last) = range.trim().split_once('-').unwrap_or((range.trim(), range.trim()));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        });
        ranges.collect::<Vec<_>>()
    })
}

fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sixes = text.bytes().filter_map(|letter| LETTERS.iter().position(|&known| known == letter));
    let bits: Vec<usize> = sixes.flat_map(|six| (0..6).rev().map(move |bit| six >> bit & 1)).collect();
    let byte = |bits: &[usize]| bits.iter().fold(0u8, |byte, &bit| byte << 1 | u8::from(bit == 1));
    bits.chunks_exact(8).map(byte).collect()
}
