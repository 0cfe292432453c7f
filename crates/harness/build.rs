//! Builds the runtime and turns it into what is embedded: one object for executables, one shared
//! library.
//!
//! 1. `raddle-rt` as a static library, in a target folder of its own: a nested cargo on the same
//!    folder would wait for this one for ever.
//! 2. All of it into one relocatable object.
//! 3. The runtime's own references to `memcpy` and its kin get the runtime's versions; then
//!    `__interpose_NAME` becomes NAME, weak, so that a program that defines a function of that name
//!    keeps its own.
//! 4. Everything but the exports becomes local: a Rust program has its own copies of the same
//!    functions.
//! 5. A digest of all of it, so that no raddle has to compute it when it starts.
//!
//! A package of this crate, outside of the workspace, has no sources of the runtime beside it. It
//! carries the finished files in `carried/`, where `./package crates` puts them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// The crates that end up in what is embedded. Only their sources count: a change to one of their
/// tests rebuilds nothing.
const RUNTIME_CRATES: [&str; 6] = ["base", "rt", "wire", "explore", "tsvd", "clr"];

/// Functions that the compiler calls behind the runtime's back.
const OWN: [(&str, &str); 6] = [
    ("memcpy", "__runtime_memcpy"),
    ("memmove", "__runtime_memmove"),
    ("memset", "__runtime_memset"),
    ("memcmp", "__runtime_memcmp"),
    ("bcmp", "__runtime_bcmp"),
    ("strlen", "__runtime_strlen"),
];

/// The files that are embedded, beside the headers in `include/`.
const MADE: [&str; 6] = [
    "raddle_rt.o",
    "libraddle_rt.so",
    "libraddle_tsvd.so",
    "libraddle_tsvd_hb.so",
    "libraddle_clr.so",
    "dynamic.list",
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    refuse_other_systems();
    let workspace = own.join("../..");
    if !workspace.join("crates/rt").is_dir() {
        return use_carried(&own.join("carried"), &out);
    }
    for part in RUNTIME_CRATES
        .iter()
        .flat_map(|name| [format!("crates/{name}/src"), format!("crates/{name}/Cargo.toml")])
    {
        println!("cargo::rerun-if-changed={}", workspace.join(part).display());
    }
    for part in ["Cargo.toml", "crates/harness/include", "crates/clr/apis"] {
        println!("cargo::rerun-if-changed={}", workspace.join(part).display());
    }
    // Each of the two is one large crate that one processor compiles.
    let archive = std::thread::scope(|scope| {
        scope.spawn(|| build_profiler(&workspace, &out));
        build_runtime(&workspace, &out)
    });
    let object = out.join("raddle_rt.o");
    let exports = make_object(&archive, &object, &out);
    make_shared(&object, &out);
    make_tsvd("libraddle_tsvd.so", TSVD.to_vec(), &exports, &out);
    make_tsvd("libraddle_tsvd_hb.so", [TSVD, TSVD_HB].concat(), &exports, &out);
    let list: String = exports.iter().map(|e| format!("  {e};\n")).collect();
    fs::write(out.join("dynamic.list"), format!("{{\n{list}}};\n")).unwrap();
    let include = workspace.join("crates/harness/include");
    let mut headers: Vec<PathBuf> = ["", "raddle", "bits"]
        .iter()
        .flat_map(|folder| fs::read_dir(include.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    headers.sort();
    fs::write(out.join("digest"), digest(MADE.iter().map(|name| out.join(name)).chain(headers))).unwrap();
}

/// The runtime knows one machine and one C library; a build for another would fail later, and in
/// words that name neither.
fn refuse_other_systems() {
    let of = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let target = [of("ARCH"), of("OS"), of("ENV")];
    if target != ["x86_64", "linux", "gnu"] {
        eprintln!("raddle runs on x86-64 Linux with glibc only; this build is for {}", target.join("-"));
        std::process::exit(1);
    }
}

fn use_carried(carried: &Path, out: &Path) {
    for name in MADE.iter().chain(&["digest"]) {
        let from = carried.join(name);
        println!("cargo::rerun-if-changed={}", from.display());
        fs::copy(&from, out.join(name)).unwrap_or_else(|e| {
            panic!("{}: {e}. Packages of raddle are made by `./package crates`", from.display())
        });
    }
}

fn digest(files: impl Iterator<Item = PathBuf>) -> [u8; 32] {
    let mut all = Sha256::new();
    files.for_each(|file| all.update(Sha256::digest(fs::read(file).unwrap())));
    all.finalize().into()
}

fn build_runtime(workspace: &Path, out: &Path) -> PathBuf {
    let target = out.join("runtime");
    // Alone: a library for Rust beside it would be left as bitcode for the linker.
    build(workspace, &target, ["raddle-rt", "rt", "staticlib"]);
    target.join("rt/libraddle_rt.a")
}

/// The profiler of the CLR: a shared object with std.
fn build_profiler(workspace: &Path, out: &Path) {
    let target = out.join("profiler");
    build(workspace, &target, ["raddle-clr", "release", "cdylib"]);
    let made = target.join("release/libraddle_clr.so");
    run(Command::new("objcopy").arg("--strip-debug").arg(made).arg(out.join("libraddle_clr.so")));
}

fn build(workspace: &Path, target: &Path, [package, profile, kind]: [&str; 3]) {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap());
    cargo.current_dir(workspace).args(["rustc", "--package", package, "--lib", "--profile", profile]);
    cargo.args(["--quiet", "--crate-type", kind]).arg("--target-dir").arg(target);
    if workspace.join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    // What was meant for the build of raddle is not meant for its runtime.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let foreign = [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_BUILD_TARGET",
        ];
        if foreign.contains(&&*name) || name.starts_with("CARGO_PROFILE_") || name.starts_with("CLIPPY_") {
            cargo.env_remove(&*name);
        }
    }
    run(&mut cargo);
}

/// Returns the names that the object exports.
fn make_object(archive: &Path, object: &Path, out: &Path) -> BTreeSet<String> {
    let all = out.join("all.o");
    // All of the crate is in one codegen unit, which this symbol brings in with what it needs of
    // core. No groups are kept: the linker would take the runtime's reference to an unwinding
    // personality for the program's own.
    let pick = ["-r", "--force-group-allocation", "-u", "__tsan_init"];
    run(Command::new("ld").args(pick).arg(archive).arg("-o").arg(&all));

    let own = out.join("own.syms");
    fs::write(&own, OWN.map(|(from, to)| format!("{from} {to}\n")).concat()).unwrap();
    let (pointed, merged) = (out.join("pointed.o"), out.join("merged.o"));
    run(Command::new("objcopy").arg(flag("--redefine-syms=", &own)).arg(&all).arg(&pointed));
    // A reference and a definition of the same name are one symbol only after another pass of the
    // linker.
    run(Command::new("ld").args(["-r", "--force-group-allocation"]).arg(&pointed).arg("-o").arg(&merged));

    let defined = defined_symbols(&merged);
    let mut interposed: Vec<&str> = defined.iter().filter_map(|s| s.strip_prefix("__interpose_")).collect();
    let libc = defined_by_libc();
    interposed.retain(|name| !is_recent(name) || libc.contains(*name));
    let renames: String = interposed.iter().map(|n| format!("__interpose_{n} {n}\n")).collect();
    let (renamed, rename_list) = (out.join("renamed.o"), out.join("rename.syms"));
    fs::write(&rename_list, renames).unwrap();
    run(Command::new("objcopy").arg(flag("--redefine-syms=", &rename_list)).arg(&merged).arg(&renamed));

    let starts_with = |s: &str, prefixes: &[&str]| prefixes.iter().any(|p| s.starts_with(p));
    // A program may bring annotations of its own, empty ones: dynamic_annotations.c.
    let annotations =
        ["Annotate", "WTFAnnotate", "RunningOnValgrind", "ValgrindSlowdown", "ThreadSanitizerQuery"];
    let (annotations, interface): (Vec<&String>, Vec<&String>) = defined
        .iter()
        .filter(|s| {
            starts_with(s, &annotations)
                || starts_with(s, &["__tsan_", "__sanitizer_unaligned_", "__raddle_runtime"])
        })
        .partition(|s| starts_with(s, &annotations));
    let mut exports: BTreeSet<String> = interface.into_iter().cloned().collect();
    let weak: Vec<String> =
        interposed.iter().map(|s| s.to_string()).chain(annotations.into_iter().cloned()).collect();
    exports.extend(weak.iter().cloned());
    let (keep_list, weak_list, kept) = (out.join("keep.syms"), out.join("weak.syms"), out.join("kept.o"));
    fs::write(&keep_list, exports.iter().map(|e| format!("{e}\n")).collect::<String>()).unwrap();
    fs::write(&weak_list, weak.iter().map(|e| format!("{e}\n")).collect::<String>()).unwrap();
    run(Command::new("objcopy")
        .arg(flag("--keep-global-symbols=", &keep_list))
        .arg(flag("--weaken-symbols=", &weak_list))
        .arg("--remove-section=.llvmbc")
        .arg("--remove-section=.llvmcmd")
        .arg("--strip-debug")
        .arg(&renamed)
        .arg(&kept));
    let script = out.join("one_section.ld");
    fs::write(&script, ONE_SECTION).unwrap();
    run(Command::new("ld").arg("-r").arg("-T").arg(&script).arg(&kept).arg("-o").arg(object));
    exports
}

/// Every function and variable of the runtime comes in a section of its own, and every link of a
/// program would read all of them. Joined, GNU ld links a small program in 51 ms in place of 100. A
/// link with `--gc-sections` can then leave out no part of the runtime.
const ONE_SECTION: &str = "SECTIONS {
  .text 0 : { *(.text .text.*) }
  .rodata 0 : { *(.rodata .rodata.*) }
  .gcc_except_table 0 : { *(.gcc_except_table .gcc_except_table.*) }
  .data.rel.ro 0 : { *(.data.rel.ro .data.rel.ro.*) }
  .data 0 : { *(.data .data.*) }
  .tbss 0 : { *(.tbss .tbss.*) }
  .bss 0 : { *(.bss .bss.*) }
}
";

/// Functions that the C library has had only since 2.38. Where it lacks them they are not exported
/// either: a configure script would find them.
fn is_recent(name: &str) -> bool {
    name.starts_with("__isoc23_") || ["strlcpy", "strlcat"].contains(&name)
}

fn defined_by_libc() -> BTreeSet<String> {
    let found = Command::new("cc").arg("-print-file-name=libc.so.6").output().unwrap();
    let path = String::from_utf8(found.stdout).unwrap();
    let out = Command::new("nm").args(["--dynamic", "--defined-only"]).arg(path.trim()).output().unwrap();
    let names = String::from_utf8(out.stdout).unwrap();
    names.lines().filter_map(|l| l.split_whitespace().nth(2)?.split('@').next().map(str::to_owned)).collect()
}

fn make_shared(object: &Path, out: &Path) {
    let without = out.join("shared.o");
    run(Command::new("objcopy").arg("--remove-section=.preinit_array").arg(object).arg(&without));
    run(Command::new("cc")
        .args(["-shared", "-nostdlib", "-Wl,-soname,libraddle_rt.so", "-Wl,-z,now"])
        // Before the constructors of libraries: their code is replaced (`rt::relocated`).
        .arg("-Wl,-z,initfirst")
        // Not in the object: a program with the runtime inside may have the unwinder inside as
        // well.
        .args(["-Wl,--defsym=_Unwind_Find_FDE=__raddle_runtime_find_fde"])
        .args(["-Wl,--defsym=_Unwind_SetIP=__raddle_runtime_set_ip"])
        .arg(&without)
        .args(["-lc", "-o"])
        .arg(out.join("libraddle_rt.so")));
}

/// What `raddle tsvd` must stand in for; everything else of the program goes where it always went.
const TSVD: &[&str] = &[
    "__raddle_runtime",
    "_Fork",
    "daemon",
    "dlopen",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "fexecve",
    "fork",
    "forkpty",
    "get_nprocs",
    "get_nprocs_conf",
    "posix_spawn",
    "posix_spawnp",
    "pthread_clockjoin_np",
    "pthread_create",
    "pthread_join",
    "pthread_timedjoin_np",
    "pthread_tryjoin_np",
    "sched_getaffinity",
    "sysconf",
    "thrd_create",
    "thrd_join",
    "vfork",
];

/// What its policy tsvd-hb wants to see as well.
const TSVD_HB: &[&str] = &[
    "pthread_barrier_wait",
    "pthread_cond_broadcast",
    "pthread_cond_clockwait",
    "pthread_cond_signal",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_mutex_clocklock",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_rwlock_clockrdlock",
    "pthread_rwlock_clockwrlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_timedwrlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "sem_clockwait",
    "sem_post",
    "sem_timedwait",
    "sem_trywait",
    "sem_wait",
];

/// The same object as [`make_shared`] uses, with few names to be seen from outside.
fn make_tsvd(library: &str, names: Vec<&str>, exports: &BTreeSet<String>, out: &Path) {
    let missing: Vec<_> = names.iter().filter(|name| !exports.contains(**name)).collect();
    assert!(missing.is_empty(), "the runtime does not define {missing:?}");
    let list: String = names.iter().map(|name| format!("    {name};\n")).collect();
    let script = out.join(format!("{library}.map"));
    fs::write(&script, format!("{{\n  global:\n{list}  local: *;\n}};\n")).unwrap();
    run(Command::new("cc")
        .args(["-shared", "-nostdlib", "-Wl,-z,now", "-Wl,--gc-sections"])
        .arg(format!("-Wl,-soname,{library}"))
        .arg(flag("-Wl,--version-script=", &script))
        .arg(out.join("shared.o"))
        .args(["-lc", "-o"])
        .arg(out.join(library)));
}

fn defined_symbols(object: &Path) -> Vec<String> {
    let output =
        Command::new("nm").args(["--defined-only", "--extern-only", "--format=posix"]).arg(object).output();
    let output = output.unwrap_or_else(|e| panic!("nm (binutils) is needed to build raddle: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|l| l.split(' ').next()).map(str::to_owned).collect()
}

fn flag(name: &str, file: &Path) -> String {
    format!("{name}{}", file.display())
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?} is needed to build raddle: {e}"));
    assert!(status.success(), "{command:?} failed: {status}");
}
