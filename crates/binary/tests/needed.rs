//! Programs that are made to load one library more, and calls with what is needed to redirect them.

mod common;

use std::process::Command;

use common::Workshop;
use proptest::prelude::*;
use raddle_binary::with_needed;

const FIRST: &str =
    "#include <stdio.h>\n__attribute__((constructor)) static void begin(void) { puts(\"first\"); }\n";
const MAIN: &str = "#include <math.h>\n#include <stdio.h>\nint table[100000];\nstatic int zero[1000];\n\
    int main(int argc, char **argv) { (void)argv; table[99999] = argc; printf(\"%d %d %.0f\\n\", table[99999], zero[7], cos(argc - 1)); return 3; }\n";

#[test]
fn a_copy_loads_the_library_before_main_and_does_the_same() {
    let shop = Workshop::new();
    shop.file("first.c", FIRST);
    shop.sh("gcc -shared -fPIC first.c -o libfirst.so");
    shop.file("main.c", MAIN);
    let many =
        ["-O0", "-O2 -no-pie", "-O2 -Wl,-z,now -Wl,-z,relro", "-O0 -Wl,-z,norelro -s", "-O0 -fuse-ld=gold"];
    for flags in many {
        shop.sh(&format!("gcc {flags} main.c -o main -lm"));
        let path = shop.path("main");
        let bytes = std::fs::read(&path).unwrap();
        let copy = with_needed(&path, &bytes, "$ORIGIN/libfirst.so").unwrap();
        let made = shop.bytes("copy", &copy);
        shop.sh("chmod +x copy");
        let output = Command::new(made).current_dir("/").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((said.as_str(), output.status.code()), ("first\n1 0 1\n", Some(3)), "{flags}: {output:?}");
        // Nothing before the new part has changed but program headers.
        let differ = bytes.iter().zip(&copy).filter(|(a, b)| a != b).count();
        assert!(differ <= 2 * 56, "{flags}: {differ} bytes");
    }
}

#[test]
fn what_is_no_dynamic_program_is_refused() {
    let shop = Workshop::new();
    shop.file("main.c", MAIN);
    shop.sh("gcc -static main.c -o main -lm");
    let path = shop.path("main");
    let refused = |bytes: &[u8]| with_needed(&path, bytes, "x").unwrap_err().to_string();
    assert!(refused(&std::fs::read(&path).unwrap()).contains("it is statically linked"));
    assert!(refused(b"#!/bin/sh\n").contains("it is no ELF file"));
    assert!(refused(&[]).contains("it is no ELF file"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_headers_never_panic(at in 0usize..1024, value: u8, cut in 0usize..20000) {
        use std::sync::OnceLock;
        static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();
        let bytes = PROGRAM.get_or_init(|| {
            let shop = Workshop::new();
            shop.file("main.c", MAIN);
            shop.sh("gcc main.c -o main -lm");
            std::fs::read(shop.path("main")).unwrap()
        });
        let mut bytes = bytes.clone();
        bytes.truncate(cut.max(2048));
        bytes[at] = value;
        let _ = with_needed("main".as_ref(), &bytes, "x");
    }
}

#[test]
fn calls_have_their_bytes_and_say_how_they_get_there() {
    let shop = Workshop::new();
    let text = "char *strtok(char *, const char *);\nchar *tail(char *s) { return strtok(s, \",\"); }\n\
        int main(void) { char s[] = \"a\"; return tail(s) != s || strtok(0, \"\") != 0; }\n";
    for (flags, slot) in [("-O2 -fno-inline", false), ("-O2 -fno-inline -fno-plt", true)] {
        let module = shop.build("main.c", text, &format!("gcc {flags}"));
        let sites = module.call_sites(|name| name == "strtok");
        assert_eq!(sites.len(), 2, "{flags}: {sites:?}");
        for site in &sites {
            assert_eq!((site.slot, site.callee.as_str()), (slot, "strtok"));
            let tail = site.caller.as_deref() == Some("tail");
            assert_eq!(site.tail, tail);
            // call rel32, jmp rel32, call *slot(%rip), jmp *slot(%rip), each perhaps behind a
            // prefix.
            let bytes = site.bytes.to_le_bytes();
            let len = (site.return_address - site.address) as usize;
            let opcode = &bytes[..len - 4];
            let expected: &[u8] = match (slot, tail) {
                (false, false) => &[0xe8],
                (false, true) => &[0xe9],
                (true, false) => &[0xff, 0x15],
                (true, true) => &[0xff, 0x25],
            };
            assert!(opcode.ends_with(expected), "{flags}: {opcode:x?}");
        }
    }
    let module = shop.open("out");
    assert!(
        module
            .function_address("tail")
            .is_some_and(|at| module.function_names().any(|n| n == "tail") && at > 0)
    );
    assert_eq!(module.function_address("absent"), None);
}
