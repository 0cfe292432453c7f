//! How long after an edit the first diagnostics come, and the thorough ones.
//!
//! `cargo bench -p raddle-lsp` measures programs that it writes itself; with `-- FILE.c …` it
//! measures files of yours, with whatever they make a program with. A client in memory opens the
//! file, waits for both answers, and then edits it again and again, each time from when the edit is
//! sent to when diagnostics of that version arrive. The rest that the server takes before a check
//! (`debounce`, 40 ms) is included. With `burst`, each edit is the last of thirty that follow each
//! other within 10 ms. Results are for docs/benchmarks-lsp.md.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::unbounded;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use raddle_lsp::{ServerConfig, serve};
use serde_json::{Value, json};

const EDITS: usize = 21;
const BURST: usize = 30;
const PAUSE: Duration = Duration::from_millis(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    println!(
        "| program | lines | open | first, median | first, worst | first after a burst, worst | thorough, median |"
    );
    println!("|---|---|---|---|---|---|---|");
    if arguments.is_empty() {
        own_programs();
    }
    for path in arguments {
        measure(&path, &PathBuf::from(&path));
    }
}

fn own_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |program: &str, file: &str| folder.path().join(program).join(file);
    let programs: [(&str, Vec<(String, String)>); 6] = [
        ("a race in 20 lines", vec![("main.c".into(), threads(1))]),
        ("one thread, 1,000 lines", vec![("main.c".into(), functions("f", 250) + &calls("f", 250))]),
        ("threads, 1,000 lines", vec![("main.c".into(), functions("f", 240) + &threads(4))]),
        ("threads without end, 1,000 lines", vec![("main.c".into(), functions("f", 240) + &endless())]),
        ("threads, 20 files, 20,000 lines", project(20, 1000)),
        ("threads, 200 files, 100,000 lines", project(200, 500)),
    ];
    for (name, files) in &programs {
        std::fs::create_dir_all(place(name, ".git")).expect("a folder");
        for (file, text) in files {
            std::fs::write(place(name, file), text).expect("a file");
        }
        measure(name, &place(name, "main.c"));
    }
}

/// A program with threads in `main.c`, and files that it calls.
fn project(files: usize, lines: usize) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut main = String::new();
    for file in 1..files {
        out.push((format!("part{file}.c"), functions(&format!("p{file}_"), lines / 4)));
        let _ = writeln!(main, "int p{file}_0(int);");
    }
    let used: String = (1..files).map(|file| format!("    s += p{file}_0(3);\n")).collect();
    main += &functions("f", lines / 4 - 10);
    main += &format!("int all(void) {{\n    int s = 0;\n{used}    return s;\n}}\n");
    main += &threads(4).replace("shared++;", "shared++; all();");
    out.push(("main.c".into(), main));
    out
}

/// Functions of four lines each.
fn functions(prefix: &str, count: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        let _ = write!(
            text,
            "int {prefix}{i}(int x) {{\n    int s = {i};\n    for (int i = 0; i < x; i++) s += i * {i};\n    return s; }}\n"
        );
    }
    text
}

fn calls(prefix: &str, count: usize) -> String {
    let all: String = (0..count).map(|i| format!("{prefix}{i}(9);")).collect();
    format!("int main(void) {{ {all} }}\n")
}

/// A `main` whose threads share one variable with a lock and one without.
fn threads(count: usize) -> String {
    format!(
        "#include <pthread.h>\nstatic pthread_mutex_t lock; static int guarded, shared;\n\
         static void *work(void *x) {{\n    for (int i = 0; i < 20; i++) {{\n        pthread_mutex_lock(&lock);\n\
         \x20       guarded++;\n        pthread_mutex_unlock(&lock);\n    }}\n    shared++;\n    return x;\n}}\n\
         int main(void) {{\n    pthread_t t[{count}];\n\
         \x20   for (int i = 0; i < {count}; i++) pthread_create(&t[i], 0, work, 0);\n    shared++;\n\
         \x20   for (int i = 0; i < {count}; i++) pthread_join(t[i], 0);\n    return shared;\n}}\n"
    )
}

/// The same with threads that go on until the budget ends them.
fn endless() -> String {
    threads(4).replace("for (int i = 0; i < 20; i++) {", "for (;;) {")
}

fn measure(name: &str, file: &Path) {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(why) => return eprintln!("{}: {why}", file.display()),
    };
    let mut editor = Editor::start(file);
    let (open, _) = editor.open(&text);
    let (mut first, mut thorough, mut burst) = (Vec::new(), Vec::new(), Vec::new());
    for edit in 0..EDITS {
        let (soon, late) = editor.edit(edit);
        first.push(soon);
        thorough.push(late);
    }
    for _ in 0..EDITS / 3 {
        for edit in 0..BURST - 1 {
            editor.send_edit(edit);
            std::thread::sleep(PAUSE);
        }
        burst.push(editor.edit(BURST).0);
    }
    let ms = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1000.0);
    let worst = |times: &[Duration]| ms(times.iter().max().copied().unwrap_or_default());
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} |",
        text.lines().count(),
        ms(open),
        ms(median(&mut first)),
        worst(&first),
        worst(&burst),
        ms(median(&mut thorough)),
    );
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

struct Editor {
    connection: Connection,
    uri: String,
    version: i64,
    answers_twice: bool,
}

impl Editor {
    fn start(file: &Path) -> Editor {
        let (to_server, from_client) = unbounded();
        let (to_client, from_server) = unbounded();
        let theirs = Connection { sender: to_client, receiver: from_client };
        std::thread::spawn(move || {
            serve(theirs, ServerConfig { store: Box::new(|_| None), ..ServerConfig::default() })
        });
        let file = file.canonicalize().expect("a file");
        let uri = format!("file://{}", file.display().to_string().replace(' ', "%20").replace(',', "%2C"));
        let editor = Editor {
            connection: Connection { sender: to_server, receiver: from_server },
            uri,
            version: 1,
            answers_twice: true,
        };
        let params = json!({ "capabilities": {} });
        let request = Request { id: RequestId::from(1), method: "initialize".into(), params };
        editor.connection.sender.send(request.into()).expect("a server");
        editor.connection.receiver.recv().expect("an answer");
        editor
    }

    fn notify(&self, method: &str, params: Value) {
        let message = Message::Notification(Notification { method: method.into(), params });
        self.connection.sender.send(message).expect("a server");
    }

    fn open(&mut self, text: &str) -> (Duration, Duration) {
        let document = json!({ "uri": self.uri, "languageId": "c", "version": 1, "text": text });
        let begun = Instant::now();
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.answers(begun)
    }

    /// A line more at the top, or one less: everything below it moves.
    fn send_edit(&mut self, edit: usize) {
        self.version += 1;
        let line = |n: u32| json!({ "line": n, "character": 0 });
        let (end, text) = if edit.is_multiple_of(2) { (0, "int edited;\n") } else { (1, "") };
        let change = json!([{ "range": { "start": line(0), "end": line(end) }, "text": text }]);
        let document = json!({ "uri": self.uri, "version": self.version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": change }));
    }

    fn edit(&mut self, edit: usize) -> (Duration, Duration) {
        let begun = Instant::now();
        self.send_edit(edit);
        self.answers(begun)
    }

    /// When the first and when the last diagnostics of this version came. A check that has nothing
    /// more to say, as one without threads, answers once; whether it does shows when the file is
    /// opened.
    fn answers(&mut self, begun: Instant) -> (Duration, Duration) {
        let first = self.answer(Duration::from_secs(60)).expect("diagnostics");
        let last = if self.answers_twice { self.answer(Duration::from_secs(15)) } else { None };
        self.answers_twice = last.is_some();
        (first - begun, last.unwrap_or(first) - begun)
    }

    fn answer(&self, patience: Duration) -> Option<Instant> {
        let until = Instant::now() + patience;
        while let Ok(message) = self.connection.receiver.recv_deadline(until) {
            if let Message::Notification(n) = message
                && n.method == "textDocument/publishDiagnostics"
                && n.params["uri"] == self.uri
                && n.params["version"] == self.version
            {
                return Some(Instant::now());
            }
        }
        None
    }
}
