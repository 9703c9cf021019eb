/// Wants the context for itself.
#[haft_contract::tool]
async fn owning(cx: RunContext<'_>) {}

/// Wants to change the context.
#[haft_contract::tool]
async fn changing(cx: &mut RunContext<'_>) {}

/// Wants to plan.
#[haft_contract::tool]
async fn planning(cx: &PlanContext<'_>) {}

/// Wants two.
#[haft_contract::tool]
async fn greedy(cx: &RunContext<'_>, cx2: &RunContext<'_>) {}

fn main() {}
