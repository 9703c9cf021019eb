//! Every row of the table of protected names, judged by the defaults.

use std::path::Path;

use haft_contract::effect::{Change, Effect};
use haft_contract::files::guarded::{protected, protected_names};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_policy::decision::{Class, Decision};
use haft_policy::examples::decision;
use haft_policy::policy::{Policy, Situation};

#[test]
fn a_tool_that_changes_a_protected_name_asks_a_person_each_time() {
    for name in protected_names() {
        for path in [name.example(), format!("sub/{}", name.example())] {
            let target = Target::Inside(FileLocation::new(&path, Extent::Entry));
            for change in [Change::Create, Change::Replace, Change::Remove] {
                let effect = Effect::Change(target.clone(), change);

                let ruling = Policy::default().judge("write_file", &[effect], Situation::default());

                assert_eq!((ruling.decision, ruling.class), (Decision::Ask, Class::Dangerous), "{path}: {ruling:?}");
                let why = protected(Path::new(&path)).expect("the row fits its example");
                assert!(ruling.reason.contains(why), "{path}: {}", ruling.reason);
            }
        }
    }
}

#[test]
fn a_command_that_names_a_protected_name_to_change_it_is_refused_also_where_the_name_is_a_secret() {
    let mut wrong = Vec::new();
    for name in protected_names() {
        let path = name.example();
        for command in [
            format!("echo x > {path}"),
            format!("echo x >> ./{path}"),
            format!("tee sub/{path}"),
            format!("cp a.txt sub/{path}"),
            format!("mv a.txt ./{path}"),
            format!("rm -f ./{path}"),
        ] {
            if decision(&command) != Decision::Deny {
                wrong.push(command);
            }
        }
    }
    assert!(wrong.is_empty(), "{} are not refused:\n{}", wrong.len(), wrong.join("\n"));
}
