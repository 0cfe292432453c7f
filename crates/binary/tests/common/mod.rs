//! Builds small programs for the tests, with the real compilers.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

use raddle_binary::{Address, Lookup, Module, SourceFrame};
use raddle_testing::Folder;

/// A folder of its own for one test, gone at its end, with compilers.
pub struct Workshop(Folder);

impl Deref for Workshop {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

impl Workshop {
    pub fn new() -> Self {
        Self(Folder::new())
    }

    /// Writes `source` as `name`, compiles it with `command` and opens the result.
    pub fn build(&self, name: &str, source: &str, command: &str) -> Module {
        self.file(name, source);
        self.sh(&format!("{command} {name} -o out"));
        self.open("out")
    }

    pub fn open(&self, name: &str) -> Module {
        Module::open(&self.path(name)).expect("a module")
    }

    /// A Rust program whose own code is instrumented, and whose `__tsan_*` stay undefined.
    pub fn build_rust(&self, source: &str, flags: &str) -> Module {
        self.file("main.rs", source);
        self.sh(&format!(
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
