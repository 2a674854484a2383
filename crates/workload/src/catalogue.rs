//! The workloads by name: what a command line asks for, and what each is.

use crate::blog::MIX;
use crate::feed::RATE_DEFAULT;
use crate::options::{RunOptions, WorkloadChoice};
use crate::plan::Plan;
use crate::queries::Query;

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Workload {
    /// The name in tables and results.
    pub(crate) name: String,
    /// What is done.
    pub(crate) work: Work,
}

/// What a workload does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Operations that every side can do.
    Plan(Plan),
    /// Draining the change feed.
    FeedDrain,
    /// Following the change feed.
    FeedFollow,
    /// A version of the blog.
    Blog(u8),
}

impl Work {
    /// Returns what it has in common with other sides.
    pub(crate) fn plan(self) -> Option<Plan> {
        match self {
            Work::Plan(plan) => Some(plan),
            Work::FeedDrain | Work::FeedFollow | Work::Blog(_) => None,
        }
    }

    /// Whether the items have to be loaded.
    pub(crate) fn needs_items(self) -> bool {
        match self {
            Work::Plan(plan) => plan != Plan::Script,
            Work::FeedDrain => true,
            Work::FeedFollow | Work::Blog(_) => false,
        }
    }

    /// Whether a database of our own is needed.
    pub(crate) fn needs_database(self) -> bool {
        !matches!(self, Work::Blog(_))
    }
}

/// Returns what options ask for, each once.
pub(crate) fn workloads(options: &RunOptions) -> Vec<Workload> {
    let mut all: Vec<Workload> = Vec::new();
    for choice in &options.workloads {
        for workload in chosen(*choice, options) {
            if !all.contains(&workload) {
                all.push(workload);
            }
        }
    }
    all
}

fn chosen(choice: WorkloadChoice, options: &RunOptions) -> Vec<Workload> {
    let one = |name: &str, work| vec![Workload { name: name.to_owned(), work }];
    let plan = |name: &str, plan| one(name, Work::Plan(plan));
    match choice {
        WorkloadChoice::PointRead => plan("point-read", Plan::PointRead),
        WorkloadChoice::Write => plan("write", Plan::Write),
        WorkloadChoice::Mixed => plan("mixed", Plan::Mixed { read_percent: options.read_percent }),
        WorkloadChoice::Query => Query::ALL
            .into_iter()
            .filter(|query| options.queries.is_empty() || options.queries.contains(query))
            .flat_map(|query| plan(&format!("query:{}", query.name()), Plan::Query(query)))
            .collect(),
        WorkloadChoice::Script => plan("script", Plan::Script),
        WorkloadChoice::Feed => {
            [one("feed:drain", Work::FeedDrain), one("feed:follow", Work::FeedFollow)].concat()
        }
        WorkloadChoice::Blog => options
            .blog_versions
            .iter()
            .flat_map(|version| one(&format!("blog-v{version}"), Work::Blog(*version)))
            .collect(),
        WorkloadChoice::All => {
            use WorkloadChoice::{Feed, Mixed, PointRead, Query, Script, Write};
            let all = [PointRead, Write, Mixed, Query, Script, Feed];
            all.into_iter().flat_map(|choice| chosen(choice, options)).collect()
        }
    }
}

/// Returns what `armilla bench list` prints.
pub(crate) fn description() -> String {
    let queries: Vec<_> =
        Query::ALL.iter().map(|query| format!("    {:<18} {}\n", query.name(), query.text())).collect();
    let mix: Vec<_> = MIX.iter().map(|(name, share)| format!("{name} {share}")).collect();
    format!(
        "\
point-read   Reads of single items by id and partition key, drawn evenly.
write        Upserts of single items that are there already, durable, all paths indexed.
mixed        Both; --read-percent of a hundred are reads (80).
query        Each of these queries by itself, read to its end; --queries chooses:
{}script       A stored procedure that puts an item in and counts it in another, in one transaction.
             In the end the counters must say what is there.
feed         feed:drain   the change feed of all items from its beginning, over and over
             feed:write   new items at --rate ({RATE_DEFAULT} a second) while somebody waits for them
             feed:delay   from sending a write until its change has been read
blog         The ten operations of a blog, in percent: {}.
             For each version of its data model (--blog-versions), on what `armilla demo blog --keep` loaded.
all          All of them but blog.

With --postgres the same items and operations go to PostgreSQL (JSONB) as well: point-read, write, mixed, query and
script; with --postgres-gin to one with a GIN index of everything, too.
Each is measured with each of --connections in each of --states: loaded (right after the load), written (while others
write), rested (after the work in the background is done).
Without --endpoint the workloads run on a server of their own, on a temporary folder.
",
        queries.concat(),
        mix.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        run: RunOptions,
    }

    fn names(arguments: &[&str]) -> Vec<String> {
        let line = Line::parse_from(["bench"].iter().chain(arguments));
        workloads(&line.run).into_iter().map(|workload| workload.name).collect()
    }

    #[test]
    fn names_of_what_is_asked_for() {
        assert_eq!(names(&["write", "write", "mixed"]), ["write", "mixed"]);
        assert_eq!(names(&["query", "--queries", "count,by-key"]), ["query:by-key", "query:count"]);
        assert_eq!(names(&["blog", "--blog-versions", "3,1"]), ["blog-v3", "blog-v1"]);
        let all = names(&["all", "point-read"]);
        assert_eq!(all.len(), 3 + Query::ALL.len() + 1 + 2);
        assert!(!all.iter().any(|name| name.starts_with("blog")));
    }

    #[test]
    fn every_workload_is_described() {
        use clap::ValueEnum as _;
        let text = description();
        for choice in WorkloadChoice::value_variants() {
            let name = choice.to_possible_value().unwrap().get_name().to_owned();
            assert!(text.lines().any(|line| line.starts_with(&name)), "{name}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }
}
