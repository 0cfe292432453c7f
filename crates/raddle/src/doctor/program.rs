//! Checks a program that the user names: whether it has probes, and if not, how much of its machine
//! code can be watched.

use std::ffi::OsString;

use raddle_harness::{relocated, target};

use super::Check;

const REMEDY: &str = "build it with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`";

pub fn check(program: &OsString) -> Check {
    let shown = program.to_string_lossy();
    match target::find(std::slice::from_ref(program)) {
        Err(error) => Check::warn(&shown, error.to_string(), REMEDY),
        Ok(found) if found.has_runtime => Check::ok(&shown, "built with raddle"),
        Ok(found) if !found.is_plain => Check::ok(&shown, "not watched itself, but what it starts may be"),
        Ok(found) => match relocated::copy(&found.path, relocated::Probes::Merged) {
            Ok(copy) => {
                Check::ok(&shown, format!("not built with raddle: {}", relocated::coverage(copy.counts)))
            }
            Err(error) => Check::warn(&shown, format!("cannot be watched: {error:#}"), REMEDY),
        },
    }
}
