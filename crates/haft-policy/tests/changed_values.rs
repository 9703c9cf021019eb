//! Values that are believed although something changed them, and names that are taken for less than they are.

use haft_policy::command::examples::decision;
use haft_policy::decision::Decision;

#[track_caller]
fn is_not_allowed(commands: &[&str]) {
    let allowed: Vec<&&str> = commands.iter().filter(|command| decision(command) == Decision::Allow).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[track_caller]
fn is_allowed(commands: &[&str]) {
    let others: Vec<&&str> = commands.iter().filter(|command| decision(command) != Decision::Allow).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn a_variable_of_awk_that_something_else_may_set_has_no_known_value() {
    is_not_allowed(&[
        r#"awk 'BEGIN{c="id"; sub(/id/,"rm -rf ~",c); system(c)}'"#,
        r#"awk 'BEGIN{c="id"; gsub(/id/,"rm -rf ~",c); system(c)}'"#,
        r#"awk 'BEGIN{c="id"; getline c; system(c)}' a.txt"#,
        r#"awk 'BEGIN{c="id"; getline c < "a.txt"; system(c)}'"#,
        r#"awk 'BEGIN{c="id"; "cat a.txt" | getline c; system(c)}'"#,
        r#"awk 'BEGIN{c="id"} {system(c)}' c=./x a.txt"#,
        r#"awk -v c=./x 'BEGIN{if (0) c="id"; system(c)}'"#,
        r#"awk -vc=./x 'BEGIN{if (0) c="id"; system(c)}'"#,
        r#"gawk 'BEGIN{c="id"; SYMTAB["c"]="rm -rf ~"; system(c)}'"#,
        r#"awk 'function f() {c="rm -rf ~"} BEGIN{c="id"; f(); system(c)}'"#,
        r#"awk 'BEGIN{c="id"; f("rm -rf ~")} function f(c) {system(c)}'"#,
        r#"awk 'BEGIN{c="id"; a["rm -rf ~"]; for (c in a) system(c)}'"#,
        r#"awk 'BEGIN{c="id"; d=c; sub(/id/,"rm -rf ~",c); d=c; system(d)}'"#,
        r#"awk 'BEGIN{c="id"; awk::c="./x"; system(c)}'"#,
        r#"awk 'BEGIN{c="x"} c="ls" {system(c)} {c="id"}' a.txt"#,
        r#"awk 'BEGIN{ORS="\nrm -rf ~\n"; print "ls" | "sh"}'"#,
        r#"awk -v OFS='; rm -rf ~ #' 'BEGIN{print "ls","-l" | "sh"}'"#,
        r#"awk 'BEGIN{f=".enw"; gsub(/w/,"v",f); getline l < f; print l}'"#,
        r#"awk 'BEGIN{if (0) c="x"; getline l < (".e" c "nv"); print l}'"#,
        r#"awk 'BEGIN{printf "cat %s%s", ".e", "nv" | "sh"}'"#,
        r#"awk 'BEGIN{printf("cat %.4s", ".envelope") | "sh"}'"#,
        r#"gawk -e 'BEGIN{c="id"} {system(c)}' -e 'BEGIN{c="./x"}' a.txt"#,
    ]);
    is_allowed(&[
        r#"awk -v n=5 'NR==n {print}' a.txt"#,
        r#"awk 'BEGIN{c="ls"; system(c)}'"#,
        r#"awk 'BEGIN{OFS="\t"} {print $1,$2 | "sort"}' a.txt"#,
        r#"awk '{gsub(/a/,"b"); print}' a.txt"#,
        r#"awk -F: 'BEGIN{while ((getline l < "a.txt") > 0) n++; print n}'"#,
    ]);
}
