//! A client in memory: what an editor would send, and what it would see.
//!
//! Nothing here depends on how fast the server is: a client waits for the message that it needs,
//! and only a server that never sends it fails a test.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::unbounded;
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use raddle_lsp::{ConnectionEnd, ServerConfig, serve};
use serde_json::{Value, json};

/// For a machine under any load.
const PATIENCE: Duration = Duration::from_secs(120);

pub const RACE: &str = "#include <pthread.h>\nint n;\nvoid *f(void *a) {\n    n++;\n    return 0;\n}\n\
    int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, f, 0);\n    n = 2;\n    pthread_join(t, 0);\n}\n";

pub struct Client {
    connection: Connection,
    server: Option<JoinHandle<std::io::Result<ConnectionEnd>>>,
    requests: i32,
    pub folder: tempfile::TempDir,
    /// The diagnostics of each file as an editor would show them.
    pub shown: BTreeMap<String, Vec<Value>>,
    /// Versions of the published diagnostics, in order.
    pub versions: Vec<(String, Option<i64>)>,
    pub logged: Vec<String>,
    pub messages: Vec<String>,
    /// What the server asked of the client, by method.
    pub asked: Vec<(RequestId, String)>,
}

impl Client {
    /// A client with a folder of its own, not initialized.
    pub fn new() -> Client {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let store = folder.path().canonicalize().unwrap().join("store");
        let config = ServerConfig {
            store: Box::new(move |_: &Path| Some(store.clone())),
            look: Duration::from_millis(20),
        };
        let (to_server, from_client) = unbounded();
        let (to_client, from_server) = unbounded();
        let theirs = Connection { sender: to_client, receiver: from_client };
        let server = std::thread::spawn(move || serve(theirs, config));
        Client {
            connection: Connection { sender: to_server, receiver: from_server },
            server: Some(server),
            requests: 0,
            folder,
            shown: BTreeMap::new(),
            versions: Vec::new(),
            logged: Vec::new(),
            messages: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// A client that has said hello.
    pub fn started() -> Client {
        Client::with(json!({}), json!({}))
    }

    pub fn with(capabilities: Value, options: Value) -> Client {
        let mut client = Client::new();
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": options });
        let answer = client.request("initialize", params);
        assert!(answer.error.is_none(), "{answer:?}");
        client.notify("initialized", json!({}));
        client
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn uri(&self, name: &str) -> String {
        if name.contains(':') { name.to_owned() } else { format!("file://{}", self.path(name).display()) }
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.send(Message::Notification(Notification { method: method.into(), params }));
    }

    pub fn send(&self, message: Message) {
        self.connection.sender.send(message).unwrap();
    }

    pub fn open(&self, name: &str, text: &str) {
        self.open_as(name, "c", text);
    }

    pub fn open_as(&self, name: &str, language: &str, text: &str) {
        let document = json!({ "uri": self.uri(name), "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn close(&self, name: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": self.uri(name) } }));
    }

    /// Replaces the whole text.
    pub fn replace(&self, name: &str, version: i64, text: &str) {
        self.change(name, version, json!([{ "text": text }]));
    }

    pub fn change(&self, name: &str, version: i64, changes: Value) {
        let document = json!({ "uri": self.uri(name), "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    pub fn request(&mut self, method: &str, params: Value) -> Response {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Message::Request(Request { id: id.clone(), method: method.into(), params }));
        loop {
            if let Message::Response(response) = self.receive()
                && response.id == id
            {
                return response;
            }
        }
    }

    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let response = self.request(method, params);
        response.result.unwrap_or_else(|| panic!("{method}: {:?}", response.error))
    }

    /// The next message, noted where it says something.
    #[track_caller]
    pub fn receive(&mut self) -> Message {
        let received = self.connection.receiver.recv_timeout(PATIENCE);
        let message = received.unwrap_or_else(|why| {
            panic!(
                "the server says nothing more: {why}\nshown: {:#?}\nlogged: {:#?}",
                self.shown, self.logged
            )
        });
        match &message {
            Message::Notification(n) if n.method == "textDocument/publishDiagnostics" => {
                let uri = n.params["uri"].as_str().unwrap().to_owned();
                let shown = n.params["diagnostics"].as_array().unwrap().clone();
                self.versions.push((uri.clone(), n.params["version"].as_i64()));
                self.shown.insert(uri, shown);
            }
            Message::Notification(n) => {
                let text = n.params["message"].as_str().unwrap_or_default().to_owned();
                match n.method.as_str() {
                    "window/logMessage" => self.logged.push(text),
                    "window/showMessage" => self.messages.push(text),
                    other => panic!("an unexpected {other}"),
                }
            }
            Message::Request(r) => self.asked.push((r.id.clone(), r.method.clone())),
            Message::Response(_) => {}
        }
        message
    }

    /// Waits until something holds of what has been received.
    #[track_caller]
    pub fn until(&mut self, mut holds: impl FnMut(&Client) -> bool) {
        while !holds(self) {
            self.receive();
        }
    }

    /// The diagnostics that are shown for a file.
    pub fn diagnostics(&self, name: &str) -> &[Value] {
        self.shown.get(&self.uri(name)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The lines, from 0, that are underlined in a file, in order.
    pub fn lines(&self, name: &str) -> Vec<u64> {
        let mut lines: Vec<u64> =
            self.diagnostics(name).iter().map(|d| d["range"]["start"]["line"].as_u64().unwrap()).collect();
        lines.sort_unstable();
        lines
    }

    /// Waits until these lines are underlined.
    #[track_caller]
    pub fn until_lines(&mut self, name: &str, lines: &[u64]) {
        self.until(|client| client.shown.contains_key(&client.uri(name)) && client.lines(name) == lines);
    }

    /// Waits until diagnostics of a version have been published.
    #[track_caller]
    pub fn until_version(&mut self, name: &str, version: i64) {
        let of = (self.uri(name), Some(version));
        self.until(|client| client.versions.contains(&of));
    }

    pub fn lenses(&mut self, name: &str) -> Vec<(u64, String)> {
        let lenses =
            self.result("textDocument/codeLens", json!({ "textDocument": { "uri": self.uri(name) } }));
        let lens = |lens: &Value| {
            let title = lens["command"]["title"].as_str().unwrap().to_owned();
            (lens["range"]["start"]["line"].as_u64().unwrap(), title)
        };
        lenses.as_array().unwrap().iter().map(lens).collect()
    }

    pub fn fixes(&mut self, name: &str, line: u64) -> Vec<Value> {
        let at = json!({ "line": line, "character": 0 });
        let params = json!({ "textDocument": { "uri": self.uri(name) }, "range": { "start": at, "end": at },
            "context": { "diagnostics": [] } });
        self.result("textDocument/codeAction", params).as_array().unwrap().clone()
    }

    /// Ends in the order that the protocol wants.
    pub fn end(mut self) {
        assert!(self.request("shutdown", Value::Null).error.is_none());
        self.notify("exit", Value::Null);
        assert_eq!(self.server.take().unwrap().join().unwrap().unwrap(), ConnectionEnd::Orderly);
    }

    /// How the server ended, once it has.
    pub fn ended(mut self) -> ConnectionEnd {
        let server = self.server.take().unwrap();
        drop(self);
        server.join().unwrap().unwrap()
    }
}
