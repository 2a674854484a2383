//! Repeats a query and takes the median.

use std::time::Duration;

use anyhow::Result;
use armilla_env::Env;

/// Runs before anything counts: at least one, and so many where they are quick.
const WARM_UPS_MAX: usize = 5;
/// Runs that count: at least so many, however long they take.
const RUNS_MIN: usize = 5;
const RUNS_MAX: usize = 5_000;

/// Repeats something for some seconds and returns the median of what it says it took, in microseconds.
pub(super) fn median_us(env: &Env, seconds: f64, mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    let limit = Duration::from_secs_f64(seconds);
    let begin = env.clock.elapsed();
    for _ in 0..WARM_UPS_MAX {
        run()?;
        if env.clock.elapsed() - begin > limit / 4 {
            break;
        }
    }
    let begin = env.clock.elapsed();
    let mut runs = Vec::new();
    while runs.len() < RUNS_MIN || (runs.len() < RUNS_MAX && env.clock.elapsed() - begin < limit) {
        runs.push(run()?);
    }
    Ok(median(&mut runs))
}

/// Returns the median; of an even number, the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values {
        [] => 0.0,
        values if values.len().is_multiple_of(2) => (values[middle - 1] + values[middle]) / 2.0,
        values => values[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        for (mut values, expected) in [
            (vec![], 0.0),
            (vec![3.0], 3.0),
            (vec![5.0, 1.0], 3.0),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![4.0, 100.0, 1.0, 2.0], 3.0),
        ] {
            assert_eq!(median(&mut values), expected);
        }
    }

    #[test]
    fn slow_runs_are_repeated_a_few_times_and_quick_ones_until_enough() {
        let env = Env::system();
        let mut runs = 0;
        let mut counted = |seconds| {
            runs = 0;
            median_us(&env, seconds, || {
                runs += 1;
                Ok(f64::from(runs))
            })
            .unwrap();
            runs as usize
        };
        assert_eq!(counted(0.0), 1 + RUNS_MIN);
        assert_eq!(counted(60.0), WARM_UPS_MAX + RUNS_MAX);
    }
}
