//! The library, as C# over instructions of the machine. Each family has a file; a new class is a
//! few lines in one of them.

use std::sync::{Arc, OnceLock};

use super::syntax::File;

/// The first file declares the classes that the machine knows by number, in their order.
const FILES: &[(&str, &str)] = &[
    ("<models>/core.cs", include_str!("models/core.cs")),
    ("<models>/threads.cs", include_str!("models/threads.cs")),
    ("<models>/tasks.cs", include_str!("models/tasks.cs")),
    ("<models>/parallel.cs", include_str!("models/parallel.cs")),
    ("<models>/locks.cs", include_str!("models/locks.cs")),
    ("<models>/events.cs", include_str!("models/events.cs")),
    ("<models>/atomics.cs", include_str!("models/atomics.cs")),
    ("<models>/lazy.cs", include_str!("models/lazy.cs")),
    ("<models>/timers.cs", include_str!("models/timers.cs")),
    ("<models>/collections.cs", include_str!("models/collections.cs")),
    ("<models>/concurrent.cs", include_str!("models/concurrent.cs")),
    ("<models>/assertions.cs", include_str!("models/assertions.cs")),
    ("<models>/linq.cs", include_str!("models/linq.cs")),
    ("<models>/ui.cs", include_str!("models/ui.cs")),
    ("<models>/hosting.cs", include_str!("models/hosting.cs")),
];

/// The models, parsed once.
pub fn files() -> &'static [Arc<File>] {
    static PARSED: OnceLock<Vec<Arc<File>>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let parse = |(path, text): &(&str, &str)| File::parse(path, (*text).to_string(), true);
        FILES.iter().filter_map(parse).map(Arc::new).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_whole() {
        let files = files();
        assert_eq!(files.len(), FILES.len());
        for f in files {
            assert_eq!((f.errors, f.first_error), (0, None), "{}", f.path);
        }
    }
}
