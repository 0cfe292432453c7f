//! After a rebuild, functions that have not changed are not looked at again, and the answer is the
//! same.

mod common;

use std::path::Path;

use common::Workshop;
use raddle_binary::Module;
use raddle_conseq::{
    Analysis, Cache, Callers, CriticalRead, Extent, KnownFunctions, Note, Options, SiteKind, analyse,
    analyse_with,
};

fn program(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers").join(name);
    std::fs::read_to_string(path).expect("the program")
}

/// A cache that has seen the module, as it comes back from the disk.
fn filled(module: &Module, options: &Options) -> Cache {
    let mut cache = Cache::default();
    let found = analyse_with(module, options, (&mut KnownFunctions::default(), &mut cache), &Extent::whole());
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
            analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut cache), &Extent::whole()),
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
            analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut cache), &Extent::whole()),
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
            analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut cache), &Extent::whole()),
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
    assert_eq!(
        analyse_with(&module, &only, (&mut KnownFunctions::default(), &mut cache), &Extent::whole()),
        analyse(&module, &only)
    );
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
    assert_eq!(
        analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut cache), &Extent::whole()),
        analyse(&module, &options)
    );
    assert!(
        cache.reused >= 8 && cache.looked_at <= 3,
        "{} reused, {} looked at",
        cache.reused,
        cache.looked_at
    );
}

/// An analysis that is cut off has what was executed. The next one goes on.
#[test]
fn what_was_executed_comes_first_and_the_rest_is_continued() {
    let (workshop, options) = (Workshop::new(), Options::default());
    let module = workshop.build_c(&program("loops_and_calls.c"), "-O0");
    let last = analyse(&module, &options).sites.pop().expect("a site");
    let executed = [last.function.address];
    let near = Extent { executed: Some(&executed), is_over: &|| false };
    let all = analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut Cache::default()), &near);
    let (mut known, mut cache) = (KnownFunctions::default(), Cache::default());
    let cut = Extent { is_over: &|| true, ..near };
    let cut = analyse_with(&module, &options, (&mut known, &mut cache), &cut);
    assert!(
        matches!(cut.notes[..], [.., Note::Unfinished { functions }] if functions > 0),
        "{:?}",
        cut.notes
    );
    assert!(!cut.sites.is_empty() && cut.sites.iter().all(|s| s.function == last.function));
    let of_last = all.sites.iter().filter(|s| s.function == last.function).count();
    assert_eq!((cut.sites.len(), cache.looked_at), (of_last, 1));
    assert_eq!(analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut cache), &near), all);
    assert_eq!(cache.reused, 1);
    assert_eq!(analyse_with(&module, &options, (&mut known, &mut cache), &near), all);
    let (reused, looked_at) = (cache.reused, cache.looked_at);
    assert!(reused > 0 && looked_at == 0, "what this file is known for is not looked up: {reused}");
    assert_eq!(analyse_with(&module, &options, (&mut known, &mut cache), &near), all);
    assert_eq!((cache.reused, cache.looked_at), (0, 0));
}

/// The time that is over counts for functions that were not executed.
#[test]
fn all_that_was_executed_is_analysed_in_any_case() {
    let (workshop, options) = (Workshop::new(), Options::default());
    let module = workshop.build_c(&program("loops_and_calls.c"), "-O0");
    let whole = analyse(&module, &options);
    let executed: Vec<u64> = whole.sites.iter().map(|site| site.function.address).collect();
    assert!(executed.iter().any(|at| *at != executed[0]));
    let cut = Extent { executed: Some(&executed), is_over: &|| true };
    let cut = analyse_with(&module, &options, (&mut KnownFunctions::default(), &mut Cache::default()), &cut);
    assert_eq!(cut.sites, whole.sites);
}

/// For each single read: the functions that are near it have all sites that depend on it, and the
/// same reads.
#[test]
fn no_site_of_an_executed_read_is_left_out() {
    let workshop = Workshop::new();
    let (mut asked, mut left_out) = (0, 0);
    for name in ["loops_and_calls.c", "classes.cpp", "far_calls.c"] {
        let source = workshop.file(name, &program(name));
        for flags in ["-O0", "-O2"] {
            let module = workshop.build(&source, flags);
            for callers in [Callers::WhenNeeded, Callers::Always] {
                let options = Options { callers, ..Options::default() };
                let whole = analyse(&module, &options);
                let mut addresses: Vec<u64> = whole.reads.iter().map(|read| read.address).collect();
                addresses.dedup();
                for address in addresses {
                    let near = Extent { executed: Some(&[address]), is_over: &|| false };
                    let kept = (&mut KnownFunctions::default(), &mut Cache::default());
                    let near = analyse_with(&module, &options, kept, &near);
                    assert_eq!(deciding(&near, address), deciding(&whole, address), "{name} {flags}");
                    asked += 1;
                    left_out += whole.sites.len() - near.sites.len();
                }
            }
        }
    }
    assert!(asked > 100 && left_out > 100, "{asked} reads, {left_out} sites left out");
}

/// What the sites are that depend on a read, and how.
fn deciding(analysis: &Analysis, address: u64) -> Vec<(u64, SiteKind, CriticalRead)> {
    let of = analysis.reads.iter().filter(|read| read.address == address);
    of.map(|read| {
        let site = &analysis.sites[read.site as usize];
        (site.address, site.kind, CriticalRead { site: 0, ..read.clone() })
    })
    .collect()
}
