//! Tests what haft reads from a prompt file, and what it refuses.

use super::*;

#[test]
fn the_documents_example_is_read_as_it_stands() {
    let checked = check(DOCUMENT);
    assert_eq!(checked.problems, []);
    let parameter = |name: &str, required, words: &str, enums: &[&str], line| PromptParameter {
        name: name.into(),
        required: Some(required),
        description: Some(words.into()),
        kind: Some("string".into()),
        enums: enums.iter().map(|&value| value.into()).collect(),
        line: Some(line),
    };
    let words = "Full documentation the AI sees when deciding to use this tool.\nExplain what it does, when to use it, examples.";
    let expected = PromptFile {
        description: Some(words.into()),
        parameters: vec![
            parameter("pattern", true, "The search pattern", &[], 9),
            parameter("mode", false, "Output mode", &["content", "files_only"], 13),
        ],
    };
    assert_eq!(checked.prompt, Some(expected));
}

#[test]
fn words_lose_the_indentation_of_the_file_and_keep_their_own() {
    let words = |text: &str| {
        let text = format!("<tool_prompt><description>{text}</description></tool_prompt>");
        PromptFile::from_xml(&text).expect("it can be read").description
    };
    assert_eq!(words("\n    a\n      b\n\n    c\n  "), Some("a\n  b\n\nc".into()));
    assert_eq!(words("a\n    b\n      c"), Some("a\nb\n  c".into()));
    assert_eq!(words("  a \r\n\tb\r\n"), Some("a \nb".into()));
    assert_eq!(
        words(" <![CDATA[if a < b && c]]> &lt;d&gt; &#x41;&#66; &quot;"),
        Some("if a < b && c <d> AB \"".into())
    );
    assert_eq!(words("a<!-- not this -->b"), Some("ab".into()));
    assert_eq!(words("\u{e4}\n \u{a0}\n"), Some("\u{e4}".into()));
}

#[test]
fn a_file_without_declaration_or_with_a_byte_order_mark_is_read() {
    assert_eq!(warned(&file("")), "");
    assert_eq!(warned(&format!("\u{feff}<?xml version=\"1.0\"?>\r\n<!-- c -->\r\n{}\r\n", file(""))), "");
}

#[test]
fn nothing_is_fetched_and_nothing_multiplies() {
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y \"&x;&x;\">]>\n<tool_prompt/>";
    assert_eq!(
        refused(bomb),
        "line 2: a document type (<!DOCTYPE …>) is not read; remove it; a prompt file needs none"
    );
    let outside = "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><tool_prompt><description>&a;</description></tool_prompt>";
    assert!(refused(outside).contains("<!DOCTYPE"));
    let fix = "write the character itself; an ampersand is &amp;";
    assert_eq!(refused(&file("\n&nbsp;")), format!("line 2: there is no entity &nbsp; in a prompt file; {fix}"));
    assert_eq!(
        refused(&parameter("<parameter name=\"&who;\"/>")),
        format!("line 1: there is no entity &who; in a prompt file; {fix}")
    );
}

#[test]
fn size_depth_and_attributes_are_bounded() {
    let words = |length| format!("<tool_prompt><description>{}</description></tool_prompt>", "x".repeat(length));
    let around = words(0).len();
    assert_eq!(warned(&words((1 << 20) - around)), "");
    assert_eq!(refused(&words((1 << 20) - around + 1)), "it is larger than 1 MiB; say it in fewer words");

    let deep = |levels: usize| file(&format!("{}{}", "<a>".repeat(levels), "</a>".repeat(levels)));
    assert!(warned(&deep(31)).contains("<a> in <tool_prompt> is ignored"));
    assert!(refused(&deep(32)).contains("more than 32 levels deep"));
    assert!(refused(&deep(100_000)).contains("more than 32 levels deep"));

    let wide = |count: usize| {
        let attributes: String = (0..count).map(|number| format!(" a{number}=\"\"")).collect();
        file(&format!("<parameters{attributes}/>"))
    };
    assert!(warned(&wide(16)).contains("<parameters> has no attribute \"a0\""));
    assert_eq!(refused(&wide(17)), "line 1: <parameters> has more than 16 attributes; leave some out");

    let many = warned(&file(&"<a/>".repeat(1_000)));
    assert_eq!(many.lines().count(), 101);
    assert!(many.ends_with("warning: 900 more problems are not shown; fix these first"));
}

#[test]
fn what_is_no_xml_is_told_with_its_line() {
    let cases = [
        ("", "there is no <tool_prompt> in it; write <tool_prompt><description>…</description></tool_prompt>"),
        ("\nwords", "line 2: text is outside of <tool_prompt>; put it inside, or remove it"),
        ("<tool_prompt>\n<description>a", "line 2: <description> is not closed; write </description> where it ends"),
        (
            "<tool_prompt>\n</description>",
            "line 2: </description> is where </tool_prompt> belongs; write </tool_prompt>",
        ),
        ("</a>", "line 1: </a> has no start tag; remove it"),
        ("<tool_prompt/>\n<tool_prompt/>", "line 2: <tool_prompt> comes after the end; a file has one <tool_prompt>"),
        ("<tool_prompt>\na & b</tool_prompt>", "line 2: an & stands alone; write &amp; for the character"),
        ("<tool_prompt a='1' a='2'/>", "line 1: an attribute occurs twice; leave one of them out"),
        (
            "<tool_prompt>a < b and c > d</tool_prompt>",
            "line 1: an attribute cannot be read; write NAME=\"VALUE\", or &lt; for the character <",
        ),
        ("<tool_prompt>\n&#0;</tool_prompt>", "line 2: &#0; is not a character of XML; remove it"),
        ("<tool_prompt>\n&#xB;</tool_prompt>", "line 2: &#xB; is not a character of XML; remove it"),
        (
            "<tool_prompt>\n\u{1b}</tool_prompt>",
            "line 2: it has a control character, which XML does not allow; remove it",
        ),
        (
            "<?xml version='1.0' encoding='latin1'?><tool_prompt/>",
            "line 1: it declares the encoding latin1, but prompt files are UTF-8; save it as UTF-8 and write \
             encoding=\"UTF-8\"",
        ),
    ];
    for (text, told) in cases {
        assert_eq!(refused(text), told, "{text}");
    }
    for text in ["<", "<!", "<![CDATA[", "<!--", "<?", "<?xml", "<a b=", "<a b='", "&", "&#;", "<tool_prompt", "\u{0}"]
    {
        refused(text);
        refused(&format!("<tool_prompt>{text}"));
    }
}

#[test]
fn what_the_format_does_not_have_is_an_error_where_it_matters() {
    assert_eq!(refused("<prompt/>"), "line 1: the file begins with <prompt>; write <tool_prompt> around everything");
    assert_eq!(
        refused(&file("\n<description>e</description>")),
        "line 2: the tool has two <description>; make one of them"
    );
    assert_eq!(
        refused(&parameter("<parameter name='a'/>\n<parameter name='a'/>")),
        "line 2: \"a\" occurs twice, first in line 1; leave one of them out"
    );
    assert_eq!(
        refused(&parameter("\n<parameter/>")),
        "line 2: a parameter has no name; write <parameter name=\"NAME\">"
    );
    assert_eq!(
        refused(&parameter("<parameter name='a' required='maybe'/>")),
        "line 1: \"required\" is \"maybe\"; write required=\"true\" or required=\"false\""
    );
    assert_eq!(
        refused(&parameter("<parameter name='a'>\n<type>strng</type></parameter>")),
        "line 2: there is no type \"strng\"; did you mean string?"
    );
    assert_eq!(
        refused(&parameter("<parameter name='a'><type>int</type>\n<type>str</type></parameter>")),
        "line 2: \"a\" has two <type>; make one of them"
    );
}

#[test]
fn what_counts_for_nothing_is_a_warning() {
    let text = "<tool_prompt version='2'>\n<description><b>a</b></description>\n<parameter name='x'/>\nwords\n<parameters>\n<parameter name='a' requird='true'>\n<description/>\n<enum>x</enum><enum>x</enum></parameter></parameters></tool_prompt>";
    assert_eq!(
        warned(text),
        r#"line 1: warning: <tool_prompt> has no attribute "version"; remove it
line 2: warning: <b> in <description> is not markup; only its text counts; write &lt; for the character <, or remove the tags
line 3: warning: <parameter> in <tool_prompt> is ignored; did you mean "parameters"?
line 4: warning: text directly in <tool_prompt> is ignored; put it into <description>
line 6: warning: <parameter> has no attribute "requird"; did you mean "required"?
line 7: warning: the description of "a" is empty, so its own stays; say what it is, or leave the element out
line 8: warning: the value "x" of "a" occurs twice; leave one out"#
    );
    assert_eq!(
        warned("<tool_prompt/>"),
        "line 1: warning: there is no description, so the tool keeps its own; write <description>…</description>, \
         or leave the file out"
    );
}
