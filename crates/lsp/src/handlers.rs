//! One method for each message of the protocol.

use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability, CodeLens,
    CodeLensOptions, CodeLensParams, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, FileChangeType,
    InitializeParams, InitializeResult, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::actions::{fixes, lens, lenses};
use crate::client::{Abilities, CONFIGURATION};
use crate::diagnostics::{is_partial, sentence};
use crate::documents::path_of;
use crate::server::{Phase, Server};
use crate::settings::EditorSettings;

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|why| why.to_string())
}

impl Server {
    pub(crate) fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        match (self.phase, method.as_str()) {
            (Phase::New, "initialize") => self.initialize(id, params),
            (Phase::New, _) => self.client.refuse(id, ErrorCode::ServerNotInitialized, "not initialized yet"),
            (Phase::ShutDown, _) => self.client.refuse(id, ErrorCode::InvalidRequest, "already shut down"),
            (_, "initialize") => self.client.refuse(id, ErrorCode::InvalidRequest, "already initialized"),
            (_, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.client.answer(id, ());
            }
            (_, "textDocument/codeLens") => self.reply(id, params, Server::code_lens),
            (_, "textDocument/codeAction") => self.reply(id, params, Server::code_action),
            (_, other) => {
                self.client.refuse(id, ErrorCode::MethodNotFound, format!("raddle has no method {other}"));
            }
        }
    }

    fn reply<P: DeserializeOwned, R: serde::Serialize>(
        &mut self,
        id: RequestId,
        params: Value,
        handler: fn(&mut Server, P) -> R,
    ) {
        match read(params) {
            Ok(params) => {
                let result = handler(self, params);
                self.client.answer(id, result);
            }
            Err(why) => self.client.refuse(id, ErrorCode::InvalidParams, why),
        }
    }

    fn initialize(&mut self, id: RequestId, params: Value) {
        let params: InitializeParams = match read(params) {
            Ok(params) => params,
            Err(why) => return self.client.refuse(id, ErrorCode::InvalidParams, why),
        };
        self.client.can = Abilities::of(&params);
        let options = params.initialization_options.unwrap_or_default();
        if let Some(settings) = options.get("settings").or_else(|| options.get("raddle")) {
            self.take_settings(settings);
        }
        self.phase = Phase::Running;
        let info = ServerInfo { name: "raddle".into(), version: Some(env!("CARGO_PKG_VERSION").into()) };
        self.client.answer(id, InitializeResult { capabilities: capabilities(), server_info: Some(info) });
    }

    fn code_lens(&mut self, params: CodeLensParams) -> Vec<CodeLens> {
        let path = path_of(&params.text_document.uri);
        if !self.settings.code_lens {
            return Vec::new();
        }
        let own = self.known.get(&path);
        if let Some(why) = own.and_then(|known| known.left_out.as_ref()).filter(|why| !is_partial(why)) {
            return vec![lens(0, sentence(why))];
        }
        let others = self.known.iter().filter(|(of, _)| **of != path).map(|(_, known)| known);
        lenses(&path, own.into_iter().chain(others).flat_map(|known| &known.checked))
    }

    fn code_action(&mut self, params: CodeActionParams) -> Vec<lsp_types::CodeActionOrCommand> {
        let uri = params.text_document.uri;
        let path = path_of(&uri);
        let is_fix = |kind: &CodeActionKind| CodeActionKind::QUICKFIX.as_str().starts_with(kind.as_str());
        let is_wanted = params.context.only.as_ref().is_none_or(|only| only.iter().any(is_fix));
        let Some(lines) = self.lines(&path).filter(|_| is_wanted) else { return Vec::new() };
        let diagnostics = self.published.get(&path).map(Vec::as_slice).unwrap_or_default();
        fixes(&uri, &lines, params.range, diagnostics, self.client.can.asks_for_reasons)
    }

    pub(crate) fn notification(&mut self, method: &str, params: Value) -> Result<(), String> {
        match method {
            "initialized" => {
                self.client.register();
                self.client.ask_for_configuration();
            }
            "textDocument/didOpen" => self.did_open(read(params)?),
            "textDocument/didChange" => return self.did_change(read(params)?),
            "textDocument/didClose" => self.did_close(read(params)?),
            "workspace/didChangeConfiguration" => self.did_change_configuration(read(params)?),
            "workspace/didChangeWatchedFiles" => self.did_change_files(read(params)?),
            // The protocol allows a server to ignore `$/…`. Saving does not change a buffer.
            _ => {}
        }
        Ok(())
    }

    fn did_open(&mut self, params: DidOpenTextDocumentParams) {
        let path = self.documents.open(params.text_document);
        self.read_store(&path);
        self.publish(None);
        self.check_again(Some(&path));
    }

    fn did_change(&mut self, params: DidChangeTextDocumentParams) -> Result<(), String> {
        let id = params.text_document;
        let changed = self.documents.change(&id.uri, id.version, params.content_changes);
        let path = changed.ok_or_else(|| format!("{} is not open", id.uri))?;
        if !self.is_checked(&path) {
            // Nothing else moves the stored findings of this buffer.
            self.publish(None);
        }
        self.check_again(Some(&path));
        Ok(())
    }

    fn did_close(&mut self, params: DidCloseTextDocumentParams) {
        if let Some(path) = self.documents.close(&params.text_document.uri) {
            self.forget(&path);
            // From now on the other files see this one as it is on disk.
            self.check_again(None);
        }
    }

    fn did_change_configuration(&mut self, params: DidChangeConfigurationParams) {
        if self.client.can.has_configuration {
            self.client.ask_for_configuration();
        } else if !params.settings.is_null() {
            self.take_settings(&params.settings);
        }
    }

    fn did_change_files(&mut self, params: DidChangeWatchedFilesParams) {
        self.fresh |= params.changes.iter().any(|change| change.typ == FileChangeType::CREATED);
        self.check_again(None);
    }

    /// Handles an answer to a request from the server.
    pub(crate) fn answered(&mut self, response: Response) {
        if response.id == RequestId::from(CONFIGURATION.to_owned())
            && let Some(settings) = response.result.as_ref().and_then(|result| result.get(0))
        {
            let settings = settings.clone();
            self.take_settings(&settings);
        }
    }

    fn take_settings(&mut self, value: &Value) {
        match EditorSettings::parse(value) {
            Ok(settings) if settings == *self.settings => {}
            Ok(settings) => {
                self.settings = settings.into();
                let open: Vec<_> = self.documents.paths().cloned().collect();
                open.iter().for_each(|path| self.read_store(path));
                if !self.settings.enable {
                    self.known.clear();
                }
                self.publish(None);
                self.check_again(None);
            }
            Err(why) => self.client.show(why),
        }
    }
}

fn capabilities() -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        ..TextDocumentSyncOptions::default()
    };
    let actions = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
        ..CodeActionOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        code_action_provider: Some(CodeActionProviderCapability::Options(actions)),
        ..ServerCapabilities::default()
    }
}
