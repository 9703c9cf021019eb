//! Fits the arguments to the shown schema, then takes them inward and binds them.

mod places;

use std::sync::Arc;

use haft_contract::description::dialect::Dialect;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::tool::ToolInvocation;
use serde_json::Value;

use super::parse::{ParsedCall, parse};
use super::resolve::resolve_forwarded;
use crate::arguments::{self, Advice, Checker, Fault};
use crate::catalogue::catalog::Catalog;
use crate::catalogue::entry::{CatalogEntry, Fit};
use crate::hooks::HookedCall;
use crate::pipeline::call_context::CallContext;
use crate::state::memory::CallKey;

/// A call whose arguments fit and are bound to the tool.
pub(crate) struct PreparedCall {
    pub(crate) entry: Arc<CatalogEntry>,
    /// The native call, without what is fixed and hidden.
    pub(crate) called: HookedCall,
    pub(crate) bound: Box<dyn ToolInvocation>,
    pub(crate) key: CallKey,
}

/// Renames keys, coerces, validates, goes inward, binds. A call that stands for one of another tool becomes that call, once.
pub(crate) fn prepare(cx: &CallContext<'_>, catalog: &Catalog, parsed: ParsedCall) -> Result<PreparedCall, ToolError> {
    let fit = |ParsedCall { entry, arguments }: ParsedCall| {
        let arguments = fitted(cx, &entry, entry.with_shown_names(arguments))?;
        Ok::<_, ToolError>(ParsedCall { entry, arguments })
    };
    let called = fit(parsed)?;
    match called.entry.tool().forwarded(&called.arguments) {
        None => go_inward(cx, called),
        Some(call) => go_inward(cx, fit(parse(cx, resolve_forwarded(catalog, call)?)?)?),
    }
}

/// Takes arguments that fit what was shown inward, and binds them.
fn go_inward(cx: &CallContext<'_>, fitted: ParsedCall) -> Result<PreparedCall, ToolError> {
    let ParsedCall { entry, arguments: fitted } = fitted;
    let (entry, fitted) = match entry.way_in() {
        None => {
            let placed = places::placed(fitted, entry.shown(), &*cx.session.ground.doors.look);
            cx.note(|notes| notes.repairs.extend(placed.repairs));
            (entry, placed.value)
        }
        Some(way) => {
            cx.note(|notes| notes.key = Some(cx.session.memory.key(entry.tool.spec(), &fitted)));
            // What another system takes may still be more than is there.
            let (native, led) = way.inward(fitted)?;
            checker(&native, native.checker())?
                .check(&led)
                .map_err(|faults| describe(cx.dialect(), &entry, &faults))?;
            (native, led)
        }
    };
    let native = entry.with_defaults(fitted);
    bind(cx, entry, native)
}

/// Returns arguments that fit what was shown.
fn fitted(cx: &CallContext<'_>, entry: &CatalogEntry, arguments: Value) -> Result<Value, ToolError> {
    // Valid input is never altered, so the usual case needs one look only.
    let checker = checker(entry, entry.checker())?;
    if checker.accepts(&arguments) && !holds_whole_float(&arguments) {
        return Ok(arguments);
    }
    fit(cx, entry, checker, arguments)
}

/// Reads the arguments by the schema, and says what still does not fit.
fn fit(cx: &CallContext<'_>, entry: &CatalogEntry, checker: &Checker, arguments: Value) -> Result<Value, ToolError> {
    let original = cx.session.memory.key(entry.tool.spec(), &arguments);
    let coercion = cx.dialect().map(|dialect| dialect.coercion()).unwrap_or_default();
    let Fit { reading, dropped, verdict } = entry.fitted(checker, arguments, (coercion, cx.limits().unknown_keys));
    cx.note(|notes| {
        notes.repairs.extend(reading.repairs);
        notes.warnings.extend(dropped);
    });
    match verdict {
        Ok(()) => Ok(reading.value),
        Err(faults) => {
            cx.note(|notes| notes.key = Some(original));
            // An excerpt may cut a secret in two, so it is taken from a value that has none.
            let mut redacted = reading.value;
            cx.session.ground.redactor.redact_value(&mut redacted);
            let faults = checker.check(&redacted).err().unwrap_or(faults);
            Err(advised(cx.dialect(), entry, faults, &redacted))
        }
    }
}

/// Prepares a call again with the arguments that hooks have put in place of the model's.
pub(crate) fn prepare_again(
    cx: &CallContext<'_>,
    prepared: PreparedCall,
    rewritten: Value,
) -> Result<PreparedCall, ToolError> {
    let entry = prepared.entry;
    let native = Checker::new(&entry.tool.spec().input_schema);
    // What is fixed may be required, so it is there when the native schema looks.
    checker(&entry, &native)?.check(&entry.with_fixed(&rewritten)).map_err(|faults| {
        let mut error = describe(cx.dialect(), &entry, &faults);
        error.what = format!("A hook rewrote the arguments so that they do not fit. {}", error.what);
        error.next = Next::AskUser("tell the user that the hook has a defect".into());
        error
    })?;
    bind(cx, entry, rewritten)
}

/// A schema admits `5.0` as a whole number; a Rust integer does not, so it is written as `5`.
fn holds_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|float| float.fract() == 0.0),
        Value::Array(items) => items.iter().any(holds_whole_float),
        Value::Object(fields) => fields.values().any(holds_whole_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn bind(cx: &CallContext<'_>, entry: Arc<CatalogEntry>, native: Value) -> Result<PreparedCall, ToolError> {
    let whole = entry.with_fixed(&native);
    let key = cx.session.memory.key(entry.tool.spec(), &whole);
    cx.note(|notes| {
        notes.key = Some(key);
        notes.led_to = Some(entry.clone());
    });
    let bound = entry.tool.clone().bind(&whole)?;
    let called = HookedCall { call: cx.id.clone(), tool: entry.native_name().to_owned(), arguments: native };
    Ok(PreparedCall { entry, called, bound, key })
}

pub(crate) fn checker<'a>(
    entry: &CatalogEntry,
    checker: &'a Result<Checker, String>,
) -> Result<&'a Checker, ToolError> {
    checker.as_ref().map_err(|why| {
        let what = format!("The schema of \"{}\" cannot be used: {why}.", entry.shown.name);
        ToolError::of(ErrorKind::Unavailable, what)
    })
}

/// Says what does not fit, and shows the model's own call as one that does.
pub(crate) fn advised(
    dialect: Option<&dyn Dialect>,
    entry: &CatalogEntry,
    mut faults: Vec<Fault>,
    given: &Value,
) -> ToolError {
    /// More than that is not worth repeating.
    const LONGEST_CALL: usize = 400;
    let own = entry.checker().as_ref().ok().and_then(|checker| {
        let own = arguments::corrected(given, &faults, &example(entry), checker)?;
        (own.to_string().len() <= LONGEST_CALL).then_some(own)
    });
    for fault in &mut faults {
        match arguments::advice(&entry.shown, fault) {
            None => {}
            Some(Advice::Instead(advice)) => fault.hint = Some(advice),
            Some(Advice::Without(advice)) => fault.hint = Some(advice.to_owned()),
        }
    }
    let mut error = describe(dialect, entry, &faults);
    if let Some(own) = own {
        error.next = mended(&faults, &written_call(dialect, entry, &own));
    }
    error
}

/// Says what does not fit, and shows a call that does.
pub(crate) fn describe(dialect: Option<&dyn Dialect>, entry: &CatalogEntry, faults: &[Fault]) -> ToolError {
    let tool = &entry.shown.name;
    let lines: Vec<String> = faults.iter().map(|fault| format!("{tool}: {}", sentence(fault))).collect();
    let next = mended(faults, &example_call(dialect, entry));
    let mut error = ToolError::new(ErrorKind::BadArguments, lines.join("\n"), next);
    error.about.argument = faults.first().map(|fault| fault.path.clone());
    error
}

fn mended(faults: &[Fault], call: &str) -> Next {
    let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
    Next::FixArguments(format!("fix {}; a call that fits: {call}", paths.join(", ")))
}

/// One fault as a sentence; one that ends in a question has its mark already.
pub(crate) fn sentence(fault: &Fault) -> String {
    let words = fault.to_string();
    if words.ends_with(['.', '?', '!']) { words } else { words + "." }
}

/// Shows the smallest sensible call.
pub(crate) fn example_call(dialect: Option<&dyn Dialect>, entry: &CatalogEntry) -> String {
    written_call(dialect, entry, &example(entry))
}

/// Returns the manual's first example when it fits, else one made from the schema.
fn example(entry: &CatalogEntry) -> Value {
    let fits = |example: &Value| entry.checker().as_ref().is_ok_and(|checker| checker.check(example).is_ok());
    let manual = entry.shown.manual.examples.first().map(|example| example.arguments.clone()).filter(fits);
    manual.unwrap_or_else(|| arguments::minimal_example(&entry.shown.input_schema))
}

fn written_call(dialect: Option<&dyn Dialect>, entry: &CatalogEntry, arguments: &Value) -> String {
    match dialect {
        Some(dialect) => dialect.call(&entry.shown.name, arguments),
        None => format!("{}({arguments})", entry.shown.name),
    }
}
