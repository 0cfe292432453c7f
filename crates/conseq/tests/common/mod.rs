//! Builds programs with probes for the tests, with the real compilers and without any runtime.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::ops::Deref;
use std::path::Path;

use raddle_binary::Module;
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
    /// With a library that stands in for the runtime: linkers want `__tsan_*` defined somewhere.
    pub fn new() -> Self {
        let workshop = Self(Folder::new());
        workshop.file("probes.c", &probes());
        workshop.sh("gcc -shared -fPIC probes.c -o libprobes.so");
        workshop
    }

    /// Compiles the source file with probes; the compiler is chosen by the file's ending.
    pub fn build(&self, source: &Path, flags: &str) -> Module {
        let file = source.display();
        match source.extension().and_then(|ending| ending.to_str()) {
            Some("rs") => self.sh(&format!(
                "env RUSTC_BOOTSTRAP=1 rustc --edition 2024 {file} -g -o out -Zsanitizer=thread -Zexternal-clangrt \
                 -Cunsafe-allow-abi-mismatch=sanitizer --target x86_64-unknown-linux-gnu -Awarnings \
                 -Clink-arg=-L. -Clink-arg=-lprobes {flags}"
            )),
            ending => {
                let compiler = if ending == Some("cpp") { "g++ -std=c++17" } else { "gcc" };
                self.sh(&format!("{compiler} -g -fsanitize=thread {flags} -c {file} -o out.o"));
                self.sh(&format!("{compiler} out.o -o out -L. -lprobes -pthread"));
            }
        }
        self.open("out")
    }

    pub fn open(&self, name: &str) -> Module {
        Module::open(&self.path(name)).expect("a module")
    }

    /// Writes C code and compiles it with probes.
    pub fn build_c(&self, source: &str, flags: &str) -> Module {
        let path = self.file("program.c", source);
        self.build(&path, flags)
    }
}

fn probes() -> String {
    let mut names: Vec<String> =
        ["init", "func_entry", "func_exit", "vptr_update", "vptr_read", "read_range", "write_range"]
            .iter()
            .chain(&["atomic_thread_fence", "atomic_signal_fence", "memcpy", "memmove", "memset"])
            .map(ToString::to_string)
            .collect();
    for size in [1, 2, 4, 8, 16] {
        for kind in ["read", "write", "unaligned_read", "unaligned_write", "volatile_read", "volatile_write"]
        {
            names.push(format!("{kind}{size}"));
        }
        for kind in
            ["load", "store", "exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"]
                .iter()
                .chain(&[
                    "fetch_nand",
                    "compare_exchange_strong",
                    "compare_exchange_weak",
                    "compare_exchange_val",
                ])
        {
            names.push(format!("atomic{}_{kind}", size * 8));
        }
    }
    names.iter().map(|name| format!("void __tsan_{name}(void) {{}}\n")).collect()
}
