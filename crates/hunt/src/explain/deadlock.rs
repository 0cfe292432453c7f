//! Explains threads that wait for ever: who waits for what, why it does not come, and how to fix
//! it.

use raddle_finding::{Access, Finding, Row};

use super::{and, at, lock, locks, row, sentence};

pub fn explain(finding: &Finding) -> String {
    let asking: Vec<&Access> =
        finding.accesses.iter().filter(|a| a.lock.is_some() && !a.locks.is_empty()).collect();
    if asking.len() > 1 {
        return circle(finding, &asking);
    }
    let waits = waits(finding);
    if waits.is_empty() {
        return format!("{}. {EARLY}", sentence(&finding.message));
    }
    let mut text = told(&waits);
    if let Some(more) = signals(finding, &waits).or_else(|| semaphores(finding, &waits)) {
        return text + &more;
    }
    text += &owners(&waits).unwrap_or_else(|| EARLY.to_owned());
    text
}

/// The text if the reason is unknown.
const EARLY: &str = "What would have let one of them go on has already happened, or only happens behind the wait. To fix it, \
    wait for a condition that is set under a lock and tested again before each wait, so that it makes no difference \
    which comes first.";

/// Each thread waits for a lock that another one holds.
fn circle(finding: &Finding, asking: &[&Access]) -> String {
    let told: Vec<String> = asking
        .iter()
        .map(|a| {
            let wanted = a.lock.as_deref().map(|l| lock(finding, l)).unwrap_or_default();
            format!("{} holds {} and asks for {wanted} {}", a.thread, locks(finding, a), at(a))
        })
        .collect();
    let mut names: Vec<String> =
        asking.iter().filter_map(|a| a.lock.as_deref()).map(|l| lock(finding, l)).collect();
    names.sort_unstable();
    names.dedup();
    format!(
        "{}. Each waits for a lock that another one of them holds, so none of them ever goes on. To fix it, take {} in one \
         order everywhere, or hold only one of them at a time.",
        sentence(&told.join("; ")),
        and(&names)
    )
}

/// A waiting thread, and what it waits for according to the interleaving.
struct Wait<'a> {
    access: &'a Access,
    deed: String,
}

impl Wait<'_> {
    fn joins(&self) -> bool {
        self.deed.starts_with("waits for T") && self.deed.ends_with(" to end")
    }

    /// The text after these words: `` `c` `` in ``waits for a signal on `c` ``.
    fn object(&self, words: &str) -> Option<&str> {
        self.deed.strip_prefix(words)
    }

    /// The thread that holds the awaited lock.
    fn owner(&self) -> Option<&str> {
        self.deed.rsplit_once(", which ")?.1.strip_suffix(" holds")
    }

    /// The awaited lock: its name, or else its number.
    fn lock(&self) -> &str {
        let lock = self.deed.rsplit_once(", which ").map_or(self.deed.as_str(), |(lock, _)| lock);
        match lock.find('`') {
            Some(name) => &lock[name..],
            None => ["waits for ", "waits to read-lock "]
                .iter()
                .find_map(|w| lock.strip_prefix(w))
                .unwrap_or(lock),
        }
    }
}

fn waits(finding: &Finding) -> Vec<Wait<'_>> {
    let deeds = finding.interleaving.as_ref().map_or(&[][..], |i| &i.deeds);
    let waits = finding.accesses.iter().zip(deeds);
    waits.map(|(access, deed)| Wait { access, deed: in_usual_words(finding, access, deed) }).collect()
}

/// A wait on a condition variable that may come back for no reason has other words, which say less.
fn in_usual_words(finding: &Finding, access: &Access, deed: &str) -> String {
    let object = deed.strip_prefix("waits to be woken at ");
    let begun = object.map(|object| format!("waits on {object}"));
    let is_begun = |r: &Row| Some(&r.text) == begun.as_ref() && thread_of(finding, r) == access.thread;
    match object.filter(|_| rows(finding).iter().any(is_begun)) {
        Some(object) => format!("waits for a signal on {object}"),
        None => deed.to_owned(),
    }
}

/// Threads that wait for something other than the end of a thread come first; the others wait for
/// them.
fn told(waits: &[Wait<'_>]) -> String {
    let (joins, others): (Vec<&Wait<'_>>, Vec<&Wait<'_>>) = waits.iter().partition(|w| w.joins());
    let tell = |w: &&Wait<'_>| format!("{} {} {}", w.access.thread, w.deed, at(w.access));
    let all: Vec<String> = others.iter().map(tell).chain(joins.iter().map(tell)).collect();
    let never = if all.len() == 1 { "it never goes on" } else { "none of them ever goes on" };
    format!("{}, and {never}. ", sentence(&all.join("; ")))
}

fn rows(finding: &Finding) -> &[Row] {
    finding.interleaving.as_ref().map_or(&[][..], |i| &i.rows)
}

fn thread_of<'a>(finding: &'a Finding, row: &Row) -> &'a str {
    let threads = finding.interleaving.as_ref().map_or(&[][..], |i| &i.threads);
    threads.get(row.thread).map_or("", String::as_str)
}

/// The text before the word in memory that a Rust condition variable consists of.
const CONDVAR: &str = "the condition variable at ";

/// A signal that came before the wait, or that woke the wrong thread, or that no thread is left to
/// send.
fn signals(finding: &Finding, waits: &[Wait<'_>]) -> Option<String> {
    let on_signals: Vec<(&Wait<'_>, &str)> =
        waits.iter().filter_map(|w| Some((w, w.object("waits for a signal on ")?))).collect();
    on_signals.first()?;
    let sent: Vec<Sent<'_>> =
        on_signals.iter().filter_map(|(w, object)| last_sent(finding, w, object)).collect();
    // That a thread was woken for nothing says more than that another one began to wait too late.
    let Some(last) = sent.iter().find(|s| s.wakes_in_vain).or(sent.first()) else {
        return Some(NOBODY_SIGNALS.into());
    };
    let signal = row(finding, last.row);
    Some(match last.wakes_in_vain {
        true => format!(
            "{signal}, and then {} wakes up and waits again. Any thread that waits there may get a signal, also one that it is \
             of no use to. To fix it, wake all of them each time, or let threads that wait for different things wait on \
             different condition variables.",
            last.waiter
        ),
        false => format!(
            "{signal} before {} waits, and a signal reaches only threads that wait already. To fix it, keep what is \
             waited for in a variable: set it under the lock before the signal, and wait in a loop while it is not set.",
            last.waiter
        ),
    })
}

/// The last signal before a wait began.
struct Sent<'a> {
    row: &'a Row,
    waiter: &'a str,
    /// The thread came back from an earlier wait after it.
    wakes_in_vain: bool,
}

fn last_sent<'a>(finding: &'a Finding, wait: &Wait<'a>, object: &str) -> Option<Sent<'a>> {
    let object = object.strip_prefix(CONDVAR).unwrap_or(object);
    let begins = [format!("waits on {object}"), format!("looks at the futex {object}")];
    let sends = [
        format!("signals {object}"),
        format!("wakes all at {object}"),
        format!("wakes at the futex {object}"),
    ];
    let waiter = wait.access.thread.as_str();
    let own = |r: &Row| thread_of(finding, r) == waiter;
    let begun = rows(finding).iter().rposition(|r| own(r) && begins.contains(&r.text))?;
    let at = rows(finding)[..begun].iter().rposition(|r| sends.contains(&r.text))?;
    let is_woken = |r: &Row| own(r) && r.text.strip_prefix("comes back from ") == Some(object);
    let wakes_in_vain = rows(finding)[at..begun].iter().any(is_woken);
    Some(Sent { row: &rows(finding)[at], waiter, wakes_in_vain })
}

/// The text if no thread has sent the signal.
const NOBODY_SIGNALS: &str = "No thread is left that could send the signal: the others have ended, or wait themselves. To fix it, let a \
    thread that changes what is waited for send the signal on every path, and let none wait for something that only happens after \
    its own wait.";

fn semaphores(finding: &Finding, waits: &[Wait<'_>]) -> Option<String> {
    let wanted: Vec<(&str, &str)> = waits
        .iter()
        .filter_map(|w| Some((w.access.thread.as_str(), w.object("waits for the semaphore ")?)))
        .collect();
    let (first, _) = wanted.split_first()?;
    let took = |thread: &str, semaphore: &str| {
        let text = format!("takes from the semaphore {semaphore}");
        rows(finding).iter().any(|r| r.text == text && thread_of(finding, r) == thread)
    };
    let other = wanted.iter().find(|o| o.1 != first.1 && took(o.0, first.1) && took(first.0, o.1));
    if let Some(other) = other {
        return Some(format!(
            "{} has taken {} and {} has taken {}, so each waits for what the other one has. To fix it, take {} and {} in \
             one order everywhere.",
            first.0, other.1, other.0, first.1, other.1, first.1
        ));
    }
    let blocked = |(waiter, semaphore): &(&str, &str)| {
        let behind: Vec<&Wait<'_>> =
            waits.iter().filter(|w| w.owner().is_some() && last_owner(waits, w) == *waiter).collect();
        match behind.iter().find(|w| took(&w.access.thread, semaphore)) {
            Some(taker) => Some(in_two_orders(waits, taker, waiter, semaphore)),
            None => behind.first().map(|poster| held_back(poster, waiter, semaphore)),
        }
    };
    Some(wanted.iter().find_map(blocked).unwrap_or_else(|| {
        "No thread is left that could post it. To fix it, post it once for each time that it is taken, on every path."
            .into()
    }))
}

/// The thread that finally keeps this one waiting: the owner of its lock, or of the lock that the
/// owner waits for, and so on.
fn last_owner<'a>(waits: &'a [Wait<'a>], wait: &'a Wait<'a>) -> &'a str {
    let mut last = wait.owner().unwrap_or(&wait.access.thread);
    for _ in waits {
        match waits.iter().find(|w| w.access.thread == last).and_then(Wait::owner) {
            Some(owner) => last = owner,
            None => break,
        }
    }
    last
}

/// `taker` has the semaphore and waits for a lock of `waiter`, which waits for the semaphore.
fn in_two_orders(waits: &[Wait<'_>], taker: &Wait<'_>, waiter: &str, semaphore: &str) -> String {
    let thread = &taker.access.thread;
    let mut names = vec![taker.lock().to_owned()];
    let mut at = taker.owner();
    while let Some(wait) = at.and_then(|o| waits.iter().find(|w| w.access.thread == o && w.owner().is_some()))
        && names.len() < waits.len()
    {
        names.push(wait.lock().to_owned());
        at = wait.owner();
    }
    let held = names.last().cloned().unwrap_or_default();
    names.push(semaphore.to_owned());
    let each = if names.len() > 2 {
        "so each waits for what another one has"
    } else {
        "so each waits for what the other one has"
    };
    format!(
        "{thread} has taken the semaphore {semaphore} and {waiter} holds {held}, {each}: {thread} would post {semaphore} only \
         behind that lock. To fix it, take {} in one order everywhere.",
        and(&names)
    )
}

/// `poster` could still post the semaphore if `waiter` did not hold the lock.
fn held_back(poster: &Wait<'_>, waiter: &str, semaphore: &str) -> String {
    format!(
        "{thread}, which may be the one to post {semaphore}, waits for {lock}, and {waiter} waits for {semaphore} while it \
         keeps {thread} from that lock. To fix it, let {waiter} give its lock back before it waits for {semaphore}.",
        thread = poster.access.thread,
        lock = poster.lock(),
    )
}

/// Locks held by a thread that waits or has ended.
fn owners(waits: &[Wait<'_>]) -> Option<String> {
    let (wait, owner) = waits.iter().find_map(|w| Some((w, w.owner()?)))?;
    if owner == wait.access.thread {
        return Some(format!(
            "{owner} holds that lock already. To fix it, do not take it again while it is held, or make it a recursive one."
        ));
    }
    Some(match waits.iter().any(|w| w.access.thread == owner) {
        true => format!(
            "{owner} waits while it holds the lock that {} needs. To fix it, let {owner} give the lock back before it waits.",
            wait.access.thread
        ),
        false => format!("{owner} has ended without giving it back. To fix it, unlock it on every path."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tests::access;
    use raddle_finding::{AccessOp, Confidence, Interleaving, Kind};

    fn stuck(deeds: &[(&str, &str)], rows: &[(usize, &str)]) -> Finding {
        let mut finding = Finding::new(Kind::Deadlock, Confidence::Confirmed, "no thread can go on");
        let mut threads = Vec::new();
        for (i, (thread, _)) in deeds.iter().enumerate() {
            let mut end = access(AccessOp::Call, "f", i as u32 + 1);
            end.thread = (*thread).into();
            threads.push((*thread).into());
            finding.accesses.push(end);
        }
        threads.push("T9".into());
        let row =
            |(thread, text): &(usize, &str)| Row { thread: *thread, text: (*text).into(), ..Row::default() };
        let deeds = deeds.iter().map(|d| d.1.into()).collect();
        finding.interleaving = Some(Interleaving { deeds, threads, rows: rows.iter().map(row).collect() });
        finding
    }

    #[test]
    fn a_signal_that_came_first_is_named() {
        let deeds = [("T0", "waits for T1 to end"), ("T1", "waits for a signal on `c`")];
        let text = explain(&stuck(&deeds, &[(2, "signals `c`"), (1, "waits on `c`")]));
        assert!(
            text.starts_with("T1 waits for a signal on `c` in `f` (a.c:2); T0 waits for T1 to end"),
            "{text}"
        );
        assert!(text.contains("T9 signals `c` before T1 waits"), "{text}");
        assert!(text.contains("wait in a loop"), "{text}");
        let text = explain(&stuck(&deeds, &[(1, "waits on `c`"), (2, "signals `c`")]));
        assert!(text.contains("No thread is left that could send the signal"), "{text}");
        assert!(!text.contains("wait in a loop"), "it may do so already: {text}");
    }

    #[test]
    fn a_signal_that_wakes_the_wrong_thread_was_not_lost() {
        let deeds = [("T0", "waits to be woken at `c`"), ("T1", "waits for a signal on `c`")];
        let rows = [
            (1, "waits on `c`"),
            (0, "waits on `c`"),
            (2, "signals `c`"),
            (1, "comes back from `c`"),
            (1, "waits on `c`"),
        ];
        let text = explain(&stuck(&deeds, &rows));
        assert!(text.contains("T0 waits for a signal on `c`"), "{text}");
        assert!(text.contains("T9 signals `c`, and then T1 wakes up and waits again"), "{text}");
        assert!(text.contains("wake all of them") && !text.contains("already"), "{text}");
    }

    #[test]
    fn semaphores_in_two_orders_and_one_that_nobody_posts() {
        let deeds = [("T1", "waits for the semaphore `a`"), ("T2", "waits for the semaphore `b`")];
        let rows = [(0, "takes from the semaphore `b`"), (1, "takes from the semaphore `a`")];
        let text = explain(&stuck(&deeds, &rows));
        assert!(text.contains("take `b` and `a` in one order everywhere"), "{text}");
        let text = explain(&stuck(&deeds[..1], &[]));
        assert!(text.contains("No thread is left that could post it"), "{text}");
    }

    #[test]
    fn a_semaphore_and_a_lock_in_two_orders() {
        let deeds = [("T0", "waits for the semaphore `s`"), ("T1", "waits for L1 `m`, which T0 holds")];
        let text = explain(&stuck(&deeds, &[(1, "takes from the semaphore `s`")]));
        assert!(text.contains("T1 has taken the semaphore `s` and T0 holds `m`"), "{text}");
        assert!(text.contains("take `m` and `s` in one order everywhere"), "{text}");
        assert!(!text.contains("No thread is left") && !text.contains("post it once"), "{text}");
        // The thread with the semaphore waits for the waiter through another thread.
        let deeds = [
            ("T0", "waits for the semaphore `s`"),
            ("T1", "waits for L1 `m`, which T2 holds"),
            ("T2", "waits to read-lock L2, which T0 holds"),
        ];
        let text = explain(&stuck(&deeds, &[(1, "takes from the semaphore `s`")]));
        assert!(text.contains("T0 holds L2, so each waits for what another one has"), "{text}");
        assert!(text.contains("take `m`, L2 and `s` in one order everywhere"), "{text}");
    }

    #[test]
    fn a_semaphore_that_is_posted_behind_a_lock_of_the_waiter() {
        let deeds = [("T0", "waits for the semaphore `s`"), ("T1", "waits for L1 `m`, which T0 holds")];
        let text = explain(&stuck(&deeds, &[]));
        assert!(text.contains("T1, which may be the one to post `s`, waits for `m`"), "{text}");
        assert!(text.contains("let T0 give its lock back before it waits for `s`"), "{text}");
        // A lock of a thread that has ended is unrelated, and so is a cycle of locks.
        for other in ["waits for L1 `m`, which T9 holds", "waits for L1 `m`, which T1 holds"] {
            let text = explain(&stuck(&[deeds[0], ("T1", other)], &[]));
            assert!(text.contains("No thread is left that could post it"), "{text}");
        }
    }

    #[test]
    fn a_lock_is_waited_for_that_its_owner_keeps() {
        let text = explain(&stuck(&[("T1", "waits for L1 `m`, which T2 holds")], &[]));
        assert!(text.contains("T2 has ended without giving it back"), "{text}");
        let deeds = [("T1", "waits for L1 `m`, which T2 holds"), ("T2", "waits for T1 to end")];
        let text = explain(&stuck(&deeds, &[]));
        assert!(text.contains("let T2 give the lock back before it waits"), "{text}");
        let text = explain(&stuck(&[("T1", "waits for L1 `m`, which T1 holds")], &[]));
        assert!(text.contains("T1 holds that lock already"), "{text}");
    }
}
