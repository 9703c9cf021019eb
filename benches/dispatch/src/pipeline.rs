//! The call through haft: all stages, the default rules, all built-in tools, one listener.

use std::hint::black_box;

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::outcome::result::ToolResult;
use haft_runtime::events::Subscription;
use haft_testkit::scene::Scene;

use crate::calls::{Add, arguments, one_thread};

/// A runtime with one session and a listener for all events.
pub struct Pipeline {
    scene: Scene,
    listener: Subscription,
}

impl Pipeline {
    /// Opens a workspace in a temporary folder.
    pub fn open() -> Self {
        let scene = Scene::new().tool(Add);
        let listener = scene.runtime().events().subscribe();
        Self { scene, listener }
    }

    /// Makes one call and takes its events. Making the call (an id, two strings) is part of it.
    pub async fn call(&mut self, arguments: &str) -> ToolResult {
        let call = ToolCall::new("add", RawArguments::Text(arguments.to_owned()));
        let result = self.scene.send(call).await;
        while let Some(event) = self.listener.try_next() {
            black_box(event);
        }
        result
    }
}

/// Makes so many calls, all different.
pub fn make_calls(count: u64) {
    one_thread().block_on(async {
        let mut pipeline = Pipeline::open();
        for number in 0..count {
            black_box(pipeline.call(&arguments(number)).await);
        }
    });
}
