//! `raddle lsp` as an editor starts it: a process with two pipes.

mod common;

use common::Bench;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(bench: &Bench) -> Server {
        let mut command = bench.raddle("lsp");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        Server { process, input, output: BufReader::new(output) }
    }

    fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// The next message that has this in it.
    fn receive(&mut self, key: &str) -> Value {
        loop {
            let mut size = 0;
            loop {
                let mut line = String::new();
                assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server is gone");
                match line.trim().split_once(": ") {
                    Some(("Content-Length", value)) => size = value.parse().unwrap(),
                    Some(_) => {}
                    None => break,
                }
            }
            let mut body = vec![0; size];
            self.output.read_exact(&mut body).unwrap();
            let message: Value = serde_json::from_slice(&body).unwrap();
            if message.get(key).is_some() {
                return message;
            }
        }
    }

    /// The exit status, once nothing more is to be said to it.
    fn status(mut self) -> Option<i32> {
        self.input.take();
        // What it still has to say must find a reader.
        std::io::copy(&mut self.output, &mut std::io::sink()).unwrap();
        self.process.wait().unwrap().code()
    }
}

fn request(id: i32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[test]
fn a_whole_conversation_with_nonsense_in_between() {
    let bench = Bench::new();
    let mut server = Server::start(&bench);
    server.write(b"Content-Length: 9\r\n\r\nnonsense!");
    assert_eq!(server.receive("method")["method"], "window/logMessage");
    server.send(&request(1, "initialize", json!({ "capabilities": {} })));
    assert_eq!(server.receive("result")["result"]["serverInfo"]["name"], "raddle");
    server.write(b"Content-Length: 2\r\n\r\n\xff\xfe");
    server.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": 1 }));
    server.send(&request(2, "shutdown", Value::Null));
    let answer = server.receive("id");
    assert_eq!((&answer["id"], answer.get("error")), (&json!(2), None));
    server.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(server.status(), Some(0));
}

#[test]
fn a_client_that_just_leaves() {
    let bench = Bench::new();
    let mut server = Server::start(&bench);
    server.send(&request(1, "initialize", json!({ "capabilities": {} })));
    server.receive("result");
    assert_eq!(server.status(), Some(1), "the protocol's status for an end without shutdown");
}

#[test]
fn a_stream_that_is_no_protocol_ends_it() {
    let bench = Bench::new();
    let mut server = Server::start(&bench);
    server.write(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(server.status(), Some(1));
}

#[test]
fn it_takes_the_word_that_editors_add() {
    let bench = Bench::new();
    let output = bench.raddle("lsp --stdio").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty());
}
