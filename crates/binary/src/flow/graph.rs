//! Directed graphs over small numbers: the blocks of one function.

/// Nodes are `0..len()`. Edges keep their order: that of a branch's outcomes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    successors: Vec<Vec<u32>>,
    predecessors: Vec<Vec<u32>>,
}

impl Graph {
    pub(crate) fn new(successors: Vec<Vec<u32>>) -> Self {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (from, targets) in successors.iter().enumerate() {
            for &to in targets {
                predecessors[to as usize].push(from as u32);
            }
        }
        Self { successors, predecessors }
    }

    pub(crate) fn len(&self) -> usize {
        self.successors.len()
    }

    pub(crate) fn successors(&self, node: u32) -> &[u32] {
        &self.successors[node as usize]
    }

    pub(crate) fn predecessors(&self, node: u32) -> &[u32] {
        &self.predecessors[node as usize]
    }

    /// The same nodes with every edge reversed.
    pub(crate) fn reversed(&self) -> Self {
        Self { successors: self.predecessors.clone(), predecessors: self.successors.clone() }
    }

    /// Which nodes can be reached from `roots`.
    pub(crate) fn reachable(&self, roots: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut stack: Vec<u32> = roots.into_iter().collect();
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                stack.extend(self.successors(node));
            }
        }
        reached
    }

    /// Nodes reached from `root`, each after all nodes reached through it.
    pub(crate) fn postorder(&self, root: u32) -> Vec<u32> {
        let mut order = Vec::new();
        let mut entered = vec![false; self.len()];
        let mut stack = vec![(root, 0)];
        entered[root as usize] = true;
        while let Some((node, next)) = stack.last_mut() {
            match self.successors[*node as usize].get(*next) {
                Some(&successor) => {
                    *next += 1;
                    if !std::mem::replace(&mut entered[successor as usize], true) {
                        stack.push((successor, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_known_from_both_ends() {
        let graph = Graph::new(vec![vec![1, 2], vec![2], vec![0], vec![]]);
        assert_eq!(graph.successors(0), [1, 2]);
        assert_eq!(graph.predecessors(2), [0, 1]);
        assert_eq!(graph.reversed().successors(2), [0, 1]);
        assert_eq!(graph.reversed().reversed(), graph);
    }

    #[test]
    fn what_is_not_reached_is_in_no_order() {
        let graph = Graph::new(vec![vec![1], vec![0], vec![1]]);
        assert_eq!(graph.reachable([0]), [true, true, false]);
        assert_eq!(graph.postorder(0), [1, 0]);
    }
}
