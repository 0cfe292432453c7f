//! A while in which the programs that this thread starts run on one processor.

use std::mem::{size_of, zeroed};

/// The processors of this thread as they were. They are given back when it is dropped.
pub struct OneProcessor(Option<libc::cpu_set_t>);

impl OneProcessor {
    /// Keeps this thread, and what it starts, to the first of its processors. If the system refuses,
    /// nothing changes.
    pub fn begin() -> OneProcessor {
        // SAFETY: a set of processors is plain bits, and both calls get its size.
        unsafe {
            let mut all: libc::cpu_set_t = zeroed();
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut all) != 0 {
                return OneProcessor(None);
            }
            let mut one: libc::cpu_set_t = zeroed();
            let first = (0..libc::CPU_SETSIZE as usize).find(|n| libc::CPU_ISSET(*n, &all));
            libc::CPU_SET(first.unwrap_or(0), &mut one);
            let changed = libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &one) == 0;
            OneProcessor(changed.then_some(all))
        }
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        if let Some(all) = &self.0 {
            // SAFETY: as above.
            unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), all) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_started_meanwhile_has_one_processor_and_what_comes_later_has_all() {
        let processors = || {
            let output =
                Command::new("grep").args(["Cpus_allowed_list", "/proc/self/status"]).output().unwrap();
            let line = String::from_utf8(output.stdout).unwrap();
            line.split_whitespace().last().unwrap().to_owned()
        };
        let all = processors();
        let narrow = OneProcessor::begin();
        assert!(processors().parse::<u32>().is_ok(), "a number, and no list");
        drop(narrow);
        assert_eq!(processors(), all);
    }
}
