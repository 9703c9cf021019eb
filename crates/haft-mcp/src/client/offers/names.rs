//! The name under which a model sees a tool of a server: `server__tool`, always.
//!
//! Only the names of the server and the tool determine it, so it does not depend on other configuration. No server can take
//! the name of another tool: haft's own names have no `__`. A name that does not identify exactly one server and tool ends
//! in a hash of both.

/// Longest name that every provider takes.
const LONGEST: usize = 64;
/// How much of a server's name is left where a name is cut.
const LONGEST_SERVER: usize = 24;
/// What stands between the server and the tool.
const BETWEEN: &str = "__";
/// How many hexadecimal digits of the hash are shown.
const DIGITS: usize = 8;

/// Makes the name of a tool.
pub(crate) fn minted(server: &str, tool: &str) -> String {
    let plain = format!("{}{BETWEEN}{}", safe(server), safe(tool));
    let begins_well = plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_exact = safe(server) == server && safe(tool) == tool && is_unambiguous(server, tool);
    if is_exact && begins_well && plain.len() <= LONGEST {
        return plain;
    }
    let lead = if begins_well { "" } else { "_" };
    // Every character is one byte by now.
    let cut = |name: String, most: usize| name[..name.len().min(most)].to_owned();
    let own = cut(safe(server), LONGEST_SERVER);
    let room = LONGEST - DIGITS - 1 - lead.len() - own.len() - BETWEEN.len();
    format!("{lead}{own}{BETWEEN}{}-{}", cut(safe(tool), room), hash_of(server, tool))
}

/// Makes the title under which people see a tool.
pub(crate) fn title(server: &str, tool: &str) -> String {
    format!("MCP({server}/{tool})")
}

/// Returns the hash of a server and a tool. The length of the first keeps two pairs apart that are the same text.
fn hash_of(server: &str, tool: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(server.len() as u64).to_le_bytes());
    hasher.update(server.as_bytes());
    hasher.update(tool.as_bytes());
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

fn safe(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    name.chars().map(safe).collect()
}

/// Returns whether the place of `__` says where the server's name ends, and no tail looks like a hash.
fn is_unambiguous(server: &str, tool: &str) -> bool {
    let looks_hashed = tool.rsplit_once('-').is_some_and(|(_, tail)| {
        tail.len() == DIGITS && tail.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
    });
    let is_named = !server.is_empty() && !tool.is_empty();
    is_named && !server.contains(BETWEEN) && !server.ends_with('_') && !tool.starts_with('_') && !looks_hashed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn an_ordinary_name_is_the_server_and_the_tool() {
        assert_eq!(minted("git", "git_status"), "git__git_status");
        assert_eq!(minted("a-b", "c__d"), "a-b__c__d");
        assert_eq!(title("git", "git_status"), "MCP(git/git_status)");
    }

    #[test]
    fn every_name_is_one_that_all_providers_take_and_no_two_pairs_share_one() {
        let long = "x".repeat(200);
        let parts = [
            "a",
            "b",
            "a__b",
            "a_",
            "_b",
            "__",
            "ü",
            "1",
            "a.b",
            "a b",
            "a/b",
            "",
            "\u{200b}a",
            "A",
            "b-0123abcd",
            &long,
        ];
        let mut seen = HashMap::new();
        for server in parts {
            for tool in parts {
                let name = minted(server, tool);
                assert!(haft_contract::description::schema_rules::is_safe_name(&name), "{name}");
                assert!(name.contains("__"), "{name}");
                assert_eq!(minted(server, tool), name);
                if let Some(other) = seen.insert(name.clone(), (server, tool)) {
                    panic!("{name} stands for {other:?} and {:?}", (server, tool));
                }
            }
        }
    }
}
