//! What is known to happen before a thread's present, for a caller that knows what synchronises
//! (extension 9 of the crate): a few spans of threads' time. All accesses in them happen before.
//!
//! A vector clock has a count for each thread, and everything the thread did up to that count
//! happens before. Here the count is a time, which every access has anyway, so an access costs
//! nothing more. A span also has a beginning: a thread of a pool does one piece of work after the
//! other, and only chance orders them. What was done *since* the piece began *until* the release
//! happens before. What the same thread did earlier does not.
//!
//! A missing span costs a useless delay; a wrong one would hide a violation. So whatever does not
//! fit is left out.

/// The maximum number of spans.
const SPANS: usize = 16;

/// What a thread did between two times, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// As in [`Point::thread`](crate::Point::thread).
    pub thread: u32,
    /// When it begins.
    pub since: u64,
    /// When it ends; zero: an empty span.
    pub until: u64,
}

/// Accesses that happen before something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    spans: [Span; SPANS],
}

impl Past {
    /// Whether what the thread did at that time happens before.
    pub fn has(&self, thread: u32, time: u64) -> bool {
        let is_in = |span: &Span| span.thread == thread && (span.since..=span.until).contains(&time);
        self.spans.iter().any(|span| span.until != 0 && is_in(span))
    }

    /// Adds a span. If there is no room, the span that ended first is left out.
    pub fn add(&mut self, new: Span) {
        if new.until == 0 || new.since > new.until {
            return;
        }
        let touches = |span: &&mut Span| {
            span.thread == new.thread && new.since <= span.until && span.since <= new.until
        };
        if let Some(span) = self.spans.iter_mut().filter(|span| span.until != 0).find(touches) {
            span.since = span.since.min(new.since);
            span.until = span.until.max(new.until);
            return;
        }
        if let Some(first) = self.spans.iter_mut().min_by_key(|span| span.until)
            && first.until < new.until
        {
            *first = new;
        }
    }

    /// Adds everything that happens before something else.
    pub fn join(&mut self, other: &Past) {
        other.spans.iter().for_each(|span| self.add(*span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(thread: u32, since: u64, until: u64) -> Span {
        Span { thread, since, until }
    }

    #[test]
    fn a_span_has_its_ends_and_nothing_around_them() {
        let mut past = Past::default();
        assert!(!past.has(0, 0), "nothing is known");
        past.add(span(3, 10, 20));
        assert!(past.has(3, 10) && past.has(3, 20));
        assert!(!past.has(3, 9) && !past.has(3, 21) && !past.has(2, 15));
        past.add(span(4, 7, 6));
        assert!(!past.has(4, 6) && !past.has(4, 7));
    }

    #[test]
    fn spans_that_touch_are_one_and_others_are_not() {
        let mut past = Past::default();
        past.add(span(1, 10, 20));
        past.add(span(1, 20, 30));
        assert!(past.has(1, 10) && past.has(1, 30));
        past.add(span(1, 50, 60));
        assert!(past.has(1, 55) && !past.has(1, 40), "what is between is of another piece of work");
        assert!(past.has(1, 25));
        past.add(span(1, 25, 40));
        assert_eq!(past.spans.iter().filter(|span| span.until != 0).count(), 2);
        assert!(past.has(1, 40) && !past.has(1, 45));
    }

    #[test]
    fn without_room_the_oldest_is_forgotten() {
        let mut past = Past::default();
        for thread in 0..SPANS as u32 + 1 {
            past.add(span(thread, 1, 100 + u64::from(thread)));
        }
        assert!(!past.has(0, 50) && past.has(1, 50) && past.has(SPANS as u32, 50));
        past.add(span(99, 1, 5));
        assert!(!past.has(99, 5));
    }

    #[test]
    fn a_join_has_what_both_have() {
        let (mut one, mut other) = (Past::default(), Past::default());
        one.add(span(1, 10, 20));
        other.add(span(1, 15, 30));
        other.add(span(2, 5, 6));
        one.join(&other);
        assert!(one.has(1, 10) && one.has(1, 30) && one.has(2, 5));
        assert!(!other.has(1, 10), "the other one stays as it is");
    }
}
