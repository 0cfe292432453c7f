//! How far an analysis goes, and in which order.
//!
//! Traced runs ask only about reads that they came by. A slice begins in the function of its site.
//! It goes to callers at most [`Options::max_distance`] times, because each costs a step of
//! distance, and from there into callees at most [`Options::max_depth`] deep. So a site depends on
//! a read only if its function is *near* that of the read: at most `max_depth` calls up and then at
//! most `max_distance` calls down. A function that is not near any executed read has no site that
//! the traces could say something about, and is left out.

use raddle_binary::flow::{MachineProgram, Outline};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::options::{Callers, Options};

/// How far an analysis goes, and where it begins.
pub struct Extent<'a> {
    /// Addresses of reads that were executed. Only functions that are near them are analysed: first
    /// their own functions, and then those that are fewer calls away. `None`: all functions.
    pub executed: Option<&'a [u64]>,
    /// Whether the time is over. Functions that are left then are not analysed. Those with executed
    /// reads are in any case, and at least one is, so that analyses with a cache come to an end at
    /// last.
    pub is_over: &'a dyn Fn() -> bool,
}

impl Extent<'_> {
    /// All functions, however long it takes.
    pub fn whole() -> Self {
        Extent { executed: None, is_over: &|| false }
    }

    /// The functions to analyse, in this order, and how many of them have executed reads.
    pub(crate) fn functions<'p, 'm>(
        &self,
        program: &'p MachineProgram<'m>,
        options: &Options,
        graph: &dyn Fn() -> &'p CallGraph<'m>,
    ) -> (Vec<&'p Outline<'m>>, usize) {
        let Some(executed) = self.executed else { return (program.outlines().iter().collect(), 0) };
        let graph = graph();
        let mut near = Near::default();
        let outlines = executed.iter().filter_map(|address| program.outline_at(*address));
        outlines.for_each(|outline| graph.entries(outline).iter().for_each(|entry| near.add(*entry)));
        let own = near.order.len();
        near.spread(&graph.callers, options.max_depth);
        if options.callers != Callers::Never {
            near.spread(&graph.callees, options.max_distance);
        }
        if graph.lacks_calls {
            program.outlines().iter().for_each(|outline| near.add(outline.range.start));
        }
        let outlines = near.order.iter().filter_map(|entry| program.outline_at(*entry)).collect();
        (outlines, own)
    }
}

/// A set of functions, by their entries, that grows along calls.
#[derive(Default)]
struct Near {
    order: Vec<u64>,
    known: HashSet<u64>,
}

impl Near {
    fn add(&mut self, entry: u64) {
        if self.known.insert(entry) {
            self.order.push(entry);
        }
    }

    /// Adds what is at most `most` edges from any of them.
    fn spread(&mut self, edges: &HashMap<u64, Vec<u64>>, most: u32) {
        let mut from = 0;
        for _ in 0..most {
            let end = self.order.len();
            for at in from..end {
                edges.get(&self.order[at]).into_iter().flatten().for_each(|to| self.add(*to));
            }
            from = end;
        }
    }
}

/// Which function calls which, by their entries. The calls of a part that the compiler moved
/// elsewhere are those of its function, or of all functions with that name.
#[derive(Default)]
pub(crate) struct CallGraph<'m> {
    callers: HashMap<u64, Vec<u64>>,
    callees: HashMap<u64, Vec<u64>>,
    by_name: HashMap<&'m str, Vec<u64>>,
    /// There are parts of which nobody knows what function they belong to.
    lacks_calls: bool,
}

impl<'m> CallGraph<'m> {
    pub(crate) fn new(program: &MachineProgram<'m>) -> Self {
        let mut graph = CallGraph::default();
        for outline in program.outlines().iter().filter(|outline| !outline.cold) {
            if let Some(name) = outline.name {
                graph.by_name.entry(name).or_default().push(outline.range.start);
            }
        }
        for outline in program.outlines() {
            let callers = graph.entries(outline);
            graph.lacks_calls |= callers.is_empty();
            for call in program.calls(outline) {
                if let Some(callee) = call.callee.entry.filter(|_| call.callee.probe().is_none()) {
                    for &caller in &callers {
                        graph.callers.entry(callee).or_default().push(caller);
                        graph.callees.entry(caller).or_default().push(callee);
                    }
                }
            }
        }
        graph
    }

    /// The entries of the functions that a part may belong to.
    fn entries(&self, outline: &Outline) -> Vec<u64> {
        if !outline.cold {
            return vec![outline.range.start];
        }
        let function = outline.name.and_then(|name| name.split_once(".cold")).map(|(function, _)| function);
        function.and_then(|function| self.by_name.get(function)).cloned().unwrap_or_default()
    }
}
