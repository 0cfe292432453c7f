//! The client: what it can do, and how the server talks to it.

use crossbeam_channel::Sender;
use lsp_server::{Message, Notification, Request, RequestId, Response};
use lsp_types::{ClientCapabilities, InitializeParams, MessageType, ShowMessageParams};
use serde::Serialize;
use serde_json::{Value, json};

use crate::transport::warning;

/// What a client said it can do.
#[derive(Debug, Default, Clone)]
pub struct Abilities {
    pub refreshes_lenses: bool,
    pub has_configuration: bool,
    pub registers_configuration: bool,
    pub registers_watchers: bool,
    /// The client has the command that asks for a reason.
    pub asks_for_reasons: bool,
}

impl Abilities {
    pub fn of(params: &InitializeParams) -> Abilities {
        let ClientCapabilities { workspace, .. } = &params.capabilities;
        let workspace = workspace.clone().unwrap_or_default();
        let option = |name: &str| params.initialization_options.as_ref().and_then(|o| o.get(name)?.as_bool());
        Abilities {
            refreshes_lenses: workspace.code_lens.and_then(|c| c.refresh_support).unwrap_or(false),
            has_configuration: workspace.configuration.unwrap_or(false),
            registers_configuration: workspace
                .did_change_configuration
                .and_then(|c| c.dynamic_registration)
                .unwrap_or(false),
            registers_watchers: workspace
                .did_change_watched_files
                .and_then(|c| c.dynamic_registration)
                .unwrap_or(false),
            asks_for_reasons: option("asksForReasons").unwrap_or(false),
        }
    }
}

/// Requests from the server whose answers matter.
pub const CONFIGURATION: &str = "raddle/configuration";

pub struct Client {
    sender: Sender<Message>,
    pub can: Abilities,
    requests: i32,
}

impl Client {
    pub fn new(sender: Sender<Message>) -> Client {
        Client { sender, can: Abilities::default(), requests: 0 }
    }

    // If the client is gone, the connection's other channel ends, and the server notices it there.
    fn send(&self, message: Message) {
        let _ = self.sender.send(message);
    }

    pub fn answer(&self, id: RequestId, result: impl Serialize) {
        self.send(Message::Response(Response::new_ok(id, result)));
    }

    pub fn refuse(&self, id: RequestId, code: lsp_server::ErrorCode, why: impl Into<String>) {
        self.send(Message::Response(Response::new_err(id, code as i32, why.into())));
    }

    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Message::Notification(Notification::new(method.into(), params)));
    }

    /// A line for the client's log.
    pub fn log(&self, text: impl Into<String>) {
        self.send(warning(text.into()));
    }

    /// Shows a message to the user.
    pub fn show(&self, text: impl Into<String>) {
        let params = ShowMessageParams { typ: MessageType::WARNING, message: text.into() };
        self.notify("window/showMessage", params);
    }

    fn request(&mut self, id: RequestId, method: &str, params: Value) {
        self.send(Message::Request(Request { id, method: method.into(), params }));
    }

    fn fresh_id(&mut self) -> RequestId {
        self.requests += 1;
        RequestId::from(format!("raddle/{}", self.requests))
    }

    pub fn ask_for_configuration(&mut self) {
        if self.can.has_configuration {
            let params = json!({ "items": [{ "section": "raddle" }] });
            self.request(RequestId::from(CONFIGURATION.to_owned()), "workspace/configuration", params);
        }
    }

    pub fn refresh_lenses(&mut self) {
        if self.can.refreshes_lenses {
            let id = self.fresh_id();
            self.request(id, "workspace/codeLens/refresh", Value::Null);
        }
    }

    /// Asks the client to report changed settings and changed files on disk.
    pub fn register(&mut self) {
        let mut registrations = Vec::new();
        if self.can.registers_configuration {
            let method = "workspace/didChangeConfiguration";
            registrations.push(
                json!({ "id": "settings", "method": method, "registerOptions": { "section": "raddle" } }),
            );
        }
        if self.can.registers_watchers {
            let watchers: Vec<Value> = ["**/*.{c,h,i}", "**/compile_commands.json"]
                .iter()
                .map(|pattern| json!({ "globPattern": pattern }))
                .collect();
            let method = "workspace/didChangeWatchedFiles";
            registrations.push(
                json!({ "id": "files", "method": method, "registerOptions": { "watchers": watchers } }),
            );
        }
        if !registrations.is_empty() {
            let id = self.fresh_id();
            self.request(id, "client/registerCapability", json!({ "registrations": registrations }));
        }
    }
}
