//! Nested loops: Bourdoncle's hierarchical decomposition (*Efficient Chaotic Iteration Strategies
//! with Widenings*, 1993), which ConSeq's slicer uses too (section 5.1).
//!
//! A strongly connected component is a loop. Its head is the node by which it is first entered.
//! Without its head, it decomposes into the loops inside it. Loops with several entries, which
//! gotos and optimisers create, need no special case.
//!
//! There is one addition. gcc gives `for (…) while (flag) …` one head for both loops, so the
//! decomposition sees one loop that `flag` does not leave. If a head has several back edges, the
//! blocks on each of them count as an inner loop, because spinning on one of them alone is a hang
//! too.

use super::graph::Graph;

/// A loop with more back edges is a state machine, in which a single back edge says nothing.
const MAX_WAYS: usize = 8;

/// One loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) head: u32,
    /// All its blocks, including the head and inner loops, sorted.
    pub(crate) body: Vec<u32>,
    /// 1 for an outermost loop.
    pub(crate) depth: u32,
}

impl Nest {
    pub(crate) fn contains(&self, block: u32) -> bool {
        self.body.binary_search(&block).is_ok()
    }
}

/// The loops among the nodes that `root` reaches. Outer loops come before inner ones.
pub(crate) fn loops(graph: &Graph, root: u32) -> Vec<Nest> {
    let mut found = Vec::new();
    let mut order = graph.postorder(root);
    order.reverse();
    let mut member = vec![0_u32; graph.len()];
    let mut mark = 0;
    let mut work = vec![(order, 1)];
    while let Some((nodes, depth)) = work.pop() {
        mark += 1;
        for &node in &nodes {
            member[node as usize] = mark;
        }
        for component in components(graph, &nodes, |node| member[node as usize] == mark) {
            let head = component[0];
            if component.len() == 1 && !graph.successors(head).contains(&head) {
                continue;
            }
            let mut body = component.clone();
            body.sort_unstable();
            work.push((component[1..].to_vec(), depth + 1));
            let nest = Nest { head, body, depth };
            found.extend(ways_back(graph, &nest));
            found.push(nest);
        }
    }
    found.sort_by_key(|nest| (nest.depth, nest.head));
    found
}

/// The loops on the single back edges of a head that has several, unless one is the whole loop.
fn ways_back(graph: &Graph, nest: &Nest) -> Vec<Nest> {
    let ends: Vec<u32> =
        graph.predecessors(nest.head).iter().copied().filter(|end| nest.contains(*end)).collect();
    if ends.len() < 2 || ends.len() > MAX_WAYS {
        return Vec::new();
    }
    let mut found = Vec::new();
    for end in ends {
        // The natural loop: what reaches the end without passing the head.
        let mut body = vec![nest.head];
        let mut work = vec![end];
        while let Some(block) = work.pop() {
            if !body.contains(&block) {
                body.push(block);
                work.extend(graph.predecessors(block).iter().filter(|before| nest.contains(**before)));
            }
        }
        if body.len() < nest.body.len() {
            body.sort_unstable();
            found.push(Nest { head: nest.head, body, depth: nest.depth + 1 });
        }
    }
    found
}

/// The strongly connected components of the subgraph of `nodes`, by Tarjan's algorithm without
/// recursion. The members of each have the order of `nodes`, so its head comes first.
fn components(graph: &Graph, nodes: &[u32], inside: impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut place = vec![UNSEEN; graph.len()];
    for (at, &node) in nodes.iter().enumerate() {
        place[node as usize] = at as u32;
    }
    let (mut index, mut low) = (vec![UNSEEN; nodes.len()], vec![0; nodes.len()]);
    let mut closed = vec![false; nodes.len()];
    let (mut open, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    for start in 0..nodes.len() {
        if index[start] != UNSEEN {
            continue;
        }
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 {
                (index[at], low[at]) = (counter, counter);
                counter += 1;
                open.push(at);
            }
            let successors = graph.successors(nodes[at]);
            if let Some(&to) = successors.get(next) {
                stack.push((at, next + 1));
                if inside(to) {
                    let to = place[to as usize] as usize;
                    if index[to] == UNSEEN {
                        stack.push((to, 0));
                    } else if !closed[to] {
                        low[at] = low[at].min(index[to]);
                    }
                }
                continue;
            }
            if low[at] == index[at] {
                let from = open.iter().rposition(|node| *node == at).unwrap_or(0);
                let mut members = open.split_off(from);
                members.iter().for_each(|member| closed[*member] = true);
                members.sort_unstable();
                found.push(members.into_iter().map(|member| nodes[member]).collect());
            }
            if let Some((parent, _)) = stack.last() {
                low[*parent] = low[*parent].min(low[at]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(head: u32, body: &[u32], depth: u32) -> Nest {
        Nest { head, body: body.to_vec(), depth }
    }

    #[test]
    fn straight_code_has_no_loops() {
        assert!(loops(&Graph::new(vec![vec![1, 2], vec![2], vec![]]), 0).is_empty());
    }

    #[test]
    fn nested_loops_are_found_one_inside_the_other() {
        // 0 -> 1 { 2 { 3 } 4 } 5: the example of Bourdoncle's paper in small.
        let graph = Graph::new(vec![vec![1], vec![2], vec![3, 4], vec![2], vec![1, 5], vec![]]);
        assert_eq!(loops(&graph, 0), [nest(1, &[1, 2, 3, 4], 1), nest(2, &[2, 3], 2)]);
    }

    #[test]
    fn the_paper_s_example() {
        // Figure 2 of the paper, numbered from 0: 1 2 (3 4 (5 6) 7) 8.
        let graph = Graph::new(vec![
            vec![1],
            vec![2, 7],
            vec![3],
            vec![4, 6],
            vec![5],
            vec![4, 6],
            vec![2, 7],
            vec![],
        ]);
        assert_eq!(loops(&graph, 0), [nest(2, &[2, 3, 4, 5, 6], 1), nest(4, &[4, 5], 2)]);
    }

    #[test]
    fn a_block_that_jumps_to_itself_is_a_loop() {
        assert_eq!(loops(&Graph::new(vec![vec![1], vec![1, 2], vec![]]), 0), [nest(1, &[1], 1)]);
    }

    #[test]
    fn two_loops_with_one_head_and_loops_with_two_entries() {
        let continued = Graph::new(vec![vec![1], vec![2, 4], vec![1, 3], vec![1], vec![]]);
        assert_eq!(loops(&continued, 0), [nest(1, &[1, 2, 3], 1), nest(1, &[1, 2], 2)]);
        let irreducible = Graph::new(vec![vec![1, 2], vec![2, 3], vec![1], vec![]]);
        let found = loops(&irreducible, 0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].body, [1, 2]);
    }

    #[test]
    fn an_inner_loop_that_shares_its_head_with_the_outer_one() {
        // 1 is both heads: 2 goes round the inner loop, 3 round the outer one.
        let graph = Graph::new(vec![vec![1], vec![2, 3], vec![1], vec![1, 4], vec![]]);
        assert_eq!(loops(&graph, 0), [nest(1, &[1, 2, 3], 1), nest(1, &[1, 2], 2), nest(1, &[1, 3], 2)]);
    }

    #[test]
    fn code_that_is_not_reached_is_not_looked_at() {
        assert!(loops(&Graph::new(vec![vec![], vec![1]]), 0).is_empty());
    }
}
