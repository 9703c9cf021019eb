use std::sync::Arc;

use super::*;
use haft_contract::effect::{CommandStep, Effect, StepEffect};
use haft_policy::rules::examples::ExampleReader;
use haft_policy::rules::paths::Roots;

/// Reads words at blanks: how the shell reads is proved elsewhere.
fn read(command: &str) -> Vec<Effect> {
    let words: Arc<[String]> = command.split_whitespace().map(str::to_owned).collect();
    vec![Effect::Step(CommandStep {
        command: command.into(),
        folder: "".into(),
        part: (0, command.len()),
        words,
        does: StepEffect::Nothing,
    })]
}

fn parsed(text: &str) -> Result<Vec<FiledRule>, Vec<String>> {
    let tools = ["bash".to_owned(), "write_file".to_owned()];
    let roots = Roots { home: "/home/me".into(), workspace: None };
    let known = RuleCheckContext { tools: &tools, roots: &roots, reader: ExampleReader { roots: &roots, read: &read } };
    parse(Path::new("r.toml"), text, known).map_err(|Mistakes(all)| all.iter().map(Mistake::to_string).collect())
}

fn told(text: &str) -> String {
    parsed(text).expect_err("there are mistakes").join("\n")
}

const WHOLE: &str = r#"
[[rule]]
name = "no force push"
decision = "deny"
reason = "Others build on these branches."
instead = "push to a new branch"
program = "git push"
flags = ["--force", "-f"]
matches = ["git push -f origin main"]
not_matches = ["git push origin main"]

[[rule]]
name = "tests"
decision = "allow"
program = "cargo test"
matches = ["cargo test -q"]
"#;

#[test]
fn rules_come_out_with_their_lines() {
    let rules = parsed(WHOLE).expect("the file is in order");
    let shown: Vec<(&str, Decision, usize)> =
        rules.iter().map(|rule| (rule.written.rule.name.as_str(), rule.written.rule.decision, rule.line)).collect();
    assert_eq!(shown, [("no force push", Decision::Deny, 2), ("tests", Decision::Allow, 12)]);
    assert_eq!(rules[0].written.rule.instead, "push to a new branch");
    assert_eq!(parsed("# nothing yet\n"), Ok(Vec::new()));
}

#[test]
fn every_mistake_is_told_with_its_line_and_the_fix() {
    let text = "\
[[rule]]
name = \"a\"
decison = \"deny\"
reason = 3
tool = \"writefile\"

[[rules]]
name = \"b\"

[[rule]]
name = \"c\"
decision = \"deny\"
reason = \"x\"
program = \"git push\"
matches = [\"git pull\"]
dangerous = \"yes\"
";
    assert_eq!(
        told(text),
        "\
r.toml:1: the rule has no decision; add decision = \"deny\", \"ask\" or \"allow\"
r.toml:3: a rule has no key \"decison\"; did you mean \"decision\"?
r.toml:4: \"reason\" has the wrong type (integer); write it in quotes
r.toml:5: haft has no tool \"writefile\"; did you mean \"write_file\"? If the name is right, write \"writefile*\"
r.toml:7: there is no key \"rules\" here; write rules as [[rule]]
r.toml:15: the rule does not match its example \"git pull\"; fix the rule or the example
r.toml:16: \"dangerous\" has the wrong type (string); write true or false"
    );
}

#[test]
fn text_that_is_no_toml_is_told_with_its_line() {
    let told = told("[[rule]]\nname = \"a\ndecision = = 2\n");
    assert!(told.starts_with("r.toml:2: ") && told.contains("r.toml:3: "), "{told}");
}

#[test]
fn two_rules_of_one_name_are_a_mistake() {
    let rule = "[[rule]]\nname = \"a\"\ndecision = \"ask\"\nreason = \"x\"\ntool = \"bash\"\n";
    assert_eq!(
        told(&format!("{rule}{rule}")),
        "r.toml:6: the rule of line 1 is called \"a\" too; give each rule a name of its own"
    );
}

#[test]
fn a_file_that_cannot_be_read_gives_no_rules_but_a_mistake() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let roots = Roots { home: folder.path().to_owned(), workspace: None };
    let known = RuleCheckContext { tools: &[], roots: &roots, reader: ExampleReader::default() };
    assert_eq!(load(&folder.path().join("rules.toml"), known), Ok(Vec::new()));
    let told = load(folder.path(), known).expect_err("a folder is no file").to_string();
    assert!(told.contains(":1: cannot be read: ") && told.ends_with("; make it a readable text file"), "{told}");
}

#[test]
fn a_project_only_tightens() {
    let (kept, left_out) = of_project(parsed(WHOLE).expect("the file is in order"));
    assert_eq!(kept.len(), 1);
    assert_eq!(
        left_out[0].to_string(),
        "r.toml:12: \"tests\" allows something, and a project's rules only make things stricter; \
         move it to your own rules.toml"
    );
}

const GUIDE: &str = include_str!("../../../../docs/guide/rules.md");

#[test]
fn the_rules_of_the_guide_hold() {
    let blocks: Vec<&str> = GUIDE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    let tools = ["bash".to_owned(), "write_file".to_owned()];
    let roots = Roots { home: "/home/me".into(), workspace: None };
    let known = RuleCheckContext { tools: &tools, roots: &roots, reader: ExampleReader::default() };
    for block in blocks {
        let rules = parse(Path::new("rules.md"), block, known).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        assert!(!rules.is_empty());
    }
}

#[test]
fn the_guide_names_every_effect_with_its_built_in_decision() {
    use haft_policy::decision::Class;
    use haft_policy::rule::{Pattern, defaults};
    for rule in defaults() {
        let Pattern::Effect(sort) = rule.matches else { continue };
        let decision = match (rule.decision, rule.class) {
            (Decision::Allow, _) => "allow",
            (Decision::Ask, Class::Ordinary) => "ask",
            (Decision::Ask, Class::Dangerous) => "ask, each time",
            (Decision::Deny, _) => "deny",
        };
        let row = GUIDE.lines().find(|line| line.starts_with(&format!("| `{}` |", sort.name())));
        let row = row.unwrap_or_else(|| panic!("the guide does not name {}", sort.name()));
        assert!(row.ends_with(&format!("| {decision} |")), "{row}");
    }
}

#[test]
fn the_rule_that_a_question_proposes_holds_and_answers_that_question() {
    use haft_policy::examples::steps_in_scene;
    use haft_policy::policy::{Policy, Situation};
    use haft_policy::rule_to_paste::rule_to_paste;
    let tools = ["bash".to_owned()];
    let roots = Roots { home: "/home/me".into(), workspace: None };
    let known = RuleCheckContext { tools: &tools, roots: &roots, reader: ExampleReader::default() };
    for command in ["cargo test -q", "rm -r build", "git push origin main", "npm run build", "make"] {
        let effects = steps_in_scene(command);
        let text = rule_to_paste(&Policy::default(), ("bash", &effects), Situation::default());
        let text = text.unwrap_or_else(|| panic!("nothing is proposed for {command}"));
        let rules = parse(Path::new("r.toml"), &text, known).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
        let policy = Policy::default().with_rules(rules.into_iter().map(|rule| rule.written.rule));
        assert_eq!(policy.judge("bash", &effects, Situation::default()).decision, Decision::Allow, "{text}");
    }
}
