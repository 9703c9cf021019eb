use std::time::Duration;

use super::*;

const WHOLE: &str = "---\nname: pdf-forms\ndescription: >-\n  Fills in PDF forms.\n  Use it for forms.\nlicense: MIT\n\
    allowed-tools: Bash(git add *), Read\neffects:\n  - read: \"{arguments}\"\n  - change: out/\ntimeout: 30\n\
    metadata:\n  author: someone\n---\n\n# Forms\n\nFill them in.\n";

fn told(text: &str) -> Vec<String> {
    check_skill(text, "forms").problems.iter().map(ToString::to_string).collect()
}

/// A file with these lines in its frontmatter.
fn with(lines: &str) -> String {
    format!("---\nname: forms\ndescription: Fills in forms.\n{lines}\n---\nDo it.\n")
}

#[test]
fn a_skill_in_the_form_that_people_have_is_read_with_what_haft_adds() {
    let CheckedSkill { skill, problems } = check_skill(WHOLE, "pdf-forms");
    assert_eq!(problems, []);
    let skill = skill.expect("nothing is wrong with it");
    assert_eq!(
        (skill.name.as_str(), skill.description.as_str()),
        ("pdf-forms", "Fills in PDF forms. Use it for forms.")
    );
    assert_eq!((skill.license.as_deref(), skill.timeout), (Some("MIT"), Some(Duration::from_secs(30))));
    assert_eq!(skill.allowed_tools, ["Bash(git add *)", "Read"]);
    let effects: Vec<String> = skill.effects.expect("they are declared").iter().map(ToString::to_string).collect();
    assert_eq!(effects, ["read {arguments}", "change out/"]);
    assert_eq!(skill.body, "# Forms\n\nFill them in.");
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_change_nothing() {
    let windows = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n"));
    let CheckedSkill { skill, problems } = check_skill(&windows, "pdf-forms");
    assert_eq!(problems, []);
    assert_eq!(skill.expect("it is read").name, "pdf-forms");
}

#[test]
fn a_broken_frontmatter_is_told_with_its_line_in_the_file() {
    for (text, expected) in [
        (
            "# Forms\n",
            "line 1: the file does not begin with a frontmatter; begin the file with a line ---, name: NAME, description: TEXT, and a line ---",
        ),
        (
            "",
            "line 1: the file does not begin with a frontmatter; begin the file with a line ---, name: NAME, description: TEXT, and a line ---",
        ),
        ("---\nname: a\n", "line 1: the frontmatter that begins with \"---\" has no end; write a line --- below it"),
        (
            "---\nname: forms\ndescription: Use it: now\n---\nx",
            "line 3: a colon is where no value can follow; put the text in quotes, or fix the indentation",
        ),
        (
            "---\n- name\n---\nx",
            "line 2: the frontmatter is a list, but it is a map; write name: NAME and description: TEXT",
        ),
        (
            "---\nname: forms\n---\nx",
            "line 1: nothing tells a model when to use the skill; write description: what it does, and when to use it",
        ),
    ] {
        assert_eq!(told(text), [expected], "{text:?}");
        assert_eq!(check_skill(text, "forms").skill, None, "{text:?}");
    }
}

#[test]
fn a_slip_in_a_key_that_haft_enforces_is_an_error_and_keys_of_others_are_not() {
    assert_eq!(told(&with("efects: []")), ["line 4: there is no key \"efects\"; did you mean \"effects\"?"]);
    assert_eq!(told(&with("model: opus\nversion: 1.0.0")), Vec::<String>::new());
    assert_eq!(told(&with("colour: red")), ["line 4: warning: haft does not know the key \"colour\"; haft ignores it"]);
    assert!(check_skill(&with("colour: red"), "forms").skill.is_some());
    let hooks = "line 4: warning: haft does not run the hooks of a skill; write them in config.toml";
    assert_eq!(told(&with("hooks: {}")), [hooks]);
}

#[test]
fn effects_name_the_arguments_of_the_script_and_nothing_else() {
    assert_eq!(
        told(&with("effects: [{read: \"{path}\"}]")),
        ["line 4: {path} is not an argument of the tool; name a property of \"input_schema\""]
    );
    assert_eq!(
        told(&with("effects: [{connect: api.example.com}, {change: \"out/{arguments}\"}]")),
        Vec::<String>::new()
    );
}

#[test]
fn a_pattern_in_an_effect_is_told_because_it_is_none() {
    let warning = "line 4: warning: \"out/**\" is taken as it is written: effects have no patterns; \
        for everything in a folder write its name and a slash, such as out/";
    assert_eq!(told(&with("effects: [{change: out/**}]")), [warning]);
}

#[test]
fn a_name_or_a_description_that_deceives_is_refused() {
    let text =
        |name: &str, description: &str| format!("---\nname: \"{name}\"\ndescription: \"{description}\"\n---\nx\n");
    for name in ["a\\e[31m", "a/../b", "a\u{202e}b", "a\\nb"] {
        assert!(told(&text(name, "d")).iter().any(|told| told.contains("cannot be the name of a skill")), "{name}");
    }
    for description in ["a \\e]0;x\\a b", "a \u{202e}b", "a \u{e0041}b"] {
        let told = told(&text("forms", description));
        assert!(told[0].starts_with("line 3: the description has a character that people do not see"), "{told:?}");
    }
    assert_eq!(told(&text("forms", "Emoji stay: ❤\u{fe0f}.")), Vec::<String>::new());
}

#[test]
fn what_people_do_not_see_in_the_text_is_told_with_its_line() {
    let text = with("license: MIT").replace("Do it.", "Do it.\nAnd\u{202e} this.");
    let warning = "line 7: warning: the text has characters that people do not see; remove them; a model is shown them in escaped form";
    assert_eq!(told(&text), [warning]);
    assert!(check_skill(&text, "forms").skill.is_some());
}

#[test]
fn a_skill_without_a_name_has_that_of_its_folder_and_another_name_is_told() {
    let CheckedSkill { skill, problems } = check_skill("---\ndescription: d\n---\nx", "forms");
    assert_eq!(skill.expect("it is read").name, "forms");
    assert!(problems[0].is_warning, "{problems:?}");
    let other = told("---\nname: other\ndescription: d\n---\nx");
    assert_eq!(
        other,
        [
            "line 2: warning: the skill is called \"other\", and its folder \"forms\"; give both the same name: other programs ask for that"
        ]
    );
}

#[test]
fn yaml_that_expands_without_end_or_nests_without_end_is_an_error() {
    let bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
        c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d]";
    assert!(told(&with(bomb))[0].contains("anchors and aliases expand to too much"), "{:?}", told(&with(bomb)));
    let deep = format!("metadata: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(told(&with(&deep))[0].contains("nests deeper"), "{:?}", told(&with(&deep)));
    let long = format!("metadata: \"{}\"", "x".repeat(2 << 20));
    assert!(told(&with(&long))[0].contains("more than 1 MiB"));
}
