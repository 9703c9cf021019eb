//! Compares haft as a server for files with the reference server from npm: one client, one run, in turns.
//!
//! Milliseconds depend on the machine as much as on the program, so the ratio counts. Only the read has its own limit:
//! an agent waits for it a thousand times a day. The third contender is this program as a bare server of the protocol's
//! crate: what haft adds to it is its start.

mod bare;
mod gateway;
mod server;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::Server;

const STARTS: usize = 20;
const FILES: usize = 200;
const ROUNDS: usize = 20;
const START_TIMES_FASTER: f64 = 20.0;
/// How many times as long as the bare server haft may take.
const START_BESIDE_BARE: f64 = 1.5;
const READ_TIMES_FASTER: f64 = 3.0;
const MOST_READ: Duration = Duration::from_micros(150);
const MOST_IDLE_BYTES: u64 = 25_000_000;

fn main() -> ExitCode {
    let programs: Vec<String> = std::env::args().skip(1).collect();
    if programs == ["bare"] {
        return bare::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let [haft, node, peer] = &programs[..] else {
        eprintln!("usage: mcp HAFT NODE SERVER, the paths of haft, of Node and of the reference server's program");
        return ExitCode::from(2);
    };
    let base = std::env::temp_dir().join(format!("haft-mcp-{}", std::process::id()));
    let outcome = prepare(&base).and_then(|scene| {
        let [workspace, home] = [scene.workspace.display().to_string(), scene.home.display().to_string()];
        let haft = [haft, "mcp", "serve", "-C", &workspace].map(String::from).to_vec();
        let peer = [node.as_str(), peer, &workspace, &home].map(String::from).to_vec();
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let bare = vec![own.display().to_string(), "bare".to_owned()];
        let measured = measure(&scene, [haft.clone(), peer, bare.clone()])?;
        Ok((measured, gateway::measure(&haft[0], &bare, (&scene.workspace, &scene.home))))
    });
    // What is left behind in a folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&base);
    match outcome {
        Ok(([haft, peer, bare], gateway)) => {
            let judged = judge(&haft, &peer, &bare);
            match gateway {
                Ok(()) => judged,
                Err(why) => {
                    println!("FAILED: {why}");
                    ExitCode::FAILURE
                }
            }
        }
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Where both work: a folder of small files, and a home without settings.
struct Scene {
    workspace: PathBuf,
    home: PathBuf,
}

/// What was measured of one server.
struct Measured {
    start: Duration,
    read: Duration,
    slow_read: Duration,
    idle_bytes: u64,
}

fn prepare(base: &Path) -> Result<Scene, String> {
    let scene = Scene { workspace: base.join("workspace"), home: base.join("home") };
    let told = |error: std::io::Error| format!("{}: {error}", base.display());
    std::fs::create_dir_all(&scene.workspace).map_err(told)?;
    std::fs::create_dir_all(&scene.home).map_err(told)?;
    for number in 0..FILES {
        let text = format!("mark {number}\n{}", "some words of a small file\n".repeat(40));
        std::fs::write(scene.workspace.join(format!("{number}.txt")), text).map_err(told)?;
    }
    Ok(scene)
}

fn measure(scene: &Scene, contenders: [Vec<String>; 3]) -> Result<[Measured; 3], String> {
    let mut starts: [Vec<Duration>; 3] = Default::default();
    for _ in 0..STARTS {
        for (words, times) in contenders.iter().zip(&mut starts) {
            let began = Instant::now();
            let mut server = Server::start(words, &scene.home)?;
            server.shake_hands()?;
            server.request("tools/list", json!({}))?;
            times.push(began.elapsed());
        }
    }
    let mut servers = Vec::new();
    for words in &contenders {
        servers.push(Server::start(words, &scene.home)?);
    }
    let mut reads: [Vec<Duration>; 3] = Default::default();
    for server in &mut servers {
        server.shake_hands()?;
        server.request("tools/list", json!({}))?;
    }
    for round in 0..=ROUNDS {
        for ((server, times), tool) in
            servers.iter_mut().zip(&mut reads).zip(["read_file", "read_text_file", "read_text_file"])
        {
            let took = read_all(server, tool, &scene.workspace)?;
            // The first round finds cold caches and code that was never run.
            if round > 0 {
                times.extend(took);
            }
        }
    }
    let idle = servers.iter().map(Server::resident_bytes);
    let mut all = starts.into_iter().zip(reads).zip(idle).map(|((start, read), idle_bytes)| Measured {
        start: share(&start, 0.5),
        read: share(&read, 0.5),
        slow_read: share(&read, 0.99),
        idle_bytes,
    });
    Ok([all.next(), all.next(), all.next()].map(|measured| measured.expect("there are three")))
}

/// Reads every file once, one after the other. The peer wants whole paths, and haft takes them too.
fn read_all(server: &mut Server, tool: &str, workspace: &Path) -> Result<Vec<Duration>, String> {
    let mut times = Vec::with_capacity(FILES);
    for number in 0..FILES {
        let path = workspace.join(format!("{number}.txt"));
        let answer = server.request("tools/call", json!({ "name": tool, "arguments": { "path": path } }))?;
        let text = answer.message["result"]["content"][0]["text"].as_str().unwrap_or_default();
        if !text.contains(&format!("mark {number}\n")) {
            return Err(format!("{tool} of {number}.txt answers something else: {}", shortened(&answer.message)));
        }
        times.push(answer.took);
    }
    Ok(times)
}

fn shortened(message: &Value) -> String {
    message.to_string().chars().take(500).collect()
}

/// The time that this share of all was not slower than.
fn share(times: &[Duration], share: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn judge(haft: &Measured, peer: &Measured, bare: &Measured) -> ExitCode {
    let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    let us = |time: Duration| format!("{:.0} µs", time.as_secs_f64() * 1e6);
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let faster = |haft: Duration, peer: Duration| peer.as_secs_f64() / haft.as_secs_f64();
    let start = faster(haft.start, peer.start);
    let beside_bare = faster(bare.start, haft.start);
    let read = faster(haft.read, peer.read);
    println!("{STARTS} starts and {} reads of 1 KB each, in turns", ROUNDS * FILES);
    println!("{:<32} {:>10} {:>10} {:>9}   wanted", "", "haft", "reference", "x faster");
    let row = |name: &str, haft: String, peer: String, ratio: String, wanted: String| {
        println!("{name:<32} {haft:>10} {peer:>10} {ratio:>9}   {wanted}");
    };
    let wanted_start = format!("at least {START_TIMES_FASTER} x");
    row("start to first list, median", ms(haft.start), ms(peer.start), format!("{start:.1}"), wanted_start);
    let wanted_bare = format!("at most {START_BESIDE_BARE} x as long");
    row("the same, beside bare rmcp", ms(haft.start), ms(bare.start), format!("{beside_bare:.2}"), wanted_bare);
    let wanted_read = format!("at least {READ_TIMES_FASTER} x, at most {}", us(MOST_READ));
    row("small read, p50", us(haft.read), us(peer.read), format!("{read:.1}"), wanted_read);
    row("the same, beside bare rmcp", us(haft.read), us(bare.read), String::new(), String::new());
    let slow = format!("{:.1}", faster(haft.slow_read, peer.slow_read));
    row("small read, p99", us(haft.slow_read), us(peer.slow_read), slow, String::new());
    let wanted_idle = format!("at most {}", mb(MOST_IDLE_BYTES));
    row("memory at rest, with children", mb(haft.idle_bytes), mb(peer.idle_bytes), String::new(), wanted_idle);
    let limits = [
        (start < START_TIMES_FASTER, "it starts too slowly"),
        (beside_bare > START_BESIDE_BARE, "it starts too slowly beside a bare server"),
        (read < READ_TIMES_FASTER, "a small read is not fast enough beside the reference"),
        (haft.read > MOST_READ, "a small read takes too long"),
        (haft.idle_bytes > MOST_IDLE_BYTES, "it needs too much memory at rest"),
    ];
    let exceeded: Vec<&str> = limits.iter().filter(|(exceeded, _)| *exceeded).map(|(_, what)| *what).collect();
    if exceeded.is_empty() {
        println!("ok: all within the limits");
        return ExitCode::SUCCESS;
    }
    println!("FAILED: {}", exceeded.join("; "));
    ExitCode::FAILURE
}
