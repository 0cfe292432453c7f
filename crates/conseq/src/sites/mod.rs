//! Error sites, one kind a file.

mod assert;

use raddle_binary::Module;

use crate::analysis::{Analysis, FunctionName, Note, Site, SiteKind};
use crate::options::Options;

/// Finds the error sites of a module and the reads that can affect them.
pub fn analyse(module: &Module, options: &Options) -> Analysis {
    let functions = module.functions();
    let mut analysis = Analysis::default();
    if functions.is_empty() {
        analysis.notes.push(Note::NoFunctions);
    }
    if !options.kinds.contains(&SiteKind::Assert) {
        return analysis;
    }
    for call in module.call_sites(assert::reports) {
        let at = functions.partition_point(|f| f.range.start <= call.address);
        let Some(function) = at.checked_sub(1).map(|at| &functions[at]) else { continue };
        analysis.sites.push(Site {
            id: analysis.sites.len() as u32,
            kind: SiteKind::Assert,
            address: call.address,
            function: FunctionName { address: function.range.start, name: function.name.clone() },
            callee: Some(raddle_binary::demangle(&call.callee)),
            condition: None,
            waits: false,
        });
    }
    analysis
}
