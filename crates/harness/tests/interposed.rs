//! The names of interposed functions that reports know are those that the runtime exports.

use std::collections::BTreeSet;

use raddle_finding::place;

/// What the runtime exports, of the C and C++ libraries.
fn exports() -> BTreeSet<&'static str> {
    let list = include_str!(concat!(env!("OUT_DIR"), "/dynamic.list"));
    let names = list.lines().filter_map(|l| l.trim().strip_suffix(';')).filter(|l| !l.starts_with('}'));
    let own = ["__tsan_", "__raddle_", "__sanitizer_"];
    let annotations = ["Annotate", "RunningOn", "WTFAnnotate", "ThreadSanitizerQuery", "ValgrindSlowdown"];
    let openmp = ["GOMP_", "omp_", "__kmpc_"];
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

/// The versions of glibc that a library needs: 2.17 is (2, 17).
fn needed_glibc(library: &[u8]) -> Vec<(u32, u32)> {
    use object::read::elf::FileHeader;
    let elf = object::elf::FileHeader64::<object::Endianness>::parse(library).unwrap();
    let endian = elf.endian().unwrap();
    let sections = elf.sections(endian, library).unwrap();
    let (mut libraries, link) = sections.gnu_verneed(endian, library).unwrap().unwrap();
    let strings = sections.strings(endian, library, link).unwrap();
    let mut versions = Vec::new();
    while let Some((_, mut needed)) = libraries.next().unwrap() {
        while let Some(version) = needed.next().unwrap() {
            let name = std::str::from_utf8(version.name(endian, strings).unwrap()).unwrap();
            let Some(number) = name.strip_prefix("GLIBC_") else { continue };
            let mut parts = number.split('.').map(|part| part.parse().unwrap());
            versions.push((parts.next().unwrap(), parts.next().unwrap()));
        }
    }
    versions
}

/// The README says on which systems raddle runs.
#[test]
fn the_runtime_loads_on_the_oldest_glibc_that_is_stated() {
    let readme = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    assert!(std::fs::read_to_string(readme).unwrap().contains("glibc 2.34 or later"));
    let libraries: [(&str, &[u8]); 4] = [
        ("libraddle_rt.so", include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_rt.so"))),
        ("libraddle_tsvd.so", include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_tsvd.so"))),
        ("libraddle_tsvd_hb.so", include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_tsvd_hb.so"))),
        ("libraddle_clr.so", include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_clr.so"))),
    ];
    for (name, library) in libraries {
        let needed = needed_glibc(library);
        assert!(!needed.is_empty(), "{name} names no version");
        let newest = needed.into_iter().max().unwrap();
        assert!(newest <= raddle_harness::glibc::OLDEST, "{name} needs glibc {}.{}", newest.0, newest.1);
    }
}
