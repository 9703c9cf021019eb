//! Lists what the user trusts in a project, in lines for people and as a record for programs (`haft trust`).

use haft_workspace::project::{ProjectFileKind, skill_folder};
use haft_workspace::state::trust::FolderTrust;
use serde_json::{Value, json};

use crate::opening::project_files::name_of;

/// Most places of a copy that are named.
const MOST_PLACES: usize = 12;

/// Lists everything that is trusted.
pub fn lines(trusted: &FolderTrust) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, fingerprint) in &trusted.code {
        lines.push(format!("  {:<5}  {name}", name_of(ProjectFileKind::Code)));
        let named = fingerprint.keys().filter(|other| *other != name);
        match (skill_folder(name), fingerprint.len().saturating_sub(1)) {
            (Some(_), 0) => {}
            (Some(_), 1) => lines.push("         and the file beside it".to_owned()),
            (Some(_), count) => lines.push(format!("         and the {count} files beside it")),
            (None, _) => lines.extend(named.map(|other| format!("         and {other}, which it names"))),
        }
    }
    let words = trusted.words.iter().flat_map(|words| words.keys());
    lines.extend(words.map(|name| format!("  {:<5}  {name}", name_of(ProjectFileKind::Words))));
    lines.extend(trusted.code.keys().flat_map(|name| copied(trusted, name)));
    lines
}

/// Says what the copy has of what a file of code can run.
fn copied(trusted: &FolderTrust, name: &str) -> Vec<String> {
    let Some(reach) = trusted.copy.as_ref().and_then(|copy| copy.reaches.get(name)) else { return Vec::new() };
    let mut lines = Vec::new();
    if !reach.files.is_empty() {
        let (count, bytes) = (reach.files.len(), reach.files.values().map(|file| file.size).sum::<u64>());
        let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        let is_folder = |place: &&String| !reach.files.contains_key(*place);
        let shown = |place: &String| if is_folder(&place) { format!("{place}/") } else { place.clone() };
        let mut places: Vec<String> = reach.places.iter().take(MOST_PLACES).map(shown).collect();
        if let Some(more) = reach.places.len().checked_sub(MOST_PLACES).filter(|more| *more > 0) {
            places.push(format!("{more} more (haft trust --list --json lists all)"));
        }
        lines.push(format!("  copy   of what {name} runs: {files}, {bytes} bytes: {}", places.join(", ")));
    }
    lines.extend(reach.left_out.iter().map(|(name, why)| format!("         not all of {name} is in it: {why}")));
    lines.extend(reach.not_covered.iter().map(|what| format!("         not covered: {what}")));
    lines
}

/// Returns what is trusted in a folder, for programs.
pub fn record(folder: &str, trusted: &FolderTrust) -> Value {
    let words: Vec<&String> = trusted.words.iter().flat_map(|words| words.keys()).collect();
    let copy = trusted.copy.as_ref().map(|copy| json!({ "id": copy.id, "reaches": copy.reaches }));
    json!({ "folder": folder, "code": trusted.code, "words": words, "copy": copy })
}
