//! Commands that no rule can read: what holds them must do so without the rules.

use serde_json::{Value, json};

use crate::place::Place;

/// The variable with the text of a command that no rule can read.
const UNREAD: &str = "HAFT_TEST_UNREAD";

impl Place {
    /// Makes one call of a command that no rule can read, as if all rules had been deceived: what else holds it must do.
    ///
    /// The text comes in a variable, which is passed on as these settings say.
    pub(crate) fn call_unread(&self, around: &[&str], command: &str, arguments: &Value) -> Value {
        let config = self.root().join("config/haft/config.toml");
        let settings = std::fs::read_to_string(&config).unwrap_or_else(|_| "[sandbox]\n".to_owned());
        if !settings.contains(UNREAD) {
            std::fs::create_dir_all(self.root().join("config/haft")).expect("it can be made");
            let settings = settings.replace("[sandbox]\n", &format!("[sandbox]\nvariables = [\"{UNREAD}\"]\n"));
            std::fs::write(&config, settings).expect("it can be written");
        }
        let settings = std::fs::read_to_string(&config).expect("it was written");
        assert!(settings.contains(&format!("variables = [\"{UNREAD}\"]")), "no variable is passed on: {settings}");
        let variable = format!("{UNREAD}={command}");
        let around: Vec<&str> = [around, &["env", &variable]].concat();
        let mut call = json!({ "name": "bash", "arguments": arguments });
        call["arguments"]["command"] = format!(": \"${{{UNREAD}:?}}\"; eval \"${UNREAD}\"").into();
        let record = self.call(&around, &[call]).remove(0);
        // Without the variable nothing would have been tried, and nothing would have escaped.
        assert!(!record.to_string().contains(&format!("{UNREAD}: ")), "not run: {command}: {record:#}");
        record
    }
}
