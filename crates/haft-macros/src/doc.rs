//! The text of doc comments, which is what a model reads.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Returns the text of the doc comment among the attributes; empty if there is none.
pub(crate) fn text_of(attributes: &[Attribute]) -> syn::Result<String> {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(doc) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &doc.value else {
            let sentence = "write the text here, because a macro cannot read what another macro makes; \
                            for a description in a file, write `#[haft::tool(words = \"file.md\")]`";
            return Err(syn::Error::new_spanned(&doc.value, sentence));
        };
        // Not `lines()`: an empty comment line is a paragraph, not nothing.
        lines.extend(text.value().split('\n').map(str::to_owned));
    }
    Ok(without_indentation(&lines))
}

/// A doc comment has a space before its text, a block comment what the editor put there.
fn without_indentation(lines: &[String]) -> String {
    let indentation = |line: &String| line.len() - line.trim_start_matches(' ').len();
    let common = lines.iter().filter(|line| !line.trim().is_empty()).map(indentation).min().unwrap_or(0);
    let lines: Vec<&str> = lines.iter().map(|line| line.get(common..).unwrap_or("").trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn the_lines_of_a_comment_keep_their_relative_indentation() {
        let function: syn::ItemFn = parse_quote! {
            #[doc = " Sorts."]
            #[doc = ""]
            #[doc = "   - by name"]
            fn sort() {}
        };
        assert_eq!(text_of(&function.attrs).expect("both are texts"), "Sorts.\n\n  - by name");
    }

    #[test]
    fn an_empty_comment_is_no_comment() {
        let function: syn::ItemFn = parse_quote! {
            #[doc = "  "]
            #[doc(hidden)]
            fn sort() {}
        };
        assert_eq!(text_of(&function.attrs).expect("both are texts"), "");
    }
}
