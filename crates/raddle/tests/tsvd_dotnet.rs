//! `raddle tsvd` on .NET programs, end to end. They are compiled with what `./test setup` puts into `target/dotnet`; without it
//! the tests say so and end. What the profiler does with code is tested in `crates/clr`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::tsvd::Caught;
use common::{Bench, succeed};

fn sdk() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dotnet");
    let found = folder.join("sdk/dotnet").is_file();
    if !found {
        eprintln!("no .NET SDK in target/dotnet: `./test setup` gets one; nothing was tested");
    }
    found.then(|| folder.canonicalize().unwrap())
}

fn only(folder: &Path) -> PathBuf {
    std::fs::read_dir(folder).unwrap().next().expect("it is not empty").unwrap().path()
}

/// Compiles a program of `crates/clr/tests/programs`, and gives the words that run it.
fn compile(bench: &Bench, sdk: &Path, name: &str) -> [String; 4] {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../clr/tests/programs/{name}.cs"));
    let (dotnet, framework) = (sdk.join("sdk/dotnet"), only(&sdk.join("sdk/shared/Microsoft.NETCore.App")));
    let version = framework.file_name().unwrap().to_string_lossy().into_owned();
    bench.file(
        &format!("{name}.runtimeconfig.json"),
        &format!(
            r#"{{"runtimeOptions":{{"tfm":"netcoreapp3.1","framework":{{"name":"Microsoft.NETCore.App","version":"{version}"}}}}}}"#
        ),
    );
    let mut compile = Command::new(&dotnet);
    compile.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").env("LD_LIBRARY_PATH", sdk.join("openssl"));
    compile.arg(only(&sdk.join("sdk/sdk")).join("Roslyn/bincore/csc.dll"));
    compile.args(["-nologo", "-langversion:8", "-debug:portable", "-optimize+"]);
    for entry in std::fs::read_dir(&framework).unwrap() {
        let file = entry.unwrap().file_name().to_string_lossy().into_owned();
        if file.starts_with("System") && file.ends_with(".dll") && !file.contains("Native") {
            compile.arg(format!("-r:{}", framework.join(file).display()));
        }
    }
    let to = bench.path(&format!("{name}.dll"));
    succeed(compile.arg(format!("-out:{}", to.display())).arg(source));
    // Without a library for cultures, which a machine need not have.
    let invariant = "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1".to_owned();
    ["env".to_owned(), invariant, dotnet.display().to_string(), to.display().to_string()]
}

fn tsvd(bench: &Bench, options: &str, words: &[String]) -> Caught {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    bench.tsvd(options, &words)
}

/// A violation is caught by luck; three runs of the program are enough of it.
#[test]
fn a_dictionary_that_two_tasks_write_to() {
    let (bench, Some(sdk)) = (Bench::new(), sdk()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_bad");
    let caught = tsvd(&bench, "--runs 3", &words);
    let finding = caught.assert_caught("one Dictionary at once");
    let lines: Vec<i64> =
        (0..2).map(|i| finding["accesses"][i]["stack"][0]["line"].as_i64().unwrap()).collect();
    assert!(lines.iter().all(|line| [13, 18].contains(line)), "{}", caught.report);
    assert_eq!(caught.stdout, "done\n".repeat(3));
}

#[test]
fn the_same_under_a_lock_is_right() {
    let (bench, Some(sdk)) = (Bench::new(), sdk()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_ok");
    let caught = tsvd(&bench, "", &words);
    caught.assert_clean();
    assert_eq!((caught.status, caught.stdout.as_str()), (0, "done\n"));
}

#[test]
fn another_profiler_is_left_alone() {
    let (bench, Some(sdk)) = (Bench::new(), sdk()) else { return };
    let words = compile(&bench, &sdk, "dictionary_keys_ok");
    let mut command = bench.raddle("tsvd --no-store --");
    command.args(&words).env("CORECLR_ENABLE_PROFILING", "1");
    let output = command.env("CORECLR_PROFILER", "{00000000-1111-2222-3333-444444444444}").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "nothing was watched: {said}");
    assert!(said.contains("{00000000-1111") && said.contains("unset CORECLR_ENABLE_PROFILING"), "{said}");
}
