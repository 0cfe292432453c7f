//! The names of interposed functions that reports know are those that the runtime exports.

use std::collections::BTreeSet;

use raddle_finding::place;

/// What the runtime exports, of the C and C++ libraries.
fn exports() -> BTreeSet<&'static str> {
    let list = include_str!(concat!(env!("OUT_DIR"), "/dynamic.list"));
    let names = list.lines().filter_map(|l| l.trim().strip_suffix(';')).filter(|l| !l.starts_with('}'));
    let own = ["__tsan_", "__raddle_", "__sanitizer_"];
    let annotations = ["Annotate", "RunningOn", "WTFAnnotate", "ThreadSanitizerQuery", "ValgrindSlowdown"];
    let openmp = ["GOMP_", "omp_"];
    let others = [&own[..], &annotations, &openmp].concat();
    names.filter(|n| !others.iter().any(|prefix| n.starts_with(prefix))).collect()
}

#[test]
fn the_runtime_exports_the_symbol_that_it_is_known_by() {
    let list = include_str!(concat!(env!("OUT_DIR"), "/dynamic.list"));
    assert!(list.contains(&format!("{};", raddle_binary::RUNTIME_SYMBOL)));
}

#[test]
fn every_exported_function_is_known_to_reports() {
    let known: BTreeSet<&str> = place::interposed().iter().copied().collect();
    let missing: Vec<_> = exports().into_iter().filter(|n| !known.contains(n)).collect();
    assert!(missing.is_empty(), "not found in the tables of crates/rt/src/interpose: {missing:?}");
    assert!(known.len() > 600, "{}", known.len());
}

#[test]
fn what_reports_know_is_exported() {
    let exports = exports();
    // The C library here may be older than these.
    let recent = |n: &str| n.starts_with("__isoc23_") || n.starts_with("strlc");
    // Declared over several lines, for the runtime to call.
    let called = ["_pthread_cleanup_push"];
    let unknown: Vec<_> = place::interposed()
        .iter()
        .filter(|n| !exports.contains(*n) && !recent(n) && !called.contains(n))
        .collect();
    assert!(unknown.is_empty(), "read as functions by crates/finding/build.rs: {unknown:?}");
}
