//! Words that texts for people and models do not use, because a reader has to stop at them.
//!
//! A text is a string literal with a space in it, outside of tests; a file of words beside the code (`name.md`); and a line
//! of a table (`*.txt`) that is no comment.
//!
//! Not here: comments, documents, and reasons of `#[expect]`, which no user reads.

use proc_macro2::{TokenStream, TokenTree};

use super::tree::{Offence, Source};

/// Crates whose texts have none of these words.
const CRATES: [&str; 8] = [
    "haft-contract",
    "haft-net",
    "haft-policy",
    "haft-runtime",
    "haft-sandbox",
    "haft-testkit",
    "haft-tools",
    "haft-workspace",
];

/// The words, each with the usual one.
const ODD: [(&str, &str); 23] = [
    ("whoever", "name the actor"),
    ("somebody", "name the actor: the user, another program"),
    ("nobody", "name the actor: the user, another program"),
    ("mend", "write fix"),
    ("mends", "write fixes"),
    ("mended", "write fixed"),
    ("mending", "write fixing"),
    ("at once", "write immediately, in parallel, or in one call"),
    ("there again", "write restored"),
    ("gone again", "write removed"),
    ("is as it was", "write is unchanged"),
    ("as it was before", "write unchanged"),
    ("thrown away", "write discarded"),
    ("anew", "write again"),
    ("so-manieth", "write nth"),
    ("comes to lie", "write is"),
    ("come to lie", "write are"),
    ("takes up again", "write resumes"),
    ("taken up again", "write resumed"),
    ("of its own accord", "write by itself"),
    ("what was so", "name the thing"),
    ("comes to something else", "write differs"),
    ("no yes helps", "write no answer allows it"),
];

/// Attributes whose literals no user reads.
const SILENT: [&str; 4] = ["doc", "expect", "allow", "cfg_attr"];

/// Returns the texts that use such a word.
pub fn odd_words(files: &[Source]) -> Vec<Offence> {
    let is_ours = |source: &&Source| CRATES.iter().any(|name| source.path.starts_with(&format!("crates/{name}/src/")));
    let is_text = |source: &&Source| !source.is_test() && !source.path.ends_with("/README.md");
    files.iter().filter(is_ours).filter(is_text).flat_map(in_file).collect()
}

fn in_file(source: &Source) -> Vec<Offence> {
    let texts = if source.is_rust() {
        let tokens = source.text.parse().unwrap_or_else(|error| panic!("{} is not Rust: {error}", source.path));
        literals(tokens)
    } else if source.path.ends_with(".md") || source.path.ends_with(".txt") {
        let is_text = |line: &str| source.path.ends_with(".md") || !line.trim_start().starts_with('#');
        let lines = source.numbered_lines().filter(|(_, line)| is_text(line));
        lines.map(|(number, line)| (number, line.to_owned())).collect()
    } else {
        Vec::new()
    };
    let found = texts.iter().flat_map(|(line, text)| {
        ODD.iter().filter(|(odd, _)| has_words(text, odd)).map(move |(odd, usual)| (*line, *odd, *usual))
    });
    found
        .map(|(line, odd, usual)| source.offence(line, format!("\"{odd}\" in a text that users read"), usual))
        .collect()
}

/// Whether a text has these words, whole.
fn has_words(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    let is_border = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(words)
        .any(|(at, _)| is_border(text[..at].chars().next_back()) && is_border(text[at + words.len()..].chars().next()))
}

/// Returns the string literals with a space in them, each with its line, but for those of tests.
fn literals(tokens: TokenStream) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_of_a_test = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next_if(|next| matches!(next, TokenTree::Punct(bang) if bang.as_char() == '!'));
                if let Some(TokenTree::Group(attribute)) = tokens.next_if(|next| matches!(next, TokenTree::Group(_))) {
                    let words = attribute.stream().to_string().replace(' ', "");
                    is_of_a_test |= words == "cfg(test)";
                    if !SILENT.iter().any(|name| words.starts_with(name)) {
                        found.extend(literals(attribute.stream()));
                    }
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => is_of_a_test = false,
            TokenTree::Group(group) => {
                if !is_of_a_test {
                    found.extend(literals(group.stream()));
                }
                is_of_a_test &= group.delimiter() != proc_macro2::Delimiter::Brace;
            }
            TokenTree::Literal(literal) if !is_of_a_test => {
                let text = syn::parse_str::<syn::LitStr>(&literal.to_string()).map(|text| text.value());
                found.extend(
                    text.ok().filter(|text| text.contains(' ')).map(|text| (literal.span().start().line, text)),
                );
            }
            TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}
