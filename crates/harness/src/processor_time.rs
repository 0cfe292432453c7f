//! How much processor time a process and those that it has started have used: by this a thread that
//! computes is told from one that is stuck in a call.

/// In ticks of the kernel's clock, 100 a second on every Linux for x86-64. Processes that cannot
/// be read count nothing.
pub fn ticks(pid: u32) -> u64 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below: u64 = children.split_whitespace().filter_map(|c| c.parse().ok()).map(ticks).sum();
    below + own(pid).unwrap_or(0)
}

fn own(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    fields.get(11..15)?.iter().map(|f| f.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let before = ticks(std::process::id());
        let mut n = 1u64;
        while ticks(std::process::id()) < before + 2 {
            for _ in 0..1_000_000 {
                n = std::hint::black_box(n).wrapping_mul(3);
            }
        }
        assert_eq!(ticks(u32::MAX), 0);
    }
}
