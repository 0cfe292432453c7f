//! `raddle tsvd` on .NET programs, end to end. They are compiled with what `./test setup` puts into
//! `target/dotnet`; without it the tests say so and end. What the profiler does with code is tested
//! in `crates/clr`.

mod common;

use std::path::Path;

use common::tsvd::TsvdRun;
use common::{Bench, look_again};
use raddle_testing::dotnet::Sdk;

/// Compiles a program of `crates/clr/tests/programs`, and gives the words that run it.
fn compile(bench: &Bench, sdk: &Sdk, name: &str) -> [String; 4] {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../clr/tests/programs/{name}.cs"));
    compile_source(bench, sdk, name, &source)
}

fn compile_source(bench: &Bench, sdk: &Sdk, name: &str, source: &Path) -> [String; 4] {
    let to = bench.path(&format!("{name}.dll"));
    sdk.compile(&[source.to_owned()], &to, &[]);
    // Without a library for cultures, which a machine need not have.
    let invariant = "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1".to_owned();
    ["env".to_owned(), invariant, sdk.program().display().to_string(), to.display().to_string()]
}

fn tsvd(bench: &Bench, options: &str, words: &[String]) -> TsvdRun {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    bench.tsvd(options, &words)
}

/// The same until `is_enough` is caught, at most five times: a violation is caught by luck.
fn catch(bench: &Bench, options: &str, words: &[String], is_enough: impl Fn(&TsvdRun) -> bool) -> TsvdRun {
    look_again(is_enough, || tsvd(bench, options, words))
}

#[test]
fn a_dictionary_that_two_tasks_write_to() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_bad");
    let caught = catch(&bench, "--runs 3", &words, |caught| caught.status == 66);
    let finding = caught.assert_caught("one Dictionary at once");
    let lines: Vec<i64> =
        (0..2).map(|i| finding["accesses"][i]["stack"][0]["line"].as_i64().unwrap()).collect();
    assert!(lines.iter().all(|line| [13, 18].contains(line)), "{}", caught.report);
    assert_eq!(caught.stdout, "done\n".repeat(3));
}

#[test]
fn the_same_under_a_lock_is_right() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_ok");
    let caught = tsvd(&bench, "", &words);
    caught.assert_clean();
    assert_eq!((caught.status, caught.stdout.as_str()), (0, "done\n"));
}

#[test]
fn another_profiler_is_left_alone() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_ok");
    let mut command = bench.raddle("tsvd --no-store --");
    command.args(&words).env("CORECLR_ENABLE_PROFILING", "1");
    let output = command.env("CORECLR_PROFILER", "{00000000-1111-2222-3333-444444444444}").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "nothing was watched: {said}");
    assert!(said.contains("{00000000-1111") && said.contains("unset CORECLR_ENABLE_PROFILING"), "{said}");
}

/// The path of another profiler that somebody has left behind, without one being configured.
#[test]
fn a_path_that_was_left_over_keeps_nothing_out() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_ok");
    let mut command = bench.raddle("tsvd --no-store --");
    command.args(&words).env("CORECLR_PROFILER_PATH_64", "/nowhere/libother.so");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("watched ") && said.contains(" in 1 file"), "{said}");
}

/// The program that a build leaves beside an assembly, with the runtime elsewhere and in the same
/// folder; one file with all of it; `dotnet exec`. The calls of the program are watched, those of
/// what starts it are not.
#[test]
fn every_way_to_start_an_assembly() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_ok");
    let assembly = Path::new(&words[3]).to_owned();
    let sites = |words: &[String]| {
        let caught = tsvd(&bench, "", words);
        caught.assert_clean();
        assert_eq!((caught.status, caught.stdout.as_str()), (0, "done\n"), "{}", caught.stderr);
        assert!(!caught.stderr.contains("inlined"), "{}", caught.stderr);
        caught.report["stats"]["sites"].as_u64().unwrap()
    };
    let expected = sites(&words);
    assert!(expected > 0);
    let host = sdk.make_host(&assembly).display().to_string();
    let root = format!("DOTNET_ROOT={}", sdk.root().display());
    let start = ["env".to_owned(), words[1].clone(), root.clone(), host];
    assert_eq!(sites(&start), expected);
    let bundle = sdk.make_bundle(&assembly).display().to_string();
    let extracted = format!("DOTNET_BUNDLE_EXTRACT_BASE_DIR={}", bench.path("extracted").display());
    assert_eq!(sites(&["env".to_owned(), words[1].clone(), root, extracted, bundle]), expected);
    let exec = [&words[..3], &["exec".to_owned(), words[3].clone()]].concat();
    assert_eq!(sites(&exec), expected);
    // Not in the folder that the program is run in, where the host would take it for something
    // else.
    let carried = bench.path("carried").join("carried.dll");
    std::fs::create_dir(carried.parent().unwrap()).unwrap();
    for extension in ["dll", "pdb"] {
        std::fs::copy(assembly.with_extension(extension), carried.with_extension(extension)).unwrap();
    }
    sdk.carry_runtime(&carried);
    let host = sdk.make_host(&carried).display().to_string();
    let start = ["env".to_owned(), words[1].clone(), "DOTNET_ROOT=/nowhere".to_owned(), host];
    assert_eq!(sites(&start), expected);
}

const CART: &str = r#"
using System; using System.Threading; using System.Threading.Tasks;
namespace Shop {
    class Cart {
        int total;
        public void Put(int price) { total += price; }
        public int Total() { return total; }
    }
    class Program {
        static void Main() {
            var cart = new Cart();
            var one = Task.Run(() => { for (int i = 0; i < 60; i++) { cart.Put(1); Thread.Sleep(3); } });
            var two = Task.Run(() => { for (int i = 0; i < 60; i++) { cart.Total(); Thread.Sleep(3); } });
            Task.WaitAll(one, two);
            Console.WriteLine("done");
        }
    }
}
"#;

#[test]
fn a_class_of_the_project_is_watched_if_it_is_listed() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let source = bench.file("cart.cs", CART);
    let words = compile_source(&bench, &sdk, "cart", &source);
    let list = "[[tsvd.dotnet]]\nlibrary = \"shop\"\n[[tsvd.dotnet.class]]\nname = \"Shop.Cart\"\nrule = \"one at a time\"\n";
    bench.file("cart.toml", &format!("{list}write = [\"Put\"]\nread = [\"Total\"]\n"));
    let caught = catch(&bench, "--runs 4 --api cart.toml", &words, |caught| caught.status == 66);
    caught.assert_caught("one Cart at once");
    bench.file("wrong.toml", list);
    let mut command = bench.raddle("tsvd --api wrong.toml --");
    let said = common::refused(command.args(&words));
    assert!(said.contains("wrong.toml") && said.contains("no methods"), "{said}");
}

/// Two threads keep apart by a gate of their own, which raddle does not know.
const GATE: &str = r#"
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
class Program {
    static int gate;
    static readonly Dictionary<int, int> scores = new Dictionary<int, int>();
    static void Add(int key) {
        while (Interlocked.CompareExchange(ref gate, 1, 0) != 0) Thread.Yield();
        scores[key] = key;
        Volatile.Write(ref gate, 0);
    }
    static void Main() {
        var one = Task.Run(() => { for (int i = 0; i < 60; i++) { Add(i); Thread.Sleep(1); } });
        var two = Task.Run(() => { for (int i = 0; i < 60; i++) { Add(-i); Thread.Sleep(1); } });
        Task.WaitAll(one, two);
    }
}
"#;

#[test]
fn pairs_and_coverage_are_kept() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let source = bench.file("gate.cs", GATE);
    let words = compile_source(&bench, &sdk, "gate", &source);
    let caught = tsvd(&bench, "--trap-file traps.json --coverage=coverage.json --runs 2", &words);
    caught.assert_clean();
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(bench.path(name)).unwrap()).unwrap()
    };
    let traps = read("traps.json");
    // The pair is dangerous, or rests since the gate was found out.
    let all = [&traps["pairs"], &traps["resting"]].map(|list| list.as_array().unwrap().clone()).concat();
    assert!(!all.is_empty(), "{traps}");
    let name = all[0]["sites"][0].as_str().unwrap();
    assert!(name.starts_with("gate.dll: ") && name.contains(" calls System.Collections."), "{name}");
    let coverage = read("coverage.json");
    let file = &coverage["files"][0];
    assert!(file["file"].as_str().unwrap().ends_with("gate.cs"), "{coverage}");
    assert!(file["points"][0]["operation"].as_str().unwrap().starts_with("Dictionary."), "{coverage}");
    let stats = &caught.report["stats"];
    assert_eq!(coverage["total"]["points"], stats["sites"], "two runs are no more points");
    let of_runs = stats["delays_by_run"].as_str().unwrap().split(',').map(|n| n.parse::<u64>().unwrap());
    assert_eq!(stats["delays"].as_u64(), Some(of_runs.sum()), "{stats}");
}

#[test]
fn native_and_dotnet_processes_are_one_session() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_bad");
    let put = "__attribute__((noinline)) void put(int *t) { *t += 1; }\nstatic int table;\n";
    let step = "static void step(int me, int i) { put(&table); }\nint main(void) { both(); }\n";
    bench.build_pair("native.c", "gcc -O0 -g", &format!("{put}{step}"));
    let list = "[[tsvd.list]]\nlibrary = \"own\"\n[[tsvd.list.class]]\nname = \"table\"\nwrite = [\"put\"]\n";
    bench.file("own.toml", list);
    bench.script("both.sh", &format!("#!/bin/sh\n./native && exec {}\n", words.join(" ")));
    let has = |caught: &TsvdRun, part: &str| {
        caught.findings().iter().any(|finding| finding["message"].as_str().unwrap().contains(part))
    };
    let has_both = |caught: &TsvdRun| has(caught, "one Dictionary") && has(caught, "one table");
    let caught = catch(&bench, "--runs 4 --api own.toml", &["./both.sh".to_owned()], has_both);
    caught.assert_caught("at once");
    assert!(has_both(&caught), "{}", caught.report);
    assert_eq!(caught.stdout, "done\n".repeat(4));
}

#[test]
fn an_assembly_needs_no_copy() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    compile(&bench, &sdk, "dictionary_keys_ok");
    let said = common::refused(&mut bench.raddle("instrument -o copy dictionary_keys_ok.dll"));
    assert!(said.contains("raddle tsvd -- dotnet") && said.contains("needs no copy"), "{said}");
}

#[test]
fn doctor_names_the_runtimes() {
    let (bench, Some(sdk)) = (Bench::new(), Sdk::find()) else { return };
    let output = bench.raddle("doctor").env("DOTNET_ROOT", sdk.root()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find(|line| line.contains(".NET runtimes")).expect("a line for .NET");
    assert!(line.starts_with("ok") && line.contains("3.1."), "{line}");
}
