//! Arithmetic runs what stands in the index of an array, so a value that is known only at run time is not computed with.

use haft_policy::decision::Decision;
use haft_policy::examples::{decision, decision_beside};

/// Ways in which `n` gets a text that haft does not know. Each ends where a command may follow.
const UNSEEN: &[&str] = &[
    "n=$(cat a.txt); ",
    "n=`cat a.txt`; ",
    "n=$(head -1 a.txt); ",
    "n=$(<a.txt); ",
    "n=$(git log -1 --format=%s); ",
    "n=$(jq -r .x a.json); ",
    "n=$(grep -o x a.txt); ",
    "n=$(wc -l a.txt); ",
    "m=$(cat a.txt); n=$m; ",
    "read n < a.txt; ",
    "read -r n <<< \"$(cat a.txt)\"; ",
    "IFS=: read -r x n < a.txt; ",
    "mapfile -t n < a.txt; ",
    "readarray n < a.txt; ",
    "n=($(cat a.txt)); ",
    "n=(\"$(cat a.txt)\" 2); ",
    "n[3]=$(cat a.txt); ",
    "n=1; n+=$(cat a.txt); ",
    "printf -v n %s \"$(cat a.txt)\"; ",
    "n=${HOSTNAME}; ",
    "n=${COLUMNS:-80}; ",
    "n=$TZ; ",
    "for n in $(cat a.txt); do :; done; ",
    "if true; then n=$(cat a.txt); else n=1; fi; ",
    "n=1; true && n=$(cat a.txt); ",
    "n=$(cat a.txt); ((0 && (n=0))); ",
    "n=$(cat a.txt); ((n=1/0)); ",
    "n=$(cat a.txt); (( n = )); ",
    "n=$(cat a.txt); let 'n=1/0'; ",
    "set -- \"$(cat a.txt)\"; n=$1; ",
    "while read -r n; do break; done < a.txt; ",
    "n=${m:=$(cat a.txt)}; ",
    "n=$(cat a.txt); n=${n%x}; ",
    "n=$(cat a.txt); n=${n//[a-z]/}; ",
    "n=$_; ",
    "getopts n: o; n=$OPTARG; ",
    "[[ x =~ x ]]; n=${BASH_REMATCH[0]}; ",
    "declare -n n=m; m=$(cat a.txt); ",
];

/// Ways in which `n` names such a text.
const NAMED: &[&str] =
    &["m=$(cat a.txt); n=m; ", "m=$(cat a.txt); n=1+m; ", "m=$(cat a.txt); n='b[m]'; ", "m=$(cat a.txt); n='b[$m]'; "];

/// Ways in which bash computes with `n`.
const COMPUTED: &[&str] = &[
    "echo $((n))",
    "echo $((n+1))",
    "echo $(( $n + 1 ))",
    "echo \"$((1 + ${n}))\"",
    "echo $[n]",
    "echo $[$n+1]",
    "((n))",
    "((s+=n))",
    "((n++))",
    "(( n > 1 )) && echo yes",
    "if ((n)); then echo yes; fi",
    "while ((n)); do break; done",
    "for ((i=n; i<3; i++)); do :; done",
    "for ((i=0; i<n; i++)); do :; done",
    "for ((i=0; i<3; i+=n)); do :; done",
    "let n",
    "let s=n",
    "let \"s=$n\"",
    "let 's = 1' \"s+=$n\"",
    "[[ 1 -lt $n ]]",
    "[[ n -eq 1 ]]",
    "[[ x = x && $n -ne 1 ]]",
    "[[ ! ( $n -le 1 ) ]]",
    "[[ -v a[$n] ]]",
    "[[ -v a[n] ]]",
    "[ -v \"a[$n]\" ]",
    "[ -v 'a[n]' ]",
    "declare -i s=$n",
    "declare -i s=n",
    "declare -i s; s=$n",
    "declare -i s; s=n",
    "declare -i s; s+=$n",
    "declare -i s; for s in $n; do :; done",
    "declare -i s; read s <<< \"$n\"",
    "declare -i s; printf -v s %s \"$n\"",
    "declare -i s; echo ${s:=$n}",
    "declare -i n; n+=1",
    "typeset -i s=$n",
    "f() { local -i s=$n; }; f",
    "f() { local s; declare -i s; s=$1; }; f \"$n\"",
    "f() { echo $(($1)); }; f \"$n\"",
    "a[n]=1",
    "a[$n]=1",
    "a[n]+=1",
    "a=([n]=1)",
    "a=([$n]=1)",
    "declare -a a=([$n]=1)",
    "declare -a a=([n]=1)",
    "declare a[n]=1",
    "declare \"a[$n]=1\"",
    "declare \"a[n]=1\"",
    "read 'a[n]' < a.txt",
    "read \"a[$n]\" < a.txt",
    "unset 'a[n]'",
    "unset \"a[$n]\"",
    "printf -v 'a[n]' x",
    "printf -v \"a[$n]\" x",
    "echo ${a[n]}",
    "echo ${a[$n]}",
    "echo ${#a[n]}",
    "echo ${a[n]:-x}",
    "echo ${a[n]#x}",
    "echo ${a[n]/x/y}",
    "echo ${a[n]@Q}",
    "echo ${!a[n]}",
    "echo ${s:n:1}",
    "echo ${s:0:n}",
    "echo ${s:$n}",
    "echo ${a[@]:n}",
    "echo ${@:n}",
    "RANDOM=$n",
    "SRANDOM=$n",
    "SECONDS=$n",
    "OPTIND=$n",
    "OPTIND=n",
    "HISTCMD=$n",
    "case $((n)) in 1) ;; esac",
    "echo {1..3} $((n))",
    "echo x > /dev/null <<< $((n))",
    "cat <<END\n$((n))\nEND",
    "echo ${x:-$((n))}",
    "trap 'echo $((n))' EXIT",
    "eval 'echo $((n))'",
    "declare -n r=n; ((r))",
    "if false; then declare -A a; fi; a[n]=1",
    "a=([5]=x); echo ${a[n]}",
    "(echo $((n)))",
    "echo $(echo $((n)))",
    "cat <(echo $((n)))",
    "time echo $((n))",
    "! ((n))",
];

/// Ways in which bash reads the text in `n` once more, but not the values of the names in it.
const READ_AGAIN: &[&str] = &[
    "echo $((10#$n))",
    "[[ $n -gt 1 ]]",
    "[[ \"$n\" -eq 1 ]]",
    "[[ -v $n ]]",
    "test -v \"$n\"",
    "[ -v \"$n\" ]",
    "[ $n -gt 1 ]",
    "[ $n ]",
    "test $n",
    "[ \"$n\" \"$n\" ]",
    "[ ! \"$n\" x ]",
    "declare -a \"a=$n\"",
    "declare -a a=$n",
    "declare -a a=\"($n)\"",
    "a=(); declare a=$n",
    "unset \"$n\"",
    "printf -v \"$n\" x",
    "echo ${n@P}",
    "echo ${!n}",
    "declare -A m; let \"m[$n]++\"",
    "declare -A m; unset \"m[$n]\"",
    "mapfile -t q < a.txt; declare -A q; q[$n]=1",
    "q=(1 2); declare -A q; q[$n]=1",
];

/// Ways in which `n` gets a number.
const NUMBERS: &[&str] = &[
    "n=5; ",
    "n=; ",
    "n=0x1F; ",
    "n=16#ff; ",
    "m=3; n=m; ",
    "m=3; n='m+1'; ",
    "n=$(wc -l < a.txt); ",
    "n=$(cat a.txt | wc -l); ",
    "n=$(ls | wc -l); ",
    "n=$(wc -l < a.txt | tr -d ' '); ",
    "n=$(grep -c x a.txt); ",
    "n=$(date +%s); ",
    "n=$(date +%Y); ",
    "n=$(nproc); ",
    "n=$(id -u); ",
    "n=$(git rev-list --count HEAD); ",
    "n=$(seq 1 5 | tail -1); ",
    "n=$#; ",
    "n=$?; ",
    "n=$$; ",
    "n=$RANDOM; ",
    "n=$SECONDS; ",
    "n=${#x}; ",
    "n=${#a[@]}; ",
    "n=$((3+4)); ",
    "n=0; n=$((n+1)); ",
    "n=0; ((n++)); ",
    "n=0; let n++; ",
    "n=0; let n+=2; ",
    "n=0; while [ $n -lt 5 ]; do n=$((n+1)); done; ",
    "n=0; for f in *; do n=$((n+1)); done; ",
    "n=0; cat a.txt | while read -r l; do ((n++)); done; ",
    "for n in 1 2 3; do :; done; ",
    "for n in {1..300}; do :; done; ",
    "for n in $(seq 1 5); do :; done; ",
    "for ((n=0; n<3; n++)); do :; done; ",
    "declare -i n=3; ",
    "declare -i n; n=4+5; ",
    "n=(1 2 3); ",
    "f() { local n=$1; echo $((n+1)); }; f 3; n=2; ",
];

fn judged(commands: impl Iterator<Item = String>, is_wrong: fn(Decision) -> bool) -> Vec<String> {
    commands.filter(|command| is_wrong(decision(command))).collect()
}

#[test]
fn a_text_that_nobody_has_seen_is_not_computed_with() {
    let computed = UNSEEN.iter().chain(NAMED).flat_map(|set| COMPUTED.iter().map(move |used| format!("{set}{used}")));
    let read_again = UNSEEN.iter().flat_map(|set| READ_AGAIN.iter().map(move |used| format!("{set}{used}")));
    let commands = computed.chain(read_again);

    let allowed = judged(commands, |decision| decision == Decision::Allow);

    assert!(allowed.is_empty(), "{} commands are allowed: {:#?}", allowed.len(), &allowed[..allowed.len().min(60)]);
}

#[test]
fn a_loop_computes_with_what_it_reads() {
    let loops =
        ["while read -r n; do ", "for n in *; do ", "for n in $(cat a.txt); do ", "cat a.txt | while read n; do "];
    let used = COMPUTED.iter().filter(|used| !used.contains("END"));
    let commands = used.flat_map(|used| loops.iter().map(move |each| format!("{each}{used}; done < a.txt")));

    let allowed = judged(commands, |decision| decision == Decision::Allow);

    assert!(allowed.is_empty(), "{} commands are allowed: {:#?}", allowed.len(), &allowed[..allowed.len().min(60)]);
}

#[test]
fn a_variable_that_the_command_has_not_set_is_not_computed_with() {
    for used in ["echo $((N+1))", "((N))", "[[ $N -gt 1 ]]", "let x=N", "declare -i x=$N", "echo ${a[N]}"] {
        assert_ne!(decision(used), Decision::Allow, "{used}");
    }
}

#[test]
fn numbers_are_computed_with() {
    let used = [
        "echo $((n+1))",
        "echo $(( $n * 2 ))",
        "((n > 1)) && echo yes",
        "[[ $n -gt 1 ]] && echo yes",
        "[ $n -gt 1 ] && echo yes",
        "let s=n+1",
        "declare -i s=$n",
        "a[n]=1",
        "a=(1 2 3); echo ${a[n]} ${a[$n]} ${a[n]:-x} ${#a[n]}",
        "for ((i=0; i<n; i++)); do echo $i; done",
    ];
    let commands = NUMBERS.iter().flat_map(|set| used.iter().map(move |used| format!("{set}{used}")));

    let others = judged(commands, |decision| decision != Decision::Allow);

    assert!(others.is_empty(), "{} commands are not allowed: {:#?}", others.len(), &others[..others.len().min(60)]);
}

#[test]
fn what_does_not_compute_is_allowed() {
    for command in [
        "n=$(cat a.txt); [ \"$n\" -gt 1 ] && echo yes",
        "n=$(cat a.txt); test \"$n\" -eq 1",
        "n=$(cat a.txt); [ \"$n\" = x ] || echo no",
        "n=$(cat a.txt); [ \"$n\" = x -a \"$n\" != y ]",
        "n=$(cat a.txt); [ ! \"$n\" = x ]",
        "n=$(cat a.txt); [ -n \"$n\" ] && [ -z \"$n\" ]",
        "n=$(cat a.txt); [ -f \"$n\" ]",
        "n=$(cat a.txt); printf %d \"$n\"",
        "n=$(cat a.txt); [[ $n == x ]] || [[ $n =~ ^[0-9]+$ ]] || [[ -n $n ]]",
        "n=$(cat a.txt); [[ $n > x ]]",
        "n=$(cat a.txt); echo ${#n} \"${n:0:3}\" \"${n%x}\"",
        "declare -A m; while read -r k; do m[$k]=1; done < a.txt; echo \"${m[$k]}\" ${#m[@]}",
        "declare -A m=([a]=1); echo ${m[a]} ${m[a]:-x}; ((m[a]++))",
        "a=($(cat a.txt)); echo \"${a[0]}\" ${#a[@]}; for x in \"${a[@]}\"; do echo \"$x\"; done",
        "declare -a a=($(cat a.txt)); echo ${#a[@]}",
        "f() { local -a a=(\"$@\"); echo ${#a[@]}; }; f x y",
        "i=0; while read -r line; do echo \"$i: $line\"; i=$((i+1)); done < a.txt",
        "i=0; while IFS= read -r line; do lines[i]=$line; ((i++)); done < a.txt; echo ${#lines[@]}",
        "start=$(date +%s); sleep 1; end=$(date +%s); echo $((end - start))",
        "start=$SECONDS; ls; echo \"$((SECONDS - start)) s\"",
        "a=0; b=1; for i in 1 2 3; do t=$((a+b)); a=$b; b=$t; done; echo $a",
        "count=0; for f in src/*.rs; do ((count++)); done; echo $count",
        "for f in src/*.rs; do ((count++)); done; echo $count",
        "total=0; for f in src/*.rs; do n=$(wc -l < \"$f\"); total=$((total + n)); done; echo $total",
        "if (( $(git rev-list --count HEAD) > 5 )); then echo many; fi",
        "if [[ $(grep -c x a.txt) -gt 0 ]]; then echo found; fi",
        "(( BASH_VERSINFO[0] >= 4 )) && echo ok",
        "echo $(( $(wc -l < a.txt) / 2 ))",
        "unset x; unset -v x y",
        "[[ -v x ]] && echo set",
    ] {
        assert_eq!(decision(command), Decision::Allow, "{command}");
    }
}

#[test]
fn names_of_files_are_not_computed_with() {
    let planted = ["-v", "a[$(x)]", "x -v a[$(x)]"];
    for command in [
        "for f in *; do ((f)); done",
        "for f in *; do [[ $f -gt 1 ]]; done",
        "[ * ]",
        "[ -f * ]",
        "for f in *; do [ $f ]; done",
    ] {
        assert_ne!(decision_beside(&planted, command), Decision::Allow, "{command}");
    }
}
