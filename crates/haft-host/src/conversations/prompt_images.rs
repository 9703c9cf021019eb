//! Images that a person shows a model by naming them in a message: `@picture.png`.
//!
//! Only what the person typed counts, never the text of a file or of a model.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_model::conversation::Image;
use haft_workspace::state::read_named_image;

use crate::calling::typed_words::{quoted, words};

/// The largest image that all providers take, in bytes.
const LARGEST: u64 = 3_700_000;
/// Most images in one message.
const MOST: usize = 10;
/// How the names of images end.
const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// Returns the images that a message names, in their order. Relative paths begin at the workspace.
///
/// # Errors
///
/// Fails when one of them cannot be shown to a model.
pub fn images_named(message: &str, workspace: &Path) -> anyhow::Result<Vec<Image>> {
    let paths = paths_named(message);
    anyhow::ensure!(paths.len() <= MOST, "a message can show at most {MOST} images; send them in several messages");
    paths.iter().map(|path| read(&workspace.join(path), path)).collect()
}

/// Says whether a message names images.
#[must_use]
pub fn names_images(message: &str) -> bool {
    !paths_named(message).is_empty()
}

/// Returns what a dropped or pasted text stands for in a message, where it is the path of one image: terminals send the
/// path of a file that is dropped on them, quoted in one of several ways.
#[must_use]
pub fn mention_of_dropped(pasted: &str) -> Option<String> {
    let text = pasted.trim();
    let text = text.strip_prefix("file://").map(percent_decoded).unwrap_or_else(|| text.to_owned());
    if text.contains('\n') {
        return None;
    }
    let (words, is_open) = words(&text);
    let path = match words.as_slice() {
        [word] if !is_open => word.text.clone(),
        _ => text,
    };
    let is_dropped = Path::new(&path).is_absolute() && is_image(Path::new(&path));
    is_dropped.then(|| format!("@{} ", quoted(&path)))
}

fn read(path: &Path, named: &Path) -> anyhow::Result<Image> {
    let shown = named.display();
    let image = read_named_image(path, LARGEST).map_err(|error| {
        anyhow!("the image {shown} cannot be shown: {error}; name another file, or leave out the @")
    })?;
    Ok(Image { media_type: image.media_type.to_owned(), base64: BASE64_STANDARD.encode(&image.bytes) })
}

fn paths_named(message: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut rest = message;
    while let Some(at) = rest.find('@') {
        let is_start =
            rest[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '"' | '\''));
        let behind = &rest[at + 1..];
        // The quotes of a path may hold blanks, so a line is read from here.
        let line = behind.lines().next().unwrap_or_default();
        let (words, _) = words(line);
        let first = words.first().filter(|word| is_start && word.bytes.start == 0);
        let path = first.map(|word| PathBuf::from(word.text.trim_end_matches([',', '.', ';', ':', ')', '?', '!'])));
        paths.extend(path.filter(|path| is_image(path)));
        rest = behind;
    }
    paths.dedup();
    paths
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_images_behind_an_at_sign_are_meant() {
        for (message, expected) in [
            ("what is on @logo.png?", vec!["logo.png"]),
            ("@'my shot.PNG' and (@/tmp/b.jpeg)", vec!["my shot.PNG", "/tmp/b.jpeg"]),
            ("look at @src/main.rs, logo.png and me@site.png", vec![]),
            ("", vec![]),
        ] {
            let expected: Vec<PathBuf> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(paths_named(message), expected, "{message}");
        }
    }

    #[test]
    fn a_dropped_image_is_named_however_the_terminal_writes_its_path() {
        for pasted in ["/a/my shot.png", "'/a/my shot.png' ", "/a/my\\ shot.png", "file:///a/my%20shot.png"] {
            assert_eq!(mention_of_dropped(pasted).as_deref(), Some("@'/a/my shot.png' "), "{pasted}");
        }
        for pasted in ["see /a/b.png", "b.png", "/a/b.txt", "/a/b.png\n/a/c.png", ""] {
            assert_eq!(mention_of_dropped(pasted), None, "{pasted}");
        }
    }

    #[test]
    fn a_file_that_is_no_image_is_an_error_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let error = |message| images_named(message, folder.path()).expect_err("it is none").to_string();
        assert!(
            error("@gone.png").starts_with("the image gone.png cannot be shown: No such file"),
            "{}",
            error("@gone.png")
        );
        let many: String = (0..11).map(|number| format!("@{number}.png ")).collect();
        assert!(error(&many).contains("at most 10 images"));
    }
}
