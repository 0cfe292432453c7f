use crate::{CheckOptions, Source, check_sources};

fn kinds(text: &str) -> Vec<String> {
    let out = check_sources(&[Source::new("a.cs", text)], &CheckOptions::default());
    out.findings
        .iter()
        .map(|f| {
            let lines: Vec<u32> =
                f.accesses.iter().map(|a| a.stack.first().and_then(|s| s.line).unwrap_or(0)).collect();
            format!("{:?} {lines:?}", f.kind)
        })
        .collect()
}

const RACE: &str = "using System.Threading;
class P {
    static int counter;
    static object gate = new object();
    static void Work() {
        LOCK { counter++; }
    }
    static void Main() {
        var t = new Thread(Work);
        t.Start();
        Work();
        t.Join();
    }
}";

#[test]
fn a_counter_races_without_its_lock() {
    assert_eq!(kinds(&RACE.replace("LOCK", "lock (gate)")), Vec::<String>::new());
    assert_eq!(kinds(&RACE.replace("LOCK", "")), ["DataRace [6, 6]"]);
}

#[test]
fn a_class_that_ends_in_the_middle_of_a_call_is_checked_up_to_there() {
    let half = "using System.Threading.Tasks;
class A {
    static int n;
    static void Main() {
        Task.Run(() => {
            n++;
        });
        n--;
        Task.Run(() => { n";
    assert_eq!(kinds(half), ["DataRace [6, 8]"]);
}

/// Every function is well formed, including those of the models. A malformed one would be left out
/// silently.
#[test]
fn all_code_of_the_corpus_verifies() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/check/csharp");
    let mut files = 0;
    for folder in ["bad", "ok"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let file = super::parse(&path.to_string_lossy(), &std::fs::read(&path).unwrap(), &[]).unwrap();
            assert_eq!(file.errors, 0, "{}", path.display());
            let program = super::lower_program(vec![std::sync::Arc::new(file)]);
            for f in program.unit.functions.iter().filter(|f| f.code.len() > 1) {
                assert_eq!(crate::ir::cfg::verify(f).err(), None, "{} in {}", f.name, path.display());
            }
            files += 1;
        }
    }
    assert!(files >= 100, "{files} programs");
}

#[test]
fn thread_starts_are_counted_at_their_call() {
    let out = check_sources(&[Source::new("a.cs", RACE)], &CheckOptions::default());
    assert_eq!((out.stats.thread_starts, out.stats.thread_starts_reached), (1, 1));
    assert_eq!((out.stats.entries, out.stats.files), (1, 1));
}
