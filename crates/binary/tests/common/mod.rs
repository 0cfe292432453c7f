//! Builds small programs for the tests, with the real compilers.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_binary::{Address, Lookup, Module, SourceFrame};

/// A folder of its own for one test, gone at its end.
pub struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file in the temporary folder");
        path
    }

    /// Runs a command line in the folder, words split at blanks.
    pub fn run(&self, line: &str) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a command"));
        command.args(words).current_dir(self.folder.path());
        let output = command.output().unwrap_or_else(|e| panic!("`{line}` cannot be started: {e}"));
        assert!(
            output.status.success(),
            "`{line}` failed:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Writes `source` as `name`, compiles it with `command` and opens the result.
    pub fn build(&self, name: &str, source: &str, command: &str) -> Module {
        self.write(name, source);
        self.run(&format!("{command} {name} -o out"));
        self.open("out")
    }

    pub fn open(&self, name: &str) -> Module {
        Module::open(&self.path(name)).expect("a module")
    }

    /// A Rust program whose own code is instrumented, and whose `__tsan_*` stay undefined.
    pub fn build_rust(&self, source: &str, flags: &str) -> Module {
        self.write("main.rs", source);
        self.run(&format!(
            "env RUSTC_BOOTSTRAP=1 rustc --edition 2024 main.rs -o out -Zsanitizer=thread -Zexternal-clangrt \
             -Cunsafe-allow-abi-mismatch=sanitizer --target x86_64-unknown-linux-gnu \
             -Clink-arg=-Wl,--unresolved-symbols=ignore-all {flags}"
        ));
        self.open("out")
    }
}

/// The frames at the only call of `callee`, seen from its return address.
pub fn frames_at_call(module: &Module, callee: &str) -> Vec<SourceFrame> {
    let sites = module.call_sites(|name| name == callee);
    assert_eq!(sites.len(), 1, "calls of {callee}: {sites:?}");
    module.frames(Address::Virtual(sites[0].return_address), Lookup::Return)
}

/// Function names of frames, innermost first.
pub fn functions(frames: &[SourceFrame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.function.as_deref().unwrap_or("?")).collect()
}

/// The address of a symbol, by `nm`.
pub fn address_of(path: &Path, symbol: &str) -> u64 {
    let output = Command::new("nm").arg(path).output().expect("nm");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.split(' ').next_back() == Some(symbol));
    let word =
        line.and_then(|line| line.split(' ').next()).unwrap_or_else(|| panic!("no {symbol} in\n{text}"));
    u64::from_str_radix(word, 16).expect("an address")
}
