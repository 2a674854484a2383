//! `armilla partitions`: what a server's physical partitions hold and serve, as a table or as JSON.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use armilla_client::{Client, ContainerRow, PartitionRow};
use armilla_env::Env;

use crate::commands::client_options::PartitionsOptions;

/// Characters of a hashed key that the table shows.
const HASH_CHARACTERS_MAX: usize = 8;

/// Characters of a node's name that the table shows, as many as tell a few apart.
const NODE_CHARACTERS_MAX: usize = 8;

/// Characters of a logical key that the table shows.
const KEY_CHARACTERS_MAX: usize = 40;

/// Asks the server and prints.
pub(crate) fn show(options: &PartitionsOptions, env: Env) -> Result<ExitCode> {
    let client = Client::new(&options.server, env)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let text = if options.json {
        let mut text = runtime.block_on(client.partitions_text())?.to_vec();
        text.push(b'\n');
        text
    } else {
        let listing = runtime.block_on(client.partitions())?;
        let is_wanted =
            |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
        let containers: Vec<&ContainerRow> = listing
            .containers
            .iter()
            .filter(|row| {
                is_wanted(&options.database, &row.database) && is_wanted(&options.container, &row.container)
            })
            .collect();
        if containers.is_empty() && !listing.containers.is_empty() {
            bail!("there is no such container");
        }
        table(&containers).into_bytes()
    };
    let mut out = std::io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush()).context("cannot write the result")?;
    Ok(ExitCode::SUCCESS)
}

const TITLES: [&str; COLUMNS] = [
    "range",
    "from",
    "status",
    "node",
    "items",
    "data",
    "index",
    "RU/s",
    "used",
    "refused",
    "peak",
    "hottest key",
];

const COLUMNS: usize = 12;

/// The column that is left out where a server serves the account alone.
const NODE: usize = 3;

/// Columns of words stand at the left, those of numbers at the right.
const IS_NUMBER: [bool; COLUMNS] =
    [false, false, false, false, true, true, true, true, true, true, true, false];

fn table(containers: &[&ContainerRow]) -> String {
    if containers.is_empty() {
        return "no containers\n".to_owned();
    }
    let rows: Vec<Vec<[String; COLUMNS]>> =
        containers.iter().map(|container| container.partitions.iter().map(cells).collect()).collect();
    let mut widths = TITLES.map(str::len);
    for cells in rows.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    if containers.iter().flat_map(|container| &container.partitions).all(|partition| partition.node.is_none())
    {
        widths[NODE] = 0;
    }
    let mut text = String::new();
    for (container, rows) in containers.iter().zip(&rows) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&heading(container));
        push_line(&mut text, &TITLES.map(str::to_owned), &widths);
        for cells in rows {
            push_line(&mut text, cells, &widths);
        }
    }
    text
}

fn push_line(text: &mut String, cells: &[String; COLUMNS], widths: &[usize; COLUMNS]) {
    let mut line = String::new();
    for ((cell, width), is_number) in cells.iter().zip(widths).zip(IS_NUMBER) {
        if *width == 0 {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = match is_number {
            true => write!(line, "  {cell:>width$}"),
            false => write!(line, "  {cell:<width$}"),
        };
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn heading(container: &ContainerRow) -> String {
    let mut text = format!("{}/{}: ", container.database, container.container);
    let _ = match (container.throughput, container.shared) {
        (Some(throughput), _) => write!(text, "{throughput} RU/s"),
        (None, true) => write!(text, "shares the throughput of its database"),
        (None, false) => write!(text, "no throughput of its own"),
    };
    if let Some(now) = container.autoscale_now {
        let _ = write!(text, " (autoscale, {now} now)");
    }
    if container.pending {
        text.push_str(", being changed");
    }
    let count = container.partitions.len();
    let _ = write!(text, ", {count} partition{}", if count == 1 { "" } else { "s" });
    if let Some(why) = &container.failed {
        let _ = write!(text, "; the last split or merge was given up: {}", why.replace('\n', " "));
    }
    text.push('\n');
    text
}

fn cells(partition: &PartitionRow) -> [String; COLUMNS] {
    let blank = || "-".to_owned();
    let whole = |number: Option<i64>| number.map_or_else(blank, |number| number.to_string());
    let size = |bytes: Option<i64>| bytes.map_or_else(blank, size);
    let status = match partition.progress_percent {
        Some(percent) if partition.status != "online" => format!("{} {percent} %", partition.status),
        _ => partition.status.clone(),
    };
    [
        partition.id.clone(),
        if partition.min.is_empty() {
            "\"\"".to_owned()
        } else {
            shortened(&partition.min, HASH_CHARACTERS_MAX)
        },
        status,
        partition.node.as_deref().map_or_else(blank, |node| node.chars().take(NODE_CHARACTERS_MAX).collect()),
        whole(partition.items),
        size(partition.bytes),
        size(partition.index_bytes),
        partition.provisioned_ru.map_or_else(blank, |rate| format!("{}", (rate * 100.0).round() / 100.0)),
        partition.used_ru_last_second.map_or_else(blank, |used| format!("{used:.2}")),
        whole(partition.refused_last_minute),
        partition.normalized_percent.map_or_else(blank, |percent| format!("{percent:.0} %")),
        match &partition.hottest {
            Some((key, charge)) => format!("{} {charge:.2} RU", shortened(key, KEY_CHARACTERS_MAX)),
            None => blank(),
        },
    ]
}

/// The first characters of a text, without what would break a line.
fn shortened(text: &str, characters_max: usize) -> String {
    let mut short: String =
        text.chars().take(characters_max).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(characters_max).is_some() {
        short.push_str("..");
    }
    short
}

/// A size with a unit of its order.
fn size(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        (size, unit) = (size / 1024.0, unit + 1);
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{size:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_short_texts() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_572_864, "1.5 MiB"),
            (53_687_091_200, "50.0 GiB"),
            (i64::MAX, "8388608.0 TiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        for (text, expected) in [("ab", "ab"), ("abc", "abc"), ("abcd", "abc.."), ("ä\nöü", "ä ö..")] {
            assert_eq!(shortened(text, 3), expected);
        }
    }

    #[test]
    fn a_table_lines_up_over_containers() {
        let busy = PartitionRow {
            id: "12".to_owned(),
            min: "2000000000000000".to_owned(),
            status: "splitting".to_owned(),
            progress_percent: Some(42),
            items: Some(1_000_000),
            bytes: Some(1 << 30),
            index_bytes: Some(5),
            provisioned_ru: Some(3_333.33),
            used_ru_last_second: Some(12.5),
            refused_last_minute: Some(7),
            normalized_percent: Some(99.6),
            hottest: Some((r#"["a"]"#.to_owned(), 3.0)),
            ..PartitionRow::default()
        };
        let unused =
            PartitionRow { id: "0".to_owned(), status: "online".to_owned(), ..PartitionRow::default() };
        let orders = ContainerRow {
            database: "shop".to_owned(),
            container: "orders".to_owned(),
            throughput: Some(10_000),
            autoscale_now: Some(1_000),
            pending: true,
            partitions: vec![unused.clone(), busy],
            ..ContainerRow::default()
        };
        let carts = ContainerRow {
            database: "shop".to_owned(),
            container: "carts".to_owned(),
            shared: true,
            failed: Some("disk\nfull".to_owned()),
            partitions: vec![unused],
            ..ContainerRow::default()
        };
        let expected = "\
shop/orders: 10000 RU/s (autoscale, 1000 now), being changed, 2 partitions
  range  from        status            items     data  index     RU/s   used  refused   peak  hottest key
  0      \"\"          online                -        -      -        -      -        -      -  -
  12     20000000..  splitting 42 %  1000000  1.0 GiB    5 B  3333.33  12.50        7  100 %  [\"a\"] 3.00 RU

shop/carts: shares the throughput of its database, 1 partition; the last split or merge was given up: disk full
  range  from        status            items     data  index     RU/s   used  refused   peak  hottest key
  0      \"\"          online                -        -      -        -      -        -      -  -
";
        assert_eq!(table(&[&orders, &carts]), expected);
        let node = Some("7cf09857-0619-445f-9b97-4094edde793b".to_owned());
        let there =
            ContainerRow { partitions: vec![PartitionRow { node, ..carts.partitions[0].clone() }], ..carts };
        let expected = "\
  range  from  status  node      items  data  index  RU/s  used  refused  peak  hottest key
  0      \"\"    online  7cf09857      -     -      -     -     -        -     -  -
";
        assert!(table(&[&there]).ends_with(expected), "{}", table(&[&there]));
        assert_eq!(table(&[]), "no containers\n");
    }
}
