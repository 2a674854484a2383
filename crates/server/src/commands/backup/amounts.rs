//! Counts and bytes for people.

/// Writes a count with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes an amount of bytes in the unit that fits.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut amount = number as f64;
    let mut unit = 0;
    while amount >= 999.95 && unit + 1 < UNITS.len() {
        amount /= 1_000.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{amount:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        for (number, counted, amount) in [
            (0, "0", "0 B"),
            (999, "999", "999 B"),
            (1_000, "1,000", "1.0 kB"),
            (999_949, "999,949", "999.9 kB"),
            (999_950, "999,950", "1.0 MB"),
            (12_345_678, "12,345,678", "12.3 MB"),
            (5_000_000_000_000_000, "5,000,000,000,000,000", "5000.0 TB"),
        ] {
            assert_eq!((count(number).as_str(), bytes(number).as_str()), (counted, amount));
        }
    }
}
