//! `--sites-only`: the sites of a file, without running it.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use raddle_binary::{Address, Lookup, Symbolizer};
use raddle_conseq::{Analysis, CriticalRead, Note, Options, Relation};

use super::result_cache;
use raddle_harness::say::count;

/// The sites of a file with their critical reads, one per line.
pub fn of_file(path: &Path, options: &Options) -> Result<(String, Vec<Note>)> {
    let analysis = result_cache::analysis(path, options)?;
    let text = text(path, &analysis);
    Ok((text, analysis.notes))
}

fn text(path: &Path, analysis: &Analysis) -> String {
    let mut symbols = Symbolizer::new();
    let mut place = |address: u64, lookup: Lookup| {
        let frames = symbols.frames(path, Address::Virtual(address), lookup);
        // The innermost frame of the user's code.
        let own = frames.iter().find(|f| f.file.as_deref().is_some_and(|file| !file.starts_with("/rustc/")));
        match own.and_then(|f| Some((f.file.as_deref()?, f.line?))) {
            Some((file, line)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
            None => format!("{address:#x}"),
        }
    };
    let reads = by_site(&analysis.reads);
    let mut text = String::new();
    for site in &analysis.sites {
        let function = site.function.name.as_deref().unwrap_or("?");
        let at = place(site.address, Lookup::Exact);
        let callee = site.callee.as_deref().map_or(String::new(), |c| format!(": {c}"));
        let _ = writeln!(text, "{} at {at} in {function}{callee}", site.kind.name());
        for read in reads.get(&site.id).into_iter().flatten() {
            let lookup = if read.instrumented { Lookup::Return } else { Lookup::Exact };
            let how = match &read.relation {
                Relation::Tested(_) => "tested".into(),
                Relation::Argument { index } => format!("argument {}", index + 1),
                Relation::Pointer { .. } => "pointer".into(),
                Relation::Itself => "itself".into(),
                Relation::Unknown => "otherwise".to_owned(),
            };
            let _ = writeln!(
                text,
                "    reads at {}, distance {}, {how}",
                place(read.address, lookup),
                read.distance
            );
        }
    }
    let sites = count(analysis.sites.len() as u64, "site", "sites");
    let reads = count(analysis.reads.len() as u64, "critical read", "critical reads");
    let _ = writeln!(text, "{sites}, {reads}");
    text
}

/// The reads of each site, in order. A large file has tens of thousands of sites and hundreds of
/// thousands of reads. Going through all reads for each site would take longer than the analysis.
fn by_site(reads: &[CriticalRead]) -> HashMap<u32, Vec<&CriticalRead>> {
    let mut by_site: HashMap<u32, Vec<&CriticalRead>> = HashMap::new();
    reads.iter().for_each(|read| by_site.entry(read.site).or_default().push(read));
    by_site
}

/// A sentence about what limits the analysis.
pub fn sentence(note: &Note, path: &Path) -> String {
    let name = path.display();
    match note {
        Note::NotInstrumented => format!(
            "`{name}` is not instrumented: traced runs watch a copy of its machine code, which says less than a build with `raddle cc`, \
             `raddle c++`, `raddle rustc` or `cargo raddle`"
        ),
        Note::Stripped => format!(
            "`{name}` has no symbols: its functions are those of its unwind tables, and names of its own cannot be found"
        ),
        Note::NoFunctions => format!(
            "`{name}` has neither symbols nor unwind tables, or is packed: no function was found in it"
        ),
        Note::LeftOut { functions } => format!(
            "`{name}`: {} too large, or cannot be followed, and left out",
            count(*functions as u64, "function is", "functions are")
        ),
        Note::Unfinished { functions } => format!(
            "`{name}`: {} not analysed in time, and there may be more error sites: give it more with --seconds",
            count(*functions as u64, "function was", "functions were")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reads_of_a_site_are_together_in_their_order() {
        let read = |site, address| CriticalRead {
            address,
            instrumented: true,
            site,
            distance: 1,
            size: 4,
            atomic: false,
            variable: None,
            local: false,
            relation: Relation::Itself,
            also: Vec::new(),
        };
        let reads = [read(2, 10), read(1, 20), read(2, 5)];
        let addresses = |of: &[&CriticalRead]| of.iter().map(|r| r.address).collect::<Vec<_>>();
        let by_site = by_site(&reads);
        assert_eq!((addresses(&by_site[&2]), addresses(&by_site[&1])), (vec![10, 5], vec![20]));
        assert_eq!(by_site.len(), 2);
    }
}
