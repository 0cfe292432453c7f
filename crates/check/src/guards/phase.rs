//! Functions that set things up or tear them down, in which nobody else uses an object.

use super::flow::Flow;
use crate::interp::named::words;
use crate::ir::Program;

/// Words of the names of such functions.
const WORDS: &[&str] = &[
    "init",
    "initialize",
    "initialise",
    "initialization",
    "new",
    "create",
    "alloc",
    "allocate",
    "open",
    "setup",
    "construct",
    "constructor",
    "ctor",
    "main",
    "configure",
    "config",
    "cfg",
    "parse",
    "option",
    "options",
    "clone",
    "dup",
    "reset",
    "destroy",
    "free",
    "close",
    "delete",
    "del",
    "dispose",
    "cleanup",
    "deinit",
    "uninit",
    "fini",
    "finalize",
    "term",
    "exit",
    "teardown",
    "release",
    "unref",
    "dtor",
    "destructor",
    "test",
    "tests",
    "bench",
    "benchmark",
    "example",
    "dump",
    "print",
    "debug",
    "fork",
    "child",
    "unlocked",
    "locked",
    "nolock",
    "lockless",
    "unsafe",
];

/// Words of functions that change how something is done, mostly before it begins.
const SETTERS: &[&str] = &["set", "add", "register", "enable", "use", "with", "attach", "install"];

/// Whether a function may be one that is called before the threads are there.
pub fn is_setter(program: &Program, f: u32) -> bool {
    words(&program.functions[f as usize].name).iter().any(|w| SETTERS.contains(&w.as_str()))
}

/// Whether a function is one of those, or may be.
pub fn is_exempt(program: &Program, flow: &Flow<'_>, f: u32) -> bool {
    let Some(seen) = &flow.seen[f as usize] else { return true };
    seen.starts || seen.joins || is_exempt_on_the_way(program, flow, f)
}

/// The same for a function on the way to an access. That one may start threads.
pub fn is_exempt_on_the_way(program: &Program, flow: &Flow<'_>, f: u32) -> bool {
    let Some(seen) = &flow.seen[f as usize] else { return true };
    let info = &program.functions[f as usize];
    if seen.given_up || seen.sets_up || info.load_hook {
        return true;
    }
    words(&info.name).iter().any(|w| {
        let w = w.trim_end_matches(|c: char| c.is_ascii_digit());
        WORDS.contains(&w)
    })
}
