//! Figures of partitions, as processes tell each other.
//!
//! Left out: what stands in them twice.

use armilla_governor::{Figures, Histogram, OperationKind, RequestUnits, Stretch};

use super::forms::Form;
use super::wire::{In, Out};
use crate::error::Result;
use crate::throughput::figures::PartitionFigures;

impl Form for Stretch {
    fn write(&self, out: &mut Out) {
        out.u64(self.requests);
        out.u64(self.refused);
        self.charge.write(out);
    }

    fn read(from: &mut In) -> Result<Stretch> {
        Ok(Stretch { requests: from.u64()?, refused: from.u64()?, charge: RequestUnits::read(from)? })
    }
}

impl Form for Histogram {
    fn write(&self, out: &mut Out) {
        out.list(self.counts(), |out, count| out.u64(*count));
        out.u64(self.sum_us());
    }

    fn read(from: &mut In) -> Result<Histogram> {
        let counts: Vec<u64> = from.list(In::u64)?;
        let counts = counts.try_into().map_err(|_| super::wire::unreadable())?;
        Ok(Histogram::of_counts(counts, from.u64()?))
    }
}

impl Form for Figures {
    fn write(&self, out: &mut Out) {
        let Figures {
            requests,
            refused,
            charge,
            last_second,
            last_minute,
            normalized_percent,
            five_second_peak,
            latencies,
            hottest: _,
        } = self;
        out.u64(*requests);
        out.u64(*refused);
        charge.write(out);
        last_second.write(out);
        last_minute.write(out);
        out.u64(normalized_percent.to_bits());
        five_second_peak.write(out);
        latencies.iter().for_each(|(_, histogram)| histogram.write(out));
    }

    fn read(from: &mut In) -> Result<Figures> {
        Ok(Figures {
            requests: from.u64()?,
            refused: from.u64()?,
            charge: RequestUnits::read(from)?,
            last_second: Stretch::read(from)?,
            last_minute: Stretch::read(from)?,
            normalized_percent: f64::from_bits(from.u64()?),
            five_second_peak: RequestUnits::read(from)?,
            latencies: {
                let mut latencies = OperationKind::ALL.map(|kind| (kind, Histogram::default()));
                for (_, histogram) in &mut latencies {
                    *histogram = Histogram::read(from)?;
                }
                latencies
            },
            hottest: Vec::new(),
        })
    }
}

impl PartitionFigures {
    /// Writes them down for another process.
    pub fn write(&self, out: &mut Out) {
        out.u32(self.range_id);
        out.u64(self.items);
        out.u64(self.bytes);
        out.u64(self.index_bytes);
        out.u64(self.lsn);
        self.rate.write(out);
        self.governor.write(out);
        out.list(&self.hottest, |out, (key, charge)| {
            key.write(out);
            charge.write(out);
        });
        out.option(self.reshaping, Out::u8);
    }

    /// Reads what another process has written down.
    pub fn read(from: &mut In) -> Result<PartitionFigures> {
        Ok(PartitionFigures {
            range_id: from.u32()?,
            items: from.u64()?,
            bytes: from.u64()?,
            index_bytes: from.u64()?,
            lsn: from.u64()?,
            rate: RequestUnits::read(from)?,
            governor: Figures::read(from)?,
            hottest: from.list(|from| Ok((Form::read(from)?, Form::read(from)?)))?,
            reshaping: from.option(In::u8)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armilla_governor::Meter;
    use armilla_value::PartitionKey;

    use super::*;

    #[test]
    fn figures_are_read_as_they_were_written() {
        let meter = Meter::new();
        for (number, kind) in OperationKind::ALL.into_iter().enumerate() {
            let charge = RequestUnits::from_hundredths(100 + number as u64);
            meter.record(1_000, kind, None, charge, Duration::from_micros(7 << number));
        }
        meter.refused(1_500, None);
        let figures = PartitionFigures {
            range_id: 3,
            items: 5,
            bytes: 7,
            index_bytes: 9,
            lsn: 11,
            rate: RequestUnits::from_hundredths(40_000),
            governor: meter.figures(2_500, RequestUnits::from_hundredths(40_000)),
            hottest: vec![(
                PartitionKey::from_json(br#"["Oslo"]"#).unwrap(),
                RequestUnits::from_hundredths(406),
            )],
            reshaping: Some(60),
        };
        let mut out = Out::with_capacity(0);
        figures.write(&mut out);
        let whole = out.finish();
        let mut from = In::new(whole.clone());
        let read = PartitionFigures::read(&mut from).unwrap();
        from.end().unwrap();
        assert_eq!(format!("{read:?}"), format!("{figures:?}"));
        assert_eq!(read.governor.last_minute.refused, 1);
        for length in 0..whole.len() {
            assert!(PartitionFigures::read(&mut In::new(whole.slice(..length))).is_err(), "{length}");
        }
    }
}
