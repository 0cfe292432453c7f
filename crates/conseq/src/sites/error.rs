//! Error messages: consistency checks that their authors wrote for other reasons.
//!
//! ```c
//! if (size < 0) fprintf(stderr, "bad size\n");
//! ```
//!
//! They are sliced like assertions: from what decides whether the call runs.

use raddle_binary::flow::{Query, SliceStart};

use super::Candidate;
use super::names::Called;
use crate::analysis::SiteKind;

pub(super) fn site(query: &Query, called: Called, index: u32, name: &str) -> Option<Candidate> {
    let complains = called.complains || called.prints.is_some_and(|sink| sink.is_for_errors(query, index));
    complains.then(|| Candidate::call(SiteKind::Error, index, name, vec![(SliceStart::Control(index), 0)]))
}

/// Whether a function, by its raw name, reports an error whatever its arguments are.
pub(super) fn complains(name: &str) -> bool {
    matches!(
        name,
        "perror"
            | "syslog"
            | "vsyslog"
            | "__syslog_chk"
            | "__vsyslog_chk"
            | "err"
            | "errx"
            | "verr"
            | "verrx"
            | "warn"
            | "warnx"
            | "vwarn"
            | "vwarnx"
            | "error"
            | "error_at_line"
    )
}

#[cfg(test)]
mod tests {
    use super::complains;

    #[test]
    fn functions_that_only_ever_complain() {
        assert!(complains("perror") && complains("syslog") && complains("warnx"));
        assert!(!complains("printf") && !complains("fprintf") && !complains("strerror"));
    }
}
