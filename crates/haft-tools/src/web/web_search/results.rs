//! Reads the results of a service: keeps their order, each address once, each text short.

use serde_json::Value;

use super::provider::SearchProvider;
use crate::web::fetch::html::plain;

/// Longest title and text of a result, in characters.
const LONGEST_TITLE: usize = 150;
const LONGEST_TEXT: usize = 300;
/// Longest address, in bytes. Longer ones are left out: half an address leads elsewhere.
const LONGEST_ADDRESS: usize = 2_000;

/// One result of a web search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebSearchResult {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) text: String,
}

/// Returns the best results, at most so many; nothing where the answer has none in the place where they should be.
pub(super) fn results(answer: &Value, provider: &SearchProvider, count: usize) -> Option<Vec<WebSearchResult>> {
    let mut found: Vec<WebSearchResult> = Vec::new();
    let mut seen = Vec::new();
    let listed = match answer.pointer(&provider.results) {
        Some(listed) => listed.as_array()?,
        // A service that finds nothing may leave the list out.
        None if answer.is_object() && answer.get("error").is_none() => return Some(found),
        None => return None,
    };
    for result in listed {
        let text = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
        let url = text(&provider.address).trim();
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        if !is_web || url.len() > LONGEST_ADDRESS || url.contains(char::is_whitespace) || seen.contains(&same(url)) {
            continue;
        }
        seen.push(same(url));
        let title = short(&plain(text(&provider.title)), LONGEST_TITLE);
        let title = if title.is_empty() { url.to_owned() } else { title };
        found.push(WebSearchResult {
            title,
            url: url.to_owned(),
            text: short(&plain(text(&provider.text)), LONGEST_TEXT),
        });
        if found.len() == count {
            break;
        }
    }
    Some(found)
}

/// Returns what two addresses of one page have in common.
fn same(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let host = host.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let is_of_page =
        |part: &&str| !part.is_empty() && !["utm_", "gclid=", "fbclid="].iter().any(|name| part.starts_with(name));
    let query: Vec<&str> = query.split('&').filter(is_of_page).collect();
    format!("{host}/{}?{}", path.trim_end_matches('/'), query.join("&"))
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::provider::all;
    use super::*;
    use serde_json::json;

    #[test]
    fn results_keep_their_order_and_each_page_is_there_once() {
        let brave = &all()[0];
        let result =
            |title: &str, url: &str| json!({ "title": title, "url": url, "description": "<strong>a</strong> &amp; b" });
        let answer = json!({ "web": { "results": [
            result("First", "https://www.a.example/x/"),
            result("Again", "http://a.example/x?utm_source=s#part"),
            result("Other", "https://a.example/x?id=1"),
            result("No page", "javascript:alert(1)"),
            result(&"long ".repeat(100), "https://b.example/"),
            result("Fourth", "https://c.example/"),
        ] } });
        let found = results(&answer, brave, 3).expect("there are results");
        let titles: Vec<&str> = found.iter().map(|found| found.title.split(' ').next().unwrap()).collect();
        assert_eq!(titles, ["First", "Other", "long"]);
        assert_eq!(found[0].text, "a & b");
        assert!(found[2].title.chars().count() <= LONGEST_TITLE + 1);
        assert_eq!(results(&json!({ "web": {} }), brave, 3), Some(Vec::new()));
        assert_eq!(results(&json!({ "error": "x" }), brave, 3), None);
        assert_eq!(results(&json!({ "web": { "results": 1 } }), brave, 3), None);
    }
}
