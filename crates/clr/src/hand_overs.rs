//! What was handed over to tasks, threads and events, and by them: one table for the process (see
//! `order`).

use std::collections::HashMap;
use std::sync::Mutex;

use raddle_tsvd::Past;

use crate::rewrite::lock as lock_table;
use crate::semaphores::Hold;

/// Who gets what is handed over.
pub type HandOverKey = u64;

pub const TASK: HandOverKey = 1 << 62;
pub const THREAD: HandOverKey = 1 << 63;
pub const EVENT: HandOverKey = 1 << 61;
/// An event that anybody may set.
pub const CHANCE: HandOverKey = 1 << 59;
/// What `Task.Run` was given, if that makes a task.
pub const GIVEN: HandOverKey = 1 << 58;
/// A phase of a barrier.
pub const PHASE: HandOverKey = 1 << 60;

pub fn task(id: u32) -> HandOverKey {
    TASK | HandOverKey::from(id)
}

/// A task that has ended when a semaphore was got.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Awaits {
    pub task: u32,
    pub semaphore: u32,
}

/// What is known of a source of a task that somebody sets, or of an event.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum SignalState {
    /// Where it was made was not seen.
    #[default]
    Unknown,
    /// Not set yet.
    Made,
    /// By this thread, in the piece that began then.
    Set(u32, u64),
    /// What it means to have waited for it is not known.
    Void,
}

/// What was handed over to a task, a thread or an event, and by it.
#[derive(Default)]
pub struct HandedOver {
    pub past: Past,
    /// What has ended when it ends, however that ends.
    pub after: Vec<HandOverKey>,
    /// Tasks that had ended when it began. If it is cancelled before, it ends without them.
    pub began_after: Vec<HandOverKey>,
    pub event: SignalState,
    /// Whether the task has run, or runs.
    pub has_begun: bool,
    /// What the next part of an asynchronous method has, and waits for.
    pub holds: Vec<Hold>,
    pub awaits: Option<Awaits>,
}

impl HandedOver {
    pub fn of(event: SignalState) -> HandedOver {
        HandedOver { event, ..HandedOver::default() }
    }
}

const PARTS: usize = 16;
static TABLE: [Mutex<Option<HashMap<HandOverKey, HandedOver>>>; PARTS] = [const { Mutex::new(None) }; PARTS];

fn part(key: HandOverKey) -> &'static Mutex<Option<HashMap<HandOverKey, HandedOver>>> {
    &TABLE[key as usize % PARTS]
}

pub fn keep(key: HandOverKey, change: impl FnOnce(&mut HandedOver)) {
    const MOST: usize = 1024;
    let mut part = lock_table(part(key));
    let part = part.get_or_insert_default();
    if part.len() >= MOST && !part.contains_key(&key) {
        part.clear();
    }
    change(part.entry(key).or_default());
}

/// A task begins. Whether it had begun before.
pub fn begin_once(key: HandOverKey) -> bool {
    let mut had_begun = false;
    keep(key, |kept| had_begun = std::mem::replace(&mut kept.has_begun, true));
    had_begun
}

pub fn take_holds(key: HandOverKey) -> Vec<Hold> {
    let mut part = lock_table(part(key));
    let kept = part.as_mut().and_then(|part| part.get_mut(&key));
    kept.map_or_else(Vec::new, |kept| std::mem::take(&mut kept.holds))
}

pub fn take_awaits(key: HandOverKey) -> Option<Awaits> {
    lock_table(part(key)).as_mut()?.get_mut(&key)?.awaits.take()
}

/// All that comes before it, also by way of tasks that it came after. Of very many the first ones
/// will do. A continuation that has not begun may be cancelled, and came after nothing.
pub fn handed_over(key: HandOverKey) -> Option<Past> {
    const MOST: usize = 64;
    let look = |key: HandOverKey| {
        let part = lock_table(part(key));
        let kept = part.as_ref()?.get(&key)?;
        let began_after = kept.began_after.iter().filter(|_| kept.has_begun);
        Some((kept.past, kept.after.iter().chain(began_after).copied().collect::<Vec<HandOverKey>>()))
    };
    let (mut past, mut keys) = look(key)?;
    let mut next = 0;
    while let Some((before, after)) = keys.get(next).map(|key| look(*key).unwrap_or_default()) {
        past.join(&before);
        for key in after {
            if keys.len() < MOST && !keys.contains(&key) {
                keys.push(key);
            }
        }
        next += 1;
    }
    Some(past)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_bounded() {
        for n in 0..40_000_u64 {
            keep(THREAD | n << 20, |_| ());
        }
        let len = lock_table(part(THREAD)).as_ref().map_or(0, HashMap::len);
        assert!((1..=1024).contains(&len), "{len}");
    }
}
