//! The processor time of a process and its children. It distinguishes a thread that computes from
//! one that is stuck in a call.

/// In ticks of the kernel's clock: 100 per second on every Linux for x86-64. A process that cannot
/// be read counts as 0.
pub fn ticks(pid: u32) -> u64 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below: u64 = children.split_whitespace().filter_map(|c| c.parse().ok()).map(ticks).sum();
    below + own(pid).unwrap_or(0)
}

fn own(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The fields follow the name, which may contain anything.
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
