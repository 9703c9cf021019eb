//! Tools for tests that remove and rename files through the file door.
//!
//! Not here: tools that write (the built-in ones do), tools that misbehave (`tools`).

use haft_contract::files::path::FileLocation;
use haft_contract::prelude::*;

/// Removes a file, a link or an empty folder.
pub struct Remove;

/// The arguments of [`Remove`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveArgs {
    /// What to remove.
    path: RawPath,
}

impl Tool for Remove {
    const NAME: &'static str = "remove";
    type Args = RemoveArgs;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Removes a file, a link or an empty folder.")
    }

    async fn plan(&self, args: &RemoveArgs, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let target = entry(&args.path, cx)?;
        Ok((Plan::new([Effect::Change(target.clone(), Change::Remove)]), target))
    }

    async fn run(&self, _args: RemoveArgs, target: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        cx.remove(&target).await?;
        Ok(ToolOutput::text(format!("removed {target}")))
    }
}

/// Gives a file or a folder another name.
pub struct Rename;

/// The arguments of [`Rename`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameArgs {
    /// The old name.
    from: RawPath,
    /// The new name.
    to: RawPath,
}

impl Tool for Rename {
    const NAME: &'static str = "rename";
    type Args = RenameArgs;
    type Draft = (Target, Target);

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Gives a file or a folder another name.")
    }

    async fn plan(&self, args: &RenameArgs, cx: &PlanContext<'_>) -> Result<(Plan, (Target, Target)), ToolError> {
        let (from, to) = (entry(&args.from, cx)?, entry(&args.to, cx)?);
        let effects = [Effect::Change(from.clone(), Change::Remove), Effect::Change(to.clone(), Change::Create)];
        Ok((Plan::new(effects), (from, to)))
    }

    async fn run(
        &self,
        _: RenameArgs,
        (from, to): (Target, Target),
        cx: &RunContext<'_>,
    ) -> Result<ToolOutput, ToolError> {
        cx.rename(&from, &to).await?;
        Ok(ToolOutput::text(format!("{from} is now {to}")))
    }
}

/// Locates an entry of a folder: a link is removed or renamed itself, not what it leads to.
fn entry(raw: &RawPath, cx: &PlanContext<'_>) -> Result<Target, ToolError> {
    let (folder, name) = raw.as_str().rsplit_once('/').unwrap_or((".", raw.as_str()));
    if matches!(name, "" | "." | "..") || name.contains('\0') {
        return cx.locate(raw);
    }
    let folder = if folder.is_empty() { "/" } else { folder };
    Ok(match cx.locate(&RawPath::new(folder))? {
        Target::Inside(place) => Target::Inside(FileLocation::new(place.path().join(name), Extent::Entry)),
        Target::Outside(_) => cx.locate(raw)?,
    })
}
