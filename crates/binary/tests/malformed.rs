//! No input makes the crate panic.

mod common;

use std::path::Path;
use std::sync::OnceLock;

use common::Workshop;
use proptest::prelude::*;
use raddle_binary::flow::{MachineProgram, Query, SliceLimits, SliceStart, slice};
use raddle_binary::{Address, Error, Lookup, Module, Patterns, demangle, inspect_bytes};

/// A real library with debug information, small, for damaging.
fn sample() -> &'static [u8] {
    static SAMPLE: OnceLock<Vec<u8>> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let workshop = Workshop::new();
        let source = "int g[4]; __thread int t; static inline int f(int x) { return g[x & 3] + t; }
            int h(int x) { static int n; n += f(x); return n; } void __tsan_atomic32_exchange(void);
            void k(void) { __tsan_atomic32_exchange(); }";
        workshop.build("a.c", source, "gcc -O1 -g -shared -fPIC -nostdlib");
        std::fs::read(workshop.path("out")).unwrap()
    })
}

/// Asks every question; the answers do not matter.
fn ask_everything(bytes: Vec<u8>) {
    let path = Path::new("damaged");
    let _ = inspect_bytes(path, &bytes);
    let Ok(module) = Module::from_bytes(path, bytes) else { return };
    for function in module.functions().iter().take(20) {
        module.frames(Address::Virtual(function.range.start), Lookup::Exact);
        module.frames(Address::FileOffset(function.range.end), Lookup::Return);
    }
    for address in [0, 1, 0x1000, 0x4010, u64::MAX] {
        module.data_symbol(address);
        module.thread_local_symbol(address);
        module.load_bias(address, address);
        module.frames(Address::FileOffset(address), Lookup::Return);
    }
    let program = MachineProgram::new(&module);
    for outline in program.outlines().iter().take(20) {
        let Some(function) = program.function(outline.range.start) else { continue };
        program.fingerprint(function.entry());
        let query = Query::new(&program, function.clone());
        query.loops();
        query.dereferences();
        for (index, _) in query.calls() {
            let starts = [(SliceStart::Control(index), 0), (SliceStart::Argument(index, 0), 1)];
            let limits = SliceLimits { distance: 4, depth: 3, steps: 1000, callers: true };
            slice(&program, function.entry(), &starts, limits, None);
        }
    }
    let files = Patterns { functions: vec!["f".into()], files: vec!["a.c".into()], ..Patterns::default() };
    module.match_ranges(&files);
    module.lock_sites();
}

#[test]
fn the_sample_is_sound_before_it_is_damaged() {
    let module = Module::from_bytes(Path::new("sample"), sample().to_vec()).unwrap();
    assert!(module.has_debug_info());
    assert_eq!(module.call_sites(|name| name == "__tsan_atomic32_exchange").len(), 1);
    ask_everything(sample().to_vec());
}

#[test]
fn only_linked_x86_64_code_becomes_a_module() {
    let module = |bytes: Vec<u8>| Module::from_bytes(Path::new("x"), bytes).err().expect("an error");
    assert!(matches!(module(Vec::new()), Error::Empty { .. }));
    assert!(matches!(module(b"#!/bin/sh\n".to_vec()), Error::NotElf { .. }));
    let mut foreign = sample().to_vec();
    foreign[18] = 183;
    let sentence = module(foreign).to_string();
    assert_eq!(sentence, "x: the file is built for 64-bit ARM; raddle reads x86-64 code only");
    let workshop = Workshop::new();
    workshop.file("a.c", "int x;");
    workshop.sh("gcc -c a.c -o a.o");
    assert!(matches!(Module::open(&workshop.path("a.o")), Err(Error::NotLinked { .. })));
    let mut narrow = vec![0u8; 52];
    narrow[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    (narrow[16], narrow[18], narrow[20]) = (2, 3, 1);
    assert!(module(narrow).to_string().contains("built for 32-bit x86"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        ask_everything(bytes);
    }

    #[test]
    fn random_bytes_behind_a_header(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut file = sample()[..64].to_vec();
        file.extend(bytes);
        ask_everything(file);
    }

    #[test]
    fn truncated(length in 0..sample().len()) {
        ask_everything(sample()[..length].to_vec());
    }

    #[test]
    fn damaged(changes in proptest::collection::vec((0..sample().len(), any::<u8>()), 1..40)) {
        let mut file = sample().to_vec();
        for (at, value) in changes {
            file[at] = value;
        }
        ask_everything(file);
    }

    #[test]
    fn damaged_headers(changes in proptest::collection::vec((16..600usize, any::<u8>()), 1..4)) {
        let mut file = sample().to_vec();
        for (at, value) in changes {
            file[at] = value;
        }
        ask_everything(file);
    }

    #[test]
    fn names(name in "(_Z|_R|_ZN|<|)[A-Za-z0-9_.<>:$@é ]{0,60}") {
        demangle(&name);
    }
}
