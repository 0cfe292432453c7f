//! What a Rust program asked of its standard library, for steps that the library makes.
//!
//! One call of `RwLock::read` or `Sender::send` is several atomic operations, whose order may
//! matter. A reader knows the call, not the operations, so the call names them.

use raddle_finding::{Frame, place};

/// ``calls `RwLock::read` `` or ``drops `RwLockReadGuard` ``, if the step was made for a call of
/// this kind. The frames are those of the step, innermost first.
pub fn of(stack: &[Frame]) -> Option<String> {
    let user = stack.iter().position(place::is_user_code)?;
    let called = stack[..user].last()?;
    let is_library = called.file.as_deref().is_some_and(|file| file.contains("/library/"));
    in_words(called.function.as_deref().filter(|_| is_library)?)
}

fn in_words(function: &str) -> Option<String> {
    const DROP: &str = "drop_in_place::<";
    if let Some((_, dropped)) = function.split_once(DROP) {
        let dropped = dropped.strip_suffix('>').unwrap_or(dropped);
        return is_sync(dropped).then(|| format!("drops `{}`", last_word(dropped)));
    }
    let (of, method) = match function.strip_prefix('<') {
        Some(rest) => {
            let end = end_of_generics(rest)?;
            (rest[..end].split(" as ").next()?, rest[end + 1..].strip_prefix("::")?)
        }
        None => function.rsplit_once("::").filter(|(path, _)| !path.contains('<'))?,
    };
    if !is_sync(of) {
        return None;
    }
    Some(match last_word(method) {
        "drop" => format!("drops `{}`", last_word(of)),
        method => format!("calls `{}::{method}`", last_word(of)),
    })
}

fn is_sync(path: &str) -> bool {
    let homes = ["std::sync", "alloc::sync", "std::thread"];
    homes
        .iter()
        .filter_map(|home| path.strip_prefix(home))
        .any(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// `RwLock` of `std::sync::poison::rwlock::RwLock<u32>`.
fn last_word(path: &str) -> &str {
    let plain = path.split('<').next().unwrap_or(path).trim_end_matches("::");
    plain.rsplit("::").next().unwrap_or(plain)
}

/// Where the angle bracket closes that was opened before the text.
fn end_of_generics(text: &str) -> Option<usize> {
    let mut depth = 1;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            // `->` of a function's type closes nothing.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_by_type_and_method() {
        let told = |name| in_words(name).unwrap_or_default();
        assert_eq!(told("<std::sync::poison::rwlock::RwLock<Vec<u32>>>::read"), "calls `RwLock::read`");
        assert_eq!(told("<std::sync::mpsc::Sender<fn() -> u8>>::send::<u8>"), "calls `Sender::send`");
        assert_eq!(
            told("<std::sync::poison::rwlock::RwLockReadGuard<u32> as core::ops::drop::Drop>::drop"),
            "drops `RwLockReadGuard`"
        );
        assert_eq!(
            told("core::ptr::drop_in_place::<std::sync::poison::mutex::MutexGuard<u32>>"),
            "drops `MutexGuard`"
        );
        assert_eq!(told("std::thread::park"), "calls `thread::park`");
    }

    #[test]
    fn what_has_nothing_to_do_with_threads_is_left_as_it_is() {
        for name in
            ["core::sync::atomic::atomic_load::<u8>", "<core::sync::atomic::AtomicU32>::load", "read", "<"]
        {
            assert_eq!(in_words(name), None, "{name}");
        }
    }

    #[test]
    fn the_call_is_the_one_that_the_program_makes() {
        let frame = |function: &str, file: &str| Frame {
            function: Some(function.into()),
            file: Some(file.into()),
            ..Frame::default()
        };
        let library = |function: &str| frame(function, "/rustc/1/library/std/src/sync/a.rs");
        let stack = [
            library("<std::sync::mpmc::list::Channel<u8>>::send"),
            library("<std::sync::mpsc::Sender<u8>>::send"),
            frame("bank::main", "src/main.rs"),
        ];
        assert_eq!(of(&stack).as_deref(), Some("calls `Sender::send`"));
        assert_eq!(of(&stack[2..]), None, "the program's own atomic");
        assert_eq!(of(&stack[..2]), None, "nothing of the program");
    }
}
