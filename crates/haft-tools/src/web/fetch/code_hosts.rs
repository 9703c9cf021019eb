//! Finds the raw file behind a page of a code host: the page adds line numbers and menus, and often needs scripts.

/// Returns the address of the raw file, and the host of the page; nothing for any other page.
pub(super) fn raw_file(url: &str) -> Option<(String, &'static str)> {
    let (scheme, rest) = url.split_once("://").filter(|(scheme, _)| *scheme == "https")?;
    let (host, path) = rest.split_once('/')?;
    let path = path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    let here = |path: String| format!("{scheme}://{host}/{path}");
    match (host, parts.as_slice()) {
        ("github.com" | "www.github.com", [owner, repository, "blob" | "raw", reference, file @ ..])
            if is_file(file) =>
        {
            let path = format!("{owner}/{repository}/{reference}/{}", file.join("/"));
            Some((format!("https://raw.githubusercontent.com/{path}"), "github.com"))
        }
        ("gist.github.com", [owner, id]) if is_id(id) => {
            Some((format!("https://gist.githubusercontent.com/{owner}/{id}/raw"), "gist.github.com"))
        }
        ("bitbucket.org", [owner, repository, "src", reference, file @ ..]) if is_file(file) => {
            Some((here(format!("{owner}/{repository}/raw/{reference}/{}", file.join("/"))), "bitbucket.org"))
        }
        ("codeberg.org" | "gitea.com" | "code.forgejo.org", [owner, repository, "src", sort, reference, file @ ..])
            if is_file(file) && matches!(*sort, "branch" | "commit" | "tag") =>
        {
            let name = if host == "codeberg.org" { "codeberg.org" } else { "a Gitea or Forgejo host" };
            Some((here(format!("{owner}/{repository}/raw/{sort}/{reference}/{}", file.join("/"))), name))
        }
        ("git.sr.ht", [owner, repository, "tree", reference, "item", file @ ..]) if is_file(file) => {
            Some((here(format!("{owner}/{repository}/blob/{reference}/{}", file.join("/"))), "git.sr.ht"))
        }
        // Every host of GitLab spells its pages so.
        (_, [.., _]) => {
            let (project, file) = path.split_once("/-/blob/")?;
            is_file(&file.split('/').skip(1).collect::<Vec<_>>())
                .then(|| (here(format!("{project}/-/raw/{file}")), "a GitLab host"))
        }
        _ => None,
    }
}

fn is_file(parts: &[&str]) -> bool {
    parts.last().is_some_and(|last| !last.is_empty())
}

fn is_id(text: &str) -> bool {
    text.len() >= 20 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_a_file_leads_to_its_raw_text_and_other_pages_do_not() {
        for (page, raw) in [
            (
                "https://github.com/a/b/blob/main/src/lib.rs?plain=1",
                Some("https://raw.githubusercontent.com/a/b/main/src/lib.rs"),
            ),
            (
                "https://github.com/a/b/blob/v1.0/READ%20ME.md",
                Some("https://raw.githubusercontent.com/a/b/v1.0/READ%20ME.md"),
            ),
            ("https://github.com/a/b/tree/main/src", None),
            ("https://github.com/a/b/issues/1", None),
            ("https://github.com/a/b", None),
            ("https://github.com/a/b/blob/main/", None),
            (
                "https://gist.github.com/a/0123456789abcdef0123456789abcdef",
                Some("https://gist.githubusercontent.com/a/0123456789abcdef0123456789abcdef/raw"),
            ),
            ("https://gitlab.com/g/sub/p/-/blob/main/a.py", Some("https://gitlab.com/g/sub/p/-/raw/main/a.py")),
            ("https://git.corp.example/g/p/-/blob/main/a.py", Some("https://git.corp.example/g/p/-/raw/main/a.py")),
            ("https://gitlab.com/g/p/-/tree/main", None),
            ("https://bitbucket.org/a/b/src/main/x.c", Some("https://bitbucket.org/a/b/raw/main/x.c")),
            ("https://codeberg.org/a/b/src/branch/main/x.c", Some("https://codeberg.org/a/b/raw/branch/main/x.c")),
            ("https://git.sr.ht/~a/b/tree/master/item/x.c", Some("https://git.sr.ht/~a/b/blob/master/x.c")),
            ("https://example.com/a/b/blob/main/x.c", None),
            ("http://github.com/a/b/blob/main/x.c", None),
        ] {
            assert_eq!(raw_file(page).map(|(raw, _)| raw).as_deref(), raw, "{page}");
        }
    }
}
