//! A drawing of the waits-for graph: threads and locks on a circle, with an arrow from a thread to
//! the lock that it waits for and from a lock to the thread that holds it.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::model::{AccessOp, Finding, Kind};

use super::super::story;
use super::lanes;
use super::writer::Writer;

/// A larger drawing would be unreadable.
const MOST_NODES: usize = 16;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
const BOX: (f64, f64) = (148.0, 34.0);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrow {
    WaitsFor,
    HeldBy,
}

#[derive(Debug, Default, PartialEq)]
struct Graph {
    /// Label, and whether it is a lock.
    nodes: Vec<(String, bool)>,
    arrows: Vec<(usize, usize, Arrow)>,
}

impl Graph {
    fn node(&mut self, label: &str, is_lock: bool) -> usize {
        let node = (label.to_owned(), is_lock);
        self.nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    fn arrow(&mut self, from: usize, to: usize, arrow: Arrow) {
        if !self.arrows.contains(&(from, to, arrow)) {
            self.arrows.push((from, to, arrow));
        }
    }

    /// A thread, the lock that it waits for, the thread that holds it, and so on round the cycle.
    /// Nodes on no cycle come last.
    fn of(finding: &Finding) -> Graph {
        let mut graph = Graph::default();
        let wants: Vec<_> = (0..finding.accesses.len())
            .filter(|&i| finding.accesses[i].op == AccessOp::Lock)
            .filter_map(|i| Some((i, story::bare(story::taken_lock(finding, i)?))))
            .collect();
        let holds = |i: usize, lock: &str| finding.accesses[i].locks.iter().any(|l| story::bare(l) == lock);
        let mut left = wants.clone();
        while !left.is_empty() {
            let mut next = Some(left.remove(0));
            while let Some((i, lock)) = next {
                let thread = graph.node(&finding.accesses[i].thread, false);
                let wanted = graph.node(&story::named(finding, lock), true);
                graph.arrow(thread, wanted, Arrow::WaitsFor);
                let holder = wants.iter().find(|(j, _)| *j != i && holds(*j, lock));
                if let Some((j, _)) = holder {
                    let owner = graph.node(&finding.accesses[*j].thread, false);
                    graph.arrow(wanted, owner, Arrow::HeldBy);
                }
                let at = holder.and_then(|(j, _)| left.iter().position(|(k, _)| k == j));
                next = at.map(|at| left.remove(at));
            }
        }
        graph
    }
}

/// The graph of a deadlock or a lock-order cycle; nothing for other findings. Locks have the
/// colours of their bars, which `locks` gives.
pub(super) fn write(writer: &mut Writer, finding: &Finding, locks: &[String]) {
    if !matches!(finding.kind, Kind::Deadlock | Kind::LockOrder) {
        return;
    }
    let graph = Graph::of(finding);
    if graph.nodes.len() < 3 || graph.nodes.len() > MOST_NODES {
        return;
    }
    writer.raw("<section class=\"graph\"><h3>Who waits for whom</h3>\n");
    let told: Vec<String> = graph.arrows.iter().map(|arrow| sentence(&graph, *arrow)).collect();
    let size = format!("0 0 {WIDTH} {HEIGHT}");
    writer.open(
        "svg",
        &[("viewBox", Some(&size)), ("role", Some("img")), ("aria-label", Some(&told.join("; ")))],
    );
    for (from, to, arrow) in &graph.arrows {
        let class = match arrow {
            Arrow::WaitsFor => "waits".to_owned(),
            Arrow::HeldBy => format!("holds {}", colour(locks, &graph.nodes[*from].0)),
        };
        draw_arrow(writer, at(&graph, *from), at(&graph, *to), *arrow, &class);
    }
    for (i, (label, is_lock)) in graph.nodes.iter().enumerate() {
        let class = if *is_lock { format!("lock {}", colour(locks, label)) } else { "thread".to_owned() };
        draw_node(writer, at(&graph, i), label, *is_lock, &class);
    }
    writer.raw("</svg></section>\n");
}

/// The class that gives a lock its colour.
fn colour(locks: &[String], label: &str) -> String {
    format!("l{}", lanes::colour(locks, story::bare(label)))
}

fn sentence(graph: &Graph, (from, to, arrow): (usize, usize, Arrow)) -> String {
    let verb = match arrow {
        Arrow::WaitsFor => "waits for",
        Arrow::HeldBy => "is held by",
    };
    format!("{} {verb} {}", graph.nodes[from].0, graph.nodes[to].0)
}

/// Places the nodes on an ellipse, in order, the first at the left.
fn at(graph: &Graph, node: usize) -> (f64, f64) {
    let angle = TAU * node as f64 / graph.nodes.len() as f64 - 2.0 * FRAC_PI_2;
    let (x, y) = ((WIDTH - BOX.0) / 2.0 - 8.0, (HEIGHT - BOX.1) / 2.0 - 8.0);
    (WIDTH / 2.0 + x * angle.cos(), HEIGHT / 2.0 + y * angle.sin())
}

/// A line with a triangle in the middle, where no box hides it.
fn draw_arrow(writer: &mut Writer, from: (f64, f64), to: (f64, f64), arrow: Arrow, class: &str) {
    let path = format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1);
    writer.open("path", &[("class", Some(class)), ("d", Some(&path))]);
    writer.raw("</path>");
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let (mx, my) = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    let corner = |along: f64, across: f64| {
        format!("{:.1},{:.1}", mx + ux * along - uy * across, my + uy * along + ux * across)
    };
    let points = format!("{} {} {}", corner(9.0, 0.0), corner(-6.0, 6.5), corner(-6.0, -6.5));
    writer.open("polygon", &[("class", Some(class)), ("points", Some(&points))]);
    writer.raw("</polygon>");
    let text = match arrow {
        Arrow::WaitsFor => "waits for",
        Arrow::HeldBy => "held by",
    };
    // Beside the arrow, away from the middle of the drawing.
    let side = if mx < WIDTH / 2.0 { -1.0 } else { 1.0 };
    let anchor = if side < 0.0 { "end" } else { "start" };
    let (x, y) = (format!("{:.1}", mx + side * 14.0), format!("{:.1}", my + 4.0));
    writer.element(
        "text",
        &[("class", Some("edge")), ("x", Some(&x)), ("y", Some(&y)), ("text-anchor", Some(anchor))],
        text,
    );
}

fn draw_node(writer: &mut Writer, (x, y): (f64, f64), label: &str, is_lock: bool, class: &str) {
    let number = |n: f64| format!("{n:.1}");
    let (left, top) = (number(x - BOX.0 / 2.0), number(y - BOX.1 / 2.0));
    let (width, height) = (number(BOX.0), number(BOX.1));
    let round = if is_lock { "4" } else { "17" };
    writer.open("g", &[("class", Some(class))]);
    writer.open(
        "rect",
        &[
            ("x", Some(&left)),
            ("y", Some(&top)),
            ("width", Some(&width)),
            ("height", Some(&height)),
            ("rx", Some(round)),
        ],
    );
    writer.raw("</rect>");
    writer.element("title", &[], label);
    let shown: String = label.replace('`', "").chars().take(20).collect();
    let (x, y) = (number(x), number(y + 4.5));
    writer.element("text", &[("x", Some(&x)), ("y", Some(&y)), ("text-anchor", Some("middle"))], &shown);
    writer.close("g");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{access, finding};

    fn cycle() -> Finding {
        let edge = |thread: &str, holds: &str, takes: &str| {
            let mut access = access(AccessOp::Lock, thread, vec![]);
            access.locks = vec![holds.into()];
            access.lock = Some(takes.into());
            access
        };
        finding(
            Kind::Deadlock,
            vec![edge("T1", "L1", "L2"), edge("T3", "L3 (read)", "L1"), edge("T2", "L2", "L3")],
        )
    }

    #[test]
    fn nodes_follow_the_cycle() {
        let graph = Graph::of(&cycle());
        let labels: Vec<_> = graph.nodes.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["T1", "L2", "T2", "L3", "T3", "L1"]);
        let told: Vec<_> = graph.arrows.iter().map(|arrow| sentence(&graph, *arrow)).collect();
        assert_eq!(
            told,
            [
                "T1 waits for L2",
                "L2 is held by T2",
                "T2 waits for L3",
                "L3 is held by T3",
                "T3 waits for L1",
                "L1 is held by T1",
            ]
        );
    }

    #[test]
    fn only_cycles_of_locks_are_drawn() {
        let drawn = |finding: &Finding| {
            let mut writer = Writer::default();
            write(&mut writer, finding, &["L1".into()]);
            writer.finish()
        };
        assert!(drawn(&cycle()).contains("aria-label=\"T1 waits for L2; L2 is held by T2;"));
        assert_eq!(drawn(&finding(Kind::DataRace, cycle().accesses)), "");
        assert_eq!(drawn(&finding(Kind::Deadlock, vec![access(AccessOp::Call, "T1", vec![])])), "");
    }
}
