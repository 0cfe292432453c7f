//! Messages over a pair of byte streams.
//!
//! `lsp-server` has a transport too, but its reader ends at the first invalid message, and the
//! server ends with it. This reader skips an invalid message and writes a line to the client's log.
//! The connection ends only if the stream loses its framing or ends.

use std::io::{self, BufRead, Read, Write};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{Connection, Message, Notification};
use lsp_types::{LogMessageParams, MessageType};

/// The reader does not read a longer message into memory.
const LARGEST: usize = 512 << 20;

/// The most lines of a header, and the most bytes of a line. Anything longer is not a header.
const HEADER_LINES: usize = 32;
const HEADER_LINE: u64 = 4096;

/// Connects a server with streams. The writer's thread ends when the connection is dropped.
pub fn connect(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<(Connection, JoinHandle<()>)> {
    let (to_client, from_server) = unbounded();
    let (to_server, from_client) = unbounded();
    let log = to_client.clone();
    // The thread is not joined, because it may block in a read for as long as the client lives.
    std::thread::Builder::new().name("reader".into()).spawn(move || read_all(input, &to_server, &log))?;
    let writer =
        std::thread::Builder::new().name("writer".into()).spawn(move || write_all(output, &from_server))?;
    Ok((Connection { sender: to_client, receiver: from_client }, writer))
}

fn write_all(mut output: impl Write, messages: &Receiver<Message>) {
    for message in messages {
        // If the client is gone, nobody would read the reason.
        if message.write(&mut output).is_err() {
            return;
        }
    }
}

fn read_all(mut input: impl BufRead, server: &Sender<Message>, log: &Sender<Message>) {
    loop {
        let message = match read(&mut input) {
            Ok(Frame::Message(message)) => message,
            Ok(Frame::Nonsense(why)) => {
                if log.send(warning(format!("raddle: a message was passed over: {why}"))).is_err() {
                    return;
                }
                continue;
            }
            Ok(Frame::End) | Err(_) => return,
        };
        let is_exit = matches!(&message, Message::Notification(n) if n.method == "exit");
        if server.send(message).is_err() || is_exit {
            return;
        }
    }
}

/// A line in the client's log.
pub fn warning(message: String) -> Message {
    let params = LogMessageParams { typ: MessageType::WARNING, message };
    Message::Notification(Notification::new("window/logMessage".into(), params))
}

#[derive(Debug)]
enum Frame {
    Message(Message),
    /// The framing is correct, but the body is not a message.
    Nonsense(String),
    End,
}

fn read(input: &mut impl BufRead) -> io::Result<Frame> {
    let Some(size) = header(input)? else { return Ok(Frame::End) };
    if size > LARGEST {
        io::copy(&mut input.take(size as u64), &mut io::sink())?;
        return Ok(Frame::Nonsense(format!("it has {} MB", size >> 20)));
    }
    let mut body = Vec::new();
    // The buffer grows with what arrives, because the announced size may be wrong.
    if input.take(size as u64).read_to_end(&mut body)? < size {
        return Ok(Frame::End);
    }
    Ok(match serde_json::from_slice(&body) {
        Ok(message) => Frame::Message(message),
        Err(why) => Frame::Nonsense(why.to_string()),
    })
}

/// The size in the header, or None at the end of the stream.
fn header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut size = None;
    for _ in 0..HEADER_LINES {
        let mut line = Vec::new();
        if input.take(HEADER_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let Some(line) = line.strip_suffix('\n') else { break };
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                size = value.trim().parse().ok();
            }
            Some(_) => {}
            None if line.trim().is_empty() && size.is_some() => return Ok(size),
            None => break,
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "no header of a message"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    /// The methods that arrive at the server, and what the client is told.
    fn through(input: &[u8]) -> (Vec<String>, Vec<String>) {
        let (server, messages) = unbounded();
        let (log, told) = unbounded();
        read_all(input, &server, &log);
        drop((server, log));
        let method = |m: Message| match m {
            Message::Notification(n) => n.method,
            Message::Request(r) => r.method,
            Message::Response(r) => r.id.to_string(),
        };
        let said = |m: Message| match m {
            Message::Notification(n) => n.params["message"].as_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        };
        (messages.into_iter().map(method).collect(), told.into_iter().map(said).collect())
    }

    const A: &str = r#"{"jsonrpc":"2.0","method":"a"}"#;

    #[test]
    fn messages_arrive_with_any_case_and_further_headers() {
        let input =
            format!("content-length: {}\nContent-Type: x/y; charset=utf-8\r\n\r\n{A}{}", A.len(), framed(A));
        assert_eq!(through(input.as_bytes()).0, ["a", "a"]);
    }

    #[test]
    fn nonsense_is_passed_over() {
        let nonsense = ["{", "", "null", "[]", "{\"id\":{}}", "\u{0}\u{1}", "\"x\""];
        let input: String = nonsense.iter().map(|text| framed(text)).collect();
        let (methods, told) = through((input + &framed(A)).as_bytes());
        assert_eq!(methods, ["a"]);
        assert_eq!(told.len(), nonsense.len());
        assert!(told[0].starts_with("raddle: a message was passed over"), "{told:?}");
    }

    #[test]
    fn bytes_that_are_no_utf8_are_passed_over() {
        let mut input = b"Content-Length: 3\r\n\r\n\"\xff\"".to_vec();
        input.extend(framed(A).as_bytes());
        let (methods, told) = through(&input);
        assert_eq!((methods.len(), told.len()), (1, 1));
    }

    #[test]
    fn a_stream_without_frames_ends() {
        for input in
            ["GET / HTTP/1.1\r\n\r\n", "Content-Length: x\r\n\r\n", "\r\n\r\n", "no header at all\n", ""]
        {
            let (methods, _) = through(format!("{input}{}", framed(A)).as_bytes());
            assert!(methods.is_empty() || input.is_empty(), "{input:?}");
        }
        assert!(through("x".repeat(1 << 20).as_bytes()).0.is_empty());
        assert!(through("a: b\n".repeat(1000).as_bytes()).0.is_empty());
        assert!(through(format!("Content-Length: 999\r\n\r\n{A}").as_bytes()).0.is_empty(), "cut off");
    }

    #[test]
    fn a_giant_is_skipped_and_not_kept() {
        // The stream ends long before the announced size. The point is that no memory was allocated
        // for it.
        let (methods, told) = through(format!("Content-Length: {}\r\n\r\n{A}", u64::MAX).as_bytes());
        assert!(methods.is_empty());
        assert_eq!(told.len(), 1, "{told:?}");
    }

    #[test]
    fn nothing_is_read_after_exit() {
        let exit = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        assert_eq!(through((exit + &framed(A)).as_bytes()).0, ["exit"]);
    }

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_the_server_sends_is_written() {
        let out = Shared::default();
        let (connection, writer) = connect(io::empty(), out.clone()).unwrap();
        connection.sender.send(warning("hello".into())).unwrap();
        drop(connection);
        writer.join().unwrap();
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert!(text.starts_with("Content-Length: ") && text.contains("hello"), "{text}");
    }
}
