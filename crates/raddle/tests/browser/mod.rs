//! A headless Chromium, driven by its DevTools protocol over two named pipes.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    next: u64,
    session: Option<String>,
    complaints: Vec<String>,
    _folder: tempfile::TempDir,
}

/// Asks again until there is an answer.
#[track_caller]
pub fn wait_for<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "there is no answer");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Browser {
    /// None if there is no Chromium.
    pub fn start() -> Option<Browser> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let path = std::env::var_os("PATH")?;
        let program = std::env::split_paths(&path)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|file| file.is_file())?;
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        assert!(Command::new("mkfifo").args([&input, &output]).status().unwrap().success());
        // The protocol is on descriptors 3 and 4.
        let line = "exec \"$0\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
            --remote-debugging-pipe --user-data-dir=\"$3\" about:blank 3<\"$1\" 4>\"$2\"";
        let child = Command::new("sh")
            .args(["-c", line])
            .args([&program, &input, &output, &folder.path().join("data")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the order in which the shell opens them.
        let to = OpenOptions::new().write(true).open(&input).unwrap();
        let out = File::open(&output).unwrap();
        let (send, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0) {
                let message = message.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
                if message.is_none_or(|message| send.send(message).is_err()) {
                    return;
                }
            }
        });
        let complaints = Vec::new();
        Some(Browser { child, to, from, next: 0, session: None, complaints, _folder: folder })
    }

    /// Opens a file as a page, and waits until it is there.
    pub fn open(&mut self, page: &Path) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.call("Target.attachToTarget", attach)["sessionId"].as_str().map(str::to_owned);
        self.session = session;
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            self.call(domain, json!({}));
        }
        self.call("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        wait_for(|| {
            let state = "document.readyState === 'complete' && document.querySelector('#sources') !== null";
            (self.evaluate(state) == true).then_some(())
        });
    }

    /// The value of an expression on the page.
    #[track_caller]
    pub fn evaluate(&mut self, script: &str) -> Value {
        let asked = json!({"expression": script, "returnByValue": true, "replMode": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Errors of the page, and what its policy has refused.
    pub fn complaints(&self) -> Vec<String> {
        self.complaints.clone()
    }

    #[track_caller]
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.from.recv_timeout(PATIENCE).expect("the browser answers");
            if answer["id"] == self.next {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let is_error = answer["params"]["entry"]["level"] == "error";
            if answer["method"] == "Runtime.exceptionThrown" || is_error {
                self.complaints.push(answer.to_string());
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
