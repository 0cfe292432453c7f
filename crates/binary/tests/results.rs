//! Sizes of results, read from what rustc writes.

mod common;

use std::collections::HashSet;

use common::Workshop;

#[test]
fn results_are_as_large_as_rustc_says() {
    let text = "#[inline(never)] fn little(n: u64) -> Option<u64> { Some(n) }\n\
                #[inline(never)] fn string(n: u64) -> Option<String> { Some(n.to_string()) }\n\
                #[inline(never)] fn nothing(n: u64) { drop(n.to_string()) }\n\
                fn main() { little(1); string(2); nothing(3); }\n";
    let workshop = Workshop::new();
    let module = workshop.build("main.rs", text, "rustc --edition 2024 -g");
    let raw = |part: &str| module.function_names().find(|name| name.contains(part)).expect("rustc keeps it");
    let wanted: HashSet<&str> = ["6little", "6string", "7nothing"].map(raw).into();
    let sizes = module.result_sizes(&wanted);
    let size = |part: &str| sizes.get(raw(part)).copied();
    assert_eq!((size("6little"), size("6string"), size("7nothing")), (Some(16), Some(24), None));
    assert!(module.result_sizes(&HashSet::new()).is_empty());
}
