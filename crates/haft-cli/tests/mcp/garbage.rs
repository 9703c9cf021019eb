//! Whatever comes in: it is answered or ignored, and the next good request is served.

use serde_json::{Value, json};

use crate::client::{Place, Server, code};

fn well() -> Server {
    Place::new().shaken(&["--yes"], json!({}))
}

#[test]
fn lines_that_are_no_messages_are_answered_and_cost_nothing() {
    let mut server = well();
    let odd: [&[u8]; 26] = [
        b"garbage",
        b"{",
        b"}",
        b"[",
        b"[]",
        b"{}",
        b"null",
        b"true",
        b"17",
        b"\"text\"",
        b"\x00\x01\x02",
        b"\xff\xfe\xfd",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\"}",
        b"{\"jsonrpc\":2,\"id\":1,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1e400,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":[]}",
        b"{\"jsonrpc\":\"2.0\",\"id\":902,\"method\":\"tools/call\",\"params\":7}",
        b"{\"jsonrpc\":\"2.0\",\"id\":903,\"method\":\"tools/call\",\"params\":{\"name\":null}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":904,\"method\":\"initialize\",\"params\":{\"protocolVersion\":7}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":905,\"method\":\"tools/call\",\"params\":{\"name\":\"bash\",\"_meta\":7}}",
    ];
    for line in odd {
        server.send_line(line);
        let answer = server.next();
        assert!((-32700..=-32600).contains(&code(&answer)), "{:?}: {answer}", String::from_utf8_lossy(line));
        server.assert_well();
    }
    assert!(server.heard.is_empty(), "{:?}", server.heard);
}

#[test]
fn what_needs_no_answer_gets_none() {
    let mut server = well();
    for line in [
        "",
        "   ",
        "\r",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"nobody\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1,\"message\":\"no\"}}",
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"no\"}}",
    ] {
        server.send_line(line.as_bytes());
    }
    server.assert_well();
    assert!(server.heard.is_empty(), "{:?}", server.heard);
}

#[test]
fn other_line_ends_marks_and_pieces_are_understood() {
    let mut server = well();
    server.send_bytes("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"ping\"}\r\n".as_bytes());
    assert!(server.answer("bom").get("result").is_some());
    let line = "  {\"jsonrpc\":\"2.0\",\"id\":\"pieces\",\"method\":\"ping\"}\n";
    for byte in line.bytes() {
        server.send_bytes(&[byte]);
    }
    assert!(server.answer("pieces").get("result").is_some());
}

#[test]
fn half_a_line_at_the_end_is_no_trouble() {
    let mut server = well();
    server.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools");
    let (status, said) = server.end();
    assert!(status.success(), "{said}");
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let mut server = well();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":\"deep\",\"method\":\"tools/list\",\"params\":{{\"x\":{deep}}}}}");
        server.send_line(line.as_bytes());
        assert!(server.next().get("error").is_some());
        server.assert_well();
    }
}

fn peak_memory(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it is told");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number of kB")
}

#[test]
fn a_line_of_a_hundred_megabytes_is_skipped_in_bounded_memory() {
    let mut server = well();
    let piece = vec![b'x'; 1024 * 1024];
    server.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    for _ in 0..100 {
        server.send_bytes(&piece);
    }
    server.send_bytes(b"\"}\n");
    assert_eq!(code(&server.next()), -32600);
    server.assert_well();
    assert!(peak_memory(&server) < 250_000, "{} kB", peak_memory(&server));
}

#[test]
fn a_large_file_is_written_whole() {
    let place = Place::new();
    let mut server = place.shaken(&["--yes"], json!({}));
    let content = "0123456789abcde\n".repeat(500_000);
    let result = server.call("write_file", json!({ "path": "big.txt", "content": content }));
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(place.get("ws/big.txt").map(|text| text.len()), Some(content.len()));
}

#[test]
fn a_flood_is_answered_one_by_one() {
    let mut server = well();
    let mut input = server.stdin.take().expect("it is open");
    let flood = std::thread::spawn(move || {
        use std::io::Write;
        for number in 0..5_000 {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"f{number}\",\"method\":\"ping\"}}\n");
            input.write_all(line.as_bytes()).expect("it is read");
        }
        input
    });
    let mut answered = 0;
    while answered < 5_000 {
        let answer = server.next();
        assert!(answer.get("result").is_some(), "{answer}");
        answered += 1;
    }
    server.stdin = Some(flood.join().expect("everything was written"));
    server.assert_well();
}

#[test]
fn who_does_not_read_is_not_read_either_and_memory_is_bounded() {
    let place = Place::new();
    let mut server = place.unread(&[]);
    let mut input = server.stdin.take().expect("it is open");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        use std::io::Write;
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"no/such\",\"params\":{\"a\":\"b\"}}\n".repeat(100);
        while input.write_all(&line).is_ok() {
            let _ = tell.send(());
        }
    });
    // As long as pieces are taken there is still room somewhere; then it is full, and stays so.
    while told.recv_timeout(std::time::Duration::from_secs(2)).is_ok() {}
    assert!(peak_memory(&server) < 150_000, "{} kB", peak_memory(&server));
    server.child.kill().expect("it runs");
}

#[test]
fn who_reads_late_gets_every_answer_whole() {
    use std::io::{BufRead, BufReader, Write};
    let place = Place::new();
    let mut server = place.unread(&[]);
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    server.send(&json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params }));
    let mut input = server.stdin.take().expect("it is open");
    let (tell, told) = std::sync::mpsc::channel();
    let flood = std::thread::spawn(move || {
        for number in 0..1_500 {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"tools/list\"}}\n");
            input.write_all(line.as_bytes()).expect("it is read");
            let _ = tell.send(());
        }
        input
    });
    // Until it takes no more, or everything was taken.
    while told.recv_timeout(std::time::Duration::from_secs(1)).is_ok() {}
    let output = BufReader::new(server.child.stdout.take().expect("it is piped"));
    let lines = output.lines().map_while(Result::ok).take(1_501);
    let messages = lines.map(|line| serde_json::from_str::<Value>(&line).expect("a whole message"));
    let ids: std::collections::HashSet<String> = messages
        .inspect(|message| assert!(message.get("result").is_some(), "{message}"))
        .map(|message| message["id"].to_string())
        .collect();
    assert_eq!(ids.len(), 1_501);
    drop(flood.join().expect("everything was written"));
}

#[test]
fn a_flood_of_cancellations_and_answers_is_swallowed() {
    let mut server = well();
    for number in 0..10_000 {
        let params = json!({ "requestId": number });
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
        server.send(&json!({ "jsonrpc": "2.0", "id": number, "result": {} }));
    }
    // An answer to nothing whose number is that of a request is no answer to it.
    server.assert_well();
    assert!(server.heard.is_empty());
}

#[test]
fn ids_are_given_back_as_they_came() {
    let mut server = well();
    let long = "x".repeat(900);
    for id in [json!(0), json!(-1), json!(i64::MAX), json!(""), json!("1"), json!("ä\u{1F600}\n"), json!(long)] {
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        let answer: Value = server.next();
        assert_eq!(answer["id"], id);
        assert!(answer.get("result").is_some());
    }
    server.send(&json!({ "jsonrpc": "2.0", "id": "x".repeat(2_000), "method": "ping" }));
    assert_eq!(code(&server.next()), -32600);
}
