//! What being watched costs: nanoseconds of processor time an operation, and milliseconds to start
//! a program.
//!
//!     cargo bench -p raddle-clr --bench cost [-- profiler=FILE]

#[path = "../tests/support/mod.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod support;

use std::path::Path;

use support::{Sdk, Way, processor_time};

const HELLO: &str = "class Hello { static void Main() { System.Console.WriteLine(\"hello\"); } }";

fn main() {
    let Some(mut sdk) = Sdk::find() else { return };
    if let Some(profiler) = std::env::args().find_map(|word| word.strip_prefix("profiler=").map(Into::into)) {
        sdk.profiler = profiler;
    }
    let folder = tempfile::tempdir().unwrap();
    operations(&sdk, folder.path());
    start(&sdk, folder.path());
}

/// Without tiered compilation: what is measured is the code that a long run has.
fn operations(sdk: &Sdk, folder: &Path) {
    let program = folder.join("cost.dll");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/cost.cs");
    sdk.compile(&[source], &program, &[]);
    let settings = program.with_extension("runtimeconfig.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let option = r#""configProperties":{"System.Runtime.TieredCompilation":false},"framework""#;
    std::fs::write(&settings, text.replace(r#""framework""#, option)).unwrap();
    let plain = sdk.dotnet().arg(&program).output().unwrap();
    let plain = String::from_utf8_lossy(&plain.stdout).into_owned();
    // Each `await` waits for nothing, as without raddle, or the pool would be measured.
    let way = Way { force_async: false, ..Way::default() };
    let watched = sdk.run(&[program.to_str().unwrap()], &folder.join("session"), &way).said();
    println!("ns an operation                             plain  watched");
    for (plain, watched) in plain.lines().zip(watched.lines()) {
        let ((name, plain), (_, watched)) =
            (plain.split_once('\t').unwrap(), watched.split_once('\t').unwrap());
        println!("{name:42} {plain:>6} {watched:>8}");
    }
}

/// The least and the middle of some starts, in turns.
fn start(sdk: &Sdk, folder: &Path) {
    const TIMES: usize = 21;
    let (source, program) = (folder.join("hello.cs"), folder.join("hello.dll"));
    std::fs::write(&source, HELLO).unwrap();
    sdk.compile(&[source], &program, &[]);
    let (mut plain, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let begin = processor_time();
        assert!(sdk.dotnet().arg(&program).output().unwrap().status.success());
        plain.push(processor_time() - begin);
        let begin = processor_time();
        let run = sdk.run(&[program.to_str().unwrap()], &folder.join("session"), &Way::default());
        assert!(run.output.status.success());
        watched.push(processor_time() - begin);
    }
    for (name, mut times) in [("plain", plain), ("watched", watched)] {
        times.sort_by(f64::total_cmp);
        let [least, middle] = [times[0], times[TIMES / 2]].map(|seconds| seconds * 1e3);
        println!("to start a program, {name}: {least:.1} ms, the middle of {TIMES} {middle:.1} ms");
    }
}
