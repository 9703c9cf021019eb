//! Gives every tool a name that all providers accept.
//!
//! Each name follows the narrowest rule of all providers, so a session can change its provider and the names in its
//! history stay valid. A name depends only on the tool's own name; a hash of the own name distinguishes tools whose
//! names would be equal.
//!
//! Names of arguments that a provider does not accept become safe in the same way.

use std::collections::HashSet;

/// The longest name every provider accepts.
const LONGEST: usize = 64;
/// An underscore and six hexadecimal digits.
const SUFFIX: usize = 7;

/// Returns the names of a list of tools, unique also when case is ignored. A name that is safe
/// already is kept and goes before one that had to be changed.
pub(super) fn wire_names(native: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut names: Vec<Option<String>> = native
        .iter()
        .map(|name| (is_safe(name) && taken.insert(name.to_lowercase())).then(|| (*name).to_owned()))
        .collect();
    for (name, native) in names.iter_mut().zip(native) {
        if name.is_none() {
            *name = Some(free_name(native, &mut taken));
        }
    }
    names.into_iter().flatten().collect()
}

/// Returns safe names for `native`, none of which is equal to one of `kept` or to another.
pub(super) fn free_names(native: &[&str], kept: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = kept.iter().map(|name| name.to_lowercase()).collect();
    native.iter().map(|native| free_name(native, &mut taken)).collect()
}

/// Returns the name of a tool that stands alone.
pub(crate) fn safe_name(native: &str) -> String {
    if is_safe(native) {
        return native.to_owned();
    }
    let mut safe: String = native.chars().map(|c| if is_safe_char(c) { c } else { '_' }).collect();
    if !safe.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        safe.insert(0, '_');
    }
    if safe.len() > LONGEST {
        return with_suffix(&safe, native);
    }
    safe
}

fn free_name(native: &str, taken: &mut HashSet<String>) -> String {
    let safe = safe_name(native);
    if taken.insert(safe.to_lowercase()) {
        return safe;
    }
    let mut seed = native.to_owned();
    loop {
        let name = with_suffix(&safe, &seed);
        if taken.insert(name.to_lowercase()) {
            return name;
        }
        // Six digits can collide by intent: a hostile server chooses its names.
        seed.push('_');
    }
}

fn with_suffix(safe: &str, seed: &str) -> String {
    let hash = blake3::hash(seed.as_bytes()).to_hex();
    let kept: String = safe.chars().take(LONGEST - SUFFIX).collect();
    format!("{kept}_{}", hash.as_str().split_at(SUFFIX - 1).0)
}

fn is_safe(name: &str) -> bool {
    name.len() <= LONGEST
        && name.chars().all(is_safe_char)
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn is_safe_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
