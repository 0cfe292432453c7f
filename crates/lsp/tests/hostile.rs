//! What bad input gets: an answer, and a server that is still there.

mod common;

use common::{Client, RACE};
use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde_json::{Value, json};

/// The server still does its work.
fn assert_well(mut client: Client) {
    client.open("well.c", RACE);
    client.until_lines("well.c", &[3, 9]);
    client.end();
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let mut client = Client::new();
    let code = |client: &mut Client, method: &str, params| client.request(method, params).error.unwrap().code;
    assert_eq!(code(&mut client, "textDocument/codeLens", json!({})), ErrorCode::ServerNotInitialized as i32);
    assert_eq!(code(&mut client, "initialize", json!(7)), ErrorCode::InvalidParams as i32);
    client.result("initialize", json!({ "capabilities": {} }));
    assert_eq!(
        code(&mut client, "initialize", json!({ "capabilities": {} })),
        ErrorCode::InvalidRequest as i32
    );
    assert_eq!(code(&mut client, "no/such", Value::Null), ErrorCode::MethodNotFound as i32);
    for params in [Value::Null, json!([]), json!({ "textDocument": { "uri": "not an address" } })] {
        assert_eq!(code(&mut client, "textDocument/codeAction", params), ErrorCode::InvalidParams as i32);
    }
    assert!(client.lenses("not_open.c").is_empty());
    assert!(client.fixes("not_open.c", u64::from(u32::MAX)).is_empty());
    assert_well(client);
}

#[test]
fn notifications_that_make_no_sense_are_noted() {
    let mut client = Client::new();
    // Before `initialize` they do not count at all.
    client.open("early.c", RACE);
    client.result("initialize", json!({ "capabilities": {} }));
    client.notify("$/cancelRequest", json!({ "id": 3 }));
    client.notify("no/such", json!({ "x": 1 }));
    for method in ["didOpen", "didChange", "didClose"] {
        client.notify(&format!("textDocument/{method}"), json!({ "textDocument": 3 }));
    }
    client.replace("not_open.c", 2, RACE);
    client.close("not_open.c");
    client.send(Message::Response(Response::new_ok(RequestId::from(99), json!("nobody asked"))));
    client.until(|client| client.logged.len() == 4);
    assert!(client.logged[3].contains("not_open.c is not open"), "{:?}", client.logged);
    assert!(client.shown.is_empty());
    assert_well(client);
}

#[test]
fn ranges_beyond_the_text_are_clamped() {
    let mut client = Client::started();
    client.open("a.c", "int x;\n");
    let far = json!({ "line": 4_000_000_000u32, "character": 4_000_000_000u32 });
    let near = json!({ "line": 0, "character": 0 });
    client.change("a.c", 2, json!([{ "range": { "start": far, "end": near }, "text": RACE }]));
    client.until_lines("a.c", &[4, 10]);
    assert_well(client);
}

#[test]
fn fifty_megabytes_are_left_out_with_a_sentence() {
    let mut client = Client::started();
    let line = "int f(void) { return 1; }\n";
    client.open("big.c", &line.repeat((50 << 20) / line.len()));
    client.until(|client| !client.diagnostics("big.c").is_empty());
    let shown = &client.diagnostics("big.c")[0];
    assert_eq!((&shown["severity"], &shown["range"]["start"]["line"]), (&json!(3), &json!(0)));
    assert_eq!(shown["message"], "not checked: this file is 49 MB; files above 4 MB are left out");
    assert_eq!(client.lenses("big.c")[0].1, "not checked: this file is 49 MB; files above 4 MB are left out");
    assert!(client.fixes("big.c", 0).is_empty(), "there is nothing to ignore");
    // An edit in it, and then it is small.
    let at = json!({ "line": 1000, "character": 3 });
    client.change("big.c", 2, json!([{ "range": { "start": at, "end": at }, "text": "x" }]));
    client.replace("big.c", 3, RACE);
    client.until_lines("big.c", &[3, 9]);
    assert_well(client);
}

#[test]
fn a_binary_buffer_is_left_out_with_a_sentence() {
    let mut client = Client::started();
    let bytes: String = (0..5000u32).filter_map(|i| char::from_u32(i % 256)).collect();
    client.open("binary.c", &bytes);
    client.until(|client| !client.diagnostics("binary.c").is_empty());
    assert_eq!(client.diagnostics("binary.c")[0]["message"], "not checked: this file is a binary file");
    assert_well(client);
}

#[test]
fn half_a_program_is_checked_as_far_as_it_goes() {
    let mut client = Client::started();
    for (version, cut) in (2..).zip((0..RACE.len()).step_by(7)) {
        if version == 2 {
            client.open("a.c", "");
        }
        client.replace("a.c", version, &RACE[..cut]);
    }
    let broken = RACE.replace("int main", "int broken( { ] struct ;\nint main");
    client.replace("a.c", 999, &broken);
    client.until_lines("a.c", &[3, 10]);
    assert_well(client);
}

#[test]
fn a_file_may_be_closed_in_the_middle_of_its_check() {
    let endless = "#include <pthread.h>\nint n; void *f(void *x) { for (;;) n++; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); for (;;) n++; }\n";
    let bounds = json!({ "steps": u64::MAX / 4, "runSteps": u64::MAX / 8, "runs": u32::MAX });
    let mut client = Client::with(json!({}), json!({ "settings": { "bounds": bounds, "debounce": 0 } }));
    for _ in 0..5 {
        client.open("a.c", endless);
        client.until(|client| !client.diagnostics("a.c").is_empty());
        client.close("a.c");
        client.until_lines("a.c", &[]);
    }
    client.notify("workspace/didChangeConfiguration", json!({ "settings": {} }));
    assert_well(client);
}

#[test]
fn hostile_surroundings_do_no_harm() {
    let mut client = Client::started();
    client.write("compile_commands.json", "[{\"file\": \"a.c\", \"directory\": \".\", \"command\": \"/bin/sh -fplugin=x -include /dev/zero @f a.c\"}]");
    std::os::unix::fs::symlink(client.path("loop.h"), client.path("loop.h")).unwrap();
    std::os::unix::fs::symlink(client.path("."), client.path("folder")).unwrap();
    let includes =
        "#include \"/dev/zero\"\n#include \"loop.h\"\n#include \"folder/folder/n.h\"\n#include \".\"\n";
    let endless = "#define A B B\n#define B C C\n#define C A A\n";
    client.open("a.c", &format!("{includes}{endless}{RACE}"));
    client.until_lines("a.c", &[10, 16]);
    client.end();
}

#[test]
fn includes_in_a_cycle_are_noted() {
    let mut client = Client::started();
    client.write("cycle.h", "#include \"cycle.h\"\n");
    client.open("a.c", &format!("{RACE}#include \"cycle.h\"\n"));
    client.until(|client| client.lines("a.c").first() == Some(&0));
    let note = client.diagnostics("a.c").iter().find(|d| d["code"] == "not-checked").unwrap();
    assert!(note["message"].as_str().unwrap().starts_with("checked only in part: "), "{note}");
    assert_eq!(client.lines("a.c"), [0, 3, 9], "what comes before it was checked");
    assert_eq!(client.lenses("a.c").len(), 1);
    client.end();
}
