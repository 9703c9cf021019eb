use serde_json::json;

use crate::workshop::Workshop;

const MODULE: &str = r#"
from typing import Optional
def weather(city: str, days: int, unit: str = "c", *, agent_state=None):
    """Says what the weather will be.

    Only for cities.

    Args:
        city: which one
    """
    return city
def open_to_all(**rest): return rest
async def later(n: Optional[float] = None): return n
"#;

fn defined(properties: &str, more: &str) -> Option<Workshop> {
    let yaml =
        format!("name: weather\nbinding: functions:weather\ninput_schema: {{type: object, {properties}}}\n{more}\n");
    Some(Workshop::with_python(MODULE)?.tool(&yaml))
}

#[tokio::test]
async fn what_fits_is_not_told() {
    let fits = "properties: {city: {type: string, description: c}, days: {type: integer, description: d}}, required: [city, days]";
    let Some(workshop) = defined(fits, "") else { return };
    assert_eq!(workshop.problems("weather").await, Vec::<String>::new());
}

#[tokio::test]
async fn every_mismatch_is_told_with_its_fix() {
    let odd = "properties: {town: {type: string}, city: {type: integer}, unti: {type: string}}, required: [city]";
    let Some(workshop) = defined(odd, "") else { return };
    let problems = workshop.problems("weather").await;
    assert_eq!(
        problems,
        [
            "the function needs \"days\", which is not a property of \"input_schema\"; add \"days\" to its properties, or give \
             the parameter a default",
            "the function has no parameter \"town\"; add the parameter \"town\" to the function, or remove it here",
            "the function has no parameter \"unti\"; did you mean \"unit\"?",
            "\"city\" is of type integer in \"input_schema\", but the function says str; write type: string, or change the \
             annotation",
        ]
    );
}

#[tokio::test]
async fn what_callers_may_leave_out_and_the_function_needs_is_a_warning() {
    let Some(workshop) = defined("properties: {city: {type: string}, days: {type: integer}}, required: [city]", "")
    else {
        return;
    };
    let problems = workshop.problems("weather").await;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("warning: \"days\" may be left out in a call, but the function needs it"));
    let (told, _) = workshop.fails("weather", json!({ "city": "Bonn" })).await;
    assert!(told.contains("The function weather needs \"days\", which the call does not give."), "{told}");
}

#[tokio::test]
async fn the_first_part_of_a_docstring_is_the_description_where_there_is_none() {
    let Some(workshop) = defined("properties: {}", "") else { return };
    let by = workshop.runtime();
    let bindings = workshop.bindings();
    let named = bindings.with_docstring(workshop.definition("weather"), &workshop.home(), by).await.unwrap();
    assert_eq!(named.description.as_deref(), Some("Says what the weather will be.\n\nOnly for cities."));
    let mut lazy = workshop.definition("weather");
    lazy.lazy = true;
    let lazy = bindings.with_docstring(lazy, &workshop.home(), by).await.unwrap();
    assert_eq!(lazy.description, None);
}

#[tokio::test]
async fn a_function_describes_itself() {
    let Some(workshop) = Workshop::with_python(MODULE) else { return };
    let workshop = workshop.function("later", "").function("open_to_all", "");
    let by = workshop.runtime();
    let described = workshop.bindings().describe(&workshop.definition("later"), &workshop.home(), by).await.unwrap();
    let described = described.expect("it is a Python function");
    assert!(described.is_async && described.parameters[0].annotation.contains("Optional[float]"), "{described:?}");
    assert_eq!(workshop.problems("open_to_all").await, Vec::<String>::new());
}
