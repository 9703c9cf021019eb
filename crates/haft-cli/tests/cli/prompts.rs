//! `haft tools TOOL --xml`, and `haft check` on what it writes.

use super::{Place, check, put};

#[test]
fn every_tool_writes_a_prompt_file_that_is_in_order() {
    let place = Place::new();
    for tool in haft_tools::all() {
        let name = &tool.spec().name;
        let said = place.haft(&["tools", name, "--xml"], "");
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        assert!(said.out.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tool_prompt>\n    <description>"));
        put(&place, &format!(".haft/prompts/{name}_prompt.xml"), &said.out);
    }
    assert_eq!(check(&place, "."), (String::new(), 0));
    assert_eq!(check(&place, ".haft/prompts"), (String::new(), 0));
}

#[test]
fn a_prompt_file_is_written_of_one_tool_and_in_no_other_form() {
    let place = Place::new();
    assert_eq!(place.haft(&["tools", "--xml"], "").code, 2);
    assert_eq!(place.haft(&["tools", "grep", "--xml", "--for", "openai"], "").code, 2);
    assert_eq!(place.haft(&["tools", "grep", "--xml", "--json"], "").code, 2);
    let said = place.haft(&["tools", "grp", "--xml"], "");
    assert!(said.code == 2 && said.err.contains("did you mean \"grep\"?"), "{}", said.err);
}

#[test]
fn a_prompt_file_is_checked_against_its_tool() {
    let place = Place::new();
    let text = "<tool_prompt>\n<description>d</description>\n<parameters>\n<parameter name=\"patern\"/>\n<parameter name=\"path\" required=\"true\"/>\n</parameters>\n<hint/></tool_prompt>";
    put(&place, "grep_prompt.xml", text);
    let expected = "grep_prompt.xml:7: warning: <hint> in <tool_prompt> is ignored; remove it\n\
        grep_prompt.xml:4: \"patern\" is not an argument of the tool; did you mean \"pattern\"?\n\
        grep_prompt.xml:5: \"path\" may be left out; write required=\"false\"\n";
    assert_eq!(check(&place, "grep_prompt.xml"), (expected.to_owned(), 1));

    put(&place, "grepp_prompt.xml", "<tool_prompt><description>d</description></tool_prompt>");
    let (out, code) = check(&place, "grepp_prompt.xml");
    assert!(code == 0 && out.starts_with("grepp_prompt.xml:1: warning: there is no tool \"grepp\" in haft"), "{out}");
    assert!(out.ends_with("; did you mean grep_prompt.xml?\n"), "{out}");

    put(&place, "grep.xml", "<tool_prompt><description>d</description></tool_prompt>");
    let expected = "grep.xml:1: haft does not find a prompt file of this name; call it TOOL_prompt.xml\n";
    assert_eq!(check(&place, "grep.xml"), (expected.to_owned(), 1));
}

#[test]
fn a_prompt_file_is_checked_against_the_definition_beside_it() {
    let place = Place::new();
    let definition = "name: greet\ndescription: Greets.\nbinding: hello:greet\ninput_schema:\n  properties:\n    who: {type: string, description: Who is greeted.}\n";
    put(&place, ".haft/tools/greet.yaml", definition);
    let prompt = |name: &str| {
        format!(
            "<tool_prompt><description>d</description><parameters><parameter name=\"{name}\"/></parameters></tool_prompt>"
        )
    };
    put(&place, ".haft/prompts/greet_prompt.xml", &prompt("who"));
    assert_eq!(check(&place, "."), (String::new(), 0));
    put(&place, ".haft/prompts/greet_prompt.xml", &prompt("whom"));
    let told = "./.haft/prompts/greet_prompt.xml:1: \"whom\" is not an argument of the tool; did you mean \"who\"?\n";
    assert_eq!(check(&place, "."), (told.to_owned(), 1));
}

#[test]
fn every_tool_of_every_dialect_writes_a_prompt_file_that_is_in_order() {
    let place = Place::new();
    for dialect in haft_tools::dialect::NAMES {
        let dialect = haft_tools::dialect::named(dialect);
        for tool in dialect.iter().flat_map(|dialect| dialect.tools()).filter(|tool| tool.is_shown()) {
            let name = dialect.as_ref().map_or("haft", |dialect| dialect.name());
            let said = place.haft(&["--dialect", name, "tools", tool.name(), "--xml"], "");
            assert_eq!((said.code, said.err.as_str()), (0, ""));
            put(&place, &format!("{name}/{}_prompt.xml", tool.name()), &said.out);
        }
    }
    for dialect in &haft_tools::dialect::NAMES[1..] {
        assert_eq!(check(&place, dialect), (String::new(), 0));
    }
}

#[test]
fn a_prompt_file_gives_its_words_to_the_tool_that_has_its_names() {
    let place = Place::new();
    let prompt = |argument: &str| {
        format!(
            "<tool_prompt><description>Our words.</description><parameters><parameter name=\"{argument}\" \
             required=\"true\"><description>Our file.</description></parameter></parameters></tool_prompt>"
        )
    };
    put(&place, "../home/.config/haft/prompts/read_file_prompt.xml", &prompt("filepath"));
    put(&place, "../home/.config/haft/prompts/update_file_prompt.xml", &prompt("filepath"));
    for tool in ["read_file", "update_file"] {
        let said = place.haft(&["--dialect", "tunacode", "tools", tool], "");
        assert!(said.out.contains("Our words.") && said.out.contains("Our file."), "{}", said.out);
        assert_eq!(said.err, "");
    }
    let call = place.haft(&["--dialect", "tunacode", "call", "read_file", "filepath=src/main.rs"], "");
    assert!(call.code == 0 && call.out.contains("fn main"), "{}{}", call.out, call.err);

    let said = place.haft(&["tools", "read_file"], "");
    assert!(!said.out.contains("Our words."), "{}", said.out);
    let note =
        "read_file_prompt.xml uses the names of the dialect \"tunacode\"; the tool keeps its own description here";
    assert!(said.err.contains(note), "{}", said.err);
}
