//! Dominators, after *A Simple, Fast Dominance Algorithm* (Cooper, Harvey and Kennedy, 2001).

use super::graph::Graph;

/// The immediate dominator of each node that `root` reaches; the root is its own.
pub(crate) fn immediate_dominators(graph: &Graph, root: u32) -> Vec<Option<u32>> {
    let postorder = graph.postorder(root);
    let mut number = vec![usize::MAX; graph.len()];
    for (at, &node) in postorder.iter().enumerate() {
        number[node as usize] = at;
    }
    let mut dominator: Vec<Option<u32>> = vec![None; graph.len()];
    dominator[root as usize] = Some(root);
    loop {
        let mut changed = false;
        for &node in postorder.iter().rev().skip(1) {
            let known = graph.predecessors(node).iter().filter(|p| dominator[**p as usize].is_some());
            let nearest = known.copied().reduce(|a, b| common(&dominator, &number, a, b));
            if nearest.is_some() && nearest != dominator[node as usize] {
                dominator[node as usize] = nearest;
                changed = true;
            }
        }
        if !changed {
            return dominator;
        }
    }
}

/// The nearest node that dominates both.
fn common(dominator: &[Option<u32>], number: &[usize], mut a: u32, mut b: u32) -> u32 {
    let up = |node: u32| dominator[node as usize].unwrap_or(node);
    while a != b {
        while number[a as usize] < number[b as usize] {
            a = up(a);
        }
        while number[b as usize] < number[a as usize] {
            b = up(b);
        }
    }
    a
}

/// Immediate post-dominators. The virtual exit is node `len()`. Nodes of endless loops reach no
/// exit. One node of each such region gets an edge to the exit, so every node has a post-dominator
/// and the loop's own branches keep their meaning.
pub(crate) fn immediate_post_dominators(graph: &Graph) -> Vec<u32> {
    let exit = graph.len() as u32;
    let mut successors: Vec<Vec<u32>> = (0..exit).map(|node| graph.successors(node).to_vec()).collect();
    successors.push(Vec::new());
    let ends: Vec<u32> = (0..exit).filter(|node| graph.successors(*node).is_empty()).collect();
    let reversed = graph.reversed();
    let mut leaves = reversed.reachable(ends.iter().copied());
    for end in ends {
        successors[end as usize].push(exit);
    }
    for node in (0..exit).rev() {
        if !leaves[node as usize] {
            successors[node as usize].push(exit);
            for (at, reached) in reversed.reachable([node]).into_iter().enumerate() {
                leaves[at] |= reached;
            }
        }
    }
    let backwards = Graph::new(successors).reversed();
    let found = immediate_dominators(&backwards, exit);
    found[..graph.len()].iter().map(|dominator| dominator.unwrap_or(exit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dominance by its definition: every path from the root to `node` passes `through`.
    fn dominates(graph: &Graph, root: u32, through: u32, node: u32) -> bool {
        if through == node || through == root {
            return true;
        }
        let mut without: Vec<Vec<u32>> =
            (0..graph.len() as u32).map(|n| graph.successors(n).to_vec()).collect();
        without[through as usize].clear();
        !Graph::new(without).reachable([root])[node as usize]
    }

    /// Small pseudo-random graphs: a linear congruence is enough to vary the edges.
    fn random_graph(seed: u32, nodes: u32) -> Graph {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
        let mut next = |limit: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % limit
        };
        let mut edges = Vec::new();
        for _ in 0..nodes {
            let count = next(3);
            edges.push((0..count).map(|_| next(nodes)).collect());
        }
        Graph::new(edges)
    }

    #[test]
    fn a_diamond_and_a_loop() {
        let graph = Graph::new(vec![vec![1, 2], vec![3], vec![3], vec![0, 4], vec![]]);
        assert_eq!(immediate_dominators(&graph, 0), [Some(0), Some(0), Some(0), Some(0), Some(3)]);
        assert_eq!(immediate_post_dominators(&graph), [3, 3, 3, 4, 5]);
    }

    #[test]
    fn random_graphs_agree_with_the_definition() {
        for seed in 0..200 {
            let graph = random_graph(seed, 9);
            let reached = graph.reachable([0]);
            let found = immediate_dominators(&graph, 0);
            for node in 1..9 {
                let Some(dominator) = found[node as usize] else {
                    assert!(!reached[node as usize], "seed {seed}: {node} is reached");
                    continue;
                };
                assert!(dominates(&graph, 0, dominator, node) && dominator != node, "seed {seed}");
                for other in (0..9).filter(|o| *o != node && reached[*o as usize]) {
                    // The immediate one is dominated by every other dominator.
                    if dominates(&graph, 0, other, node) {
                        assert!(
                            dominates(&graph, 0, other, dominator),
                            "seed {seed}: {other} {dominator} {node}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn endless_loops_have_post_dominators() {
        // 0 -> 1 <-> 2, and nothing ends.
        let graph = Graph::new(vec![vec![1], vec![2], vec![1]]);
        let found = immediate_post_dominators(&graph);
        assert_eq!(found, [1, 2, 3]);
        for seed in 0..50 {
            let graph = random_graph(seed, 8);
            for (node, dominator) in immediate_post_dominators(&graph).into_iter().enumerate() {
                assert_ne!(node as u32, dominator, "seed {seed}");
            }
        }
    }
}
