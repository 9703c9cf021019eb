//! Tests the decisions of the rules, and how grants and modes change them.

use super::*;
use crate::rule::Pattern;
use haft_contract::effect::{
    Change, Claim, CommandLine, CommandStep, Exposure, FollowedChange, Host, RemoteClaim, StateKey,
};
use haft_contract::files::path::{Extent, FileLocation, Target};

fn inside(path: &str) -> Target {
    Target::Inside(FileLocation::new(path, Extent::Entry))
}

fn outside(path: &str) -> Target {
    Target::Outside(FileLocation::new(path, Extent::Entry))
}

fn judge(effects: &[Effect], mode: Mode) -> (Decision, String) {
    let ruling = Policy::default().judge("t", effects, mode.into());
    (ruling.decision, ruling.rule)
}

fn every_sort() -> Vec<Effect> {
    let remote = |claims| RemoteClaim { server: "s".into(), tool: "t".into(), claims };
    vec![
        Effect::Read(inside("a")),
        Effect::Read(outside("/etc/passwd")),
        Effect::Change(inside("a"), Change::Replace),
        Effect::Change(outside("/a"), Change::Create),
        Effect::Read(inside(".env")),
        Effect::Change(inside(".git/hooks/pre-push"), Change::Create),
        Effect::Run(CommandLine("make".into())),
        Effect::Expose(Exposure::WideWorkspace("/".into())),
        Effect::Connect(Host("x.example".into())),
        Effect::Remote(remote(Claim::OnlyReads)),
        Effect::Remote(remote(Claim::MayChange)),
        Effect::Delegate(haft_contract::effect::AgentName("scout".into())),
        Effect::Session(StateKey("todo".into())),
    ]
}

#[test]
fn reading_inside_is_allowed_and_everything_that_acts_is_asked_about() {
    use Decision::*;
    let decisions: Vec<Decision> =
        every_sort().iter().map(|e| judge(std::slice::from_ref(e), Mode::Normal).0).collect();
    assert_eq!(decisions, [Allow, Deny, Ask, Deny, Ask, Ask, Ask, Ask, Ask, Ask, Ask, Ask, Allow]);
    assert_eq!(judge(&[], Mode::Normal).0, Allow);
}

#[test]
fn plan_mode_denies_whatever_changes_something_but_commands_which_are_tried() {
    for effect in every_sort() {
        let (decision, rule) = judge(std::slice::from_ref(&effect), Mode::Plan);
        assert_eq!(
            decision == Decision::Deny && rule == "plan mode",
            effect.changes() && effect != every_sort()[3] && !matches!(effect, Effect::Run(_)),
            "{effect}"
        );
    }
}

#[test]
fn an_effect_that_no_rule_knows_is_never_allowed_silently() {
    let nothing = Policy { defaults: Vec::new(), ..Policy::default() };
    for effect in every_sort() {
        assert_eq!(nothing.judge("t", &[effect], Situation::default()).decision, Decision::Ask);
    }
}

#[test]
fn adding_a_rule_that_asks_or_denies_never_loosens() {
    let sorts = [EffectKind::ReadInside, EffectKind::Run, EffectKind::ChangeOutside];
    for decision in [Decision::Ask, Decision::Deny] {
        for sort in sorts {
            let rule = Rule {
                name: "added".into(),
                matches: Pattern::Effect(sort),
                decision,
                class: Class::Ordinary,
                reason: "added".into(),
                instead: String::new(),
            };
            let stricter = Policy::default().with_rules([rule]);
            for effect in every_sort() {
                let effects = [effect];
                let before = Policy::default().judge("t", &effects, Situation::default()).decision;
                assert!(stricter.judge("t", &effects, Situation::default()).decision >= before);
            }
        }
    }
}

#[test]
fn a_grant_answers_an_ordinary_question_and_never_a_dangerous_one_or_a_denial() {
    let grants = [GrantScope::ChangesInside];
    let judged = |policy: &Policy, mode| {
        let effects = [Effect::Change(inside("a"), Change::Replace)];
        policy.judge("t", &effects, Situation { mode, grants: &grants, ..Situation::default() }).decision
    };
    assert_eq!(judged(&Policy::default(), Mode::Normal), Decision::Allow);
    assert_eq!(judged(&Policy::default(), Mode::Plan), Decision::Deny);
    let careful = Rule {
        name: "careful".into(),
        matches: Pattern::Effect(EffectKind::ChangeInside),
        decision: Decision::Ask,
        class: Class::Dangerous,
        reason: String::new(),
        instead: String::new(),
    };
    assert_eq!(judged(&Policy::default().with_rules([careful]), Mode::Normal), Decision::Ask);
}

#[test]
fn no_grant_answers_for_protected_names_and_secrets() {
    let grants = [GrantScope::ChangesInside];
    for effect in [
        Effect::Change(inside("x/.GIT/config"), Change::Replace),
        Effect::Change(inside(".env"), Change::Replace),
        Effect::PlantRepository(inside("docs")),
        Effect::ChangeFollowed(FollowedChange { target: inside("tools/a"), leader: "a link".into(), why: "it runs" }),
    ] {
        let ruling = Policy::default().judge("t", &[effect], Situation { grants: &grants, ..Situation::default() });
        assert_eq!(
            (ruling.decision, ruling.class, ruling.rule.as_str()),
            (Decision::Ask, Class::Dangerous, "protected names")
        );
    }
    let ruling = Policy::default().judge("t", &[Effect::Read(inside(".env"))], Situation::default());
    assert_eq!(
        (ruling.decision, ruling.class, ruling.rule.as_str()),
        (Decision::Ask, Class::Dangerous, "secret files")
    );
}

fn part(does: StepEffect) -> Effect {
    let words: std::sync::Arc<[String]> = ["x".to_owned()].into();
    Effect::Step(haft_contract::effect::CommandStep {
        command: "x".into(),
        folder: "".into(),
        part: (0, 1),
        words,
        does,
    })
}

fn about_running(decision: Decision) -> Policy {
    Policy::default().with_rules([Rule {
        name: "mine".into(),
        matches: Pattern::Effect(EffectKind::Run),
        decision,
        class: Class::Ordinary,
        reason: "We said so.".into(),
        instead: String::new(),
    }])
}

#[test]
fn a_rule_about_running_commands_holds_also_where_the_parts_of_a_command_are_told() {
    let effects = [Effect::Run(CommandLine("x".into())), part(StepEffect::Nothing)];
    let judged = |policy: &Policy, grants: &[GrantScope]| {
        policy.judge("t", &effects, Situation { grants, ..Situation::default() }).decision
    };
    assert_eq!(judged(&Policy::default(), &[]), Decision::Allow);
    assert_eq!(judged(&about_running(Decision::Allow), &[]), Decision::Allow);
    assert_eq!(judged(&about_running(Decision::Deny), &[]), Decision::Deny);
    let asks = about_running(Decision::Ask);
    assert_eq!(judged(&asks, &[]), Decision::Ask);
    let offers = asks.offers("t", &effects, Situation::default());
    assert_eq!(offers, [GrantScope::Command { command: CommandLine("x".into()), folder: "".into() }]);
    assert_eq!(judged(&asks, &offers), Decision::Allow);
}

#[test]
fn a_permission_to_run_commands_says_nothing_of_what_their_parts_do() {
    let effects = [Effect::Run(CommandLine("x".into())), part(StepEffect::Change(inside("a"), Change::Remove))];
    assert_eq!(about_running(Decision::Allow).judge("t", &effects, Situation::default()).decision, Decision::Ask);
}

#[test]
fn where_nothing_is_kept_nothing_leaves_the_machine_either() {
    let publishes = [part(StepEffect::Publish("push".into()))];
    let connects = [part(StepEffect::Connect(None))];
    let removes = [part(StepEffect::Change(inside("a"), Change::Remove))];
    let decided = |effects: &[Effect], mode| judge(effects, mode).0;
    assert_eq!(
        [Mode::Normal, Mode::Try, Mode::Plan].map(|mode| decided(&publishes, mode)),
        [Decision::Ask, Decision::Deny, Decision::Deny]
    );
    assert_eq!([Mode::Try, Mode::Plan].map(|mode| decided(&connects, mode)), [Decision::Ask, Decision::Deny]);
    assert_eq!([Mode::Try, Mode::Plan].map(|mode| decided(&removes, mode)), [Decision::Allow, Decision::Ask]);
}

#[test]
fn trying_asks_only_about_what_cannot_be_thrown_away() {
    let decided = |effects: &[Effect], contained: Containment| {
        let situation = Situation { mode: Mode::Try, contained, ..Situation::default() };
        Policy::default().judge("bash", effects, situation).decision
    };
    let changes = || part(StepEffect::Change(inside("a"), Change::Replace));
    for does in [
        StepEffect::Change(inside("a"), Change::Remove),
        StepEffect::Change(inside("a"), Change::Replace),
        StepEffect::Code("x".into()),
        StepEffect::Unknown("x".into()),
    ] {
        assert_eq!(decided(&[part(does.clone())], Containment::Contained), Decision::Allow, "{does:?}");
        assert_eq!(decided(&[part(does.clone())], Containment::WithoutLayer), Decision::Ask, "{does:?}");
        let with_network = [part(does.clone()), part(StepEffect::Connect(None))];
        assert_eq!(decided(&with_network, Containment::Contained), Decision::Ask, "{does:?}");
    }
    let read = part(StepEffect::Read(outside("/home/u/notes")));
    assert_eq!(decided(&[changes(), read], Containment::Contained), Decision::Ask);
    assert_eq!(decided(&[Effect::Change(inside("a"), Change::Replace)], Containment::Contained), Decision::Ask);
    let elsewhere = part(StepEffect::Change(outside("/home/u/notes"), Change::Remove));
    assert_eq!(decided(&[changes(), elsewhere], Containment::Contained), Decision::Deny);
}

#[test]
fn what_a_command_may_do_only_in_a_sandbox_is_asked_about_without_one() {
    let step = |does: StepEffect| {
        let words = std::sync::Arc::from(["cat".to_owned()]);
        Effect::Step(CommandStep { command: "cat".into(), folder: "".into(), part: (0, 3), words, does })
    };
    let decided = |does: StepEffect, contained: Containment| {
        let situation = Situation { contained, ..Situation::default() };
        Policy::default().judge("bash", &[step(does)], situation).decision
    };
    let (with, without) = (Containment::Contained, Containment::WithoutSandbox);
    for does in [
        StepEffect::Read(outside("/tmp/x")),
        StepEffect::List(outside("/var/tmp")),
        StepEffect::Change(inside("a"), Change::Create),
    ] {
        assert_eq!((decided(does.clone(), with), decided(does, without)), (Decision::Allow, Decision::Ask));
    }
    for does in [StepEffect::Read(outside("/etc/os-release")), StepEffect::Read(inside("a")), StepEffect::Nothing] {
        assert_eq!(decided(does, without), Decision::Allow);
    }
}

#[test]
fn a_file_that_trusted_code_names_is_a_protected_name() {
    let policy = Policy::default().protecting(["scripts/run.py".into(), "scripts-b/x".into()]);
    let judged = |effect: Effect| {
        let ruling = policy.judge("t", &[effect], Mode::Normal.into());
        (ruling.decision, ruling.class, ruling.rule)
    };
    let asked = (Decision::Ask, Class::Dangerous, "protected names".to_owned());
    let ordinary = (Decision::Ask, Class::Ordinary, "changes".to_owned());
    for change in [Change::Create, Change::Replace, Change::Remove] {
        assert_eq!(judged(Effect::Change(inside("scripts/run.py"), change)), asked);
        assert_eq!(judged(Effect::Change(inside("scripts/other.py"), change)), ordinary);
        assert_eq!(judged(Effect::Change(inside("run.py"), change)), ordinary);
    }
    assert_eq!(judged(Effect::Change(inside("scripts"), Change::Remove)), asked);
    assert_eq!(judged(Effect::Change(inside("scripts"), Change::Create)), ordinary);
    assert_eq!(judged(Effect::Change(inside("script"), Change::Remove)), ordinary);
    assert_eq!(judged(Effect::Read(inside("scripts/run.py"))).0, Decision::Allow);
    let offers = policy.offers("t", &[Effect::Change(inside("scripts/run.py"), Change::Replace)], Mode::Normal.into());
    assert_eq!(offers, [], "it is asked about each time");
}

fn of_command(does: StepEffect) -> Effect {
    let words = std::sync::Arc::from(["x".to_owned()]);
    Effect::Step(CommandStep { command: "x".into(), folder: "".into(), part: (0, 1), words, does })
}

#[test]
fn folders_that_only_the_session_has_are_its_own_in_a_full_sandbox() {
    let home = Path::new("/home/u");
    let decided = |does: StepEffect, contained, own_home| {
        let situation = Situation { contained, own_home, ..Situation::default() };
        Policy::default().judge("bash", &[of_command(does)], situation).decision
    };
    let own = [
        StepEffect::Change(outside("/tmp/x"), Change::Create),
        StepEffect::Change(outside("/tmp/x"), Change::Replace),
        StepEffect::Change(outside("/tmp/x"), Change::Remove),
        StepEffect::Change(outside("/var/tmp/x/y"), Change::Create),
        StepEffect::Change(outside("/dev/shm/x"), Change::Create),
        StepEffect::Change(outside("/home/u/notes"), Change::Create),
        StepEffect::Change(outside("~/.cache/tool/x"), Change::Replace),
        StepEffect::Change(outside("/tmp/t.env"), Change::Create),
        StepEffect::Change(outside("/tmp/t.env"), Change::Remove),
        StepEffect::Read(outside("/tmp/x")),
        StepEffect::Read(outside("/home/u/notes")),
        StepEffect::List(outside("/home/u")),
    ];
    for does in own {
        for contained in [Containment::Contained, Containment::WithNetwork, Containment::WithoutLayer] {
            assert_eq!(decided(does.clone(), contained, Some(home)), Decision::Allow, "{does} {contained:?}");
        }
        let elsewhere = decided(does.clone(), Containment::WithoutSandbox, Some(home));
        assert_ne!(elsewhere, Decision::Allow, "{does} without a sandbox");
        assert_eq!(elsewhere, decided(does.clone(), Containment::WithoutSandbox, None), "{does} without a sandbox");
    }
    let missing = ["/home/u/gone".into()];
    let situation = Situation { own_home: Some(home), not_in_home: &missing, ..Situation::default() };
    for (path, wanted) in [("/home/u/gone", Decision::Allow), ("/home/u/notes", Decision::Deny)] {
        let removes = [of_command(StepEffect::Change(outside(path), Change::Remove))];
        assert_eq!(Policy::default().judge("bash", &removes, situation).decision, wanted, "{path}");
    }
    let others = [
        StepEffect::Change(outside("/tmp"), Change::Remove),
        StepEffect::Change(outside("/home/u"), Change::Remove),
        StepEffect::Change(outside("/home/u"), Change::Replace),
        StepEffect::Change(outside("/home/u/notes"), Change::Remove),
        StepEffect::Change(outside("/home/u/*"), Change::Create),
        StepEffect::Change(outside("/home/u/.bashrc"), Change::Create),
        StepEffect::Change(outside("/home/u/.ssh/authorized_keys"), Change::Create),
        StepEffect::Change(outside("/home/u/.config/haft/rules.toml"), Change::Create),
        StepEffect::Change(outside("/home/other/notes"), Change::Create),
        StepEffect::Change(outside("/home/user2/notes"), Change::Create),
        StepEffect::Change(outside("/srv/x"), Change::Create),
        StepEffect::Change(outside("/usr/bin/x"), Change::Create),
        StepEffect::Change(outside("../beside/x"), Change::Create),
        StepEffect::Read(outside("/home/u/.ssh/id_rsa")),
    ];
    for does in others {
        assert_eq!(decided(does.clone(), Containment::Contained, Some(home)), Decision::Deny, "{does}");
    }
    let ruling = Policy::default().judge(
        "bash",
        &[of_command(StepEffect::Change(outside("/tmp/x"), Change::Create))],
        Situation { own_home: Some(home), ..Situation::default() },
    );
    assert_eq!(ruling.reason, "It would create /tmp/x, in the session's own /tmp.");
}

#[test]
fn what_a_tool_declares_to_touch_is_the_users_also_in_the_home_and_in_folders_for_temporary_files() {
    let situation = Situation { own_home: Some(Path::new("/home/u")), ..Situation::default() };
    let paths =
        ["/home/u/notes", "~/.config", "/tmp/x", "/var/tmp/x/y", "/dev/shm/x", "/tmp/x/.ssh/id_rsa", "/tmp/t.env"];
    for path in paths {
        for does in [StepEffect::Read(outside(path)), StepEffect::Change(outside(path), Change::Replace)] {
            let declared = [of_command(does.clone()), of_command(StepEffect::NothingElse)];
            assert_ne!(Policy::default().judge("t", &declared, situation).decision, Decision::Allow, "{does}");
        }
    }
    let system = [of_command(StepEffect::Read(outside("/usr/share/dict"))), of_command(StepEffect::NothingElse)];
    assert_eq!(Policy::default().judge("t", &system, situation).decision, Decision::Allow);
}

#[test]
fn with_a_network_of_its_own_a_command_may_use_this_machine_unasked() {
    let decided = |does: StepEffect, by_name| {
        let situation = Situation { by_name, ..Situation::default() };
        Policy::default().judge("bash", &[of_command(does)], situation).decision
    };
    let host = |name: &str| StepEffect::Connect(Some(Host(name.into())));
    let here = [
        host("localhost"),
        host("app.localhost"),
        host("127.0.0.1"),
        host("127.3.2.1"),
        host("::1"),
        host("[::1]"),
        host("0.0.0.0"),
        host("::ffff:127.0.0.1"),
        StepEffect::Serve("let other machines connect".into()),
        StepEffect::SendHere("send data to a server on this machine".into()),
    ];
    for does in here {
        assert_eq!(
            (decided(does.clone(), true), decided(does.clone(), false)),
            (Decision::Allow, Decision::Ask),
            "{does}"
        );
    }
    let away = ["localhost.x.example", "128.0.0.1", "10.0.0.1", "169.254.169.254", "::2", "local"];
    for does in away.map(host).into_iter().chain([StepEffect::Publish("push".into())]) {
        assert_eq!(decided(does.clone(), true), Decision::Ask, "{does}");
    }
}
