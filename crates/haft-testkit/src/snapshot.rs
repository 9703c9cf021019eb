//! Shows whole results as text, without the parts that vary.

use std::fmt::Write;

use haft_contract::outcome::result::{Did, ToolResult};

/// Shows a result as a test wants to read it.
pub fn told(result: &ToolResult) -> String {
    let mut text = result.status.code().to_owned();
    if let Some(stage) = result.stopped_at {
        let _infallible = write!(text, " at {stage}");
    }
    match &result.error {
        Some(error) => {
            let _infallible = write!(text, " ({}): {}\nnext: {}", error.kind.code(), error.what, error.next);
        }
        None => {
            let _infallible = write!(text, ": {}", result.text().trim_end());
        }
    }
    for repair in &result.repairs {
        let _infallible = write!(text, "\nrepaired: {repair}");
    }
    for warning in &result.warnings {
        let _infallible = write!(text, "\nnote: {warning}");
    }
    let _infallible = match &result.did {
        Did::Nothing => write!(text, "\ndid: nothing"),
        Did::Changed { files, .. } => {
            let files: Vec<String> = files.iter().map(ToString::to_string).collect();
            write!(text, "\ndid: changed {}", files.join(", "))
        }
        Did::Unknown(_) => write!(text, "\ndid: unknown"),
    };
    text
}

/// What is replaced in every snapshot: ids, times, temporary folders.
pub fn filters() -> Vec<(&'static str, &'static str)> {
    vec![
        (r"\b[0-9a-f]{32}\b", "[id]"),
        (r#""duration_ms": ?\d+"#, r#""duration_ms":0"#),
        (r#""took_us": ?\d+"#, r#""took_us":0"#),
        (r"/[^\s`']*haft-scene-[A-Za-z0-9]+", "[scene]"),
    ]
}

/// Compares a text with an inline snapshot, or with a golden file of this name, after filtering what varies.
#[macro_export]
macro_rules! snapshot {
    (golden $name:literal, $text:expr) => {
        let text = $text;
        $crate::snapshot::insta::with_settings!({
            filters => $crate::snapshot::filters(), snapshot_path => "../golden",
            prepend_module_to_snapshot => false, omit_expression => true
        }, {
            $crate::snapshot::insta::assert_snapshot!($name, text);
        });
    };
    ($text:expr, @$expected:literal) => {
        // Taken out of the settings' closure, so that the text may be awaited.
        let text = $text;
        $crate::snapshot::insta::with_settings!({ filters => $crate::snapshot::filters() }, {
            $crate::snapshot::insta::assert_snapshot!(text, @$expected);
        });
    };
}

#[doc(hidden)]
pub use insta;
