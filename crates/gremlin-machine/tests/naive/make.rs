//! Traversals from bytes: each byte chooses one of the steps that fit what the traversal is at.

/// A step, as the model knows it.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// `out`, `in`, `both`, by an edge label or all.
    Hop(Way, Option<&'static str>),
    /// `outE`, `inE`, `bothE`.
    Edges(Way, Option<&'static str>),
    /// `outV`, `inV`, `bothV`, `otherV`.
    Ends(&'static str),
    Has(&'static str, Test),
    HasLabel(&'static str),
    HasKey(&'static str),
    HasNot(&'static str),
    Values(Vec<&'static str>),
    Id,
    Label,
    Constant(i64),
    Is(Test),
    Dedup,
    /// By a key, descending or not; none orders by the value itself or the id of a vertex.
    Order(OrderBy, bool),
    Limit(u64),
    Range(u64, u64),
    Tail(u64),
    Count,
    Sum,
    Max,
    Min,
    Mean,
    Fold,
    Unfold,
    GroupCount(Key),
    GroupLists(Key),
    GroupBy(Key, Vec<Step>),
    Project(Vec<(&'static str, Vec<Step>)>),
    Path,
    SimplePath,
    CyclicPath,
    As(&'static str),
    Select(&'static str),
    SelectBoth,
    Where(Vec<Step>),
    Not(Vec<Step>),
    And(Vec<Step>, Vec<Step>),
    Or(Vec<Step>, Vec<Step>),
    WhereNeq(&'static str),
    Union(Vec<Step>, Vec<Step>),
    Coalesce(Vec<Step>, Vec<Step>),
    Choose(Vec<Step>, Vec<Step>, Vec<Step>),
    Optional(Vec<Step>),
    Local(Vec<Step>),
    Map(Vec<Step>),
    FlatMap(Vec<Step>),
    Repeat {
        body: Vec<Step>,
        times: u32,
        emit: Emit,
        until: Option<Vec<Step>>,
    },
    Barrier,
    Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
    Both,
}

/// `eq`, `neq`, `gt`, `lt` or `within` of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Test {
    Eq(i64),
    Neq(i64),
    Gt(i64),
    Lt(i64),
    Within(i64, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderBy {
    Itself,
    Id,
    /// By a property, then by the id.
    Key(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Property(&'static str),
    Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Emit {
    No,
    Before,
    After,
}

/// What a traversal is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Vertex,
    Edge,
    Number,
    Text,
    /// A list of vertices.
    Vertices,
    Other,
}

struct Maker<'b> {
    bytes: std::slice::Iter<'b, u8>,
    at: At,
    /// Which of several alike went on is open, so that nothing may ask for the way it went.
    way_open: bool,
    /// The last step came over an edge from a vertex.
    came_by_edge: bool,
    labels: Vec<&'static str>,
}

/// Makes a traversal that begins at vertices.
pub(crate) fn traversal(bytes: &[u8]) -> Vec<Step> {
    let mut maker = Maker {
        bytes: bytes.iter(),
        at: At::Vertex,
        way_open: false,
        came_by_edge: false,
        labels: Vec::new(),
    };
    let mut steps = Vec::new();
    // Ways that are looked back at are where batches go wrong first.
    if maker.draw(3) == 0 {
        maker.labels.push("k");
        steps.push(Step::As("k"));
        steps.push(maker.hop());
    }
    while maker.bytes.len() > 0 && steps.len() < 8 {
        maker.add(&mut steps);
    }
    steps
}

/// Says whether the results have an order.
pub(crate) fn is_ordered(steps: &[Step]) -> bool {
    matches!(steps.last(), Some(Step::Order(..)))
}

impl Maker<'_> {
    fn draw(&mut self, of: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % of
    }

    fn edge_label(&mut self) -> Option<&'static str> {
        [None, Some("x"), Some("y")][self.draw(3)]
    }

    fn way(&mut self) -> Way {
        [Way::Out, Way::In, Way::Both][self.draw(3)]
    }

    fn test(&mut self) -> Test {
        let (kind, number) = (self.draw(5), self.draw(4) as i64);
        match kind {
            0 => Test::Eq(number),
            1 => Test::Neq(number),
            2 => Test::Gt(number),
            3 => Test::Lt(number),
            _ => Test::Within(number, number + 2),
        }
    }

    fn hop(&mut self) -> Step {
        Step::Hop(self.way(), self.edge_label())
    }

    /// Makes a child from a vertex to vertices.
    fn hops(&mut self) -> Vec<Step> {
        match self.draw(6) {
            0 => vec![self.hop()],
            1 => vec![self.hop(), self.hop()],
            2 => vec![self.hop(), Step::Has("n", self.test())],
            3 => vec![Step::HasLabel(["a", "b"][self.draw(2)])],
            4 => vec![Step::Edges(self.way(), self.edge_label()), Step::Ends("otherV")],
            _ => vec![Step::Identity],
        }
    }

    /// Makes a child that is only tested.
    fn condition(&mut self) -> Vec<Step> {
        match self.draw(5) {
            0 => vec![self.hop()],
            1 => vec![Step::Values(vec!["n"]), Step::Is(self.test())],
            2 => vec![self.hop(), Step::Count, Step::Is(self.test())],
            3 => vec![self.hop(), Step::Has("n", self.test())],
            _ => vec![Step::HasKey("t")],
        }
    }

    /// Makes a child that yields a number or nothing.
    fn number(&mut self) -> Vec<Step> {
        match self.draw(4) {
            0 => vec![self.hop(), Step::Count],
            1 => vec![Step::Values(vec!["n"])],
            2 => vec![self.hop(), Step::Values(vec!["n"]), Step::Max],
            _ => vec![self.hop(), self.hop(), Step::Dedup, Step::Count],
        }
    }

    fn add(&mut self, steps: &mut Vec<Step>) {
        let by_edge = std::mem::take(&mut self.came_by_edge);
        match self.at {
            At::Vertex => self.add_to_vertices(steps),
            At::Edge => {
                let step = match self.draw(7) {
                    0 => Step::Ends("outV"),
                    1 => Step::Ends("inV"),
                    2 => Step::Ends("bothV"),
                    3 if by_edge => Step::Ends("otherV"),
                    4 => Step::Has("w", self.test()),
                    5 => Step::Values(vec!["w"]),
                    6 => Step::Dedup,
                    _ => Step::Label,
                };
                match &step {
                    Step::Ends(_) => self.at = At::Vertex,
                    Step::Values(_) => self.at = At::Number,
                    Step::Label => self.at = At::Text,
                    Step::Has(..) => self.came_by_edge = by_edge,
                    _ => self.way_open = true,
                }
                steps.push(step);
            }
            At::Number | At::Text => self.add_to_scalars(steps),
            At::Vertices => {
                let step = match self.draw(3) {
                    0 | 1 => Step::Unfold,
                    _ => Step::Count,
                };
                self.at = if matches!(step, Step::Unfold) { At::Vertex } else { At::Number };
                steps.push(step);
            }
            At::Other => {
                steps.push(Step::Count);
                self.reset(At::Number);
            }
        }
    }

    /// What reduces begins a new way.
    fn reset(&mut self, at: At) {
        self.at = at;
        self.way_open = false;
        self.labels.clear();
    }

    /// Looks back, where there is something to look back at.
    fn look_back(&mut self) -> Option<Step> {
        if self.way_open || self.labels.is_empty() || self.draw(4) != 0 {
            return None;
        }
        let at = self.draw(self.labels.len());
        let label = self.labels[at];
        Some(match self.draw(3) {
            0 if self.labels.len() == 2 => {
                self.at = At::Other;
                Step::SelectBoth
            }
            1 => Step::WhereNeq(label),
            _ => Step::Select(label),
        })
    }

    fn add_to_vertices(&mut self, steps: &mut Vec<Step>) {
        if let Some(step) = self.look_back() {
            steps.push(step);
            return;
        }
        let step = match self.draw(38) {
            0 | 1 => self.hop(),
            2 | 3 => {
                self.at = At::Edge;
                self.came_by_edge = true;
                Step::Edges(self.way(), self.edge_label())
            }
            4 => Step::Has("n", self.test()),
            5 => Step::HasLabel(["a", "b"][self.draw(2)]),
            6 => Step::HasNot("n"),
            7 => {
                self.at = At::Number;
                Step::Values(vec!["n"])
            }
            8 => {
                self.at = At::Other;
                Step::Values(vec!["t", "n"])
            }
            9 => {
                self.at = At::Text;
                [Step::Id, Step::Label][self.draw(2)].clone()
            }
            10 => {
                self.way_open = true;
                Step::Dedup
            }
            11 => Step::Order(
                [OrderBy::Id, OrderBy::Key("n"), OrderBy::Key("t")][self.draw(3)],
                self.draw(2) == 1,
            ),
            12 => {
                steps.push(Step::Order(OrderBy::Id, self.draw(2) == 1));
                self.way_open = true;
                let low = self.draw(3) as u64;
                match self.draw(3) {
                    0 => Step::Limit(low + 1),
                    1 => Step::Range(low, low + 2),
                    _ => Step::Tail(low + 1),
                }
            }
            13 => {
                self.reset(At::Number);
                Step::Count
            }
            14 => {
                self.reset(At::Vertices);
                Step::Fold
            }
            15 => {
                self.reset(At::Other);
                Step::GroupCount([Key::Property("n"), Key::Label][self.draw(2)])
            }
            16 => {
                self.reset(At::Other);
                Step::GroupLists([Key::Property("t"), Key::Label][self.draw(2)])
            }
            17 => {
                self.reset(At::Other);
                let key = [Key::Property("n"), Key::Label][self.draw(2)];
                Step::GroupBy(key, vec![self.hop(), Step::Count])
            }
            18 => {
                self.at = At::Other;
                Step::Project(vec![("a", self.number()), ("b", self.number())])
            }
            19 | 20 if !self.way_open => {
                self.at = At::Other;
                Step::Path
            }
            21 if !self.way_open => Step::SimplePath,
            22 if !self.way_open => Step::CyclicPath,
            23 | 24 => {
                let label = ["k", "l"][self.draw(2)];
                if !self.labels.contains(&label) {
                    self.labels.push(label);
                }
                Step::As(label)
            }
            25 | 26 if !self.way_open && !self.labels.is_empty() => {
                let at = self.draw(self.labels.len());
                Step::Select(self.labels[at])
            }
            27 if !self.way_open && self.labels.len() == 2 => {
                self.at = At::Other;
                Step::SelectBoth
            }
            28 => Step::Where(self.condition()),
            29 => Step::Not(self.condition()),
            30 => match self.draw(2) {
                0 => Step::And(self.condition(), self.condition()),
                _ => Step::Or(self.condition(), self.condition()),
            },
            31 if !self.way_open && !self.labels.is_empty() => {
                let at = self.draw(self.labels.len());
                Step::WhereNeq(self.labels[at])
            }
            32 => Step::Union(self.hops(), self.hops()),
            33 => Step::Coalesce(self.hops(), self.hops()),
            34 => Step::Choose(self.condition(), self.hops(), self.hops()),
            35 => match self.draw(4) {
                0 => Step::Optional(self.hops()),
                1 => Step::FlatMap(self.hops()),
                2 => Step::Local(self.hops()),
                _ => {
                    self.at = At::Number;
                    Step::Map(self.number())
                }
            },
            36 => {
                let body = match self.draw(3) {
                    0 => vec![self.hop()],
                    1 => vec![self.hop(), Step::Has("n", self.test())],
                    _ => vec![Step::Union(self.hops(), self.hops())],
                };
                let until = if self.draw(3) == 0 { Some(self.condition()) } else { None };
                let emit = [Emit::No, Emit::Before, Emit::After][self.draw(3)];
                Step::Repeat { body, times: 1 + self.draw(3) as u32, emit, until }
            }
            _ => Step::Barrier,
        };
        steps.push(step);
    }

    fn add_to_scalars(&mut self, steps: &mut Vec<Step>) {
        let number = self.at == At::Number;
        let step = match self.draw(12) {
            0 if number => Step::Is(self.test()),
            1 => {
                self.way_open = true;
                Step::Dedup
            }
            2 => Step::Order(OrderBy::Itself, self.draw(2) == 1),
            3 => {
                steps.push(Step::Order(OrderBy::Itself, self.draw(2) == 1));
                self.way_open = true;
                Step::Limit(1 + self.draw(3) as u64)
            }
            4 if number => Step::Sum,
            5 if number => Step::Max,
            6 if number => Step::Min,
            7 if number => Step::Mean,
            8 => Step::Fold,
            9 if !self.way_open => {
                self.at = At::Other;
                Step::Path
            }
            10 => {
                self.at = At::Number;
                Step::Constant(self.draw(3) as i64)
            }
            _ => Step::Count,
        };
        match step {
            Step::Sum | Step::Max | Step::Min | Step::Count => self.reset(At::Number),
            Step::Mean | Step::Fold => self.reset(At::Other),
            _ => {}
        }
        steps.push(step);
    }
}

/// Writes steps as a script, each with the point before it.
pub(crate) fn script(steps: &[Step]) -> String {
    steps.iter().map(|step| format!(".{}", step_text(step))).collect()
}

fn child(steps: &[Step]) -> String {
    format!("__{}", script(steps))
}

fn quoted(label: &Option<&'static str>) -> String {
    label.map_or(String::new(), |label| format!("'{label}'"))
}

fn test_text(test: &Test) -> String {
    match test {
        Test::Eq(number) => format!("eq({number})"),
        Test::Neq(number) => format!("neq({number})"),
        Test::Gt(number) => format!("gt({number})"),
        Test::Lt(number) => format!("lt({number})"),
        Test::Within(left, right) => format!("within({left},{right})"),
    }
}

fn key_text(key: &Key) -> String {
    match key {
        Key::Property(name) => format!("by('{name}')"),
        Key::Label => "by(label)".into(),
    }
}

fn step_text(step: &Step) -> String {
    match step {
        Step::Hop(way, label) => {
            let name = match way {
                Way::Out => "out",
                Way::In => "in",
                Way::Both => "both",
            };
            format!("{name}({})", quoted(label))
        }
        Step::Edges(way, label) => {
            let name = match way {
                Way::Out => "outE",
                Way::In => "inE",
                Way::Both => "bothE",
            };
            format!("{name}({})", quoted(label))
        }
        Step::Ends(name) => format!("{name}()"),
        Step::Has(key, test) => format!("has('{key}',{})", test_text(test)),
        Step::HasLabel(label) => format!("hasLabel('{label}')"),
        Step::HasKey(key) => format!("has('{key}')"),
        Step::HasNot(key) => format!("hasNot('{key}')"),
        Step::Values(keys) => {
            format!("values({})", keys.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(","))
        }
        Step::Id => "id()".into(),
        Step::Label => "label()".into(),
        Step::Constant(number) => format!("constant({number})"),
        Step::Is(test) => format!("is({})", test_text(test)),
        Step::Dedup => "dedup()".into(),
        Step::Order(by, descending) => {
            let order = if *descending { "desc" } else { "asc" };
            match by {
                OrderBy::Itself => format!("order().by({order})"),
                OrderBy::Id => format!("order().by(id,{order})"),
                OrderBy::Key(key) => format!("order().by('{key}',{order}).by(id,{order})"),
            }
        }
        Step::Limit(amount) => format!("limit({amount})"),
        Step::Range(low, high) => format!("range({low},{high})"),
        Step::Tail(amount) => format!("tail({amount})"),
        Step::Count => "count()".into(),
        Step::Sum => "sum()".into(),
        Step::Max => "max()".into(),
        Step::Min => "min()".into(),
        Step::Mean => "mean()".into(),
        Step::Fold => "fold()".into(),
        Step::Unfold => "unfold()".into(),
        Step::GroupCount(key) => format!("groupCount().{}", key_text(key)),
        Step::GroupLists(key) => format!("group().{}", key_text(key)),
        Step::GroupBy(key, by) => format!("group().{}.by({})", key_text(key), child(by)),
        Step::Project(parts) => {
            let names: Vec<String> = parts.iter().map(|(name, _)| format!("'{name}'")).collect();
            let bys: String = parts.iter().map(|(_, by)| format!(".by({})", child(by))).collect();
            format!("project({}){bys}", names.join(","))
        }
        Step::Path => "path()".into(),
        Step::SimplePath => "simplePath()".into(),
        Step::CyclicPath => "cyclicPath()".into(),
        Step::As(label) => format!("as('{label}')"),
        Step::Select(label) => format!("select('{label}')"),
        Step::SelectBoth => "select('k','l')".into(),
        Step::Where(steps) => format!("where({})", child(steps)),
        Step::Not(steps) => format!("not({})", child(steps)),
        Step::And(left, right) => format!("and({},{})", child(left), child(right)),
        Step::Or(left, right) => format!("or({},{})", child(left), child(right)),
        Step::WhereNeq(label) => format!("where(neq('{label}'))"),
        Step::Union(left, right) => format!("union({},{})", child(left), child(right)),
        Step::Coalesce(left, right) => format!("coalesce({},{})", child(left), child(right)),
        Step::Choose(test, left, right) => {
            format!("choose({},{},{})", child(test), child(left), child(right))
        }
        Step::Optional(steps) => format!("optional({})", child(steps)),
        Step::Local(steps) => format!("local({})", child(steps)),
        Step::Map(steps) => format!("map({})", child(steps)),
        Step::FlatMap(steps) => format!("flatMap({})", child(steps)),
        Step::Repeat { body, times, emit, until } => {
            // Behind another repeat() that has none, emit() would be of that one.
            let before = if *emit == Emit::Before { "identity().emit()." } else { "" };
            let after = if *emit == Emit::After { ".emit()" } else { "" };
            let end = match until {
                None => format!(".times({times})"),
                Some(until) => format!(".until(__.or({},__.loops().is(gte({times}))))", child(until)),
            };
            format!("{before}repeat({}){end}{after}", child(body))
        }
        Step::Barrier => "barrier()".into(),
        Step::Identity => "identity()".into(),
    }
}
