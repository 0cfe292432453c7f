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

#[test]
fn what_the_bounds_cut_off_is_said() {
    let bench = Bench::new();
    let endless = "class Program {
    static int sum;
    static void Main() { for (int i = 0; i < 100000000; i++) sum += i; }
}
";
    bench.file("long.cs", endless);
    let (code, text) = status(&bench, "check --steps 20000 long.cs");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.replace('\n', " ").contains("1 entry cut short by the step budget"), "{text}");
    bench.file("short.cs", &endless.replace("100000000", "10"));
    let (_, text) = status(&bench, "check --steps 20000 short.cs");
    assert!(!text.contains("cut short"), "{text}");
}

#[test]
fn members_beyond_those_that_are_called_are_counted() {
    let bench = Bench::new();
    let members: String = (0..43).map(|i| format!("public void M{i}() {{ n++; }}\n")).collect();
    bench.file("wide.cs", &format!("public class Wide {{ int n;\n{members} }}"));
    let (_, text) = status(&bench, "check wide.cs");
    assert!(text.contains("3 members are not called"), "{text}");
}

#[test]
fn a_project_that_is_not_read_is_named() {
    let bench = Bench::new();
    let removes = "<Project Sdk=\"x\"><Compile Remove=\"**\" /></Project>";
    bench.file("p/p.csproj", &format!("{removes}{}", " ".repeat(5 << 20)));
    bench.file("p/a.cs", &RACE.replace("LOCK", ""));
    let (code, text) = status(&bench, "check p");
    assert_eq!(code, Some(66), "{text}");
    assert!(text.contains("is larger than 4 MB and was not read"), "{text}");
}

#[test]
fn a_file_that_is_removed_on_a_condition_is_checked() {
    let bench = Bench::new();
    let item = "<Compile Remove=\"a.cs\" />";
    let project = |items: &str| format!("<Project Sdk=\"x\">{items}</Project>");
    bench.file("p/a.cs", &RACE.replace("LOCK", ""));
    bench.file("p/b.cs", "class B { static int n; }");
    bench.file("p/p.csproj", &project(&format!("<ItemGroup Condition=\"'$(A)' == 'b'\">{item}</ItemGroup>")));
    assert_eq!(status(&bench, "check p").0, Some(66));
    bench.file("p/p.csproj", &project(item));
    assert_ne!(status(&bench, "check p").0, Some(66));
}
