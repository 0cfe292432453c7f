// expect: nothing
// Each round the threads fill vectors of their own, and the scope's end hands them to main.
#[path = "work.rs"]
mod work;

fn main() {
    let mut all = Vec::new();
    for round in 0..12u32 {
        let mut parts = [Vec::new(), Vec::new()];
        std::thread::scope(|scope| {
            for part in &mut parts {
                scope.spawn(move || {
                    for i in 0..20 {
                        work::work(4);
                        part.push(round + i);
                    }
                });
            }
        });
        for part in parts {
            all.extend(part);
        }
    }
    assert_eq!(all.len(), 480);
}
