//! Feature files to scenarios: the part of Gherkin that features of Gremlin use.

/// A feature file.
pub(crate) struct Feature {
    /// Its path below the folder of all features.
    pub(crate) name: String,
    pub(crate) scenarios: Vec<Scenario>,
}

/// A scenario.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// The graph it runs on.
    pub(crate) graph: String,
    /// A traversal that fills the graph.
    pub(crate) initializer: Option<String>,
    /// Names and their values, in the notation of results.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) side_effects: Vec<(String, String)>,
    /// The traversal.
    pub(crate) text: String,
    /// Whether only its first result is asked.
    pub(crate) next: bool,
    pub(crate) thens: Vec<Then>,
    /// Whether the feature itself says that there is nothing to run.
    pub(crate) left: bool,
}

/// What must hold after a traversal.
#[derive(Debug, Clone)]
pub(crate) enum Then {
    Empty,
    Ordered(Vec<String>),
    Unordered(Vec<String>),
    /// Each result is one of these.
    Of(Vec<String>),
    Count(usize),
    /// Another traversal finds so many.
    GraphCount(usize, String),
    /// It fails: how its message compares with the text.
    Error(Option<(Match, String)>),
    Tree(Vec<String>),
    /// What a subgraph has, which is not compared.
    Subgraph,
    Unknown(String),
}

/// How a message compares with a text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Match {
    Contains,
    Starts,
    Ends,
}

/// Parses a feature file; what is not understood is in the scenarios as such.
pub(crate) fn parse(name: &str, text: &str) -> Feature {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(raw) = lines.next() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with(['#', '@']) || line.starts_with("Feature:") {
            continue;
        }
        if let Some(title) = line.strip_prefix("Scenario:") {
            let name = title.trim().to_owned();
            scenarios.push(Scenario { name, ..Scenario::default() });
            continue;
        }
        let Some(scenario) = scenarios.last_mut() else { continue };
        let mut block: Option<Vec<String>> = None;
        let mut rows: Vec<String> = Vec::new();
        while let Some(next) = lines.peek().map(|next| next.trim()) {
            if next == "\"\"\"" {
                let fence = lines.next().unwrap_or_default();
                let indent = fence.len() - fence.trim_start().len();
                let mut inner = Vec::new();
                for inside in lines.by_ref() {
                    if inside.trim() == "\"\"\"" {
                        break;
                    }
                    inner.push(inside.get(indent..).unwrap_or(inside.trim()).to_owned());
                }
                block = Some(inner);
                break;
            }
            let Some(row) = next.strip_prefix('|') else { break };
            let row = row.strip_suffix('|').unwrap_or(row);
            rows.push(row.trim_matches(' ').replace("\\|", "|").replace("\\n", "\n").replace("\\\\", "\\"));
            lines.next();
        }
        let words = ["Given ", "When ", "Then ", "And ", "But "];
        let sentence = words.iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        scenario.sentence(sentence, block.unwrap_or_default(), rows);
    }
    Feature { name: name.to_owned(), scenarios }
}

impl Scenario {
    fn sentence(&mut self, sentence: &str, block: Vec<String>, rows: Vec<String>) {
        let results: Vec<String> = rows.into_iter().skip(1).collect();
        if let Some(rest) = sentence.strip_prefix("the graph should return ") {
            let (count, query) = rest.split_once(" for count of ").unwrap_or((rest, ""));
            match count.parse() {
                Ok(count) => self.thens.push(Then::GraphCount(count, quoted(query))),
                Err(_) => self.thens.push(Then::Unknown(sentence.to_owned())),
            }
        } else if let Some(rest) = sentence.strip_prefix("using the parameter ") {
            self.parameters.extend(definition(rest));
        } else if let Some(rest) = sentence.strip_prefix("using the side effect ") {
            self.side_effects.extend(definition(rest));
        } else if let Some(rest) = sentence.strip_prefix("the result should have a count of ") {
            match rest.trim().parse() {
                Ok(count) => self.thens.push(Then::Count(count)),
                Err(_) => self.thens.push(Then::Unknown(sentence.to_owned())),
            }
        } else if let Some(rest) = sentence.strip_prefix("the traversal will raise an error") {
            let kinds =
                [("containing", Match::Contains), ("starting", Match::Starts), ("ending", Match::Ends)];
            let told = kinds.into_iter().find(|(word, _)| rest.contains(&format!("message {word} text of")));
            let part = rest.split_once(" text of ").map(|(_, text)| quoted(text));
            self.thens.push(Then::Error(told.and_then(|(_, kind)| Some((kind, part?)))));
        } else if let Some(graph) = sentence.strip_prefix("the ").and_then(|rest| rest.strip_suffix(" graph"))
        {
            self.graph = graph.to_owned();
        } else {
            match sentence {
                "the traversal of" => self.text = block.join("\n"),
                "the graph initializer of" => self.initializer = Some(block.join("\n")),
                "iterated to list" => self.next = false,
                "iterated next" => self.next = true,
                "the result should be empty" => self.thens.push(Then::Empty),
                "the result should be ordered" => self.thens.push(Then::Ordered(results)),
                "the result should be unordered" => self.thens.push(Then::Unordered(results)),
                "the result should be of" => self.thens.push(Then::Of(results)),
                "the result should be a tree with a structure of" => self.thens.push(Then::Tree(block)),
                "the result should be a subgraph with the following" => {
                    self.thens.push(Then::Subgraph);
                }
                "an unsupported test" | "nothing should happen because" => self.left = true,
                _ => self.thens.push(Then::Unknown(sentence.to_owned())),
            }
        }
    }
}

/// Reads `name defined as "value"`.
fn definition(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once(" defined as ")?;
    Some((name.trim().to_owned(), quoted(value)))
}

fn quoted(text: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    inner.replace("\\\"", "\"")
}
