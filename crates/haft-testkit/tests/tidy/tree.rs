//! What the rules read: the files of the repository, and what is written in one of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::visit::Visit;

/// One file of the repository, or of a bad tree.
pub struct Source {
    /// Relative to the root of the repository, with `/`.
    pub path: String,
    pub text: String,
    rust: OnceLock<Rust>,
}

/// What a Rust file consists of, but for what is only built for tests.
#[derive(Default)]
pub struct Rust {
    pub functions: Vec<Function>,
    /// The modules with a body in this file, each with its line.
    pub inline_modules: Vec<(String, usize)>,
    pub lines_of_test_modules: usize,
    is_in_trait_impl: bool,
}

/// Something that a rule refuses, where it is, and how to make it right.
pub struct Offence {
    place: String,
    what: String,
    fix: &'static str,
}

/// A function; one of a trait may have no body.
pub struct Function {
    pub name: String,
    pub first_line: usize,
    pub lines: usize,
    /// How many there are, `self` not counted, and each element of a tuple counted.
    pub parameters: usize,
    /// The parameters for which a call may say a bare `true` or `false`.
    pub flags: Vec<String>,
}

pub struct Dependency {
    pub name: String,
    pub only_in_tests: bool,
}

/// One value of a `clippy.toml`, or one entry of a list in it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    pub name: String,
    value: String,
    reason: String,
}

pub static REPOSITORY: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<PathBuf> = ["ARCHITECTURE.md", "Cargo.lock", "clippy.toml", "docs/coverage.md"]
        .iter()
        .map(|name| root.join(name))
        .collect();
    for folder in ["crates", "tests/cases"] {
        walk(&root.join(folder), &mut paths);
    }
    let read = |path: PathBuf| {
        let text = std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let relative = path.strip_prefix(&root).expect("the walk began at the root");
        Source::new(&relative.to_string_lossy(), &text.expect("a file of the repository can be read"))
    };
    let files: Vec<Source> = paths.into_iter().map(read).collect();
    assert!(product(&files).count() > 50, "the walk went wrong: these are not the files of haft");
    files
});

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder of the repository can be read").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == "target" || name.starts_with('.') {
            continue;
        }
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

/// Returns the Rust files of the crates that are not tests.
pub fn product(files: &[Source]) -> impl Iterator<Item = &Source> {
    let is_in_a_crate = |source: &&Source| source.path.starts_with("crates/") && source.path.contains("/src/");
    files.iter().filter(is_in_a_crate).filter(|source| source.is_rust() && !source.is_test())
}

/// Returns the functions of the crates that are not tests, each with its file.
pub fn functions(files: &[Source]) -> impl Iterator<Item = (&Source, &Function)> {
    product(files).flat_map(|source| source.rust().functions.iter().map(move |function| (source, function)))
}

/// Returns the manifests of the crates, each with the name of the crate's folder.
pub fn manifests(files: &[Source]) -> impl Iterator<Item = (&str, &Source)> {
    files.iter().filter_map(|source| {
        let name = source.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
        (!name.contains('/')).then_some((name, source))
    })
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), rust: OnceLock::new() }
    }

    pub fn offence(&self, line: usize, what: impl Into<String>, fix: &'static str) -> Offence {
        Offence::new(&self.path, line, what, fix)
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether all of it is there for tests: the testkit, a test binary, or `tests.rs` beside a module.
    pub fn is_for_tests(&self) -> bool {
        self.path.starts_with("crates/haft-testkit/") || self.is_test()
    }

    /// Whether it is a test binary, or `tests.rs` beside a module.
    pub fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    pub fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Returns the first line that contains this, or the line behind the last.
    pub fn line_with(&self, words: &str) -> usize {
        let found = self.numbered_lines().find(|(_, line)| line.contains(words));
        found.map_or(self.text.lines().count() + 1, |(number, _)| number)
    }

    /// Returns the line of a manifest that names this dependency.
    pub fn line_of(&self, dependency: &str) -> usize {
        let is_key = |line: &str| line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
        let found = self.numbered_lines().find(|(_, line)| is_key(line));
        found.map_or_else(|| self.line_with(dependency), |(number, _)| number)
    }

    /// Returns what a manifest names, also for one platform only, and under the name of the crate itself.
    pub fn dependencies(&self) -> Vec<Dependency> {
        let manifest = self.table();
        let platforms = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
        let tables = platforms.filter_map(|(_, table)| table.as_table()).chain([&manifest]);
        let mut found = Vec::new();
        for table in tables {
            for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
                for (key, value) in table.get(kind).and_then(toml::Value::as_table).into_iter().flatten() {
                    let name = value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned();
                    found.push(Dependency { name, only_in_tests: kind == "dev-dependencies" });
                }
            }
        }
        found
    }

    /// Returns the packages of a lock file that depend on this one.
    pub fn packages_that_use(&self, dependency: &str) -> Vec<String> {
        let lock = self.table();
        let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
        // A dependency of which there are two versions is named with its version.
        let is_meant = |used: &toml::Value| used.as_str().and_then(|used| used.split(' ').next()) == Some(dependency);
        let uses = |package: &&toml::Value| {
            package.get("dependencies").and_then(toml::Value::as_array).is_some_and(|used| used.iter().any(is_meant))
        };
        let name = |package: &toml::Value| package.get("name").and_then(toml::Value::as_str).map(str::to_owned);
        packages.filter(uses).filter_map(name).collect()
    }

    /// Returns what a `clippy.toml` says.
    pub fn settings(&self) -> BTreeSet<Setting> {
        let text =
            |value: &toml::Value, key: &str| value.get(key).and_then(toml::Value::as_str).unwrap_or("").to_owned();
        let mut settings = BTreeSet::new();
        for (key, value) in self.table() {
            let entries = value.as_array().cloned().unwrap_or_default();
            for entry in &entries {
                let name = text(entry, "path");
                settings.insert(Setting { name, value: format!("{key} {entry}"), reason: text(entry, "reason") });
            }
            if entries.is_empty() {
                settings.insert(Setting { name: key, value: value.to_string(), reason: String::new() });
            }
        }
        settings
    }

    /// Returns every identifier with its line.
    pub fn words(&self) -> Vec<(String, usize)> {
        words(self.text.parse().unwrap_or_else(|error| panic!("{} is not Rust: {error}", self.path)))
    }

    /// Returns the text of every string literal with its line, but for comments and what is only built for tests.
    pub fn literals(&self) -> Vec<(String, usize)> {
        literals(self.text.parse().unwrap_or_else(|error| panic!("{} is not Rust: {error}", self.path)))
    }

    /// Returns what this file consists of. It is parsed once: most of a run's time goes there.
    pub fn rust(&self) -> &Rust {
        self.rust.get_or_init(|| {
            let file = syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{} is not Rust: {error}", self.path));
            let mut rust = Rust::default();
            rust.visit_file(&file);
            rust
        })
    }

    fn table(&self) -> toml::Table {
        self.text.parse().unwrap_or_else(|error| panic!("{} is not TOML: {error}", self.path))
    }
}

impl Setting {
    /// Whether this is a ban whose reason begins with this word.
    pub fn is_about(&self, matter: &str) -> bool {
        self.reason.starts_with(matter)
    }
}

impl Offence {
    pub fn new(path: &str, line: usize, what: impl Into<String>, fix: &'static str) -> Self {
        Self { place: format!("{path}:{line}"), what: what.into(), fix }
    }
}

impl std::fmt::Display for Offence {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "  {}: {}\n    fix: {}", self.place, self.what, self.fix)
    }
}

impl Rust {
    fn note(&mut self, signature: &syn::Signature, block: Option<&syn::Block>, flags: Vec<String>) {
        let first_line = signature.fn_token.span.start().line;
        let lines = block.map_or(0, |block| block.brace_token.span.close().end().line - first_line + 1);
        let parameters = typed(signature).map(|parameter| width(&parameter.ty)).sum();
        self.functions.push(Function { name: signature.ident.to_string(), first_line, lines, parameters, flags });
    }
}

fn typed(signature: &syn::Signature) -> impl Iterator<Item = &syn::PatType> {
    signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(parameter) => Some(parameter),
        syn::FnArg::Receiver(_) => None,
    })
}

fn width(parameter: &syn::Type) -> usize {
    match parameter {
        syn::Type::Tuple(tuple) => tuple.elems.iter().map(width).sum::<usize>().max(1),
        syn::Type::Reference(reference) => width(&reference.elem),
        _ => 1,
    }
}

/// Returns the parameters of type `bool`, but for the only one of a function that is its own name, as in `set_raw(is_raw)`, or
/// whose name ends in `_if`.
fn flags(signature: &syn::Signature) -> Vec<String> {
    let mut flags = Vec::new();
    typed(signature).for_each(|parameter| find_flags(&parameter.pat, &parameter.ty, &mut flags));
    let (function, parameters) = (signature.ident.to_string(), typed(signature).count());
    let says = |flag: &str| function.ends_with(flag.trim_start_matches("is_").trim_start_matches("has_"));
    flags.retain(|flag| parameters > 1 || !(says(flag) || function.ends_with("_if")));
    flags
}

fn find_flags(pattern: &syn::Pat, kind: &syn::Type, flags: &mut Vec<String>) {
    match (pattern, kind) {
        (syn::Pat::Tuple(patterns), syn::Type::Tuple(kinds)) => {
            patterns.elems.iter().zip(&kinds.elems).for_each(|(pattern, kind)| find_flags(pattern, kind, flags));
        }
        (_, syn::Type::Tuple(kinds)) => kinds.elems.iter().for_each(|kind| find_flags(pattern, kind, flags)),
        (syn::Pat::Ident(name), syn::Type::Path(path)) if path.path.is_ident("bool") => {
            flags.push(name.ident.to_string());
        }
        (_, syn::Type::Path(path)) if path.path.is_ident("bool") => flags.push("_".to_owned()),
        _ => {}
    }
}

impl<'ast> Visit<'ast> for Rust {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let Some((brace, _)) = &module.content else { return };
        if is_only_for_tests(&module.attrs) {
            let first = module.attrs.first().map_or(brace.span.open(), |attribute| attribute.pound_token.span);
            self.lines_of_test_modules += brace.span.close().end().line - first.start().line + 1;
            return;
        }
        self.inline_modules.push((module.ident.to_string(), module.mod_token.span.start().line));
        syn::visit::visit_item_mod(self, module);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_only_for_tests(&function.attrs) {
            self.note(&function.sig, Some(&function.block), flags(&function.sig));
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.is_in_trait_impl, item.trait_.is_some());
        syn::visit::visit_item_impl(self, item);
        self.is_in_trait_impl = outer;
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_only_for_tests(&function.attrs) {
            // What a trait asks for is said where the trait is.
            let flags = if self.is_in_trait_impl { Vec::new() } else { flags(&function.sig) };
            self.note(&function.sig, Some(&function.block), flags);
            syn::visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.note(&function.sig, function.default.as_ref(), flags(&function.sig));
        syn::visit::visit_trait_item_fn(self, function);
    }
}

fn is_only_for_tests(attributes: &[syn::Attribute]) -> bool {
    let says_test = |attribute: &syn::Attribute| attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test");
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg") && says_test(attribute))
}

fn words(tokens: TokenStream) -> Vec<(String, usize)> {
    let words = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) => words(group.stream()),
        TokenTree::Ident(ident) => vec![(ident.to_string(), ident.span().start().line)],
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    });
    words.collect()
}

fn literals(tokens: TokenStream) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut is_for_tests = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && is_attribute(&group, "doc") => {}
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && is_attribute(&group, "cfg") => {
                is_for_tests |= words(group.stream()).iter().any(|(word, _)| word == "test");
            }
            // What an attribute is about ends with its body.
            TokenTree::Group(group) if is_for_tests && group.delimiter() == Delimiter::Brace => is_for_tests = false,
            TokenTree::Punct(mark) if is_for_tests && mark.as_char() == ';' => is_for_tests = false,
            TokenTree::Group(group) if !is_for_tests => found.extend(literals(group.stream())),
            TokenTree::Literal(literal) if !is_for_tests => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    found.push((text.value(), text.span().start().line));
                }
            }
            TokenTree::Group(_) | TokenTree::Literal(_) | TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
    found
}

fn is_attribute(group: &Group, name: &str) -> bool {
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == name)
}
