//! Fits arguments to the shown form of an entry: as the first step of a call, and alone.

use haft_contract::call::RawArguments;
use haft_contract::description::dialect::Coercion;
use haft_contract::limits::UnknownKeys;
use haft_contract::outcome::error::ToolError;
use serde_json::Value;

use super::{CatalogEntry, closed};
use crate::arguments::{self, ArgumentReading, Checker, Fault};
use crate::pipeline::stages::parse::unreadable;
use crate::pipeline::stages::prepare::{advised, checker, describe};

/// Arguments that fit a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedArguments {
    /// The arguments, with defaults that are given beforehand and without what is fixed.
    pub arguments: Value,
    /// Repairs and coercions, one line each, as the model would read them.
    pub repairs: Vec<String>,
}

/// Arguments that were read by a schema.
pub(crate) struct Fit {
    pub(crate) reading: ArgumentReading,
    /// What was left out because the tool does not know it, in words.
    pub(crate) dropped: Vec<String>,
    pub(crate) verdict: Result<(), Vec<Fault>>,
}

impl CatalogEntry {
    /// Validates and coerces arguments as a call would, without calling anything.
    ///
    /// ```
    /// use haft_contract::call::RawArguments;
    /// use haft_runtime::catalogue::entry::CatalogEntry;
    ///
    /// let entry = CatalogEntry::typed(haft_testkit::tools::Add);
    ///
    /// let fitted = entry.fit(RawArguments::Text(r#"{"a": "2", "b": 3,}"#.into())).expect("it has one reading");
    /// assert_eq!(fitted.arguments, serde_json::json!({ "a": 2, "b": 3 }));
    /// assert_eq!(fitted.repairs[1], r#"$.a: "2" → 2"#);
    ///
    /// let error = entry.fit(RawArguments::Text(r#"{"a": "two", "b": 3}"#.into())).expect_err("that is no number");
    /// assert!(error.what.starts_with("add: $.a: expected "));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns what a call would fail with: the place, what belongs there, what came, and a call that fits.
    pub fn fit(&self, arguments: RawArguments) -> Result<FittedArguments, ToolError> {
        let ArgumentReading { value, mut repairs } = match arguments {
            RawArguments::Object(fields) => ArgumentReading { value: Value::Object(fields), repairs: Vec::new() },
            RawArguments::Words(words) => {
                let read = arguments::read_words(&words, &self.call_spec().input_schema);
                ArgumentReading { value: read.map_err(|faults| describe(None, self, &faults))?, repairs: Vec::new() }
            }
            RawArguments::Text(text) => arguments::read_text(&text).map_err(|fault| unreadable(None, self, &fault))?,
        };
        let checker = checker(self, self.checker())?;
        let Fit { reading, verdict, .. } = self.fitted(checker, value, (Coercion::Careful, UnknownKeys::Refused));
        verdict.map_err(|faults| advised(None, self, faults, &reading.value))?;
        repairs.extend(reading.repairs);
        Ok(FittedArguments { arguments: self.with_defaults(reading.value), repairs })
    }

    /// Reads arguments by the schema that is shown, and says what still does not fit.
    pub(crate) fn fitted(
        &self,
        checker: &Checker,
        arguments: Value,
        (coercion, unknown_keys): (Coercion, UnknownKeys),
    ) -> Fit {
        let spec = self.call_spec();
        let schema = &spec.input_schema;
        let opened = arguments::out_of_envelope(arguments, schema, &[&self.shown.name, self.native_name()]);
        let fields = opened.value.as_object();
        let written: Vec<String> = fields.into_iter().flat_map(|fields| fields.keys().cloned()).collect();
        let timed = arguments::read_times(opened.value, &self.shown.times);
        let shaped = arguments::read_shapes(timed.value, self.shown.shapes);
        let mut reading = arguments::fit_as(shaped.value, schema, &self.shown.aliases, coercion);
        reading.repairs.retain(|repair| !arguments::is_told_already(repair, &written));
        let before = opened.repairs.into_iter().chain(timed.repairs).chain(shaped.repairs);
        reading.repairs.splice(0..0, before);
        let meant = arguments::leave_out(reading.value, &self.shown, &closed(schema));
        reading.value = meant.value;
        if !meant.repairs.is_empty() {
            // What is left may have a place now.
            let again = arguments::fit_as(reading.value, schema, &self.shown.aliases, coercion);
            reading.value = again.value;
            reading.repairs.extend(meant.repairs.into_iter().chain(again.repairs));
        }
        let dropped = match unknown_keys {
            UnknownKeys::Dropped => arguments::drop_unknown(&mut reading.value, schema),
            UnknownKeys::Refused => Vec::new(),
        };
        let verdict = checker.check(&reading.value);
        Fit { reading, dropped, verdict }
    }
}
