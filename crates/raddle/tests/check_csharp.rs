//! `raddle check` on C#: the same report, formats and status as for C.

mod common;

use common::Bench;

const RACE: &str = "using System.Threading;
class Program {
    static int counter;
    static readonly object gate = new object();
    static void Work() { LOCK { counter++; } }
    static void Main() {
        var t = new Thread(Work);
        t.Start();
        Work();
        t.Join();
    }
}
";

fn status(bench: &Bench, line: &str) -> (Option<i32>, String) {
    let output = bench.raddle(line).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

#[test]
fn a_race_is_found_and_its_correct_twin_is_not() {
    let bench = Bench::new();
    bench.file("bad.cs", &RACE.replace("LOCK", ""));
    bench.file("ok.cs", &RACE.replace("LOCK", "lock (gate)"));
    let (code, text) = status(&bench, "check bad.cs");
    assert_eq!(code, Some(66), "{text}");
    assert!(text.contains("data race on `Program.counter`") && text.contains("bad.cs:5:"), "{text}");
    assert!(text.contains("looked at 1 of 1 file") && text.contains("1 of 1 thread start"), "{text}");
    let (code, text) = status(&bench, "check ok.cs");
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = status(&bench, "check --format json bad.cs");
    assert_eq!(code, Some(66));
    assert!(text.contains("\"kind\": \"data-race\"") || text.contains("\"kind\":\"data-race\""), "{text}");
}

#[test]
fn a_project_names_symbols_and_files_together() {
    let bench = Bench::new();
    bench.file("app/app.csproj", "<Project Sdk=\"x\"><DefineConstants>RACY</DefineConstants></Project>");
    bench.file("app/Counter.cs", "static class Counter { public static int Value; }");
    bench.file(
        "app/Program.cs",
        "using System.Threading.Tasks;
class Program {
    static void Main() {
#if RACY
        var t = Task.Run(() => Counter.Value++);
        Counter.Value++;
        t.Wait();
#endif
    }
}",
    );
    let (code, text) = status(&bench, "check app/app.csproj");
    assert_eq!(code, Some(66), "{text}");
    assert!(text.contains("`Counter.Value`"), "{text}");
    assert_eq!(status(&bench, "check app/Program.cs app/Counter.cs").0, Some(66));
}

#[test]
fn a_hostile_project_is_data() {
    let bench = Bench::new();
    let evil = "<Project Sdk=\"x\"><Target Name=\"B\" BeforeTargets=\"Build\"><Exec Command=\"touch owned\"/></Target>\
        <ItemGroup><Compile Include=\"/etc/passwd;..\\..\\x.cs\"/></ItemGroup><Import Project=\"/etc/hosts\"/></Project>";
    bench.file("p/p.csproj", evil);
    bench.file("p/a.cs", &RACE.replace("LOCK", ""));
    assert_eq!(status(&bench, "check p").0, Some(66));
    assert!(!bench.path("owned").exists() && !bench.path("p/owned").exists());
}

#[test]
fn an_entry_that_cannot_be_followed_is_no_clean_bill() {
    let bench = Bench::new();
    let deep = " + \"x\"".repeat(20_000);
    bench.file("deep.cs", &format!("class P {{ static void Main() {{ var s = \"\"{deep}; }} }}"));
    let (code, said) = status(&bench, "check deep.cs");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("1 function is too long or too deep"), "{said}");
    assert!(said.contains("nothing was checked: of 1 function none could be followed"), "{said}");
}

#[test]
fn nothing_to_look_at_is_no_clean_bill() {
    let bench = Bench::new();
    bench.file("empty.cs", "// nothing\n");
    bench.file("names.cs", "enum E { A, B }\n");
    for line in ["check empty.cs", "check names.cs"] {
        let (code, text) = status(&bench, line);
        assert_eq!(code, Some(2), "{line}: {text}");
        assert!(text.contains("nothing was checked"), "{text}");
    }
}
