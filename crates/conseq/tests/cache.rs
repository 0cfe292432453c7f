//! After a rebuild, functions that have not changed are not looked at again, and the answer is the
//! same.

mod common;

use std::path::Path;

use common::Workshop;
use raddle_binary::Module;
use raddle_conseq::{Cache, Extent, Note, Options, SiteKind, analyse, analyse_with};

fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers").join(name);
    std::fs::read_to_string(path).expect("the program")
}

/// A cache that has seen the module, as it comes back from the disk.
fn filled(module: &Module, options: &Options) -> Cache {
    let mut cache = Cache::default();
    let found = analyse_with(module, options, &mut cache, &Extent::whole());
    assert_eq!(found, analyse(module, options), "a cache that knows nothing changes nothing");
    assert_eq!(cache.reused, 0);
    let bytes = postcard::to_allocvec(&cache).expect("bytes");
    postcard::from_bytes(&bytes).expect("a cache")
}

#[test]
fn the_same_file_again_is_all_from_the_cache() {
    let (workshop, options) = (Workshop::new(), Options::default());
    for flags in ["-O0", "-O2"] {
        let module = workshop.build_c(&program("loops_and_calls.c"), flags);
        let mut cache = filled(&module, &options);
        let looked_at = cache.looked_at;
        assert_eq!(
            analyse_with(&module, &options, &mut cache, &Extent::whole()),
            analyse(&module, &options),
            "{flags}"
        );
        assert_eq!((cache.reused, cache.looked_at), (looked_at, 0), "{flags}");
    }
}

#[test]
fn functions_that_moved_are_known_and_those_that_changed_are_not() {
    let (workshop, options) = (Workshop::new(), Options::default());
    for flags in ["-O0", "-O2"] {
        let old = program("loops_and_calls.c");
        let mut cache = filled(&workshop.build_c(&old, flags), &options);
        // Something in front moves all code and data; one function has another constant.
        let front =
            "long moved[5] = {1}; __attribute__((noinline)) long front(int i) { return moved[i] * 3; }\n";
        let new = format!("{front}{}", old.replace("w > 80", "w > 100"));
        let module = workshop.build_c(&new, flags);
        assert_eq!(
            analyse_with(&module, &options, &mut cache, &Extent::whole()),
            analyse(&module, &options),
            "{flags}"
        );
        // `front` is new, `by_pointer` changed; `main` and `worker`, which lead to it, depend on
        // its looks.
        assert!(cache.looked_at <= 7, "{flags}: {} looked at", cache.looked_at);
        assert!(cache.reused >= 8, "{flags}: {} reused", cache.reused);
    }
}

#[test]
fn a_changed_callee_or_caller_changes_what_depends_on_it() {
    let (workshop, options) = (Workshop::new(), Options::default());
    let old = program("loops_and_calls.c");
    for (from, to) in [
        ("return quota - used * k;", "return quota - noise * k;"),
        ("must(mode + 1);", "must(width + 1);"),
        ("*to = width;", "*to = limit;"),
    ] {
        let mut cache = filled(&workshop.build_c(&old, "-O1"), &options);
        assert!(old.contains(from));
        let module = workshop.build_c(&old.replace(from, to), "-O1");
        assert_eq!(
            analyse_with(&module, &options, &mut cache, &Extent::whole()),
            analyse(&module, &options),
            "{to}"
        );
        assert!(cache.reused > 0 && cache.looked_at > 0);
    }
}

#[test]
fn other_options_are_other_answers() {
    let workshop = Workshop::new();
    let module = workshop.build_c(&program("output.c"), "-O1");
    let mut cache = filled(&module, &Options::default());
    let only = Options { kinds: vec![SiteKind::Output], max_distance: 1, ..Options::default() };
    assert_eq!(analyse_with(&module, &only, &mut cache, &Extent::whole()), analyse(&module, &only));
    assert_eq!(cache.reused, 0);
}

#[test]
fn cpp_and_its_cold_parts_come_back_where_they_are() {
    let (workshop, options) = (Workshop::new(), Options::default());
    let path = workshop.file("classes.cpp", &program("classes.cpp"));
    let mut cache = filled(&workshop.build(&path, "-O2"), &options);
    let more = format!(
        "#include <cstdlib>\nint front(int x) {{ if (x) abort(); return x; }}\n{}",
        program("classes.cpp")
    );
    let path = workshop.file("classes.cpp", &more);
    let module = workshop.build(&path, "-O2");
    assert_eq!(analyse_with(&module, &options, &mut cache, &Extent::whole()), analyse(&module, &options));
    assert!(
        cache.reused >= 8 && cache.looked_at <= 3,
        "{} reused, {} looked at",
        cache.reused,
        cache.looked_at
    );
}

/// An analysis that is cut off has what was executed and what calls it. The next one goes on.
#[test]
fn what_was_executed_comes_first_and_the_rest_is_continued() {
    let (workshop, options) = (Workshop::new(), Options::default());
    let module = workshop.build_c(&program("loops_and_calls.c"), "-O0");
    let whole = analyse(&module, &options);
    let last = whole.sites.last().expect("a site");
    let executed = [last.function.address];
    let mut cache = Cache::default();
    let cut = analyse_with(&module, &options, &mut cache, &Extent { executed: &executed, is_over: &|| true });
    assert!(
        matches!(cut.notes[..], [.., Note::Unfinished { functions }] if functions > 0),
        "{:?}",
        cut.notes
    );
    assert!(!cut.sites.is_empty() && cut.sites.iter().all(|s| s.function == last.function));
    let known = whole.sites.iter().filter(|s| s.function == last.function).count();
    assert_eq!((cut.sites.len(), cache.looked_at), (known, 1));
    let all = Extent { executed: &executed, is_over: &|| false };
    assert_eq!(analyse_with(&module, &options, &mut cache, &all), whole);
    assert_eq!(cache.reused, 1);
}

/// The time that is over counts for functions that were not executed.
#[test]
fn all_that_was_executed_is_analysed_in_any_case() {
    let (workshop, options) = (Workshop::new(), Options::default());
    let module = workshop.build_c(&program("loops_and_calls.c"), "-O0");
    let whole = analyse(&module, &options);
    let executed: Vec<u64> = whole.sites.iter().map(|site| site.function.address).collect();
    assert!(executed.iter().any(|at| *at != executed[0]));
    let cut = Extent { executed: &executed, is_over: &|| true };
    let cut = analyse_with(&module, &options, &mut Cache::default(), &cut);
    assert_eq!(cut.sites, whole.sites);
}
