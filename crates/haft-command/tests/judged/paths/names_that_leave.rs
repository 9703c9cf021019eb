//! Programs that look harmless and ask other machines: for the address of a name, for a page, or for a new version.

use haft_policy::decision::Decision::{Allow, Ask};
use haft_policy::examples::decision;

/// Names of machines in the filters of `ss`, in the forms that it takes.
const NAMES: &[&str] = &[
    "x.example",
    "dst x.example",
    "dst x.example:443",
    "src = x.example",
    "'dst x.example'",
    "'( sport = :80 or dst x.example )'",
    "'dst=x.example'",
    "dst beef.de",
    "dst beef.de:80",
    "dst beef:80",
    "'dst [x.example]:80'",
    "state established dst x.example",
    "$FILTER",
    "dst \"$(cat a.txt)\"",
    "not dst x",
    "sport = :x.example",
];

/// Filters without names.
const NUMBERS: &[&str] = &[
    "",
    "sport = :8080",
    "'sport = :8080'",
    "'( dport = :443 or sport = :ssh )'",
    "state established",
    "state listening",
    "dst 10.0.0.1",
    "dst 10.0.0.0/8",
    "'dst 10.0.0.1:443'",
    "'dst [::1]:80'",
    "dst 'fe80::1'",
    "'sport >= :1024 and dport < :2000'",
    "exclude time-wait",
    "'!( sport = 80 )'",
];

/// Other commands that ask other machines.
const ASKED: &[&str] = &[
    "ss -F a.txt",
    "ss --filter=a.txt",
    "ss -r",
    "pg_isready -h db.example",
    "pg_isready --host=db.example",
    "pg_isready -d 'host=db.example'",
    "pg_isready --dbname=postgres://db.example/x",
    "terraform version",
    "terraform -version",
    "terraform --version",
    "terraform -v",
    "terraform version -json",
    "terraform graph",
    "terraform providers",
    "netstat -g",
    "netstat -gi",
    "netstat --groups -s",
    "netstat -r",
    "who --lookup",
    "last -d",
    "last --dns",
    "tcpdump -r a.pcap",
    "tldr ls",
    "gcloud info",
];

/// Similar commands that haft allows without a question.
const ALLOWED: &[&str] = &[
    "pg_isready",
    "pg_isready -p 5433 -q",
    "tofu version",
    "terraform -help",
    "terraform apply -help",
    "netstat -gn",
    "netstat -i",
    "netstat -s",
    "netstat -tlnp",
    "who",
    "last -n 5",
    "tcpdump -nr a.pcap",
    "tcpdump -nnr a.pcap",
    "lsof -nP -i :3000",
    "npm ls",
    "cheat tar",
    "tldr --version",
];

#[test]
fn a_name_in_a_filter_of_connections_is_asked_for() {
    for flags in ["ss", "ss -tlnp", "ss -tn", "ss -H -u -a"] {
        NAMES.iter().for_each(|filter| assert_eq!(decision(&format!("{flags} {filter}")), Ask, "{flags} {filter}"));
        NUMBERS.iter().for_each(|filter| assert_eq!(decision(&format!("{flags} {filter}")), Allow, "{flags} {filter}"));
    }
}

#[test]
fn programs_that_ask_other_machines_on_the_side_are_asked_about() {
    ASKED.iter().for_each(|command| assert_eq!(decision(command), Ask, "{command}"));
    ALLOWED.iter().for_each(|command| assert_eq!(decision(command), Allow, "{command}"));
}
