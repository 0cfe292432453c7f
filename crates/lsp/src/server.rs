//! The server's state, and what each message does to it.
//!
//! One thread reads messages and answers them from what is known. It never waits for a check;
//! another thread checks ([`crate::worker`]). The server survives whatever a client sends: it
//! refuses an invalid message or notes it in the client's log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{after, never, select, tick};
use lsp_server::{Connection, Message, Notification};
use lsp_types::{Diagnostic, PublishDiagnosticsParams};
use raddle_check::{CheckOutcome, CheckedFunction};
use raddle_finding::Finding;

use crate::client::Client;
use crate::diagnostics::{FilePlaces, left_out, of_finding};
use crate::documents::Documents;
use crate::project::{DiskFiles, is_c, is_csharp, is_header};
use crate::schedule::CheckSchedule;
use crate::settings::EditorSettings;
use crate::stored::Stores;
use crate::worker::{CheckJob, CheckWorker, WorkerEvent};

/// Returns the folder of the store for a file, see `raddle_store::home`.
pub type StoreOf = Box<dyn Fn(&Path) -> Option<PathBuf> + Send>;

/// What a server takes from its environment.
pub struct ServerConfig {
    pub store: StoreOf,
    /// How often to check whether a store has changed.
    pub look: Duration,
}

/// What is known about the programs of one buffer.
#[derive(Default)]
pub(crate) struct BufferState {
    findings: Vec<Finding>,
    pub(crate) checked: Vec<CheckedFunction>,
    pub(crate) left_out: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    New,
    Running,
    ShutDown,
}

pub(crate) struct Server {
    pub(crate) client: Client,
    pub(crate) phase: Phase,
    pub(crate) settings: Arc<EditorSettings>,
    pub(crate) documents: Documents,
    pub(crate) known: BTreeMap<PathBuf, BufferState>,
    pub(crate) published: BTreeMap<PathBuf, Vec<Diagnostic>>,
    pub(crate) schedule: CheckSchedule,
    /// New files have appeared since the last check.
    pub(crate) fresh: bool,
    stores: Stores,
    files: DiskFiles,
    worker: CheckWorker,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The client ended the connection, in the order that the protocol requires.
    Orderly,
    /// The client disappeared.
    Abruptly,
}

/// Serves a client until it leaves.
pub fn serve(connection: Connection, config: ServerConfig) -> std::io::Result<ConnectionEnd> {
    let mut server = Server {
        client: Client::new(connection.sender),
        phase: Phase::New,
        settings: Arc::default(),
        documents: Documents::default(),
        known: BTreeMap::new(),
        published: BTreeMap::new(),
        schedule: CheckSchedule::default(),
        fresh: false,
        stores: Stores::new(config.store),
        files: DiskFiles::default(),
        worker: CheckWorker::start()?,
    };
    let looks = tick(config.look.max(Duration::from_millis(10)));
    loop {
        server.begin_next();
        let due = server
            .schedule
            .due()
            .map_or_else(never, |at| after(at.saturating_duration_since(Instant::now())));
        select! {
            recv(connection.receiver) -> message => match message {
                Ok(Message::Notification(n)) if n.method == "exit" => return Ok(server.ending()),
                Ok(message) => server.receive(message),
                Err(_) => return Ok(ConnectionEnd::Abruptly),
            },
            recv(server.worker.events) -> event => match event {
                Ok(event) => server.hear(event),
                Err(_) => return Err(std::io::Error::other("the checking thread has ended")),
            },
            recv(looks) -> _ => server.look_at_stores(),
            recv(due) -> _ => {}
        }
    }
}

impl Server {
    fn ending(&self) -> ConnectionEnd {
        if self.phase == Phase::ShutDown { ConnectionEnd::Orderly } else { ConnectionEnd::Abruptly }
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) => self.notified(notification),
            Message::Response(response) => self.answered(response),
        }
    }

    fn notified(&mut self, notification: Notification) {
        // Before `initialize` and after `shutdown` the server accepts only `exit`.
        if self.phase == Phase::Running
            && let Err(why) = self.notification(&notification.method, notification.params)
        {
            self.client.log(format!("raddle: {} was passed over: {why}", notification.method));
        }
    }

    /// Whether the checker handles this buffer. Other buffers have only stored findings.
    pub(crate) fn is_checked(&self, path: &Path) -> bool {
        let by_language = self.documents.get(path).is_some_and(|document| document.language == "c");
        self.settings.enable && (is_c(path) || is_header(path) || is_csharp(path) || by_language)
    }

    /// Schedules new checks: of `first`, then of all other buffers.
    pub(crate) fn check_again(&mut self, first: Option<&Path>) {
        let open: Vec<PathBuf> =
            self.documents.paths().filter(|path| self.is_checked(path)).cloned().collect();
        let first = first.filter(|path| self.is_checked(path)).map(Path::to_path_buf);
        self.schedule.edited(first, open.into_iter(), Instant::now(), self.settings.debounce());
    }

    fn begin_next(&mut self) {
        if let Some(turn) = self.schedule.next(Instant::now()) {
            let job = CheckJob {
                generation: turn.generation,
                focus: turn.path,
                overlay: self.documents.snapshot(self.settings.largest_file),
                settings: self.settings.clone(),
                cancel: turn.cancel,
                fresh: std::mem::take(&mut self.fresh),
            };
            // If the thread is gone, its event channel ends, and the server notices it there.
            let _ = self.worker.jobs.send(job);
        }
    }

    fn hear(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Checked { generation, focus, outcome } => {
                if self.schedule.is_current(generation) && self.documents.get(&focus).is_some() {
                    self.learn(&focus, *outcome);
                }
            }
            WorkerEvent::Ended { generation, problem } => {
                self.schedule.ended(generation);
                if let Some(problem) = problem {
                    self.client.log(problem);
                }
            }
        }
    }

    /// Replaces what was known about `focus` with the outcome of a check.
    fn learn(&mut self, focus: &Path, outcome: CheckOutcome) {
        let name = focus.to_string_lossy();
        for known in self.known.values_mut() {
            known.findings.retain(|finding| !touches(finding, &name));
        }
        let left_out = outcome.left_out.iter().find(|(path, _)| **path == *name).map(|(_, why)| why.clone());
        let known = BufferState { findings: outcome.findings, checked: outcome.checked, left_out };
        self.known.insert(focus.to_path_buf(), known);
        self.publish(Some(focus));
        self.client.refresh_lenses();
    }

    /// Reads the stored findings of a buffer.
    pub(crate) fn read_store(&mut self, path: &Path) {
        if !self.settings.stored {
            self.stores.close(path);
        } else if let Err(why) = self.stores.open(path) {
            self.client.log(format!("raddle: {why}"));
        }
    }

    fn look_at_stores(&mut self) {
        if self.phase != Phase::Running || !self.settings.stored {
            return;
        }
        let changed = self.stores.changed();
        for path in &changed {
            self.read_store(path);
        }
        if !changed.is_empty() {
            self.publish(None);
        }
    }

    pub(crate) fn forget(&mut self, path: &Path) {
        self.known.remove(path);
        self.stores.close(path);
        self.schedule.closed(path);
        self.publish(None);
    }

    /// Sends the diagnostics of each file for which they have changed, and always those of
    /// `surely`.
    pub(crate) fn publish(&mut self, surely: Option<&Path>) {
        self.files.changed();
        let now = self.diagnostics();
        let before = std::mem::take(&mut self.published);
        let paths: BTreeSet<&PathBuf> = before.keys().chain(now.keys()).collect();
        let mut changed: Vec<&Path> = paths
            .into_iter()
            .filter(|path| before.get(*path) != now.get(*path))
            .map(PathBuf::as_path)
            .collect();
        if let Some(surely) = surely.filter(|path| !changed.contains(path)) {
            changed.push(surely);
        }
        for path in changed {
            let Some(uri) = self.documents.uri(path) else { continue };
            let version = self.documents.get(path).map(|document| document.version);
            let diagnostics = now.get(path).cloned().unwrap_or_default();
            let params = PublishDiagnosticsParams { uri, diagnostics, version };
            self.client.notify("textDocument/publishDiagnostics", params);
        }
        self.published = now;
    }

    /// All diagnostics by file.
    fn diagnostics(&mut self) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
        let mut out: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        let mut places = FilePlaces::new(&mut self.documents, &self.files);
        let stored = self.stores.findings(&mut places);
        let own = self.known.values().flat_map(|known| &known.findings).map(|finding| (finding, "raddle"));
        for (finding, source) in own.chain(stored.iter().map(|(finding, source)| (finding, source.as_str())))
        {
            for (path, diagnostic) in of_finding(finding, source, &self.settings, &mut places) {
                let list = out.entry(path).or_default();
                // Two buffers of one program have the same findings.
                let id = |d: &Diagnostic| (d.range, d.source.clone(), d.data.clone());
                if !list.iter().any(|other| id(other) == id(&diagnostic)) {
                    list.push(diagnostic);
                }
            }
        }
        for (path, known) in &self.known {
            out.entry(path.clone()).or_default().extend(known.left_out.as_deref().map(left_out));
        }
        out.retain(|_, diagnostics| !diagnostics.is_empty());
        out
    }

    /// The lines of a buffer or file.
    pub(crate) fn lines(&mut self, path: &Path) -> Option<crate::text::Lines> {
        FilePlaces::new(&mut self.documents, &self.files).lines(path).cloned()
    }
}

/// Whether a finding has an end in a file.
fn touches(finding: &Finding, file: &str) -> bool {
    finding
        .accesses
        .iter()
        .any(|access| access.stack.first().is_some_and(|f| f.file.as_deref() == Some(file)))
}
