//! Functions that nobody defines, going by their names.
//!
//! A file that is checked by itself, or a program over a library that is not there, takes its locks by functions of which
//! only the name is known: `g_mutex_lock(&m)`, `SDL_LockMutex(m)`, `EnterCriticalSection(&c)`. To take them for nothing
//! would make a race of every access that they guard. So a name that says so is a lock on its first argument. What kind of
//! lock nobody knows: it may be taken twice, and neither a deadlock nor a leak is reported on a thread that uses one.
//! Names such as `die` and `plat_abort` end the program.

use super::sync::Flow;
use super::{End, Machine};

/// What a name says that a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Ends,
    Lock,
    ReadLock,
    Unlock,
}

/// What stands for a lock that has no argument.
const NAMELESS: u64 = 8;

/// Words that make a lock's name one of a function about locks.
const ABOUT: &[&str] = &[
    "init", "destroy", "create", "new", "free", "alloc", "delete", "held", "is", "has", "assert", "get",
    "set", "count", "name", "file", "register", "attr", "debug", "print", "dump", "stat", "stats", "mem",
    "memory", "page", "screen", "key", "caps",
];

/// Reads a name.
pub fn named(name: &str) -> Option<Named> {
    let words = words(name);
    let has = |w: &str| words.iter().any(|x| x == w);
    let any = |list: &[&str]| list.iter().any(|w| has(w));
    if words.last().is_some_and(|w| matches!(w.as_str(), "abort" | "panic" | "fatal" | "die")) {
        return Some(Named::Ends);
    }
    if any(ABOUT) {
        return None;
    }
    let object = any(&["lock", "mutex", "spinlock", "semaphore", "rwlock", "critical"]);
    let tries = any(&["try", "trylock", "tryenter"]);
    match () {
        () if any(&["unlock", "wrunlock", "rdunlock", "spinunlock"]) => Some(Named::Unlock),
        () if object && any(&["release", "leave", "exit", "give", "end"]) => Some(Named::Unlock),
        // Which result means that it has the lock nobody knows; that it has it guards more than it should, not less.
        () if tries && object || has("trylock") => Some(Named::Lock),
        () if any(&["rdlock", "rlock"]) || any(&["read", "reader", "shared", "rd"]) && has("lock") => {
            Some(Named::ReadLock)
        }
        () if any(&["lock", "wrlock", "wlock"]) => Some(Named::Lock),
        () if object && any(&["acquire", "enter", "take", "obtain", "begin"]) => Some(Named::Lock),
        () => None,
    }
}

/// The words of a name, by underscores and capital letters.
fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before = '_';
    for c in name.chars() {
        let begins = before == '_' || c.is_ascii_uppercase() && !before.is_ascii_uppercase();
        if c != '_' {
            if begins {
                out.push(String::new());
            }
            if let Some(word) = out.last_mut() {
                word.push(c.to_ascii_lowercase());
            }
        }
        before = c;
    }
    out
}

impl Machine<'_> {
    /// Calls a function that is known by its name, with `n` arguments on the stack. False ends the thread's turn.
    pub(super) fn call_named(&mut self, ti: usize, what: Named, n: usize, pc: u32) -> bool {
        let at = self.threads[ti].stack.len() - n;
        let lock = if n == 0 { NAMELESS } else { self.threads[ti].stack[at] };
        if what == Named::Ends {
            self.end = Some(End::Finished);
            return false;
        }
        self.threads[ti].vague = true;
        let object = self.objects.entry(lock).or_default();
        (object.recursive, object.checked) = (true, true);
        let flow = match what {
            Named::ReadLock => self.read_lock(ti, lock, false, pc),
            Named::Unlock => self.rw_unlock(ti, lock, pc),
            _ => self.lock(ti, lock, false, pc),
        };
        match flow {
            Flow::Block(state) => {
                let t = &mut self.threads[ti];
                t.state = state;
                t.pc = pc;
                false
            }
            _ => {
                self.threads[ti].stack.truncate(at);
                let v = self.fresh_unknown();
                self.push(ti, v);
                !self.switch_at_sync()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_locks() {
        for (name, what) in [
            ("g_mutex_lock", Named::Lock),
            ("SDL_LockMutex", Named::Lock),
            ("EnterCriticalSection", Named::Lock),
            ("mutex_acquire", Named::Lock),
            ("xSemaphoreTake", Named::Lock),
            ("uv_rwlock_wrlock", Named::Lock),
            ("rcu_read_lock", Named::ReadLock),
            ("pool_rdlock", Named::ReadLock),
            ("g_mutex_trylock", Named::Lock),
            ("spin_try_lock", Named::Lock),
            ("SDL_UnlockMutex", Named::Unlock),
            ("leave_critical", Named::Unlock),
            ("mutex_release", Named::Unlock),
            ("read_unlock", Named::Unlock),
        ] {
            assert_eq!(named(name), Some(what), "{name}");
        }
    }

    #[test]
    fn names_that_only_sound_like_it() {
        for name in [
            "clock",
            "get_clock",
            "block",
            "unblock",
            "mutex_init",
            "lock_is_held",
            "flock_open",
            "",
            "x",
            "enter",
            "mlock",
            "lock_file",
            "take_photo",
            "deadlock",
            "setlock_name",
            "LockMemory",
            "\u{e9}",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn names_that_end_a_program() {
        for name in ["abort", "die", "nni_plat_abort", "_serverPanic", "log_fatal", "doAbort"] {
            assert_eq!(named(name), Some(Named::Ends), "{name}");
        }
        for name in ["abort_connection", "indie", "panicked", "nonfatal"] {
            assert_eq!(named(name), None, "{name}");
        }
    }
}
