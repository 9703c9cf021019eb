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
