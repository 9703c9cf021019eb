//! Builds hooks from the commands in the settings.

use haft_config::sections::hooks::{HookEvent, HookOwner, HookSetting};
use haft_runtime::hooks::command::{CommandHook, CommonNames, HookCode, HookPoint, HookReach};
use haft_runtime::runtime::Runtime;
use haft_tools::catalogue::common_names;
use haft_workspace::project::TrustCheck;

use super::project_files::LOOK_AT_HELPERS;

const COMMON_NAMES: CommonNames =
    CommonNames { name: common_names::name, outward: common_names::outward, inward: common_names::inward };

/// Asks these hooks before and after calls. Those of a project run only as long as they are what was trusted.
pub fn with_hooks(runtime: Runtime, hooks: &[HookSetting], held: Option<&TrustCheck>) -> Runtime {
    hooks.iter().fold(runtime, |runtime, hook| runtime.with_hook(command_hook(hook, held)))
}

fn command_hook(setting: &HookSetting, held: Option<&TrustCheck>) -> CommandHook {
    let when = match setting.event {
        HookEvent::PreToolUse => HookPoint::PreToolUse,
        HookEvent::PostToolUse => HookPoint::PostToolUse,
    };
    let reach = if setting.network { HookReach::Network } else { HookReach::Nothing };
    let hook = CommandHook::new(when, &setting.name, &setting.command).within(setting.time).reaching(reach);
    let hook = hook.reading(setting.readable.clone());
    let hook = match &setting.tools {
        Some(tools) => hook.for_tools(tools.clone()).also_in(COMMON_NAMES),
        None => hook,
    };
    match (setting.whose, held.cloned()) {
        (HookOwner::User, _) => hook,
        (HookOwner::Project, Some(held)) => hook.as_long_as(move || held.still().map(|()| hook_code(&held))),
        (HookOwner::Project, None) => hook.as_long_as(|| Err("its project is not trusted".to_owned())),
    }
}

/// Returns what a hook of a project runs, and what is to be said of it.
fn hook_code(held: &TrustCheck) -> HookCode {
    let note = held.named_helpers_changed().map(|changed| format!("runs from its copy: {changed}. {LOOK_AT_HELPERS}"));
    HookCode { code: held.code(), note }
}
