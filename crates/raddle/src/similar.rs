//! Guesses which known word a mistyped one was meant to be.

/// The known word nearest to `word`, if it is near: at most one mistake in three letters, and at
/// most two.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).clamp(1, 2);
    let near = known.into_iter().map(|k| (distance(word, k), k)).filter(|(d, _)| *d <= most);
    near.min_by_key(|(d, _)| *d).map(|(_, k)| k)
}

/// How many letters must be added, removed, changed, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                _ => {
                    let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_near_and_another_word_is_not() {
        let known = ["run", "explore", "replay", "conseq", "check", "c++", "cc"];
        let of = |word: &str| nearest(word, known);
        assert_eq!(
            [of("rnu"), of("rum"), of("exlpore"), of("chek")],
            ["run", "run", "explore", "check"].map(Some)
        );
        assert_eq!([of("race"), of("./prog"), of("serve"), of("")], [None; 4]);
    }
}
