//! What documents of the web become. The pages were written for this: documentation, news, code, tables, broken markup.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use haft_contract::tool::Typed;
use haft_policy::policy::Policy;
use haft_policy::rules;
use haft_runtime::approval::Verdict;
use haft_testkit::approver::Script;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use haft_testkit::web::Web;
use haft_tools::fetch::Fetch;
use insta::assert_snapshot as snapshot;
use serde_json::{Value, json};
