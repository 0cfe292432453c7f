use crate::{Options, Source, check_sources};

fn kinds(text: &str) -> Vec<String> {
    let out = check_sources(&[Source::new("a.cs", text)], &Options::default());
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
