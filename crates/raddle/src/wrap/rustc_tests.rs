//! Command lines as cargo and users write them.

use super::*;

fn parse(line: &str) -> Crate {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    Crate::parse(&words)
}

fn added(line: &str) -> Result<String, CrateRefusal> {
    let runtime = Runtime::at("/rt".into());
    let words = additions(&parse(line), RustTool::Rustc, &runtime, Path::new("/overlay"))?;
    Ok(words.join(OsStr::new(" ")).into_string().unwrap())
}

const CARGO_LIB: &str = "--crate-name dep --edition=2021 src/lib.rs --error-format=json \
    --json=diagnostic-rendered-ansi,artifacts --crate-type lib --emit=dep-info,metadata,link \
    -C opt-level=3 -C embed-bitcode=no --check-cfg cfg(docsrs) -C metadata=1 --out-dir /t/deps \
    -C strip=debuginfo --target x86_64-unknown-linux-gnu -L dependency=/t/deps \
    --extern serde=/t/libserde.rmeta --cap-lints allow";
const CARGO_BIN: &str = "--crate-name app --edition=2024 src/main.rs --crate-type bin \
    --emit=dep-info,link -C debuginfo=2 --target x86_64-unknown-linux-gnu";

#[test]
fn cargo_command_lines() {
    let lib = parse(CARGO_LIB);
    assert_eq!(lib.target.as_deref(), Some(TARGET));
    assert_eq!(lib.types, ["lib"]);
    assert!(!lib.is_query && !lib.has_line_tables && !lib.wants_lto && !lib.links_executable());
    let bin = parse(CARGO_BIN);
    assert!(bin.links_executable() && bin.has_line_tables);
    let test = parse("--crate-name app src/lib.rs --test -g --target=x86_64-unknown-linux-gnu");
    assert!(test.links_executable() && test.has_line_tables && test.target.is_some());
    assert!(parse("--crate-type proc-macro src/lib.rs").is_proc_macro());
    assert!(parse("--crate-type cdylib --crate-type rlib x.rs").links_library());
    assert!(parse("--crate-type=cdylib,rlib x.rs").links_library());
}

#[test]
fn questions() {
    for line in [
        "-vV",
        "--version",
        "-V",
        "--print cfg",
        "--print=sysroot",
        "- --crate-name ___ --print=file-names --crate-type bin --target x86_64-unknown-linux-gnu",
    ] {
        assert!(parse(line).is_query, "{line}");
    }
    assert!(!parse("main.rs -o --print").is_query, "the value of -o");
}

#[test]
fn debuginfo_that_is_none_does_not_count() {
    assert!(!parse("-Cdebuginfo=0 x.rs").has_line_tables);
    assert!(!parse("-C debuginfo=none x.rs").has_line_tables);
    assert!(parse("--codegen debuginfo=1 x.rs").has_line_tables);
    assert!(parse("--codegen=debuginfo=line-tables-only x.rs").has_line_tables);
}

#[test]
fn a_library_gets_instrumentation_and_no_runtime() {
    let words = added(CARGO_LIB).unwrap();
    assert!(words.starts_with(
        "-Zsanitizer=thread -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer --sysroot /overlay"
    ));
    assert!(words.contains("-Cdebuginfo=line-tables-only"));
    assert!(words.contains("-Cstrip=none"));
    assert!(!words.contains("raddle_rt.o"));
}

#[test]
fn an_executable_gets_the_runtime() {
    let words = added(CARGO_BIN).unwrap();
    assert!(words.contains("-Zpre-link-arg=/rt/raddle_rt.o"));
    assert!(words.ends_with(
        "-Clink-arg=-Xlinker -Clink-arg=--dynamic-list -Clink-arg=-Xlinker -Clink-arg=/rt/dynamic.list"
    ));
    assert!(!words.contains("line-tables-only"), "the user's debug information stays");
    assert!(added("main.rs").unwrap().contains("raddle_rt.o"), "bin is rustc's default");
    assert!(added("--crate-type cdylib x.rs").unwrap().ends_with("-Clink-arg=-Wl,-z,undefs"));
}

#[test]
fn refusals() {
    assert_eq!(added("-C prefer-dynamic x.rs"), Err(CrateRefusal::PreferDynamic));
    assert_eq!(added("-Cprefer-dynamic=yes x.rs"), Err(CrateRefusal::PreferDynamic));
    assert!(added("-Cprefer-dynamic=no x.rs").is_ok());
    assert_eq!(added("-Ctarget-feature=+crt-static x.rs"), Err(CrateRefusal::Static));
    assert_eq!(added("--sysroot /x x.rs"), Err(CrateRefusal::Sysroot));
    let musl = "x86_64-unknown-linux-musl";
    assert_eq!(added(&format!("--target {musl} x.rs")), Err(CrateRefusal::ForeignTarget(musl.into())));
}

#[test]
fn lto_is_noticed() {
    assert!(parse("-C lto x.rs").wants_lto);
    assert!(parse("-Clto=thin x.rs").wants_lto);
    assert!(parse("-C linker-plugin-lto x.rs").wants_lto);
    assert!(!parse("-Clto=off x.rs").wants_lto);
}

#[test]
fn compilers_as_a_first_word() {
    for word in ["rustc", "/home/u/.cargo/bin/rustc", "clippy-driver", "rustc-1.80"] {
        assert!(is_compiler(OsStr::new(word)), "{word}");
    }
    for word in ["main.rs", "rustc.rs", "--edition=2021", "-"] {
        assert!(!is_compiler(OsStr::new(word)), "{word}");
    }
}
