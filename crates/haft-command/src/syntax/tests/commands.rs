//! Tests lists, pipes, compound commands, assignments and redirections.

use crate::syntax::tests::check;
use crate::syntax::{CommandNode, parse};

#[test]
fn commands_of_a_list_say_when_they_run() {
    check("a; b & c && d || e\nf", "<a> ; <b> & ; <c> ; && <d> ; || <e> ; <f>");
    check("a && b &", "<a> & ; && <b> &");
    check("a &&\n\n  # why\n b", "<a> ; && <b>");
    check("", "");
    check("  # nothing but a comment", "");
}

#[test]
fn pipes_have_stages_and_may_carry_errors() {
    check("a | b |\n c", "<a> | <b> | <c>");
    check("a |& b", "<a> 2=>1 | <b>");
    check("a || b | c", "<a> ; || <b> | <c>");
}

#[test]
fn negation_and_time_change_nothing_of_what_is_run() {
    check("! a | b", "<a> | <b>");
    check("! { rm x; }", "{ <rm x> }");
    check("time -p rm x", "<rm x>");
    check("time { rm x; }", "{ <rm x> }");
    check("!(rm x)", "( <rm x> )");
    check("! time ! rm x", "<rm x>");
    check("\\time rm x", "<‹t›ime rm x>");
    check("time", "<>");
}

#[test]
fn a_coprocess_is_a_command_in_the_background() {
    check("coproc rm x", "{ <rm x> & }");
    check("coproc NAME { rm x; }", "{ <NAME=(${_}')> ; { <rm x> } & }");
}

#[test]
fn comments_begin_at_the_beginning_of_words() {
    check("cat a#b # rm x", "<cat a#b>");
    check("a;#rm x\nb", "<a> ; <b>");
    check("a # \\\nb", "<a> ; <b>");
    check("echo '#' \\# \"#\" ${#x}", "<echo ‹#› ‹#› ‹#› ${x length}>");
}

#[test]
fn groups_and_subshells_hold_lists() {
    check("{ a; b; } > f", "{ <a> ; <b> } >f");
    check("(a; b)", "( <a> ; <b> )");
    check("(a;(b))", "( <a> ; ( <b> ) )");
    check("((a); (b))", "( ( <a> ) ; ( <b> ) )");
    check("{a;}", "<{a> ; opaque[something ends here that did not begin]");
}

#[test]
fn conditions_have_all_their_lists() {
    check("if a; then b; fi", "if[<a> / <b>]");
    check("if a\nthen b\nelif c; then d; else e; fi 2>f", "if[<a> / <b> / <c> / <d> / <e>] 2>f");
}

#[test]
fn loops_have_conditions_words_and_bodies() {
    check("while a; do b; done < f", "while[<a> / <b>] <f");
    check("until a\ndo b\ndone", "while[<a> / <b>]");
    check("for x in a {b,c}; do d; done", "for[x in a b c / <d>]");
    check("for x; do a; done", "for[x / <a>]");
    check("for x do a; done", "for[x / <a>]");
    check("for x in; do a; done", "for[x in  / <a>]");
    check("for x in a; { b; }", "for[x in a / <b>]");
    check("select x in a b; do c; done", "for[x in a b / <c>]");
    check("for ((i=0; i<$(rm x); i++)); do a; done", "count[‹i=0; i<›$(<rm x>)'‹; i++› / <a>]");
    check("for ((;;)) { a; }", "count[‹;;› / <a>]");
}

#[test]
fn cases_have_patterns_and_lists() {
    check("case $x in a) b;; (c|d*) e;& *) f; esac", "case[${x} / a) <b> / c d*) <e> / *) <f>]");
    check("case a in\nb) ;;\nesac", "case[a / b) ]");
    check("case a in esac", "case[a / ]");
    check("echo $(case x in a) rm y;; esac)", "<echo $(case[x / a) <rm y>])>");
}

#[test]
fn functions_of_both_forms_have_bodies() {
    check("f() { rm x; }; f", "function[f / { <rm x> }] ; <f>");
    check("f ( ) ( a )", "function[f / ( <a> )]");
    check("function f { a; } > g", "function[f / { <a> } >g]");
    check("function f() if a; then b; fi", "function[f / if[<a> / <b>]]");
    check("function f ( a )", "function[f / ( <a> )]");
    check("f() for i in 1; do rm x; done", "function[f / for[i in 1 / <rm x>]]");
    check(":(){ :|:& };:", "function[: / { <:> | <:> & }] ; <:>");
}

#[test]
fn tests_hold_their_words() {
    check("[ a > f ]", "<[ a ]> >f");
    check("[[ -f $(rm x) && ! ( a < b ) ]]", "test[-f $(<rm x>) ! a b]");
    check("[[ $x == *.@(a|b) || y =~ ^(c|d e)$ ]] && f", "test[${x} == *.@(a|b) y =~ ^(c|d e)$] ; && <f>");
    check("(( a = $(rm x) ))", "test[‹ a = ›$(<rm x>)'‹ ›]");
}

#[test]
fn assignments_stand_before_commands_or_alone() {
    check("A=1 B='x y' c D=2", "<A=(1) B=(‹x y›) c D=2>");
    check("A=1", "<A=(1)>");
    check("A= b", "<A=(nothing) b>");
    check("A+=1", "<A+=(1)>");
    check("A=(x $(rm y)\n z)", "<A=(x $(<rm y>) z)>");
    check("A[1]=x A[$(rm y)]=z", "<A[1]=(x) A[$(<rm y>)]=(z)>");
    check("A={a,b}", "<A=({a,b})>");
    check("'A'=1 \\B=2", "<‹A›=1 ‹B›=2>");
}

#[test]
fn declarations_are_commands_with_words() {
    check("export A=$(rm x) B", "<export A=$(<rm x>) B>");
    check("unset x; rm z", "<unset x> ; <rm z>");
    check("declare -a A=(x $(rm y))", "<declare -a A=(x‹ ›$(<rm y>))>");
    check("readonly A=~/x; local -r B; typeset C", "<readonly A=HOME[]/x> ; <local -r B> ; <typeset C>");
}

#[test]
fn redirections_of_all_kinds_stand_anywhere() {
    check("a <b >c >>d <>e >|f &>g &>>h", "<a> <b >c >>d <>e >f &>g &>>h");
    check("> f a b 2>g c", "<a b c> >f 2>g");
    check("a 2>&1 >&2 >&- 3<&4- >&f", "<a> 2=>1 =>2 =>- 3=>4- &>f");
    check("exec {fd}>f {fd}>&-", "<exec> >f =>-");
    check("exec 3<>/dev/tcp/h/80", "<exec> 3<>/dev/tcp/h/80");
    check("echo a2>f", "<echo a2> >f");
    check("echo 2 >f", "<echo 2> >f");
    check("> f", "<> >f");
    check("a > {b,c}", "<a> >opaque[it redirects to several files]");
    check("done_ < <(a) > >(b)", "<done_> <out(<a>) >in(<b>)");
}

#[test]
fn here_documents_stand_behind_the_line_that_names_them() {
    check("cat <<E\na $x $(rm y) `rm z` \\$q \"'\nE\nb", "<cat> <<‹a ›${x}'‹ ›$(<rm y>)'‹ ›$(<rm z>)'‹ $q \"'⏎› ; <b>");
    check("cat <<'E'\n$(rm x)\nE\nb", "<cat> <<‹$(rm x)⏎› ; <b>");
    check("cat <<\\E | sh\nrm x\nE\n", "<cat> <<‹rm x⏎› | <sh>");
    check("cat <<-E\n\ta\n\tE\nb", "<cat> <<‹a⏎› ; <b>");
    check("cat <<A <<B && rm y\n1\nA\n2\nB\nc", "<cat> <<‹1⏎› <<‹2⏎› ; && <rm y> ; <c>");
    check("cat << E ; rm y\nx\nE", "<cat> <<‹x⏎› ; <rm y>");
    check("cat<<E>f\nx\nE", "<cat> <<‹x⏎› >f");
    check("if a; then cat <<E\nx\nE\nfi", "if[<a> / <cat> <<‹x⏎›]");
    check("a=$(cat <<E\nx $y\nE\n)", "<a=($(<cat> <<‹x ›${y}'‹⏎›))>");
    check("cat <<E\na\\\nE\nE\nb", "<cat> <<‹aE⏎› ; <b>");
    check("cat <<E\nrm x", "<cat> <<‹rm x›");
    check("cat <<< \"x $y\" > f", "<cat> <<<‹x ›${y}' >f");
}

#[test]
fn here_documents_may_hold_others() {
    let text = "cat <<E\n$(cat <<F\n$(rm x)\nF\n)\nE\nb";
    check(text, "<cat> <<$(<cat> <<$(<rm x>)'‹⏎›)'‹⏎› ; <b>");
}

#[test]
fn a_mistake_is_opaque_and_the_rest_is_read() {
    check("a\nb )\nc", "<a> ; <b> ; opaque[something ends here that did not begin] ; <c>");
    check("if a; then rm x;", "opaque[an if has no fi] ; <rm x>");
    check("echo 'a; rm x", "opaque[a quote is not closed] ; <rm x>");
    check("echo ${x; rm y", "opaque[a ${ is not closed] ; <rm y>");
    check("; a", "opaque[a command is missing] ; <a>");
    check("a &&", "<a> ; opaque[nothing follows && or ||]");
    check("a | | b", "opaque[a command is missing] ; <b>");
    check("a (b)", "opaque[a parenthesis is where none can be] ; <b> ; opaque[something ends here that did not begin]");
}

#[test]
fn a_mistake_that_the_shell_finds_while_it_runs_keeps_nothing_from_running() {
    check("rm x `)`", "<rm x $(opaque[something ends here that did not begin])>");
    check("rm x <<E\n$(\nE\n", "<rm x> <<opaque[a parenthesis is not closed]");
}

#[test]
fn stages_and_words_know_their_place_in_the_text() {
    let text = "cd é && rm \"$(ls  a)\" >f ; `b c`";
    let script = parse(text);
    let spans = |index: usize| {
        let stage = &script.items[index].stages[0];
        let CommandNode::Simple(_, words) = &stage.node else { panic!("{:?}", stage.node) };
        let words = words.iter().map(|word| &text[word.span.clone()]).collect::<Vec<_>>();
        (&text[stage.span.clone()], words)
    };
    assert_eq!(spans(0), ("cd é", vec!["cd", "é"]));
    assert_eq!(spans(1), ("rm \"$(ls  a)\" >f", vec!["rm", "\"$(ls  a)\""]));
    assert_eq!(spans(2), ("`b c`", vec!["`b c`"]));
}
