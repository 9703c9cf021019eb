//! Tests quotes, escapes, parameters, substitutions, homes and braces.

use crate::syntax::tests::check;

#[test]
fn quotes_and_escapes_in_a_name_make_no_other_name() {
    check(r#"r"m" r''m \rm $'\x72m' $'\162m' $'\u0072m' $"rm""#, "<r‹m› r‹›m ‹r›m ‹rm› ‹rm› ‹rm› ‹rm›>");
    check("r\\\nm x\\\n  y", "<rm x y>");
    check("\"r\\\nm\" 'a\\\nb'", "<‹rm› ‹a\\⏎b›>");
    check("i\\\nf a; th\\\nen b; fi", "if[<a> / <b>]");
    check("a &\\\n& b $\\\n(c)", "<a> ; && <b $(<c>)>");
    check("cat \\ x a\\ b", "<cat ‹ ›x a‹ ›b>");
}

#[test]
fn double_quotes_keep_all_backslashes_but_a_few() {
    check(r#"echo "\$x \" \\ \` \n \z $""#, r#"<echo ‹$x " \ ` \n \z $›>"#);
    check(r#"echo '\' "'" '"' ''"" "#, r#"<echo ‹\› ‹'› ‹"› ‹›>"#);
}

#[test]
fn an_escaped_quote_in_a_c_string_does_not_end_it_and_an_escaped_backslash_hides_nothing() {
    check(r"echo $'a\'; rm x; \'' b", "<echo ‹a'; rm x; '› b>");
    check(r"echo $'a\\'; rm x; echo 'y'", "<echo ‹a\\›> ; <rm x> ; <echo ‹y›>");
    check(r"echo $'\t\e\101\x4a\cA\q\xzz'", "<echo ‹\t\u{1b}AJ\u{1}\\q\\xzz›>");
    check(r"echo $'a\0b'c $'\xc3\xa9' $'\xff'", "<echo ‹a›c ‹é› opaque[it has bytes that are not text]>");
}

#[test]
fn characters_that_only_look_like_blanks_belong_to_words() {
    check("ls\r", "<ls\r>");
    check("ls\u{a0}x \u{2028}y é", "<ls\u{a0}x \u{2028}y é>");
}

#[test]
fn parameters_have_names_and_operations() {
    check("$x ${x} \"$x\" $1 $10 ${10}", "<${x} ${x} ${x}' ${1} ${1}0 ${10}>");
    check("$@ $* $# $? $! $$ $- $0 $_", "<${@} ${*} ${#} ${?} ${!} ${$} ${-} ${0} ${_}>");
    check("${x:-a b} ${x-$(rm y)} ${x:=z} ${x=z}", "<${x or a b} ${x or $(<rm y>)} ${x is z} ${x is z}>");
    check("${x:+a} ${x+~/b} ${x:?no} ${x?}", "<${x then a} ${x then HOME[]/b} ${x required} ${x required}>");
    check(
        "${x:1} ${x:1:2} ${x: -1} ${x::3} ${@:2}",
        "<${x from 1} ${x from 1 length 2} ${x from -1} ${x from 0 length 3} ${@ from 2}>",
    );
    check("${x#a} ${x##*/} ${x%b} ${x%%c*}", "<${x edited a} ${x edited */} ${x edited b} ${x edited c*}>");
    check(
        "${x/a/b} ${x//a} ${x/#a/$(rm y)} ${x^^} ${x,}",
        "<${x edited a b} ${x edited a} ${x edited a $(<rm y>)} ${x edited nothing} ${x edited nothing}>",
    );
    check("${#x} ${#} ${#x[@]} ${#@} ${#-y}", "<${x length} ${#} ${x length} ${@ length} ${# or y}>");
    check("${x[0]} ${x[@]} ${x[$(rm y)]}", "<${x element [0]} ${x elements} ${x element [$(<rm y>)]}>");
    check("${!x[@]} ${!x[0]}", "<${x keys} ${x strange [0]}>");
    check("${!x} ${!x*} ${x@P} ${x@A} ${!}", "<${x indirect} ${x strange *} ${x prompt} ${x strange @A} ${!}>");
    check("${x:?$(rm y)} ${x:$(rm y)}", "<${x strange $(<rm y>)} ${x strange $(<rm y>)}>");
    check("\"${x:-'a' \"b c\" \\}}\" ${x:-'a}' \"}\"}", "<${x or ‹'a' b c }›}' ${x or ‹a}› ‹}›}>");
    check("$ a$ \"$\" $% $=", "<$ a$ ‹$› $% $=>");
}

#[test]
fn substitutions_hold_commands() {
    check("echo $(a; b) \"$(c \"d\")\" $()", "<echo $(<a> ; <b>) $(<c ‹d›>)' $()>");
    check("echo `a \\`b \\\\\\`c\\\\\\`\\`` \"`d \\\"e\\\"`\"", "<echo $(<a $(<b $(<c>)>)>) $(<d ‹e›>)'>");
    check("$(<f)", "<$(<> <f)>");
    check("$(a # )\n)", "<$(<a>)>");
    check("diff <(a) x>(b)", "<diff out(<a>) xin(<b>)>");
    check("\"<(a)\"", "<‹<(a)›>");
    check("${ rm x; } ${| rm y; }", "<$(<rm x>) $(<rm y>)>");
}

#[test]
fn arithmetic_is_a_number_with_substitutions_in_it() {
    check("$((1+$(rm x)*`rm y`)) $((a[$(rm z)]))", "<number(‹1+›$(<rm x>)'‹*›$(<rm y>)') number(‹a[›$(<rm z>)'‹]›)>");
    check("$[1+$x]", "<number([1+${x}])>");
    check("$((a);(b)) $((a) )", "<$(( <a> ) ; ( <b> )) $(( <a> ))>");
    check("$(( (1)+(2) ))x", "<number(‹ (1)+(2) ›)x>");
}

#[test]
fn a_tilde_is_a_home_where_the_shell_takes_it_for_one() {
    check("~ ~/x ~root ~root/y {~,z}/w", "<HOME[] HOME[]/x HOME[root] HOME[root]/y HOME[]/w z/w>");
    check("x~ '~' \\~ ~\"x\" ~$x a/~ HEAD~2", "<x~ ‹~› ‹~› ~‹x› ~${x} a/~ HEAD~2>");
    check("A=~/x:~root:$y B=~", "<A=(HOME[]/x:HOME[root]:${y}) B=(HOME[])>");
    check("dd of=~/x p=a:~/y --q=~/z", "<dd of=HOME[]/x p=a:HOME[]/y --q=~/z>");
    check("~+/x ~-", "<${PWD}'/x ${OLDPWD}'>");
    check("~1 ~+0/x ~-2", "<STACK[1] STACK[+0]/x STACK[-2]>");
    check("> ~/x", "<> >HOME[]/x");
}

#[test]
fn braces_become_words() {
    check("x{a,b}y {a,b{c,d}} {a,}z {,}", "<xay xby a bc bd az z>");
    check("{1..3} {3..1} {01..3} {a..c} {1..9..4}", "<1 2 3 3 2 1 01 02 03 ‹a› ‹b› ‹c› 1 5 9>");
    check("{a} {} {a,b '{a,b}' \\{a,b} ${x}{a,b}", "<{a} {} {a,b ‹{a,b}› ‹{›a,b} ${x}a ${x}b>");
    check("{a,\"b c\",$(d),e\\,f}", "<a ‹b c› $(<d>) e‹,›f>");
    check("{rm,-rf,/}", "<rm -rf />");
}

#[test]
fn more_than_a_thousand_words_of_braces_are_opaque() {
    let why = "opaque[its braces make more than 1,000 words]";
    check(&format!("echo {{{}1..999}}", "0".repeat(30_000)), &format!("<echo {why}>"));
    check("echo {1..100}{1..100}", &format!("<echo {why}>"));
    check("echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", &format!("<echo {why}>"));
}

#[test]
fn of_a_long_sequence_the_first_numbers_and_the_last_are_told() {
    let first: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
    let first = first.join(" ");
    check("echo {1..1001} x", &format!("<echo {first} 1001 number() x>"));
    check("echo {1..99999999999}", &format!("<echo {first} 99999999999 number()>"));
}

#[test]
fn patterns_with_parentheses_are_words() {
    check("ls !(x|y) a@(b|$(rm z))c", "<ls !(x|y) a@(b|$(<rm z>))c>");
}
