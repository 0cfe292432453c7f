use super::*;
use std::collections::BTreeSet;

fn shipped() -> Catalogue {
    Catalogue::load(&[]).unwrap()
}

/// Class, access, object.
fn of(catalogue: &Catalogue, raw: &str) -> Option<(String, bool, ObjectOperand)> {
    let op = &catalogue.operations[catalogue.find(raw, &SymbolPaths::default())?];
    Some((catalogue.classes[op.class].name.clone(), op.write, op.object))
}

#[test]
fn there_are_more_classes_and_operations_than_in_the_paper() {
    let catalogue = shipped();
    let (writes, reads): (Vec<_>, Vec<_>) = catalogue.operations.iter().partition(|op| op.write);
    assert!(catalogue.classes.len() >= 14, "{}", catalogue.classes.len());
    assert!(writes.len() >= 59 && reads.len() >= 64, "{} writes, {} reads", writes.len(), reads.len());
    for class in &catalogue.classes {
        assert!(!class.rule.is_empty() && !class.documentation.is_empty(), "{} has no contract", class.name);
    }
}

#[test]
fn names_of_each_language_are_found() {
    let catalogue = shipped();
    let is = |raw: &str, class: &str, write: bool, argument: u8| {
        let expected = Some((class.to_string(), write, ObjectOperand::Argument(argument)));
        assert_eq!(of(&catalogue, raw), expected, "{raw}");
    };
    is("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector", true, 0);
    is("_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector", false, 0);
    is("_ZNSt6vectorIiSaIiEE6rbeginEv", "std::vector", false, 1);
    is("_ZNSt6vectorIiSaIiEEC2ERKS1_", "std::vector", false, 1);
    is("_ZNSt3mapIiiSt4lessIiESaISt4pairIKiiEEEixERS3_", "std::map", true, 0);
    is("_ZNSt5dequeIiSaIiEE5beginEv", "std::deque", false, 1);
    is("_ZNSt7__cxx114listIiSaIiEE4sortEv", "std::list", true, 0);
    is("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", "std::string", true, 0);
    is("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6substrEmm", "std::string", false, 1);
    is("_ZNSolsEi", "output stream", true, 0);
    is("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "output stream", true, 0);
    is("_ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv", "string stream", false, 1);
    is("_ZNSt17_Rb_tree_iteratorISt4pairIKiiEEppEv", "iterator", true, 0);
    is("_ZNSt10shared_ptrIiEaSERKS0_", "std::shared_ptr", true, 0);
    is("_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE", "Vec", true, 0);
    is(
        "_ZN3std11collections4hash3map24HashMap$LT$K$C$V$C$S$GT$6insert17h0123456789abcdefE",
        "HashMap",
        true,
        0,
    );
    is("readdir", "DIR", true, 0);
    is("fwrite_unlocked", "FILE", true, 3);
    is("BZ2_bzRead", "BZFILE", true, 1);
    is("g_hash_table_iter_init", "GHashTable", false, 1);
    assert_eq!(of(&catalogue, "strtok"), Some(("strtok's state".into(), true, ObjectOperand::Library)));
}

#[test]
fn what_may_be_shared_is_not_listed() {
    let catalogue = shipped();
    for raw in [
        "strtok_r",
        "rand",
        "sqlite3_interrupt",
        "curl_multi_wakeup",
        "g_async_queue_push",
        "_ZNSt6vectorIiSaIiEEC2Ev",
        "_ZNSt5mutex4lockEv",
        "_ZNSt17_Rb_tree_iteratorISt4pairIKiiEEppEi",
        "_ZN4bank3mapIiE6insertEi",
        "",
        "_Z",
        "_ZN",
    ] {
        assert_eq!(catalogue.find(raw, &SymbolPaths::default()), None, "{raw}");
    }
}

/// [container.requirements.dataraces]: these count as const; `operator[]` of maps does not.
#[test]
fn the_data_race_rules_of_containers_are_kept() {
    let catalogue = shipped();
    let op = |path: String| catalogue.exact.get(&path).map(|found| catalogue.operations[found[0]].write);
    let sequences = ["vector", "deque", "list", "forward_list"];
    let others = ["map", "set", "multimap", "multiset", "unordered_map", "unordered_set"];
    for class in sequences.iter().chain(&others) {
        for name in [
            "begin",
            "end",
            "front",
            "back",
            "find",
            "lower_bound",
            "upper_bound",
            "equal_range",
            "at",
            "data",
        ] {
            assert_ne!(op(format!("std::{class}::{name}")), Some(true), "{class}::{name}");
        }
    }
    assert_eq!(op("std::vector::operator[]".into()), Some(false));
    assert_eq!(op("std::deque::operator[]".into()), Some(false));
    assert_eq!(op("std::map::operator[]".into()), Some(true));
    assert_eq!(op("std::unordered_map::operator[]".into()), Some(true));
}

/// A misspelt name would never be found in a program. Libraries that are not installed are skipped.
#[test]
fn functions_of_c_libraries_exist() {
    let libraries = [
        ("glibc", "libc.so.6"),
        ("stdio's unlocked calls", "libc.so.6"),
        ("SQLite", "libsqlite3.so.0"),
        ("libcurl", "libcurl.so.4"),
        ("zlib", "libz.so.1"),
        ("bzip2", "libbz2.so.1.0"),
        ("libxml2", "libxml2.so.2"),
        ("expat", "libexpat.so.1"),
        ("OpenSSL", "libssl.so.3 libcrypto.so.3"),
        ("GLib", "libglib-2.0.so.0"),
    ];
    let catalogue = shipped();
    let mut looked_at = 0;
    for (library, files) in libraries {
        let modules: Vec<_> = files
            .split(' ')
            .flat_map(|f| raddle_binary::Module::open(&PathBuf::from("/usr/lib/x86_64-linux-gnu").join(f)))
            .collect();
        if modules.is_empty() {
            continue;
        }
        looked_at += 1;
        let names: HashSet<&str> = modules.iter().flat_map(|m| m.function_names()).collect();
        let of_library = |op: &&ApiOperation| catalogue.classes[op.class].library == library;
        let missing: BTreeSet<&str> = catalogue
            .operations
            .iter()
            .filter(of_library)
            .map(|op| op.pattern.as_str())
            .filter(|name| {
                !names.contains(name) && modules.iter().all(|m| m.function_address(name).is_none())
            })
            .filter(|name| !MAY_BE_ABSENT.contains(name))
            .collect();
        assert!(missing.is_empty(), "{library}: {missing:?}");
    }
    assert!(looked_at > 0, "not even the C library was found");
}

/// In another library of glibc, or only in newer versions.
const MAY_BE_ABSENT: &[&str] = &["crypt"];

#[test]
fn a_project_extends_the_lists_and_leaves_some_out() {
    let text = r#"
        [tsvd]
        without = ["GLib"]
        [[tsvd.list]]
        library = "ours"
        [[tsvd.list.class]]
        name = "Cache"
        object = 1
        read = ["cache_get*"]
        write = ["app::Cache::put"]
        [other]
        key = 1
    "#;
    let catalogue = Catalogue::load(&[("raddle.toml".into(), text.into())]).unwrap();
    assert_eq!(of(&catalogue, "cache_get_all"), Some(("Cache".into(), false, ObjectOperand::Argument(1))));
    assert_eq!(
        of(&catalogue, "_ZN3app5Cache3putEi"),
        Some(("Cache".into(), true, ObjectOperand::Argument(1)))
    );
    assert_eq!(of(&catalogue, "g_hash_table_insert"), None);
    assert_eq!(of(&catalogue, "strtok").unwrap().2, ObjectOperand::Library);
}

#[test]
fn what_is_wrong_with_a_list_is_said() {
    let load = |text: &str| Catalogue::load(&[("x.toml".into(), text.into())]).unwrap_err().to_string();
    let class = |body: &str| {
        load(&format!("[[tsvd.list]]\nlibrary = \"l\"\n[[tsvd.list.class]]\nname = \"c\"\n{body}"))
    };
    assert!(load("[[tsvd.list]]\n").contains("library"), "{}", load("[[tsvd.list]]\n"));
    assert!(load("tsvd = [").starts_with("x.toml: "));
    assert!(class("write = [\"f\"]\nobject = 6").contains("0 to 5"));
    assert!(class("").contains("class `c`: it names no function"));
    assert!(class("write = [\"f\"]\nobject = \"library\"\nfield = 8").contains("neither"));
    assert!(class("wriet = [\"f\"]").contains("wriet"));
}

#[test]
fn calls_from_inside_a_library_are_its_own() {
    let catalogue = shipped();
    let operation = catalogue.find("_ZNSt6vectorIiSaIiEE9push_backERKi", &SymbolPaths::default()).unwrap();
    assert!(catalogue.is_own(
        "_ZNSt8_Rb_treeIiiSt9_IdentityIiESt4lessIiESaIiEE8_M_eraseEv",
        operation,
        &SymbolPaths::default()
    ));
    assert!(catalogue.is_own("_ZNSt6vectorIiSaIiEE6insertERKi", operation, &SymbolPaths::default()));
    assert!(!catalogue.is_own("_Z6workerv", operation, &SymbolPaths::default()));
    assert!(!catalogue.is_own("main", operation, &SymbolPaths::default()));
}

#[test]
fn pointers_to_the_state_of_futures_are_the_library_s_own() {
    let catalogue = shipped();
    let future = "_ZNKSt10unique_ptrINSt13__future_base12_Result_baseENS1_8_DeleterEEdeEv";
    assert!(catalogue.find(future, &SymbolPaths::default()).is_some() && catalogue.is_over_own_type(future));
    assert!(catalogue.is_over_own_type("_ZNSt10unique_ptrINSt6thread6_StateESt14default_deleteIS1_EED1Ev"));
    // What a user does with futures is not internal.
    assert!(!catalogue.is_over_own_type("_ZNSt6vectorISt6futureIiESaIS1_EE9push_backEOS1_"));
    assert!(!catalogue.is_over_own_type("_ZNKSt10unique_ptrIiSt14default_deleteIiEEdeEv"));
}
