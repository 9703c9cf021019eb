//! Emoji that are made of several characters, some of which show nothing by themselves.
//!
//! A family is four people with joiners between them; a red heart is a heart and a selector. Inside such a sequence the
//! invisible characters are part of one picture. Anywhere else they hide something.
//!
//! Not here: the list of invisible characters (`visible`).

const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';
/// Chooses between a picture and a plain sign.
const SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
/// The black flag, with tags behind it the flag of a region.
const FLAG: char = '\u{1f3f4}';
/// The regions that have a flag of tags: any other letters would be a hidden text.
const REGIONS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
const END_OF_TAGS: char = '\u{e007f}';

/// Returns how many bytes of the text are one emoji of several characters; 0 where it begins with none.
pub(crate) fn sequence(text: &str) -> usize {
    let mut rest = text;
    if after_keycap(&mut rest) {
        return text.len() - rest.len();
    }
    if !after_picture(&mut rest) {
        return 0;
    }
    while let Some(mut joined) = rest.strip_prefix(JOINER) {
        if !after_picture(&mut joined) {
            break;
        }
        rest = joined;
    }
    text.len() - rest.len()
}

/// Skips a digit in a box.
fn after_keycap(rest: &mut &str) -> bool {
    let key = rest.strip_prefix(|c: char| c.is_ascii_digit() || matches!(c, '#' | '*'));
    let boxed = key.and_then(|key| key.strip_prefix(SELECTORS)).and_then(|key| key.strip_prefix(KEYCAP));
    *rest = boxed.unwrap_or(rest);
    boxed.is_some()
}

/// Skips a picture with its selector, its skin tone or the tags of its region.
fn after_picture(rest: &mut &str) -> bool {
    let Some(behind) = rest.strip_prefix(is_picture) else { return false };
    let tags = rest.starts_with(FLAG).then(|| after_region(behind)).flatten();
    let selected = behind.strip_prefix(SELECTORS).unwrap_or(behind);
    let toned = selected.strip_prefix(|c: char| ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)).unwrap_or(selected);
    *rest = tags.unwrap_or(toned);
    true
}

fn after_region(text: &str) -> Option<&str> {
    let tag = |letter: char| char::from_u32(0xe0000 + u32::from(letter));
    REGIONS.iter().find_map(|region| {
        let behind = region.chars().try_fold(text, |rest, letter| rest.strip_prefix(tag(letter)?))?;
        behind.strip_prefix(END_OF_TAGS)
    })
}

/// Says whether a character may be shown as a picture.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24c2}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}'..='\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}'
        | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}
