//! Which C# files make a program, and what is already parsed and lowered.
//!
//! The files of projects are one program with all their entries. Names are looked up in the own
//! project first. Without a project, each file with a `Main` is a program, together with all files
//! that have none.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{File, LoweredProgram, lower_program, parse};
use crate::session::Source;

#[derive(Default)]
pub struct Programs {
    parsed: FxHashMap<Arc<str>, (u64, Arc<File>)>,
    lowered: FxHashMap<Arc<str>, (Vec<u64>, Arc<LoweredProgram>)>,
}

impl Programs {
    /// Parses a file, or finds it in the cache. The flag says that it was parsed now.
    pub fn file(&mut self, s: &Source, hash: u64) -> Option<(Arc<File>, bool)> {
        if let Some((_, f)) = self.parsed.get(&s.path).filter(|(h, _)| *h == hash) {
            return Some((f.clone(), false));
        }
        let symbols: Vec<String> = s.macros.iter().filter(|m| m.1.is_some()).map(|m| m.0.clone()).collect();
        let mut file = parse(&s.path, &s.text, &symbols)?;
        file.group = s.group.clone();
        let file = Arc::new(file);
        self.parsed.insert(s.path.clone(), (hash, file.clone()));
        Some((file, true))
    }

    pub fn forget(&mut self, path: &str) {
        self.parsed.remove(path);
    }

    /// The programs in some files, each with the path that represents it.
    pub fn of(&mut self, files: &[(Arc<File>, u64)]) -> Vec<(Arc<str>, Arc<LoweredProgram>)> {
        let mut out = Vec::new();
        for members in split(files) {
            let first = members[0].0.path.clone();
            let hashes: Vec<u64> = members.iter().map(|m| m.1).collect();
            let known = self.lowered.get(&first).filter(|(h, _)| *h == hashes).map(|(_, l)| l.clone());
            let lowered = known
                .unwrap_or_else(|| Arc::new(lower_program(members.iter().map(|m| m.0.clone()).collect())));
            self.lowered.insert(first.clone(), (hashes, lowered.clone()));
            out.push((first, lowered));
        }
        out
    }
}

fn split(files: &[(Arc<File>, u64)]) -> Vec<Vec<(Arc<File>, u64)>> {
    if files.is_empty() {
        return Vec::new();
    }
    let (mains, rest): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|f| has_main(&f.0));
    let grouped = files.iter().any(|f| f.0.group.is_some());
    if grouped || mains.len() < 2 {
        let mut all = mains;
        all.extend(rest);
        return vec![all];
    }
    mains.into_iter().map(|m| [m].into_iter().chain(rest.iter().cloned()).collect()).collect()
}

/// Whether a file has a `Main` or statements outside of types.
fn has_main(f: &File) -> bool {
    let root = super::syntax::Syntax { node: f.tree.root_node(), text: &f.text, file: 0 };
    let mut found = false;
    root.visit(&mut |s| {
        match s.kind() {
            "global_statement" => found = true,
            "method_declaration" => {
                let is_main = s.field("name").is_some_and(|n| n.str() == "Main") && s.has_modifier("static");
                found |= is_main;
                return false;
            }
            _ => {}
        }
        !found
    });
    found
}
