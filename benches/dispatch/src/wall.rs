//! Measures time and allocations per call, beside the floor and rmcp.
//!
//! The three take turns, and the best round counts: other programs on the machine can only slow a round down.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::allocations::Allocations;
use crate::calls::{answer, arguments, one_thread};
use crate::floor;
use crate::mcp::Client;
use crate::pipeline::Pipeline;

const ROUNDS: u64 = 5;
const CALLS: u64 = 20_000;
const LIMIT: Duration = Duration::from_micros(15);

/// Measures, prints a table, and fails above the limit.
pub fn run() -> ExitCode {
    let [floor, haft, rmcp] = one_thread().block_on(measure());
    println!("one call of a two-integer tool, best of {ROUNDS} rounds of {CALLS} calls");
    println!("{:<28} {:>10} {:>9} {:>12} {:>10}", "", "ns", "x floor", "allocations", "bytes");
    for (name, cost) in
        [("floor: serde, direct call", floor), ("haft: whole pipeline", haft), ("rmcp: in process", rmcp)]
    {
        let ratio = cost.time.as_secs_f64() / floor.time.as_secs_f64();
        let Cost { time, allocations } = cost;
        println!("{name:<28} {:>10} {ratio:>9.1} {:>12} {:>10}", time.as_nanos(), allocations.count, allocations.bytes);
    }
    if haft.time > LIMIT {
        println!("FAILED: haft takes {:?} per call, more than {LIMIT:?}", haft.time);
        return ExitCode::FAILURE;
    }
    println!("ok: haft takes {:?} per call, limit {LIMIT:?}", haft.time);
    ExitCode::SUCCESS
}

/// What one call costs.
#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    allocations: Allocations,
}

impl Cost {
    const UNKNOWN: Self = Self { time: Duration::MAX, allocations: Allocations { count: 0, bytes: 0 } };

    fn better(self, other: Self) -> Self {
        if other.time < self.time { other } else { self }
    }
}

async fn measure() -> [Cost; 3] {
    let mut pipeline = Pipeline::open();
    let client = Client::connect().await;
    check_answers(&mut pipeline, &client).await;

    let mut best = [Cost::UNKNOWN; 3];
    for round in 0..ROUNDS {
        let all: Vec<String> = (round * CALLS..(round + 1) * CALLS).map(arguments).collect();
        let costs = [
            cost(&all, async |arguments| drop(black_box(floor::call(arguments).await))).await,
            cost(&all, async |arguments| drop(black_box(pipeline.call(arguments).await))).await,
            cost(&all, async |arguments| drop(black_box(client.call(arguments).await))).await,
        ];
        best = std::array::from_fn(|place| best[place].better(costs[place]));
    }
    best
}

async fn cost(all: &[String], mut call: impl AsyncFnMut(&str)) -> Cost {
    let (allocated, began) = (Allocations::so_far(), Instant::now());
    for arguments in all {
        call(black_box(arguments)).await;
    }
    let time = began.elapsed() / u32::try_from(all.len()).expect("a round is short");
    Cost { time, allocations: Allocations::per_call(allocated, all.len() as u64) }
}

/// A quick wrong answer would be worth nothing.
async fn check_answers(pipeline: &mut Pipeline, client: &Client) {
    for number in 0..100 {
        let (arguments, answer) = (arguments(number), answer(number));
        assert_eq!(floor::call(&arguments).await, answer);
        assert_eq!(pipeline.call(&arguments).await.text(), answer);
        let result = client.call(&arguments).await;
        assert_eq!(result.content[0].as_text().map(|text| text.text.as_str()), Some(answer.as_str()));
    }
}
