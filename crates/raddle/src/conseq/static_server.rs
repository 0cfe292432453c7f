//! The static half of one command, for all of its programs and tests.
//!
//! What is known about a file belongs to one thread: it has the file open, decodes each function
//! once, and writes the results to disk in the end. Who examines a test asks it, so the tests of a
//! program share what is found out about their file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use raddle_conseq::{Analysis, Extent, Options};

use super::result_cache::{MappedFiles, StaticHalves};

type Answer = raddle_binary::Result<Arc<Analysis>>;

/// Answers what is asked about files, in the order in which it is asked.
pub struct StaticServer {
    options: Options,
    /// `None`: it ends.
    questions: Option<Sender<Question>>,
    thread: Option<JoinHandle<()>>,
}

struct Question {
    path: PathBuf,
    options: Options,
    executed: Option<Vec<u64>>,
    until: Instant,
    to: Sender<Answer>,
}

impl StaticServer {
    pub fn start(options: Options) -> std::io::Result<StaticServer> {
        let (questions, asked) = channel();
        let thread = std::thread::Builder::new().name("static half".into()).spawn(move || answer(&asked))?;
        Ok(StaticServer { options, questions: Some(questions), thread: Some(thread) })
    }

    /// The options of the command.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The sites of a file that can depend on one of these reads, by their addresses; `None`: all
    /// sites. Functions with such reads are analysed in any case, others until the deadline.
    pub fn analysis(
        &self,
        path: &Path,
        options: &Options,
        executed: Option<Vec<u64>>,
        until: Instant,
    ) -> Answer {
        let (to, answer) = channel();
        let question = Question { path: path.into(), options: options.clone(), executed, until, to };
        let sent = self.questions.as_ref().is_some_and(|q| q.send(question).is_ok());
        // It ends early only by a panic, which it has printed.
        let answer = answer.recv().ok().filter(|_| sent);
        answer.unwrap_or_else(|| panic!("the static analysis of {} broke off", path.display()))
    }
}

fn answer(asked: &Receiver<Question>) {
    let files = MappedFiles::default();
    let halves = StaticHalves::new(&files);
    for Question { path, options, executed, until, to } in asked {
        let is_over = || Instant::now() >= until;
        let extent = Extent { executed: executed.as_deref(), is_over: &is_over };
        // Whoever asked may be gone.
        let _ = to.send(halves.analysis(&path, &options, &extent));
    }
}

/// Waits until what was found out is on disk.
impl Drop for StaticServer {
    fn drop(&mut self) {
        self.questions = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn threads_share_what_is_known_of_a_file() {
        let server = StaticServer::start(Options::default()).unwrap();
        let until = Instant::now() + Duration::from_secs(600);
        let ask = || server.analysis(Path::new("/bin/true"), server.options(), None, until).unwrap();
        let (one, other) = std::thread::scope(|s| {
            let threads = [s.spawn(ask), s.spawn(ask)];
            let [one, other] = threads.map(|t| t.join().unwrap());
            (one, other)
        });
        assert!(Arc::ptr_eq(&one, &other), "it is analysed once");
        assert!(server.analysis(Path::new("/proc/none"), server.options(), None, until).is_err());
    }
}
