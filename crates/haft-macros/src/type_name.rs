//! The name of the type that stands for the tool: the function's, in UpperCamelCase.

use syn::Ident;
use syn::ext::IdentExt;

/// Makes the name of the type; fails if the function's name leaves none that can stand beside it.
pub(crate) fn of(function: &Ident) -> syn::Result<Ident> {
    let name = function.unraw().to_string();
    let camel = upper_camel_case(&name);
    let trouble = match syn::parse_str::<Ident>(&camel) {
        Ok(_) if camel != name => return Ok(Ident::new(&camel, function.span())),
        Ok(_) => format!("be called `{camel}`, like the function"),
        Err(_) if camel.is_empty() => "have no name, since the function's has no letters".to_owned(),
        Err(_) => format!("be called `{camel}`, which Rust does not admit"),
    };
    Err(syn::Error::new(
        function.span(),
        format!(
            "the type of this tool would {trouble}; call the function something in snake_case that begins \
             with a letter, such as `add_two`, and write `name = \"{name}\"` if calls should use that"
        ),
    ))
}

fn upper_camel_case(name: &str) -> String {
    let mut camel = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        let Some(first) = letters.next() else { continue };
        // `version_1_2` is not `version_12`.
        if first.is_numeric() && camel.ends_with(char::is_numeric) {
            camel.push('_');
        }
        camel.extend(first.to_uppercase().chain(letters));
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_and_begin_with_a_capital() {
        for (name, camel) in [
            ("add", "Add"),
            ("read_file", "ReadFile"),
            ("_read__file_", "ReadFile"),
            ("fetch_URL", "FetchURL"),
            ("to_2d", "To2d"),
            ("version_1_2", "Version1_2"),
            ("größe", "Größe"),
        ] {
            assert_eq!(upper_camel_case(name), camel);
        }
    }
}
