//! The names of the functions that the runtime stands in for, read from the tables in its source: a
//! function is added there and nowhere else. A test of `raddle` holds the list against what the
//! runtime really exports.
//!
//! A package of this crate has no runtime beside it. It carries the list in `carried/`, where
//! `./package crates` puts it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("interposed.rs");
    let runtime = own.join("../rt/src");
    if !runtime.is_dir() {
        let carried = own.join("carried/interposed.rs");
        println!("cargo::rerun-if-changed={}", carried.display());
        fs::copy(&carried, out).unwrap_or_else(|e| {
            panic!("{}: {e}. Packages of raddle are made by `./package crates`", carried.display())
        });
        return;
    }
    let (folder, loading) = (runtime.join("interpose"), runtime.join("tsvd/loading.rs"));
    let mut names = BTreeSet::new();
    read_folder(&folder, &mut names);
    read_file(&loading, &mut names);
    for part in [folder, loading] {
        println!("cargo::rerun-if-changed={}", part.display());
    }
    let list: String = names.iter().map(|name| format!("    {name:?},\n")).collect();
    fs::write(out, format!("&[\n{list}]\n")).unwrap();
}

/// OpenMP's functions are called by code that the compiler made: none is the place of an access.
fn read_folder(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "openmp" {
            read_folder(&path, names);
        } else if path.is_file() {
            read_file(&path, names);
        }
    }
}

fn read_file(path: &Path, names: &mut BTreeSet<String>) {
    let text = fs::read_to_string(path).unwrap();
    let program = text.split("#[cfg(test)]").next().unwrap_or_default();
    names.extend(program.lines().filter_map(name).map(str::to_owned));
}

/// The function that a line adds to one of the tables.
fn name(line: &str) -> Option<&str> {
    for before in ["export_name = \"__interpose_", "entry!(\"__interpose_"] {
        if let Some((_, exported)) = line.split_once(before) {
            return Some(word(exported));
        }
    }
    let entry = line.trim_start();
    let is_nested = line.starts_with("    ");
    // A semicolon ends what is only declared, for the runtime to call. The body of an entry follows
    // its `|t, pc, real|`; without them it is a function of Rust.
    let is_rust = |at: &str| at.contains("self") || at.ends_with(" {") && !at.contains('|');
    let header = |at: &str| at[word(at).len()..].starts_with('(') && !at.ends_with(';') && !is_rust(at);
    match entry.strip_prefix("fn ") {
        Some(function) if is_nested && header(function) => Some(word(function)),
        Some(_) => None,
        None => other_table(entry).filter(|_| is_nested),
    }
}

/// `"execl" => execl,`, `"snprintf" 3 => …`, `"…" vsscanf(…) format: …`, `"setjmp" c"setjmp"`,
/// `strtol(base: c_int) -> i64`, `free(p: Pointer) {`.
fn other_table(entry: &str) -> Option<&str> {
    if let Some(quoted) = entry.strip_prefix('"') {
        let (first, rest) = quoted.split_once("\" ")?;
        let scanned = rest.contains(" format: ").then(|| word(rest));
        let is_name = rest.contains(" => \"") || rest.starts_with("c\"") || rest.starts_with("=> ");
        return scanned.or_else(|| is_name.then_some(first));
    }
    let (head, rest) = (word(entry), &entry[word(entry).len()..]);
    let typed = rest.starts_with("()") || rest.starts_with('(') && rest.split(')').next()?.contains(": ");
    (typed && !head.is_empty() && (rest.contains(") -> ") || rest.contains(") {"))).then_some(head)
}

fn word(at: &str) -> &str {
    let end = at.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(at.len());
    &at[..end]
}
