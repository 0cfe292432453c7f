// Scoped threads that borrow and write disjoint parts of a local, return values, spawn further threads; the scope's end is a join.
// expect: nothing
use std::thread;

fn main() {
    for _ in 0..30 {
        let mut numbers = vec![1u64; 400];
        let mut total = 0;
        thread::scope(|s| {
            let parts: Vec<_> = numbers
                .chunks_mut(100)
                .map(|part| {
                    s.spawn(move || {
                        part.iter_mut().enumerate().for_each(|(i, n)| *n += i as u64);
                        part.iter().sum::<u64>()
                    })
                })
                .collect();
            total = parts.into_iter().map(|p| p.join().unwrap()).sum();
        });
        assert_eq!(total, numbers.iter().sum());
        let mut seen = [0; 2];
        thread::scope(|s| {
            let (left, right) = seen.split_at_mut(1);
            s.spawn(|| {
                left[0] = numbers[0];
                s.spawn(|| right[0] = numbers[1]);
            });
        }); // not joined by hand
        assert_eq!(seen, [1, 2]);
    }
}
