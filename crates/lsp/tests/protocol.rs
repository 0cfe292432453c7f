//! What an editor sees, message by message.

mod common;

use common::{Client, RACE};
use lsp_server::{Message, Response};
use raddle_lsp::ConnectionEnd;
use serde_json::{Value, json};

#[test]
fn a_race_is_underlined_and_goes_when_it_is_repaired() {
    let mut client = Client::started();
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    for diagnostic in client.diagnostics("a.c") {
        assert_eq!((&diagnostic["source"], &diagnostic["code"]), (&json!("raddle"), &json!("data-race")));
        assert_eq!(diagnostic["severity"], 2);
        let related: Vec<u64> = diagnostic["relatedInformation"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["location"]["range"]["start"]["line"].as_u64().unwrap())
            .collect();
        assert!(related.contains(&8), "where the thread was started: {related:?}");
        assert!(related.contains(&3) || related.contains(&9), "the other end: {related:?}");
    }
    // The write of main goes behind the join.
    let join = json!({ "start": { "line": 9, "character": 0 }, "end": { "line": 10, "character": 0 } });
    let after = json!({ "start": { "line": 10, "character": 0 }, "end": { "line": 10, "character": 0 } });
    client.change(
        "a.c",
        2,
        json!([{ "range": join, "text": "" }, { "range": after, "text": "    n = 2;\n" }]),
    );
    client.until_lines("a.c", &[]);
    assert!(client.versions.contains(&(client.uri("a.c"), Some(2))));
    client.end();
}

#[test]
fn a_buffer_that_is_not_saved_counts() {
    let mut client = Client::started();
    client.write("a.c", "int main(void) { return 0; }\n");
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    client.open("untitled:Untitled-1", RACE);
    client.until_lines("untitled:Untitled-1", &[3, 9]);
    client.end();
}

#[test]
fn the_ends_of_a_race_may_lie_in_two_files() {
    let mut client = Client::started();
    client.write("worker.c", "extern int n;\nvoid *f(void *a) {\n    n++;\n    return 0;\n}\n");
    client.open(
        "main.c",
        &RACE.replace("void *f(void *a) {\n    n++;\n    return 0;\n}\n", "void *f(void *a);\n"),
    );
    client.until_lines("worker.c", &[2]);
    assert_eq!(client.lines("main.c"), [6]);
    // The repair in the other file, which is now open and not saved.
    client.open("worker.c", "extern int n;\nvoid *f(void *a) {\n    return 0;\n}\n");
    client.until_lines("main.c", &[]);
    client.until_lines("worker.c", &[]);
    // Closed without saving: the disk counts again.
    client.close("worker.c");
    client.until_lines("main.c", &[6]);
    client.end();
}

#[test]
fn an_open_header_counts_as_it_is() {
    let mut client = Client::started();
    client.write("n.h", "static int n;\n#define BUMP n++\n");
    client.open("a.c", &RACE.replace("int n;", "#include \"n.h\"").replace("n++", "BUMP"));
    client.until_lines("a.c", &[3, 9]);
    client.open("n.h", "static int n;\n#define BUMP (void)0\n");
    client.until_lines("a.c", &[]);
    client.end();
}

#[test]
fn positions_count_utf16() {
    let mut client = Client::started();
    client.open("a.c", &RACE.replace("    n = 2;", "    /* ü😀 */ n = 2;"));
    client.until_lines("a.c", &[3, 9]);
    let range =
        client.diagnostics("a.c").iter().find(|d| d["range"]["start"]["line"] == 9).unwrap()["range"].clone();
    assert_eq!(
        range,
        json!({ "start": { "line": 9, "character": 14 }, "end": { "line": 9, "character": 15 } })
    );
    // An edit after the wide characters: `n = 2` becomes `m = 2`.
    client.change("a.c", 2, json!([{ "range": range, "text": "int m" }]));
    client.until_lines("a.c", &[]);
    client.end();
}

#[test]
fn functions_that_start_threads_have_a_lens() {
    let mut client =
        Client::with(json!({ "workspace": { "codeLens": { "refreshSupport": true } } }), json!({}));
    client.open("a.c", RACE);
    client.until(|client| client.asked.iter().any(|(_, method)| method == "workspace/codeLens/refresh"));
    let lenses = client.lenses("a.c");
    assert_eq!(lenses.len(), 1, "{lenses:?}");
    assert_eq!(lenses[0].0, 6);
    assert!(
        lenses[0].1.starts_with("checked, 2 threads, ") && lenses[0].1.contains(" interleaving"),
        "{lenses:?}"
    );
    client.end();
}

#[test]
fn a_quick_fix_ignores_with_a_reason() {
    let mut client = Client::started();
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    assert!(client.fixes("a.c", 0).is_empty());
    let fixes = client.fixes("a.c", 3);
    assert_eq!(fixes[0]["kind"], "quickfix");
    let edits = fixes[0]["edit"]["changes"][client.uri("a.c")].as_array().unwrap().clone();
    assert_eq!(edits[0]["newText"], " // raddle: ignore the value may be out of date");
    let change = json!([{ "range": edits[0]["range"], "text": edits[0]["newText"] }]);
    client.change("a.c", 2, change);
    client.until_lines("a.c", &[]);
    client.end();
}

#[test]
fn a_client_that_asks_for_reasons_gets_a_command() {
    let mut client = Client::with(json!({}), json!({ "asksForReasons": true }));
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    let fixes = client.fixes("a.c", 9);
    let command = fixes.iter().find(|fix| fix["command"].is_object()).expect("a command");
    assert_eq!(command["command"]["command"], "raddle.ignore");
    assert_eq!(command["command"]["arguments"][0]["uri"], client.uri("a.c"));
    client.end();
}

#[test]
fn settings_change_severity_bounds_and_whether_to_check() {
    let settings = json!({ "severity": { "kinds": { "data-race": "error" } } });
    let mut client = Client::with(json!({}), json!({ "settings": settings }));
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    assert_eq!(client.diagnostics("a.c")[0]["severity"], 1);

    let change = |client: &Client, settings: Value| {
        client.notify("workspace/didChangeConfiguration", json!({ "settings": { "raddle": settings } }));
    };
    change(&client, json!({ "severity": { "kinds": { "data-race": "off" } } }));
    client.until_lines("a.c", &[]);
    change(&client, json!({ "bounds": { "quickSteps": 1, "steps": 0, "runSteps": 1 } }));
    client.until(|client| client.shown.contains_key(&client.uri("a.c")));
    change(&client, json!({ "bounds": { "steps": "many" } }));
    client.until(|client| client.messages.iter().any(|m| m.contains("many")));
    change(&client, json!({}));
    client.until_lines("a.c", &[3, 9]);
    change(&client, json!({ "enable": false }));
    client.until_lines("a.c", &[]);
    assert!(client.lenses("a.c").is_empty());
    client.end();
}

#[test]
fn settings_are_asked_for_where_the_client_has_them() {
    let mut client = Client::with(json!({ "workspace": { "configuration": true } }), json!({}));
    client.until(|client| client.asked.iter().any(|(_, method)| method == "workspace/configuration"));
    let id = client.asked[0].0.clone();
    let settings = json!([{ "severity": { "suspected": "hint" } }]);
    client.send(Message::Response(Response::new_ok(id, settings)));
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    assert_eq!(client.diagnostics("a.c")[0]["severity"], 4);
    client.end();
}

#[test]
fn files_that_change_on_the_disk_are_seen() {
    let abilities = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut client = Client::with(abilities, json!({}));
    client.until(|client| client.asked.iter().any(|(_, method)| method == "client/registerCapability"));
    client.open("a.c", &RACE.replace("int n;", "#include \"n.h\""));
    // Without its header `n` is unknown, and nothing is certain about it.
    client.until_version("a.c", 1);
    client.write("n.h", "static int n;\n");
    let change = json!({ "uri": client.uri("n.h"), "type": 1 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    client.until_lines("a.c", &[3, 9]);
    client.end();
}

/// The next keystroke cancels: without that, this would take as long as ten thorough checks of a
/// program without end.
#[test]
fn typing_on_cancels_what_runs() {
    let endless = "#include <pthread.h>\nint a[99]; void *f(void *x) { for (int i = 0;; i++) a[i % 99]++; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); for (;;) a[0]++; }\n";
    let bounds = json!({ "steps": u64::MAX / 4, "runSteps": u64::MAX / 8, "runs": u32::MAX });
    let mut client = Client::with(json!({}), json!({ "settings": { "bounds": bounds, "debounce": 0 } }));
    client.open("a.c", endless);
    client.until_version("a.c", 1);
    for version in 2..12 {
        // Now the thorough check is under way, and would be for years.
        client.replace("a.c", version, &format!("{endless}// {version}\n"));
        client.until_version("a.c", version);
    }
    client.replace("a.c", 99, "int main(void) { return 0; }\n");
    client.until_lines("a.c", &[]);
    client.end();
}

#[test]
fn answers_are_about_the_last_version() {
    let mut client = Client::started();
    client.open("a.c", RACE);
    let repaired = RACE.replace("    n = 2;\n", "");
    for version in 2..30 {
        client.replace("a.c", version, if version % 2 == 0 { &repaired } else { RACE });
    }
    client.until_version("a.c", 29);
    client.until_lines("a.c", &[3, 9]);
    let versions: Vec<i64> = client.versions.iter().filter_map(|(_, version)| *version).collect();
    assert!(versions.is_sorted(), "{versions:?}");
    client.end();
}

#[test]
fn a_closed_buffer_has_no_diagnostics() {
    let mut client = Client::started();
    client.open("a.c", RACE);
    client.until_lines("a.c", &[3, 9]);
    client.close("a.c");
    client.until_lines("a.c", &[]);
    client.end();
}

#[test]
fn the_end_is_orderly_or_not() {
    let client = Client::started();
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), ConnectionEnd::Abruptly, "without shutdown");
    let mut client = Client::started();
    assert!(client.request("shutdown", Value::Null).error.is_none());
    let refused = client.request("textDocument/codeLens", json!({}));
    assert_eq!(refused.error.unwrap().code, lsp_server::ErrorCode::InvalidRequest as i32);
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), ConnectionEnd::Orderly);
    let client = Client::started();
    client.open("a.c", RACE);
    assert_eq!(client.ended(), ConnectionEnd::Abruptly, "the connection is cut in the middle of a check");
}
