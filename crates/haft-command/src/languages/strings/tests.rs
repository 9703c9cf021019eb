use super::*;

fn texts(text: &str, dialect: StringSyntax) -> Vec<String> {
    let known = |token: StringToken| match token {
        StringToken::Text(text) => Some(text),
        StringToken::Inserted(name) => Some(name),
        _ => None,
    };
    tokens(text, dialect).unwrap().into_iter().filter_map(known).filter(|text| !text.is_empty()).collect()
}

fn words(text: &str, dialect: StringSyntax) -> Vec<String> {
    let word = |token: StringToken| match token {
        StringToken::Word(word) => Some(word),
        _ => None,
    };
    tokens(text, dialect).unwrap().into_iter().filter_map(word).collect()
}

#[test]
fn strings_are_found_in_all_styles() {
    use StringSyntax::{Dash, Hash, Slash};
    assert_eq!(texts("a('x', \"y\", '''z'w''')", Hash), ["x", "y", "z'w"]);
    assert_eq!(texts(r#"r"\x72" "\x72\155\u0020\x{7e}""#, Hash), ["\\x72", "rm ~"]);
    assert_eq!(texts("q(a(b)c) qq{d} qw(e f); system %w[g h], %q(i)", Hash), ["a(b)c", "d", "e", "f", "g", "h", "i"]);
    assert_eq!(texts("`ls` + %x(id) . qx/df/", Hash), ["ls", "id", "df"]);
    assert_eq!(texts("f(`a ${b} c`)", Slash), ["a ", "$b", " c"]);
    assert_eq!(texts("f(`a ${b.c('d')} e`)", Slash), ["a ", "d", " e"]);
    assert_eq!(texts("f'a{g(\"b\")}c{{'", Hash), ["a", "b", "c{"]);
    assert_eq!(texts("\"a#{b 'c'}d $e\"", Hash), ["a", "c", "d ", "$e"]);
    assert_eq!(texts("os.execute[[rm x]] y = [=[z]]]=]", Dash), ["rm x", "z]]"]);
    assert_eq!(texts("unlink <~/*>; if ($a < $b) {}", Hash), ["~/*"]);
    assert_eq!(texts("system(<<~EOS, 'x')\n  rm y\nEOS\nf 'z'", Hash), ["  rm y", "x", "z"]);
}

#[test]
fn comments_are_skipped_in_their_dialect_only() {
    assert_eq!(words("a # b\nc /* d */ e", StringSyntax::Hash), ["a", "c", "e"]);
    assert_eq!(words("a // b\nc # d", StringSyntax::Slash), ["a", "c", "d"]);
    assert_eq!(words("a // b", StringSyntax::Hash), ["a", "b"]);
    assert_eq!(words("a -- b\nc --[[ d\n e ]] f #g", StringSyntax::Dash), ["a", "c", "f", "g"]);
}

#[test]
fn quotes_in_patterns_begin_no_string() {
    assert_eq!(words("s/'//; a(1); tr/'/\"/; b", StringSyntax::Hash), ["a", "tr", "b"]);
    assert_eq!(words("if (/'/) { a } x =~ /\"/ and b", StringSyntax::Hash), ["if", "a", "x", "and", "b"]);
    assert_eq!(words("x = a / b; y = 'c' / d", StringSyntax::Slash), ["x", "a", "b", "y", "d"]);
}

#[test]
fn a_quote_that_nothing_closes_hides_nothing() {
    assert_eq!(words("a ' b(c)", StringSyntax::Hash), ["a", "b", "c"]);
}

#[test]
fn code_in_a_replacement_or_a_pattern_is_code() {
    assert_eq!(words("s/x/system('id')/e", StringSyntax::Hash), ["system"]);
    assert_eq!(words("m/(?{ system('id') })/", StringSyntax::Hash), ["system"]);
    assert!(words("s/x/system('id')/", StringSyntax::Hash).is_empty());
}
