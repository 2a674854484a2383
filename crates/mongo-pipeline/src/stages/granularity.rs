//! Preferred numbers, to which `$bucketAuto` rounds its bounds: Renard series, E series, 1-2-5, powers of two.

/// A series of preferred numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// Numbers of one decade, in order, and by what to divide them.
    Decade(&'static [u16], u16),
    /// E48, E96 and E192: so many numbers to a decade, evenly spread, with two digits after the point.
    Spread(u16),
    /// Powers of two.
    PowersOfTwo,
}

const R5: &[u16] = &[10, 16, 25, 40, 63];
const R10: &[u16] = &[100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
const R20: &[u16] =
    &[100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900];
const R40: &[u16] = &[
    100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280, 300, 315,
    335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950,
];
const R80: &[u16] = &[
    100, 103, 106, 109, 112, 115, 118, 122, 125, 128, 132, 136, 140, 145, 150, 155, 160, 165, 170, 175, 180,
    185, 190, 195, 200, 206, 212, 218, 224, 230, 236, 243, 250, 258, 265, 272, 280, 290, 300, 307, 315, 325,
    335, 345, 355, 365, 375, 387, 400, 412, 425, 437, 450, 462, 475, 487, 500, 515, 530, 545, 560, 575, 600,
    615, 630, 650, 670, 690, 710, 730, 750, 775, 800, 825, 850, 875, 900, 925, 950, 975,
];
const ONE_TWO_FIVE: &[u16] = &[10, 20, 50];
const E6: &[u16] = &[10, 15, 22, 33, 47, 68];
const E12: &[u16] = &[10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82];
const E24: &[u16] =
    &[10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91];

impl Granularity {
    /// Returns the series of that name.
    pub(crate) fn named(name: &str) -> Option<Granularity> {
        Some(match name {
            "R5" => Granularity::Decade(R5, 10),
            "R10" => Granularity::Decade(R10, 100),
            "R20" => Granularity::Decade(R20, 100),
            "R40" => Granularity::Decade(R40, 100),
            "R80" => Granularity::Decade(R80, 100),
            "1-2-5" => Granularity::Decade(ONE_TWO_FIVE, 10),
            "E6" => Granularity::Decade(E6, 10),
            "E12" => Granularity::Decade(E12, 10),
            "E24" => Granularity::Decade(E24, 10),
            "E48" => Granularity::Spread(48),
            "E96" => Granularity::Spread(96),
            "E192" => Granularity::Spread(192),
            "POWERSOF2" => Granularity::PowersOfTwo,
            _ => return None,
        })
    }

    /// Returns the next number of the series above this one, which is at least zero; zero stays.
    pub(crate) fn above(self, number: f64) -> f64 {
        if number == 0.0 || !number.is_finite() {
            return number;
        }
        if self == Granularity::PowersOfTwo {
            return number.log2().floor().exp2() * 2.0;
        }
        let steps = self.decade();
        let mut power = number.log10().floor() as i32 - 1;
        loop {
            if let Some(found) = steps.iter().map(|step| scaled(*step, power)).find(|step| *step > number) {
                return found;
            }
            power += 1;
        }
    }

    /// Returns the last number of the series below this one, which is at least zero; zero stays.
    pub(crate) fn below(self, number: f64) -> f64 {
        if number == 0.0 || !number.is_finite() {
            return number;
        }
        if self == Granularity::PowersOfTwo {
            return number.log2().ceil().exp2() / 2.0;
        }
        let steps = self.decade();
        let mut power = number.log10().floor() as i32 + 1;
        loop {
            if let Some(found) =
                steps.iter().rev().map(|step| scaled(*step, power)).find(|step| *step < number)
            {
                return found;
            }
            power -= 1;
        }
    }

    /// Returns the numbers of one decade, from 1 to below 10, in hundredths.
    fn decade(self) -> Vec<u16> {
        match self {
            Granularity::Decade(steps, divisor) => steps.iter().map(|step| step * (100 / divisor)).collect(),
            Granularity::Spread(count) => (0..count)
                .map(|index| {
                    let step = (10f64.powf(f64::from(index) / f64::from(count)) * 100.0).round() as u16;
                    // The one number of the standard that is not the rounded one.
                    if count == 192 && step == 919 { 920 } else { step }
                })
                .collect(),
            Granularity::PowersOfTwo => Vec::new(),
        }
    }
}

/// Returns hundredths in a decade as a number, with a single rounding.
fn scaled(hundredths: u16, power: i32) -> f64 {
    let (step, power) = (f64::from(hundredths), power - 2);
    if power >= 0 { step * 10f64.powi(power) } else { step / 10f64.powi(-power) }
}

#[cfg(test)]
mod tests {
    use super::Granularity;

    #[test]
    fn neighbours() {
        for (name, number, below, above) in [
            ("R5", 1.0, 0.63, 1.6),
            ("R5", 7.0, 6.3, 10.0),
            ("R80", 100.0, 97.5, 103.0),
            ("1-2-5", 2.0, 1.0, 5.0),
            ("1-2-5", 0.3, 0.2, 0.5),
            ("E6", 0.015, 0.01, 0.022),
            ("E24", 99.0, 91.0, 100.0),
            ("E192", 9.1, 9.09, 9.2),
            ("POWERSOF2", 8.0, 4.0, 16.0),
            ("POWERSOF2", 9.0, 8.0, 16.0),
            ("POWERSOF2", 0.5, 0.25, 1.0),
            ("R10", 0.0, 0.0, 0.0),
        ] {
            let granularity = Granularity::named(name).unwrap();
            assert_eq!(
                (granularity.below(number), granularity.above(number)),
                (below, above),
                "{name} {number}"
            );
        }
        assert_eq!(Granularity::named("R7"), None);
    }
}
