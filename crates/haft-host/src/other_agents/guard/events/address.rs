//! Judges an address that an agent is about to fetch.

use haft_contract::effect::{Effect, Host};
use haft_contract::files::path::one_line;
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::web_address::WebAddress;

/// Most characters of an address that are quoted.
const LONGEST_QUOTE: usize = 200;

/// Judges an address; a connection to its host is judged by the rules. What is private is refused unless a rule allows
/// it: a page that the model has read may have named it.
pub(in crate::other_agents::guard) fn judge(address: &str, by_rules: impl Fn(&[Effect]) -> Ruling) -> Ruling {
    let connect = |host: Host| by_rules(&[Effect::Connect(host)]);
    match WebAddress::read(address) {
        WebAddress::Public(host) => connect(host),
        WebAddress::Private(host) => {
            let name = host.0.clone();
            let ruling = connect(host);
            if ruling.decision == Decision::Allow { ruling } else { ruling.stricter(private(&name)) }
        }
        WebAddress::NotOfTheWeb(why) => {
            ruling(Decision::Deny, (address, &why), "write the plain address of a public page")
        }
        WebAddress::Unclear(why) => ruling(
            Decision::Ask,
            (address, &why),
            "write the whole address in plain letters, its host as xn--… if need be",
        ),
    }
}

fn private(host: &str) -> Ruling {
    Ruling {
        decision: Decision::Deny,
        class: Class::Ordinary,
        rule: "private addresses".to_owned(),
        reason: format!(
            "It would connect to {}, which is not public: it is this machine or its network.",
            one_line(host)
        ),
        instead: "fetch a public page, or ask the user to allow that host by a rule".to_owned(),
    }
}

fn ruling(decision: Decision, (address, why): (&str, &str), instead: &str) -> Ruling {
    let quoted: String = one_line(address).chars().take(LONGEST_QUOTE).collect();
    Ruling {
        decision,
        class: Class::Dangerous,
        rule: "unclear addresses".to_owned(),
        reason: format!("The address \"{quoted}\" {why}."),
        instead: instead.to_owned(),
    }
}
