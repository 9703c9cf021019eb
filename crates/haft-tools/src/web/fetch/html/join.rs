//! Completes the address of a link with the address of its page.

/// Schemes of links that lead somewhere a reader can go.
const KEPT: &[&str] = &["http", "https", "mailto", "ftp"];

/// Returns the whole address; nothing for one that runs code, holds data, or only means the page itself.
pub(super) fn join(base: &str, href: &str) -> Option<String> {
    // Browsers remove these from addresses.
    let href: String = href.trim().chars().filter(|letter| !matches!(letter, '\t' | '\n' | '\r')).collect();
    if href.is_empty() || href == "#" {
        return None;
    }
    let whole = match scheme(&href) {
        Some(scheme) if KEPT.contains(&scheme.to_ascii_lowercase().as_str()) => href,
        Some(_) => return None,
        None => relative(base, &href),
    };
    Some(spelled(&whole))
}

fn scheme(href: &str) -> Option<&str> {
    let (scheme, _) = href.split_once(':')?;
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    is_scheme.then_some(scheme)
}

fn relative(base: &str, href: &str) -> String {
    let base = base.split('#').next().unwrap_or_default();
    let (scheme, rest) = base.split_once("://").unwrap_or(("https", base));
    let (authority, path) = rest.find(['/', '?']).map_or((rest, "/"), |at| rest.split_at(at));
    let (path, query) = path.split_once('?').map_or((path, ""), |(path, query)| (path, query));
    if href.starts_with("//") {
        return format!("{scheme}:{href}");
    }
    if href.starts_with('#') {
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        return format!("{scheme}://{authority}{path}{query}{href}");
    }
    if href.starts_with('?') {
        return format!("{scheme}://{authority}{path}{href}");
    }
    let end = href.find(['?', '#']).unwrap_or(href.len());
    let (own, behind) = href.split_at(end);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let joined = if own.starts_with('/') { own.to_owned() } else { format!("{folder}/{own}") };
    format!("{scheme}://{authority}{}{behind}", without_dots(&joined))
}

/// Resolves `.` and `..` in a path.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut all = path.split('/').skip(1).peekable();
    while let Some(part) = all.next() {
        let is_last = all.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    parts.pop();
                }
                if is_last {
                    parts.push("");
                }
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Spells an address so that Markdown sees its end.
fn spelled(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut open = 0_usize;
    for letter in url.chars() {
        match letter {
            ' ' => out.push_str("%20"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '(' => {
                open += 1;
                out.push('(');
            }
            ')' if open == 0 => out.push_str("%29"),
            ')' => {
                open -= 1;
                out.push(')');
            }
            letter => out.push(letter),
        }
    }
    if open > 0 { out.replace('(', "%28").replace(')', "%29") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_completed_with_the_address_of_its_page() {
        let base = "https://docs.example/guide/start?v=1#top";
        for (href, expected) in [
            ("install", Some("https://docs.example/guide/install")),
            ("../api/", Some("https://docs.example/api/")),
            ("./a/./b/../c?d=e#f", Some("https://docs.example/guide/a/c?d=e#f")),
            ("/", Some("https://docs.example/")),
            ("..", Some("https://docs.example/")),
            ("../../../x", Some("https://docs.example/x")),
            ("?v=2", Some("https://docs.example/guide/start?v=2")),
            ("#part", Some("https://docs.example/guide/start?v=1#part")),
            ("//cdn.example/x", Some("https://cdn.example/x")),
            ("HTTPS://other.example/a b", Some("HTTPS://other.example/a%20b")),
            ("wiki/Rust_(language)", Some("https://docs.example/guide/wiki/Rust_(language)")),
            ("a)b", Some("https://docs.example/guide/a%29b")),
            ("mailto:a@b.example", Some("mailto:a@b.example")),
            ("javascript:alert(1)", None),
            ("java\nscript:alert(1)", None),
            ("data:text/plain,x", None),
            ("#", None),
            ("", None),
        ] {
            assert_eq!(join(base, href).as_deref(), expected, "{href}");
        }
        assert_eq!(join("https://docs.example", "a").as_deref(), Some("https://docs.example/a"));
    }
}
