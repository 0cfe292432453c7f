//! The arithmetic behind the figures.

/// The least of the values, because noise of the machine only ever adds time.
pub fn least(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().min_by(f64::total_cmp)
}

pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The mean for ratios: a factor of two on one kernel and of a half on another cancel out. None if
/// there are no values, or if one is not positive, which no ratio of times or sizes is.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for value in values {
        if !value.is_finite() || value <= 0.0 {
            return None;
        }
        sum += value.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// How far the median lies above the least value, as a fraction of it. 0 on a quiet machine.
pub fn spread(values: &[f64]) -> Option<f64> {
    let least = least(values.iter().copied())?;
    let median = median(values.iter().copied())?;
    (least > 0.0).then(|| median / least - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: Option<f64>, right: f64) {
        assert!((left.unwrap() - right).abs() < 1e-9, "{left:?} is not {right}");
    }

    #[test]
    fn of_nothing_there_is_no_figure() {
        assert_eq!(least([]), None);
        assert_eq!(median([]), None);
        assert_eq!(geometric_mean([]), None);
        assert_eq!(spread(&[]), None);
    }

    #[test]
    fn least_and_median_do_not_depend_on_the_order() {
        for values in [[3.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 1.0]] {
            close(least(values), 1.0);
            close(median(values), 2.0);
        }
        close(median([4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn the_geometric_mean_is_fair_to_both_directions() {
        close(geometric_mean([2.0, 0.5]), 1.0);
        close(geometric_mean([1.0, 10.0, 100.0]), 10.0);
        close(geometric_mean([7.0]), 7.0);
    }

    #[test]
    fn the_mean_of_quotients_is_the_quotient_of_means() {
        let (a, b) = ([3.0, 5.0, 8.0], [2.0, 7.0, 4.0]);
        let quotients = a.iter().zip(b).map(|(a, b)| a / b);
        close(geometric_mean(quotients), geometric_mean(a).unwrap() / geometric_mean(b).unwrap());
    }

    #[test]
    fn a_ratio_that_cannot_be_has_no_mean() {
        assert_eq!(geometric_mean([1.0, 0.0]), None);
        assert_eq!(geometric_mean([1.0, f64::INFINITY]), None);
        assert_eq!(geometric_mean([f64::NAN]), None);
    }

    #[test]
    fn the_spread_is_zero_on_a_quiet_machine() {
        close(spread(&[2.0, 2.0, 2.0]), 0.0);
        close(spread(&[2.0, 3.0, 9.0]), 0.5);
    }
}
