// What correct programs use all the time without thinking: HashMap's random keys, formatting, environment, time, stdout and stderr,
// String and Vec moved between threads. Silent in hb; stdout's re-entrant lock is not a Mutex, so hybrid and fast are left open.
// expect(hb): nothing
// expect(hybrid fast): anything
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::thread;
use std::time::Instant;

fn main() {
    let words: Vec<String> = (0..200).map(|i| format!("word{}", i % 40)).collect();
    let threads: Vec<_> = words
        .chunks(50)
        .map(|part| {
            let part = part.to_vec();
            thread::spawn(move || {
                let start = Instant::now();
                let mut counts: HashMap<String, usize> = HashMap::new();
                part.into_iter().for_each(|w| *counts.entry(w).or_default() += 1);
                println!("{} words, {}", counts.len(), std::env::var("NO_SUCH_VARIABLE").is_err());
                let mut err = std::io::stderr().lock();
                writeln!(err, "{:?}", start.elapsed().as_secs()).unwrap();
                counts
            })
        })
        .collect();
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    for t in threads {
        t.join().unwrap().into_iter().for_each(|(w, n)| *total.entry(w).or_default() += n);
    }
    assert_eq!(total.len(), 40);
    assert_eq!(total.values().sum::<usize>(), 200);
}
