//! What other commands have found, in the editor.

mod common;

use std::time::{Duration, UNIX_EPOCH};

use common::{Client, RACE};
use raddle_finding::{Access, AccessOp, Confidence, Finding, Frame, Kind};
use raddle_store::{CommandRun, FILE, Store};
use serde_json::json;

/// A race between two lines of a file, as `raddle run` would report it.
fn race(client: &Client, name: &str, lines: [u32; 2]) -> Finding {
    let file = client.path(name).display().to_string();
    let access = |line| Access {
        op: AccessOp::Write,
        size: 4,
        thread: "T1".into(),
        locks: vec![],
        lock: None,
        stack: vec![Frame {
            function: Some("f".into()),
            file: Some(file.clone()),
            line: Some(line),
            column: Some(6),
            ..Frame::default()
        }],
    };
    let mut finding = Finding::new(Kind::DataRace, Confidence::Confirmed, "data race on `n`");
    finding.accesses = lines.map(access).to_vec();
    finding.id = "data-race-1".into();
    finding
}

fn record(client: &Client, command: &str, second: u64, text: &str, findings: &[Finding]) {
    let run = CommandRun {
        command: command.into(),
        target: vec!["./t".into()],
        folder: client.path(""),
        at: UNIX_EPOCH + Duration::from_secs(second),
    };
    let line = |_: &std::path::Path, line: u32| text.lines().nth(line as usize - 1).map(str::to_owned);
    Store::open(&client.path("store")).unwrap().record(&run, findings, &line).unwrap();
}

/// No check of its own: only what is stored is shown.
fn client() -> Client {
    Client::with(json!({}), json!({ "settings": { "enable": false } }))
}

#[test]
fn a_stored_finding_is_shown_where_it_was_found() {
    let mut client = client();
    record(&client, "run", 1, RACE, &[race(&client, "a.c", [4, 10])]);
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    let shown = client.diagnostics("a.c");
    assert!(shown.iter().all(|d| d["source"] == "raddle run" && d["severity"] == 1), "{shown:?}");
    assert_eq!(shown[0]["relatedInformation"].as_array().unwrap().len(), 1);
    let end = shown.iter().find(|d| d["range"]["start"]["line"] == 3).unwrap();
    assert_eq!(end["range"]["start"]["character"], 4, "an operator's column underlines the statement");
    client.end();
}

#[test]
fn a_store_that_changes_is_read_again() {
    let mut client = client();
    client.open("a.c", RACE);
    record(&client, "run", 1, RACE, &[race(&client, "a.c", [4, 10])]);
    client.until_lines("a.c", &[3, 9]);
    record(&client, "tsvd", 1, RACE, &[race(&client, "a.c", [4, 11])]);
    client.until_lines("a.c", &[3, 3, 9, 10]);
    record(&client, "run", 2, RACE, &[]);
    client.until_lines("a.c", &[3, 10]);
    assert!(client.diagnostics("a.c").iter().all(|d| d["source"] == "raddle tsvd"));
    client.end();
}

#[test]
fn findings_move_with_their_lines_and_go_with_them() {
    let mut client = client();
    record(&client, "run", 1, RACE, &[race(&client, "a.c", [4, 10])]);
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    let top = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
    client.change("a.c", 2, json!([{ "range": top, "text": "// one\n// two\n" }]));
    client.until_lines("a.c", &[5, 11]);
    client.replace("a.c", 3, &RACE.replace("n = 2;", "n = 3;"));
    client.until_lines("a.c", &[]);
    client.end();
}

#[test]
fn findings_of_any_language_are_shown() {
    let mut client = Client::started();
    let text = "fn main() {\n    unsafe { N += 1 };\n}\n";
    record(&client, "run", 1, text, &[race(&client, "main.rs", [2, 2])]);
    client.open_as("main.rs", "rust", text);
    client.until_lines("main.rs", &[1]);
    assert!(client.lenses("main.rs").is_empty());
    client.end();
}

#[test]
fn own_and_stored_findings_stand_side_by_side() {
    let mut client = Client::started();
    record(&client, "run", 1, RACE, &[race(&client, "a.c", [4, 10])]);
    record(&client, "check", 1, RACE, &[race(&client, "a.c", [1, 2])]);
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 3, 9, 9]);
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "stored": false } }));
    client.until_lines("a.c", &[3, 9]);
    client.end();
}

#[test]
fn a_damaged_store_is_a_line_in_the_log() {
    let mut client = client();
    std::fs::create_dir(client.path("store")).unwrap();
    std::fs::write(client.path("store").join(FILE), vec![b'x'; 4096]).unwrap();
    client.open("a.c", RACE);
    client.until(|client| client.logged.iter().any(|line| line.contains("damaged")));
    client.end();
}
