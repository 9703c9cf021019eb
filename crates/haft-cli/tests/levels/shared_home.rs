//! A container and its host often share a home, and with it what haft remembers of the system.

use haft_testkit::require::Need;
use haft_testkit::seccomp_filter::CallFilter;

use super::workplace::Workplace;

#[test]
fn a_container_that_shares_the_home_of_its_host_runs_commands_at_its_own_level() {
    let host = Workplace::new(CallFilter::default());
    if !Need::Full.met(host.doctor("sandbox").starts_with("full")) {
        return;
    }
    let container = host.behind(CallFilter::container_default());
    for (turn, (place, level)) in [(&host, "full"), (&container, "partial")].into_iter().cycle().take(4).enumerate() {
        let ran = place.haft(&["--yes", "call", "bash", &format!("echo {turn} > a.txt")]);
        assert_eq!(ran.code, 0, "{level}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("sandbox: {level}")), "{}{}", ran.out, ran.err);
    }
}
