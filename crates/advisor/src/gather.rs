//! Gathering what is known of an account: its definitions and figures, a sample of its items, the record of its requests.

use std::collections::{BTreeSet, HashMap};

use armilla_engine::{Caller, Consistency, ContainerFigures, Engine, Result, SampleSize};
use armilla_profile::Sampler;
use armilla_value::{PartitionKey, Value, json};

use crate::evidence::{ContainerEvidence, Evidence, Limits, PartitionEvidence};
use crate::limits::{SAMPLE_BYTES_MAX, SAMPLE_ITEMS_MAX, SAMPLE_PLACES, SAMPLES_BYTES_MAX};
use crate::model::key_at;

/// Which containers are looked at.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The database; all where none is named.
    pub database: Option<String>,
    /// The container.
    pub container: Option<String>,
}

/// What the server adds to items.
const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Largest logical partitions of a sample that are told.
const LOGICAL_MAX: usize = 16;

/// Gathers what is known of an account.
pub async fn gather(engine: &Engine, caller: &Caller, selection: &Selection) -> Result<Evidence> {
    let report = engine.ledger().report(engine.env().clock.now_ms());
    let limits = engine.limits();
    let mut evidence = Evidence {
        report,
        is_strong: engine.consistency() >= Consistency::BoundedStaleness,
        limits: Limits {
            item_bytes: limits.item_bytes_max as u64,
            logical_partition_bytes: limits.logical_partition_bytes_max,
            physical_partition_bytes: limits.physical_partition_bytes,
        },
        ..Evidence::default()
    };
    let wanted = |figures: &ContainerFigures| {
        selection.database.as_ref().is_none_or(|database| *database == figures.database)
            && selection.container.as_ref().is_none_or(|container| *container == figures.container)
    };
    let mut all = engine.partitions_everywhere(caller).await?;
    all.retain(wanted);
    all.sort_by(|one, other| (&one.database, &one.container).cmp(&(&other.database, &other.container)));
    let bytes_each = (SAMPLES_BYTES_MAX / all.len().max(1)).min(SAMPLE_BYTES_MAX);
    for figures in all {
        evidence.containers.push(container(engine, caller, figures, bytes_each).await?);
    }
    let numbers: BTreeSet<u64> = evidence.containers.iter().map(|container| container.number).collect();
    // What was asked of other containers, and of those that are gone, is no part of this.
    evidence.report.containers.retain(|number, _| numbers.contains(number));
    evidence
        .report
        .links
        .retain(|link| numbers.contains(&link.from_container) && numbers.contains(&link.to_container));
    let sampled: Vec<_> = evidence
        .containers
        .iter()
        .map(|container| (container.name.as_str(), &container.profile, &container.sketches))
        .collect();
    let references = armilla_profile::references(&sampled);
    let copies = armilla_profile::copies(&sampled);
    (evidence.references, evidence.copies) = (references, copies);
    Ok(evidence)
}

async fn container(
    engine: &Engine,
    caller: &Caller,
    figures: ContainerFigures,
    bytes: usize,
) -> Result<ContainerEvidence> {
    let handle = engine.container(&figures.database, &figures.container)?.container;
    let size = SampleSize { items: SAMPLE_ITEMS_MAX, bytes, places: SAMPLE_PLACES as u32 };
    let sample = engine.sample_items(caller, &handle, size).await?;
    let usage = handle.usage(caller)?;
    let definition = (*handle.definition()).clone();
    let names = definition.partition_key.paths.iter().map(|path| path.names().to_vec());
    let names: Vec<Vec<String>> = names.collect();
    let key_paths: Vec<String> = names.iter().map(|steps| format!("/{}", steps.join("/"))).collect();
    let mut sampler = Sampler::new(&names);
    sampler.set_whole(sample.is_whole);
    let mut items = Vec::with_capacity(sample.items.len());
    let mut logical: HashMap<PartitionKey, (u64, u64)> = HashMap::new();
    let mut text = Vec::new();
    for item in &sample.items {
        text.clear();
        item.write_json(handle.identity(), &mut text);
        // What cannot be read is not looked at: `armilla check` finds it.
        if sampler.add(&text).is_err() {
            continue;
        }
        let Ok(mut value) = json::parse(&text) else { continue };
        if let Value::Object(object) = &mut value {
            for name in SYSTEM_PROPERTIES {
                object.remove(name);
            }
        }
        if let Some(key) = key_at(&value, &key_paths) {
            let size = logical.entry(key).or_default();
            size.0 += 1;
            size.1 += item.stored().text_bytes().len() as u64;
        }
        items.push(value);
    }
    let (profile, sketches) = sampler.finish();
    let mut logical: Vec<(String, u64, u64)> =
        logical.into_iter().map(|(key, (items, bytes))| (key.to_json(), items, bytes)).collect();
    logical.sort_by(|one, other| (other.2, &one.0).cmp(&(one.2, &other.0)));
    logical.truncate(LOGICAL_MAX);
    let histories: HashMap<u32, _> =
        engine.histories(caller, &figures.database, &figures.container)?.into_iter().collect();
    let partitions = figures.partitions.iter().map(|range| {
        let known = range.figures.as_ref();
        let minutes = histories.get(&range.id).map(|history| {
            let minute = |stretch: &armilla_engine::Stretch| {
                (stretch.charge.hundredths() as f64 / 100.0, stretch.refused)
            };
            history.minutes.iter().map(minute).collect()
        });
        PartitionEvidence {
            items: known.map_or(0, |known| known.items),
            bytes: known.map_or(0, |known| known.bytes),
            index_bytes: known.map_or(0, |known| known.index_bytes),
            rate: known.map_or(0.0, |known| known.rate.hundredths() as f64 / 100.0),
            minutes: minutes.unwrap_or_default(),
            hottest: known.map(|known| known.hottest.clone()).unwrap_or_default(),
        }
    });
    Ok(ContainerEvidence {
        name: format!("{}/{}", figures.database, figures.container),
        number: handle.number(),
        partitions: partitions.collect(),
        throughput: figures.throughput,
        is_sharing: figures.shared,
        items: usage.items,
        bytes: usage.bytes,
        definition,
        key_paths,
        profile,
        sketches,
        sample: items,
        logical,
    })
}
