//! Waits that may never end: on a condition variable, outside a loop that tests the condition
//! again.
//!
//! ```c
//! if (!ready) pthread_cond_wait(&changed, &m);   // the signal may have come before
//! ```
//!
//! They are sliced like assertions: from what decides whether the call runs. If that is an exit of
//! a loop around the wait, the loop is the site.

use raddle_binary::flow::{Query, SliceStart};

use super::Candidate;
use crate::analysis::SiteKind;

pub(super) fn site(query: &Query, index: u32, name: &str) -> Option<Candidate> {
    let plain = name.split('@').next().unwrap_or(name);
    let is_site = waits(plain) && !asks_again(query, index);
    is_site.then(|| Candidate::call(SiteKind::Loop, index, name, vec![(SliceStart::Control(index), 0)]))
}

/// Whether an exit of a loop around the call decides that the call runs.
fn asks_again(query: &Query, index: u32) -> bool {
    let deciding = query.deciding(index);
    let around = query.loops().into_iter().filter(|nest| query.is_inside(nest, index));
    around.flat_map(|nest| nest.exits).any(|exit| deciding.iter().any(|d| d.branch == exit.branch))
}

/// Whether a function, by its raw name, waits on a condition variable until it is signalled.
fn waits(name: &str) -> bool {
    const C: [&str; 3] =
        ["pthread_cond_wait", "cnd_wait", "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"];
    let is_rust =
        name.contains("7Condvar4wait") && !name.contains("wait_while") && !name.contains("wait_timeout");
    C.contains(&name) || is_rust
}

#[cfg(test)]
mod tests {
    use super::waits;

    #[test]
    fn what_only_a_signal_ends() {
        assert!(
            waits("pthread_cond_wait")
                && waits("_ZN3std4sync6poison7condvar7Condvar4wait17h0123456789abcdefE")
        );
        assert!(!waits("pthread_cond_timedwait") && !waits("sem_wait"));
    }
}
