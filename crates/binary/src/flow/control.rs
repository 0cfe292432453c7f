//! Control dependence: which branches decide whether a block runs.
//!
//! This follows Ferrante, Ottenstein and Warren (*The Program Dependence Graph and Its Use in
//! Optimization*, 1987): a block depends on an edge of a branch if it post-dominates the edge's end
//! but not the branch.
//!
//! It is computed twice. A block is *doomed* if every path from it ends in a call that does not
//! return. By the plain definition everything after an assertion depends on it, so each assertion
//! of a function would depend on all earlier ones. So blocks that are not doomed get their
//! dependence from a graph without the edges into doomed code, and doomed blocks get theirs from
//! the whole graph.

use super::dominators::immediate_post_dominators;
use super::graph::Graph;

/// The edge of a branch that a block depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Decision {
    /// The block that the branch ends.
    pub(crate) block: u32,
    /// Which of the block's edges is taken.
    pub(crate) edge: u32,
}

/// Blocks from which every path ends in a block of `ends`.
pub(crate) fn doomed(graph: &Graph, ends: &[bool]) -> Vec<bool> {
    let mut doomed = ends.to_vec();
    let mut work: Vec<u32> = (0..graph.len() as u32).filter(|node| ends[*node as usize]).collect();
    while let Some(node) = work.pop() {
        for &before in graph.predecessors(node) {
            let all = graph.successors(before).iter().all(|next| doomed[*next as usize]);
            if all && !std::mem::replace(&mut doomed[before as usize], true) {
                work.push(before);
            }
        }
    }
    doomed
}

/// What each block depends on, sorted.
pub(crate) fn control_dependence(graph: &Graph, doomed: &[bool]) -> Vec<Vec<Decision>> {
    let spared = |from: u32| {
        let keep = |to: &&u32| doomed[from as usize] || !doomed[**to as usize];
        graph.successors(from).iter().filter(keep).copied().collect::<Vec<_>>()
    };
    let pruned = Graph::new((0..graph.len() as u32).map(spared).collect());
    let mut dependence = one_pass(graph, &pruned);
    for (node, whole) in one_pass(graph, graph).into_iter().enumerate() {
        if doomed[node] {
            dependence[node] = whole;
        }
    }
    dependence
}

/// Control dependence in `graph`, which has some of the edges of `whole`.
fn one_pass(whole: &Graph, graph: &Graph) -> Vec<Vec<Decision>> {
    let post = immediate_post_dominators(graph);
    let exit = graph.len() as u32;
    let mut dependence = vec![Vec::new(); graph.len()];
    for block in 0..exit {
        let distinct = graph.successors(block);
        if distinct.iter().all(|to| *to == distinct[0]) {
            continue;
        }
        for &to in distinct {
            let edge = whole.successors(block).iter().position(|other| *other == to).unwrap_or(0) as u32;
            let mut node = to;
            while node != post[block as usize] && node != exit {
                dependence[node as usize].push(Decision { block, edge });
                node = post[node as usize];
            }
        }
    }
    for decisions in &mut dependence {
        decisions.sort_unstable();
        decisions.dedup();
    }
    dependence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(block: u32, edge: u32) -> Decision {
        Decision { block, edge }
    }

    #[test]
    fn the_arms_of_a_branch_depend_on_it_and_the_join_does_not() {
        let graph = Graph::new(vec![vec![1, 2], vec![3], vec![3], vec![]]);
        let found = control_dependence(&graph, &[false; 4]);
        assert_eq!(found, [vec![], vec![on(0, 0)], vec![on(0, 1)], vec![]]);
    }

    #[test]
    fn a_loop_decides_whether_it_goes_on() {
        // 0 -> 1; 1 -> 2 or 3; 2 -> 1
        let graph = Graph::new(vec![vec![1], vec![2, 3], vec![1], vec![]]);
        let found = control_dependence(&graph, &[false; 4]);
        assert_eq!(found, [vec![], vec![on(1, 0)], vec![on(1, 0)], vec![]]);
    }

    #[test]
    fn what_follows_an_assertion_does_not_depend_on_it() {
        // 0: assert fails in 1; 2: another, fails in 3; 4 returns.
        let graph = Graph::new(vec![vec![1, 2], vec![], vec![3, 4], vec![], vec![]]);
        let ends = [false, true, false, true, false];
        let found = control_dependence(&graph, &doomed(&graph, &ends));
        assert_eq!(found[1], [on(0, 0)]);
        assert_eq!(found[3], [on(2, 0)], "the second failure depends on its own test only");
        assert!(found[2].is_empty() && found[4].is_empty());
        let plain = control_dependence(&graph, &[false; 5]);
        assert_eq!(plain[2], [on(0, 1)], "which is what the plain definition would say");
    }

    #[test]
    fn code_that_only_leads_to_the_end_is_doomed() {
        let graph = Graph::new(vec![vec![1, 4], vec![2, 3], vec![], vec![], vec![]]);
        let ends = [false, false, true, true, false];
        assert_eq!(doomed(&graph, &ends), [false, true, true, true, false]);
    }

    #[test]
    fn a_switch_tells_its_cases_apart() {
        let graph = Graph::new(vec![vec![1, 2, 1, 3], vec![4], vec![4], vec![4], vec![]]);
        let found = control_dependence(&graph, &[false; 5]);
        assert_eq!(found[1], [on(0, 0)]);
        assert_eq!(found[2], [on(0, 1)]);
        assert_eq!(found[3], [on(0, 3)]);
    }
}
