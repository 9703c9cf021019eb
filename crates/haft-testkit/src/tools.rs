//! Tools for tests: each does one thing that a test of the pipeline needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_contract::prelude::*;
use tokio::sync::Semaphore;

/// Adds two whole numbers.
pub struct Add;

/// The arguments of [`Add`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddArgs {
    /// First number.
    a: i64,
    /// Second number.
    b: i64,
}

impl Tool for Add {
    const NAME: &'static str = "add";
    type Args = AddArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Adds two whole numbers.")
    }

    async fn plan(&self, _args: &AddArgs, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::nothing(), ()))
    }

    async fn run(&self, args: AddArgs, _draft: (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let sum = args.a.checked_add(args.b);
        let sum =
            sum.ok_or_else(|| ToolError::failed("the sum is too large", Next::FixArguments("add less".into())))?;
        Ok(ToolOutput::text(sum.to_string()).with_data(sum.into()))
    }
}

/// Replaces a file with a text.
pub struct PutTool;

/// The arguments of [`PutTool`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutArgs {
    /// The file.
    path: RawPath,
    /// Its new content.
    content: String,
}

impl Tool for PutTool {
    const NAME: &'static str = "put";
    type Args = PutArgs;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Replaces a file with a text.")
    }

    async fn plan(&self, args: &PutArgs, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let target = cx.locate(&args.path)?;
        let change = if cx.look().stamp(&target).is_some() { Change::Replace } else { Change::Create };
        let preview = Preview::Text(format!("{} becomes {}", target, args.content));
        Ok((Plan::new([Effect::Change(target.clone(), change)]).preview(preview), target))
    }

    async fn run(&self, args: PutArgs, target: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        cx.write(&target, args.content.as_bytes()).await?;
        let lines = args.content.lines().count();
        Ok(ToolOutput::text(format!("wrote {target}")).with_display(format!("{target}: {lines} lines")))
    }
}

/// Replaces one piece of a file; its plan fails when the piece is not there.
pub struct Swap;

/// The arguments of [`Swap`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwapArgs {
    /// The file.
    path: RawPath,
    /// The line to replace.
    old: String,
    /// The line to put there.
    new: String,
}

impl Tool for Swap {
    const NAME: &'static str = "swap";
    type Args = SwapArgs;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Replaces one line of a file.")
    }

    async fn plan(&self, args: &SwapArgs, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let target = cx.locate(&args.path)?;
        cx.look().facts(&target)?;
        let effects = [Effect::Read(target.clone()), Effect::Change(target.clone(), Change::Replace)];
        Ok((Plan::new(effects), target))
    }

    async fn run(&self, args: SwapArgs, target: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let request = PageRequest { first_line: 1, lines: usize::MAX, column: 1, line_length: 1_000 };
        let page = cx.page(&target, request).await?;
        let lines: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
        if !lines.contains(&args.old.as_str()) {
            return Err(ToolError::of(ErrorKind::NoMatch, format!("\"{}\" does not occur in {target}.", args.old)));
        }
        let swapped: String = lines
            .into_iter()
            .map(|line| if line == args.old { args.new.clone() } else { line.to_owned() } + "\n")
            .collect();
        cx.write(&target, swapped.as_bytes()).await?;
        Ok(ToolOutput::text(format!("changed {target}")))
    }
}

/// Waits for a sign from the test, then answers; counts how many calls run side by side.
#[derive(Clone, Default)]
pub struct WaitTool {
    /// Gives the signs.
    pub signs: Arc<Signs>,
}

/// The signs of [`WaitTool`], and what it has seen.
pub struct Signs {
    go: Semaphore,
    begun: Semaphore,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Default for Signs {
    fn default() -> Self {
        Self {
            go: Semaphore::new(0),
            begun: Semaphore::new(0),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }
}

impl Signs {
    /// Lets so many calls go on.
    pub fn go(&self, calls: usize) {
        self.go.add_permits(calls);
    }

    /// Waits until so many calls have begun.
    pub async fn begun(&self, calls: u32) {
        self.begun.acquire_many(calls).await.expect("the signs stay open").forget();
    }

    /// Returns the largest number of calls that ran side by side.
    pub fn most_at_once(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// The arguments of [`WaitTool`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitArgs {
    /// A file to change while waiting.
    path: Option<RawPath>,
    /// Whether to go on in spite of being told to stop.
    stubborn: Option<bool>,
    /// Text to show while waiting.
    say: Option<String>,
}

impl Tool for WaitTool {
    const NAME: &'static str = "wait";
    type Args = WaitArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Waits for a sign.")
    }

    async fn plan(&self, args: &WaitArgs, cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        let target = args.path.as_ref().map(|path| cx.locate(path)).transpose()?;
        Ok((Plan::new(target.map(|target| Effect::Change(target, Change::Create))), ()))
    }

    async fn run(&self, args: WaitArgs, _draft: (), cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let running = self.signs.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.signs.most.fetch_max(running, Ordering::SeqCst);
        let _leaving = Leaving(self.signs.clone());
        if let Some(text) = &args.say {
            cx.chunk(text);
        }
        self.signs.begun.add_permits(1);
        let stubborn = args.stubborn.unwrap_or(false);
        tokio::select! {
            permit = self.signs.go.acquire() => permit.expect("the signs stay open").forget(),
            () = cx.stopped(), if !stubborn => return Err(ToolError::of(ErrorKind::Cancelled, "stopped").with_so_far(ToolOutput::text("half"))),
        }
        Ok(ToolOutput::text("went on"))
    }
}

struct Leaving(Arc<Signs>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Misbehaves as it is told.
pub struct Misbehave;

/// The arguments of [`Misbehave`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MisbehaveArgs {
    /// What to do.
    how: Misbehaviour,
}

/// A way in which the tool misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Misbehaviour {
    /// Panics while planning.
    PanicInPlan,
    /// Panics while running.
    PanicInRun,
    /// Writes a file that it had not planned.
    WriteUnplanned,
    /// Fails.
    Fail,
    /// Returns a hundred thousand lines.
    Flood,
    /// Returns one line of five thousand characters.
    EndlessLine,
    /// Says its result may be kept.
    Cached,
}

impl Tool for Misbehave {
    const NAME: &'static str = "misbehave";
    type Args = MisbehaveArgs;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Misbehaves.")
    }

    async fn plan(&self, args: &MisbehaveArgs, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        assert!(args.how != Misbehaviour::PanicInPlan, "planned to panic");
        let target = cx.locate(&RawPath::new("unplanned.txt"))?;
        let plan = Plan::nothing();
        Ok((if args.how == Misbehaviour::Cached { plan.cached_for(Duration::from_secs(60)) } else { plan }, target))
    }

    async fn run(&self, args: MisbehaveArgs, target: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        match args.how {
            Misbehaviour::PanicInPlan | Misbehaviour::PanicInRun => panic!("kaput"),
            Misbehaviour::WriteUnplanned => {
                cx.write(&target, b"x").await?;
                Ok(ToolOutput::text("written"))
            }
            Misbehaviour::Fail => {
                let error = ToolError::failed("it does not work", Next::DoNotRetry("do something else".into()));
                Err(error.with_detail("the innards of the tool"))
            }
            Misbehaviour::Flood => {
                let lines: String = (1..=100_000).map(|number| format!("line {number}\n")).collect();
                Ok(ToolOutput::text(lines))
            }
            Misbehaviour::EndlessLine => Ok(ToolOutput::text("0123456789".repeat(500))),
            Misbehaviour::Cached => Ok(ToolOutput::text(format!("run {}", RUNS.fetch_add(1, Ordering::SeqCst)))),
        }
    }
}
