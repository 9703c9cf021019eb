//! Tests that return early without a word: they pass, and have tried nothing.
//!
//! What a test goes without is asked of `haft_testkit::require`, or of a function of the same crate that asks it.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::tree::{Offence, Source};

const FIX: &str = "ask `haft_testkit::require::Need` whether the test can go on, so that a skip is reported";

/// Returns the places where a test returns early without asking whether it may.
pub fn silent_skips(files: &[Source]) -> Vec<Offence> {
    let rust = files.iter().filter(|source| source.is_rust() && source.path.starts_with("crates/"));
    rust.flat_map(|source| {
        let asking = asking(files, source);
        let silent = early_returns(source).into_iter().filter(move |place| !is_asked(&source.text, place, &asking));
        silent.map(|place| source.offence(place.first, "a test returns early without a word", FIX))
    })
    .collect()
}

/// The lines of what decides whether a test returns.
struct Place {
    first: usize,
    last: usize,
}

fn is_asked(text: &str, place: &Place, asking: &BTreeSet<String>) -> bool {
    let lines: String = lines_of(text, place.first, place.last - place.first + 1);
    // A test that another one starts in a process finds its orders in the environment.
    lines.contains("Need::") || lines.contains("env::var") || calls_one(&lines, asking)
}

/// Returns the functions that ask: directly, anywhere in the crate, or through another function of the same file.
fn asking(files: &[Source], source: &Source) -> BTreeSet<String> {
    let of_crate = |path: &str| path.split('/').nth(1).map(str::to_owned);
    let neighbours = files.iter().filter(|other| other.is_rust() && of_crate(&other.path) == of_crate(&source.path));
    let mut asking: BTreeSet<String> =
        neighbours.filter(|other| other.text.contains("Need::")).flat_map(asking_directly).collect();
    if asking.is_empty() {
        return asking;
    }
    for _ in 0..3 {
        for function in &source.rust().functions {
            if calls_one(&lines_of(&source.text, function.first_line + 1, function.lines), &asking) {
                asking.insert(function.name.clone());
            }
        }
    }
    asking
}

fn asking_directly(source: &Source) -> impl Iterator<Item = String> {
    let functions = source.rust().functions.iter();
    let asks =
        functions.filter(|function| lines_of(&source.text, function.first_line, function.lines).contains("Need::"));
    asks.map(|function| function.name.clone())
}

fn lines_of(text: &str, first: usize, lines: usize) -> String {
    text.lines().skip(first - 1).take(lines).collect::<Vec<_>>().join("\n")
}

fn calls_one(text: &str, asking: &BTreeSet<String>) -> bool {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '(');
    words
        .flat_map(|word| word.split_inclusive('('))
        .any(|word| word.strip_suffix('(').is_some_and(|name| asking.contains(name)))
}

fn early_returns(source: &Source) -> Vec<Place> {
    if !source.text.contains("test]") {
        return Vec::new();
    }
    let file = syn::parse_file(&source.text).unwrap_or_else(|error| panic!("{} is not Rust: {error}", source.path));
    let mut finder = Finder::default();
    finder.visit_file(&file);
    finder.places
}

#[derive(Default)]
struct Finder {
    is_in_test: bool,
    places: Vec<Place>,
}

impl Finder {
    /// Notes what decides over a block that does nothing but return, perhaps with some words.
    fn note(&mut self, decides: &syn::Expr, block: &syn::Block) {
        let is_word = |statement: &syn::Stmt| matches!(statement, syn::Stmt::Macro(_));
        let leaves = |statement: &syn::Stmt| matches!(statement, syn::Stmt::Expr(syn::Expr::Return(_), _));
        let mut rest = block.stmts.iter().skip_while(|statement| is_word(statement));
        if self.is_in_test && rest.next().is_some_and(leaves) && is_without_value(block) {
            let span = decides.span();
            self.places.push(Place { first: span.start().line, last: span.end().line });
        }
    }
}

/// Returns whether a block returns nothing, or what a macro that prints returns.
fn is_without_value(block: &syn::Block) -> bool {
    let Some(syn::Stmt::Expr(syn::Expr::Return(leave), _)) = block.stmts.last() else { return false };
    leave.expr.as_deref().is_none_or(|value| matches!(value, syn::Expr::Macro(_)))
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let is_test =
            |attribute: &syn::Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test");
        let outside = std::mem::replace(&mut self.is_in_test, function.attrs.iter().any(is_test));
        syn::visit::visit_item_fn(self, function);
        self.is_in_test = outside;
    }

    fn visit_expr_if(&mut self, decides: &'ast syn::ExprIf) {
        self.note(&decides.cond, &decides.then_branch);
        syn::visit::visit_expr_if(self, decides);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init
            && let Some((_, otherwise)) = &init.diverge
            && let syn::Expr::Block(block) = &**otherwise
        {
            self.note(&init.expr, &block.block);
        }
        syn::visit::visit_local(self, local);
    }
}
