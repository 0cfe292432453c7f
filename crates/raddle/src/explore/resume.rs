//! The stored state of an interrupted search.
//!
//! The file has the word `raddle-search`, a version, and the state ([`Saved`]), compressed, in
//! postcard's format. It is for the same raddle on the same machine. A file of another version or
//! another program is refused with a sentence.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::search::{Most, Searcher};
use raddle_harness::verdict::Usual;

const MAGIC: &[u8; 13] = b"raddle-search";
const VERSION: u8 = 6;

#[derive(Debug, Error)]
pub enum ResumeError {
    #[error("there is no interrupted search to resume: {0} does not exist")]
    Missing(String),
    #[error("cannot read {0}: {1}")]
    Unreadable(String, std::io::Error),
    #[error("cannot write {0}: {1}")]
    Unwritable(String, std::io::Error),
    #[error("{0} is not an interrupted search of this version of raddle: delete it and search anew")]
    Foreign(String),
    #[error("{0} belongs to another build of the program: delete it and search anew")]
    OtherBuild(String),
}

#[derive(Serialize, Deserialize)]
pub struct Saved {
    pub build_id: String,
    pub command: Vec<String>,
    pub strategy: Searcher,
    pub points: Vec<u64>,
    pub donors: u32,
    pub flags: u32,
    pub usual: Usual,
    pub most: Most,
    pub schedules: u64,
    pub round: u64,
    pub gaps: u32,
    pub called: HashSet<u64>,
    pub seconds: f64,
}

/// The file beside the schedules, named after the program.
pub fn path(folder: &Path, program: &str) -> PathBuf {
    folder.join(format!("{program}.raddle-search"))
}

impl Saved {
    pub fn write(&self, path: &Path) -> Result<(), ResumeError> {
        let mut file = MAGIC.to_vec();
        file.push(VERSION);
        let state = postcard::to_allocvec(self).expect("plain data");
        file.extend(ruzstd::encoding::compress_to_vec(
            &state[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        ));
        std::fs::write(path, file).map_err(|e| ResumeError::Unwritable(path.display().to_string(), e))
    }

    pub fn read(path: &Path, build_id: &str) -> Result<Saved, ResumeError> {
        let name = path.display().to_string();
        let file = std::fs::read(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => ResumeError::Missing(name.clone()),
            _ => ResumeError::Unreadable(name.clone(), e),
        })?;
        let mut saved = decode(&file).ok_or(ResumeError::Foreign(name.clone()))?;
        if saved.build_id != build_id {
            return Err(ResumeError::OtherBuild(name));
        }
        saved.strategy.get().resume();
        Ok(saved)
    }
}

fn decode(file: &[u8]) -> Option<Saved> {
    let rest = file.strip_prefix(MAGIC)?.strip_prefix(&[VERSION])?;
    let mut state = Vec::new();
    let mut stream = ruzstd::decoding::StreamingDecoder::new(rest).ok()?;
    std::io::Read::read_to_end(&mut stream, &mut state).ok()?;
    postcard::from_bytes(&state).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::Limits;

    fn saved() -> Saved {
        let mut strategy =
            Searcher::by_name("portfolio", 7, Limits { states: 1 << 10, ..Limits::default() }).unwrap();
        assert!(strategy.get().next().is_some());
        Saved {
            build_id: "c0ffee".into(),
            command: vec!["./a".into()],
            strategy,
            points: vec![1, 2],
            donors: 4,
            flags: 0,
            usual: Usual { status: 0, panics: Some(1), rust: false, output: Some(7) },
            most: Most { threads: 3, steps: 40, preemptions: 2 },
            schedules: 12,
            round: 1,
            gaps: 2,
            called: HashSet::from([7]),
            seconds: 0.5,
        }
    }

    #[test]
    fn a_search_comes_back_and_what_was_under_way_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "a");
        saved().write(&path).unwrap();
        let mut back = Saved::read(&path, "c0ffee").unwrap();
        assert_eq!((back.schedules, back.points, back.usual.panics), (12, vec![1, 2], Some(1)));
        assert_eq!(back.strategy.progress().in_flight, 0);
        assert!(back.strategy.get().next().is_some());
    }

    #[test]
    fn what_can_not_be_resumed_is_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "a");
        let refused = || Saved::read(&path, "c0ffee").err().unwrap().to_string();
        assert!(refused().contains("no interrupted search"));
        for content in [&b""[..], b"raddle-search", b"raddle-search\x03abc", b"raddle-search\x01abc"] {
            std::fs::write(&path, content).unwrap();
            assert!(refused().contains("search anew"), "{content:?}");
        }
        saved().write(&path).unwrap();
        let other = Saved::read(&path, "decaf").err().unwrap().to_string();
        assert!(other.contains("another build"), "{other}");
    }
}
