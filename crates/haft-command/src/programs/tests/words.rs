//! Tests how words become flags, values and operands, and which roles they get.

use crate::programs::tests::{CodeLanguage, by};
use crate::value::ShellValue;

#[test]
fn operands_have_roles_in_order_and_the_last_one_repeats() {
    let rows = "grep\n  operands text read\n";

    assert_eq!(by(rows, "grep a b c"), "Read b; Read c");
}

#[test]
fn the_last_operand_may_have_a_role_of_its_own() {
    let rows = "cp\n  operands read replace$\n";

    assert_eq!(by(rows, "cp a b c"), "Read a; Read b; Replace c");
    assert_eq!(by(rows, "cp a"), "Read a; Replace a", "it may be either");
}

#[test]
fn operands_of_a_row_that_has_none_are_unknown() {
    let rows = "a\n  operands none\n";

    assert_eq!(by(rows, "a"), "");
    assert_eq!(by(rows, "a b"), "Unknown  what a does with its words is not in the table of programs");
}

#[test]
fn short_flags_may_stand_together_and_take_the_rest_or_the_next_word() {
    let rows = "sort\n  operands read\n  flags -n -r\n  value -o replace\n";

    assert_eq!(by(rows, "sort -nr a"), "Read a");
    assert_eq!(by(rows, "sort -no b a"), "Replace b; Read a");
    assert_eq!(by(rows, "sort -nob a"), "Replace b; Read a");
    assert_eq!(by(rows, "sort a -o b"), "Replace b; Read a");
}

#[test]
fn a_flag_that_is_not_listed_is_unknown_unless_any_is_harmless() {
    assert_eq!(by("a\n  flags -n\n", "a -nx"), "Unknown  \\ -x\\  of a is not in the table of programs");
    assert_eq!(by("a\n  flags -n\n", "a --new=1"), "Unknown  \\ --new\\  of a is not in the table of programs");
    assert_eq!(by("a\n  flags any\n", "a -nx --new=1"), "");
}

#[test]
fn a_flag_beyond_those_that_were_looked_at_is_asked_about_where_nothing_else_is() {
    let rows =
        "a\n  operands read\n  flags more -n --new\n  with -w operands replace\nb\n  flags more\n  does code x\n";
    assert_eq!(by(rows, "a -n3 --new x"), "Read x");
    assert_eq!(by(rows, "a -nx x"), "Read x; Unknown  \\ -x\\  of a is not in the table of programs");
    assert_eq!(by(rows, "a --old x"), "Read x; Unknown  \\ --old\\  of a is not in the table of programs");
    assert_eq!(by(rows, "a -wx y"), "Replace y");
    assert_eq!(by(rows, "b --old"), "Code  x");
}

#[test]
fn a_flag_of_the_program_is_known_behind_its_subcommand() {
    let rows = "a\n  subcommands\n  flags more --quiet\na+b\n  flags more -n\n";
    assert_eq!(by(rows, "a b -n --quiet"), "");
    assert_eq!(by(rows, "a b -x"), "Unknown  \\ -x\\  of a b is not in the table of programs");
    assert_eq!(by(rows, "a -x b"), "Unknown  \\ -x\\  of a is not in the table of programs");
}

#[test]
fn a_program_that_loads_code_to_say_its_version_has_no_usage() {
    assert_eq!(by("a\n  flags more\n  does code x\n  usage none\n", "a --version"), "Code  x");
}

#[test]
fn a_word_that_names_a_file_or_what_is_fetched_is_both() {
    let told = by("a\n  operands local\n", "a x");
    assert!(told.starts_with("Read x; Fetch"), "{told}");
}

#[test]
fn long_flags_take_their_value_behind_an_equals_sign_or_as_the_next_word() {
    let rows = "sort\n  operands read\n  value --output replace\n";

    assert_eq!(by(rows, "sort --output=b a"), "Replace b; Read a");
    assert_eq!(by(rows, "sort --output b a"), "Replace b; Read a");
}

#[test]
fn a_value_that_begins_like_a_flag_counts_as_one_too() {
    let rows = "tar\n  operands read\n  flags -v\n  value --checkpoint text\n  value --output replace\n";

    assert_eq!(by(rows, "tar --checkpoint --output=b a"), "Replace b; Read a");
    assert_eq!(by(rows, "tar --checkpoint --checkpoint --output b a"), "Replace b; Read a");
    assert_eq!(by(rows, "tar --checkpoint -v a"), "Read a");
    assert_eq!(by(rows, "tar --checkpoint -5 a"), "Read a");
}

#[test]
fn an_optional_value_is_only_taken_when_it_is_attached() {
    let rows = "sed\n  operands read\n  flags any\n  optional -i --in-place replace\n";

    assert_eq!(by(rows, "sed -i a"), "Read a");
    assert_eq!(by(rows, "sed -i.bak a"), "Replace .bak; Read a");
    assert_eq!(by(rows, "sed --in-place=x a"), "Replace x; Read a");
}

#[test]
fn a_shortened_long_flag_means_every_flag_that_begins_so() {
    let rows = "sort\n  operands read\n  flags any\n  value --compress-program script\n  flags --color\n";

    assert_eq!(by(rows, "sort --comp=sh a"), "Read a; sh [sh] ()");
    // It may be a flag of its own that the row does not name, and the next word an operand.
    assert_eq!(by(rows, "sort --co sh a"), "Read sh; Read a; sh [sh] ()");
    assert_eq!(by(rows, "sort --co -x a"), "Read a; sh [-x] ()");
    assert_eq!(by(rows, "sort --color a"), "Read a");
}

#[test]
fn two_dashes_end_the_flags() {
    assert_eq!(by("rm\n  operands remove\n  flags -r\n", "rm -r -- -x"), "Remove -x");
}

#[test]
fn a_single_dash_is_a_standard_stream() {
    assert_eq!(by("cat\n  operands read\n", "cat - a"), "Read a");
}

#[test]
fn the_first_operand_ends_the_flags_where_the_row_says_so() {
    let rows = "nice\n  stops\n  operands text\n  value -n text\n";

    assert_eq!(by(rows, "nice -n 5 a -x"), "");
}

#[test]
fn a_command_is_all_words_from_there_on_with_their_flags() {
    let rows = "timeout\n  operands text command\n  value -s text\n";

    assert_eq!(by(rows, "timeout -s 9 5 rm -rf x"), "runs [rm -rf x]");
}

#[test]
fn text_for_a_shell_takes_the_words_behind_it_as_parameters_or_as_more_text() {
    assert_eq!(by("sh\n  stops\n  flags -c\n  with -c operands script text\n", "sh -c ls a b"), "sh [ls] (a b)");
    assert_eq!(by("each\n  operands script\n", "each ls -l a"), "sh [ls -l a] ()");
    assert_eq!(by("watch\n  operands joined\n", "watch ls -l a"), "sh [ls -l a] ()");
}

#[test]
fn assignments_come_before_a_command() {
    let rows = "sudo\n  operands assignments command\n";

    assert_eq!(by(rows, "sudo A=1 B=2 rm C=3"), "A=1; B=2; runs [rm C=3]");
}

#[test]
fn text_in_a_language_is_handed_on() {
    let rows = "x\n  value -e code\n  value -a awk\n  value -s sed\n  value -c console\n";

    assert_eq!(by(rows, "x -e 1+1 -a {print} -s p"), "General [1+1]; Awk [{print}]; Sed [p]");
    let console = by(rows, "x -c :!ls_-l");
    assert_eq!(console, "Unknown  it is text for another program; sh [ls -l] (); General [:!ls -l]");
}

#[test]
fn the_input_is_run_where_there_is_no_operand() {
    let rows = "py\n  operands run text\n  value -c code\n  unless -c input-code\n";

    assert_eq!(by(rows, "py"), format!("runs its input as {:?}", CodeLanguage::General));
    assert_eq!(by(rows, "py -"), "runs its input as General");
    assert_eq!(by(rows, "py a.py b"), "Run a.py");
    assert_eq!(by(rows, "py -c 1"), "General [1]");
    assert_eq!(by("sh\n  operands run input\n", "sh"), "runs its input as Shell");
}

#[test]
fn what_a_program_always_does_is_told_in_words_or_on_a_fixed_path() {
    let rows = "a\n  does connect\n  does publish push it\n  does replace .\n  does danger rights gain some\n";

    assert_eq!(by(rows, "a"), "Connect ?; Publish  push it; Replace .; Danger Rights");
}

#[test]
fn a_fact_may_hold_only_with_a_flag_or_unless_it_is_given() {
    let rows = "a\n  flags any\n  with -f --force does history x\n  unless -n does settings y\n";

    assert_eq!(by(rows, "a"), "Settings  y");
    assert_eq!(by(rows, "a -f"), "History  x; Settings  y");
    assert_eq!(by(rows, "a --force -n"), "History  x");
}

#[test]
fn a_condition_may_be_an_operand_its_place_or_the_value_of_a_flag() {
    let rows = "a\n  flags any\n  value -m text\n  with =x does history x\n  with 2=y* does history y\n  \
                with -m=z --z=1 does history z\n";

    assert_eq!(by(rows, "a b x"), "History  x");
    assert_eq!(by(rows, "a yes no"), "");
    assert_eq!(by(rows, "a no yes"), "History  y");
    assert_eq!(by(rows, "a -m z"), "History  z");
    assert_eq!(by(rows, "a --z=1"), "History  z");
    assert_eq!(by(rows, "a -m q --z=2"), "");
}

#[test]
fn conditions_may_follow_each_other_and_then_both_hold() {
    let rows = "a\n  flags any\n  with -x unless -y does history x\n";

    assert_eq!(by(rows, "a -x"), "History  x");
    assert_eq!(by(rows, "a -x -y"), "");
}

#[test]
fn roles_under_a_condition_take_the_place_of_the_others() {
    let rows = "sed\n  operands sed read\n  value -e sed\n  flags -i\n  with -e operands read\n  \
                with -i unless -e operands sed replace\n  with -i with -e operands replace\n";

    assert_eq!(by(rows, "sed p a"), "Read a; Sed [p]");
    assert_eq!(by(rows, "sed -e p a"), "Read a; Sed [p]");
    assert_eq!(by(rows, "sed -i p a"), "Replace a; Sed [p]");
    assert_eq!(by(rows, "sed -i -e p a"), "Replace a; Sed [p]");
}

#[test]
fn a_subcommand_has_a_row_of_its_own_and_flags_before_it_belong_to_the_parent() {
    let rows = "git\n  subcommands\n  value -C folder\n  flags -p\n  does settings no subcommand\n\
                git+log\n  flags any\ngit+rm\n  operands remove\n  flags -r\ngit+a+b\n  does history deep\n";

    assert_eq!(by(rows, "git"), "Settings  no subcommand");
    assert_eq!(by(rows, "git -p log -x"), "");
    assert_eq!(by(rows, "git rm -r x"), "Remove x");
    assert_eq!(by(rows, "git a b"), "History  deep");
    assert_eq!(by(rows, "git frob"), "Unknown  \\ frob\\  of git is not in the table of programs");
    assert_eq!(
        by(rows, "git …"),
        "Unknown  a word that may be a flag; Unknown  the subcommand of git is known only when it runs"
    );
}

#[test]
fn paths_are_meant_from_the_folder_that_a_program_works_in() {
    let rows = "git\n  subcommands\n  value -C folder\ngit+clean\n  does remove .\ngit+rm\n  operands remove\n";

    assert_eq!(by(rows, "git -C /x clean"), "Read /x; Remove /x");
    assert_eq!(by(rows, "git -C a -C b rm c /d"), "Read a/b; Remove a/b/c; Remove /d");
}

#[test]
fn operands_with_a_key_have_the_role_of_the_key() {
    let rows = "dd\n  keys if:read of:replace\n";

    assert_eq!(by(rows, "dd if=a of=b bs=1M"), "Read a; Replace b");
    assert_eq!(by(rows, "dd …"), "Unknown  a word that may be a flag; Unknown  a word that may name a file");
}

#[test]
fn words_that_begin_with_plus_are_flags_where_the_row_says_so() {
    let rows = "vim\n  plus\n  flags any +G\n  operands read\n  optional + script\n";

    assert_eq!(by(rows, "vim +ls a"), "Read a; sh [ls] ()");
    assert_eq!(by(rows, "vim +G +12 a"), "Read a");
    assert_eq!(by("cat\n  operands read\n", "cat +x"), "Read +x");
}

#[test]
fn the_first_word_may_be_flags_without_a_dash_and_their_values_come_in_order() {
    let rows = "tar\n  dashless\n  operands read\n  flags -c -z\n  value -f replace\n  value -C list\n";

    assert_eq!(by(rows, "tar czf a.tgz src"), "Replace a.tgz; Read src");
    assert_eq!(by(rows, "tar cfC a.tar dir src"), "Replace a.tar; List dir; Read src");
    assert_eq!(by(rows, "tar -cf a.tar src"), "Replace a.tar; Read src");
}

#[test]
fn long_flags_may_have_one_dash() {
    let rows = "java\n  long\n  flags any\n  value -jar run\n  optional -D text\n  value -agentpath run\n";

    assert_eq!(by(rows, "java -jar a.jar"), "Run a.jar");
    assert_eq!(by(rows, "java --jar a.jar"), "Run a.jar");
    assert_eq!(by(rows, "java -agentpath=x -Da=b -verbose"), "Run x");
}

#[test]
fn a_word_that_may_be_a_flag_is_asked_about_where_flags_matter() {
    let telling = "sort\n  operands read\n  flags any\n  value -o replace\n";
    let doubt = "Unknown  a word that may be a flag";

    assert_eq!(by(telling, "sort …"), format!("{doubt}; Read …"));
    assert_eq!(by(telling, "sort -- …"), "Read …");
    assert_eq!(by(telling, "sort a…"), "Read a…");
    assert_eq!(by(telling, "sort *"), "Read *");
    assert_eq!(by(telling, "sort -n…"), doubt);
    assert_eq!(by(telling, "sort -o…"), "Replace …");
    assert_eq!(by(telling, "sort --x…"), doubt);
    assert_eq!(by("wc\n  operands read\n  flags any\n", "wc …"), "Read …");
}

#[test]
fn a_word_that_decides_what_is_done_is_asked_about_when_it_is_not_known() {
    let rows = "a\n  flags any\n  with =drop does history x\n";

    assert_eq!(by(rows, "a dr…"), "Unknown  a word that is known only when it runs decides what it does");
    assert_eq!(by(rows, "a no…"), "");
}

#[test]
fn names_that_a_pattern_finds_are_not_searched_for_what_decides() {
    let rows = "jq\n  operands text read\n  flags any\n  with =*$ENV* does unknown x\n";

    assert_eq!(by(rows, "jq . src/*"), "Read src/*");
    assert!(by(rows, "jq . src/…").starts_with("Unknown"));
}

#[test]
fn what_a_program_prints_is_told() {
    let rows = "ls\n  operands list\n  flags any\n  output paths\n  with -x output decoded\n\
                curl\n  operands url\n  value -o create\n  unless -o output downloaded\n";

    assert_eq!(by(rows, "ls"), "prints ./* ./*… *");
    assert_eq!(by(rows, "ls a b"), "List a; List b; prints a a/* a/*… b b/* b/*…");
    assert_eq!(by(rows, "ls -x"), "prints Decoded");
    assert_eq!(by(rows, "curl http://x.example/y"), "Connect x.example; prints Downloaded");
    assert_eq!(by(rows, "curl -o y x.example"), "Create y; Connect x.example");
}

#[test]
fn addresses_name_a_host_and_some_hand_out_secrets() {
    let rows = "a\n  operands url\n  value -h host\n  value -r remote\n  value -w remote>\n  value -s socat\n";

    assert_eq!(by(rows, "a https://me:pw@x.example:80/y?z"), "Connect x.example");
    assert_eq!(by(rows, "a https://x.example/…"), "Connect x.example");
    assert_eq!(by(rows, "a https://…"), "Connect elsewhere");
    assert_eq!(by(rows, "a file:///etc/x"), "Read /etc/x");
    assert_eq!(by(rows, "a ext::ls_-l"), "sh [ls -l] ()");
    for address in ["169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "metadata.google.internal."] {
        assert!(by(rows, &format!("a http://{address}/")).contains("Danger Secret"), "{address}");
    }
    assert_eq!(by(rows, "a -h me@x.example"), "Connect x.example");
    assert_eq!(by(rows, "a -r x:y"), "Connect x");
    assert_eq!(by(rows, "a -r ./x:y"), "Read ./x:y");
    assert_eq!(by(rows, "a -w x:y"), "Connect x; Publish  send files to another machine");
    assert_eq!(by(rows, "a -w y"), "Replace y");
    assert_eq!(by(rows, "a -s TCP:x.example:80"), "Connect x.example");
    assert_eq!(by(rows, "a -s EXEC:ls,pty"), "Danger DownloadedCode; sh [ls] ()");
}

#[test]
fn words_with_a_form_of_their_own_are_taken_apart() {
    let rows = "a\n  value -m mode\n  value -p process\n  value -v volume\n  value -d upload\n  value -o ssh-option\n  \
                value -t tar-action\n";

    for mode in ["4755", "u+s", "g=rxs", "+s", "a-x+s", "02755"] {
        assert_eq!(by(rows, &format!("a -m {mode}")), "Danger Rights", "{mode}");
    }
    for mode in ["755", "1777", "u-s", "+x", "u=rwx,go=rx"] {
        assert_eq!(by(rows, &format!("a -m {mode}")), "", "{mode}");
    }
    assert_eq!(by(rows, "a -p 123"), "Process  act on other processes");
    assert_eq!(by(rows, "a -p haftd"), "Danger Haft");
    assert_eq!(by(rows, "a -v /:/host:rw"), "Replace /");
    assert_eq!(by(rows, "a -v type=bind,source=/etc,target=/x"), "Replace /etc");
    assert_eq!(by(rows, "a -v data:/x"), "");
    assert_eq!(by(rows, "a -d @x"), "Publish  send data to another machine; Read x");
    assert_eq!(by(rows, "a -d f=@x;type=text/plain"), "Publish  send data to another machine; Read x");
    assert_eq!(by(rows, "a -d me@x"), "");
    assert_eq!(by(rows, "a -o ProxyCommand=ls_%h"), "Connect elsewhere; sh [ls %h] ()");
    assert_eq!(by(rows, "a -o proxycommand_ls"), "Connect elsewhere; sh [ls] ()");
    assert_eq!(by(rows, "a -o Port=22"), "");
    assert_eq!(by(rows, "a -t exec=ls"), "sh [ls] ()");
    assert_eq!(by(rows, "a -t dot"), "");
}

#[test]
fn a_star_in_a_condition_stands_for_any_text() {
    let check = |pattern, word| crate::patterns::fits(pattern, word);

    assert!(check("a*c", "abc") && check("a*c", "ac") && check("*", "") && check("*b*d*", "abcde"));
    assert!(!check("a*c", "abd") && !check("ab*bc", "abc") && !check("*b*b*", "abc") && !check("a", "ab"));
    assert!(!check(&"*a".repeat(40), &"a".repeat(39)));
}

#[test]
fn a_flag_of_two_words_takes_a_name_and_then_a_value() {
    let rows = "jq\n  operands text read\n  pair --rawfile read\n  pair --arg text\n";

    assert_eq!(by(rows, "jq --rawfile x a.env . b"), "Read a.env; Read b");
    assert_eq!(by(rows, "jq --arg x y . b"), "Read b");
}

#[test]
fn shell_text_that_the_input_gives_more_words_is_run_both_ways() {
    let rows = "parallel\n  operands fed\n";

    assert_eq!(by(rows, "parallel rm x").matches("rm").count(), 2);
}

#[test]
fn a_copy_has_the_last_name_of_its_address() {
    let name = |address: &str| crate::programs::address::file_name(&ShellValue::text(address)).shown();
    assert_eq!(name("https://x.example/a/b.zip?c=d#e"), "b.zip");
    assert_eq!(name("https://git.example/u/tool.git"), "tool");
    assert_eq!(name("git@git.example:u/tool.git"), "tool");
    assert_eq!(name("git@git.example:tool.git"), "tool");
    assert_eq!(name("https://x.example"), "index.html");
    assert_eq!(name("https://x.example/"), "index.html");
    assert_eq!(name("x.example/Makefile"), "Makefile");
    assert_eq!(name("https://x.example/%2e%2e"), ShellValue::unknown().shown());
}
