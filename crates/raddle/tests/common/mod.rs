//! [`raddle_testing`] for the tests of the command: its [`Testbed`] with the raddle that was just
//! built.

#![allow(dead_code, unused_imports, reason = "each test binary uses its own part")]

pub use raddle_testing::{
    ATTEMPTS, check, explore, look_again, needed, refused, run, stderr, succeed, symbols, tsvd,
};

use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A test's own folder. A type of this crate, so that a test can add to it.
pub struct Bench(raddle_testing::Testbed);

impl Bench {
    pub fn new() -> Bench {
        Bench(raddle_testing::Testbed::new(env!("CARGO_BIN_EXE_raddle"), cache()))
    }

    /// A bench with one program of `tests/programs` built.
    pub fn with(name: &str) -> Bench {
        let bench = Bench::new();
        bench.build(name);
        bench
    }
}

impl Deref for Bench {
    type Target = raddle_testing::Testbed;

    fn deref(&self) -> &raddle_testing::Testbed {
        &self.0
    }
}

/// One cache for all tests, so that std is instrumented once.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}
