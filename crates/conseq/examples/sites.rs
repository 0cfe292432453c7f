//! Prints the error sites and critical reads of a program, with source lines, and what that took.
//!
//!     cargo run --release -p raddle-conseq --example sites -- PROGRAM [KINDS [quiet]]

use std::path::Path;
use std::time::Instant;

use raddle_binary::{Address, Lookup, Module};
use raddle_conseq::{Cache, Extent, KnownFunctions, Options, Relation, SiteKind, analyse, analyse_with};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("usage: sites PROGRAM [KINDS [quiet]]")?;
    let mut options = Options::default();
    if let Some(kinds) = words.next() {
        options.kinds = kinds.split(',').filter_map(SiteKind::by_name).collect();
    }
    let module = Module::open(Path::new(&path))?;
    let started = Instant::now();
    let mut cache = Cache::default();
    let analysis =
        analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut cache), &Extent::whole());
    let took = started.elapsed();
    let started = Instant::now();
    let same =
        analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut cache), &Extent::whole())
            == analysis;
    let again = started.elapsed();
    let same = same && analyse(&module, &options) == analysis;
    let line = |address: u64| {
        let frames = module.frames(Address::Virtual(address), Lookup::Exact);
        let frame = frames.first();
        let name = frame.and_then(|frame| frame.file.clone()).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default().to_string();
        format!("{name}:{}", frame.and_then(|frame| frame.line).unwrap_or(0))
    };
    // With any third word only the summary is printed: finding source lines takes longer than the
    // rest.
    let shown = if words.next().is_some() { &[] } else { &analysis.sites[..] };
    for site in shown {
        let (kind, callee) = (site.kind.name(), site.callee.as_deref().unwrap_or(""));
        let function = site.function.name.as_deref().unwrap_or("?");
        let waits = if site.waits { " waits" } else { "" };
        println!("{:x} {kind}{waits} {} in {function} {callee}", site.address, line(site.address));
        let from = analysis.reads.partition_point(|read| read.site < site.id);
        for read in analysis.reads[from..].iter().take_while(|read| read.site == site.id) {
            let variable = read.variable.and_then(|address| module.data_symbol(address));
            let name = variable.map_or("*".to_string(), |v| format!("{}+{}", v.name, v.offset));
            let relation = match &read.relation {
                Relation::Tested(condition) => format!("{} {:?}", condition.leads_when, condition.test),
                other => format!("{other:?}"),
            };
            println!(
                "    {:x} d={} {} {name} {relation}",
                read.address,
                read.distance,
                line(read.address - 1)
            );
        }
    }
    println!("{:?}", analysis.notes);
    println!("{} sites, {} reads, {took:?}", analysis.sites.len(), analysis.reads.len());
    let (reused, looked_at) = (cache.reused, cache.looked_at);
    println!("again: {again:?}, {reused} functions from the cache, {looked_at} looked at, the same: {same}");
    Ok(())
}
