//! Documents, filters, orders, updates and pipelines that are made up from a seed.
//!
//! Few names and few values, so that filters often find something; and among the values those that representations of
//! numbers, texts and dates are apt to get wrong.

use armilla_env::Random;
use armilla_value::{Decimal, Legacy, Object, Value};

use crate::values::single;

pub(crate) struct MadeUp {
    pub(crate) random: Random,
}

/// Paths that documents have, and some that lead into arrays by place or to nothing.
const PATHS: [&str; 20] = [
    "a", "a", "a", "a", "b", "b", "c", "c.d", "c.d", "a.b", "a.b", "a.b.c", "c.d.a", "b.0", "a.0", "a.0.b",
    "c.d.1", "id", "x", "a.x",
];
const TEXTS: [&str; 12] =
    ["", "a", "ab", "abc", "b", "A", "é", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{1F600}", "\u{1F600}a"];

impl MadeUp {
    pub(crate) fn new(seed: u64) -> MadeUp {
        // Another run: `ARMILLA_SEED=17 cargo test -p armilla-api-mongo --test it`.
        let other = std::env::var("ARMILLA_SEED").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        MadeUp { random: Random::new(seed + 1_000 * other) }
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        self.random.pick(all)
    }

    fn small(&mut self) -> i32 {
        self.random.below(6) as i32 - 1
    }

    pub(crate) fn number(&mut self) -> Value {
        match self.random.below(20) {
            0..=6 => Value::Int32(self.small()),
            7..=9 => Value::Int64(self.small().into()),
            10..=12 => Value::Double(self.small().into()),
            13 => Value::Double(*self.pick(&[
                0.5,
                1.5,
                -0.0,
                1e300,
                5e-324,
                9_007_199_254_740_992.0,
                9_007_199_254_740_994.0,
            ])),
            14 => Value::Double(*self.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])),
            15 | 16 => Value::Int64(*self.pick(&[
                9_007_199_254_740_991,
                9_007_199_254_740_992,
                9_007_199_254_740_993,
                i64::MAX,
                i64::MIN,
                i64::MAX - 1,
            ])),
            17 => {
                let coefficient = self.random.below(4).into();
                let exponent = *self.pick(&[0, 0, -1, 1]);
                let negative = self.random.one_in(4);
                Value::Decimal128(Decimal::Finite { negative, coefficient, exponent }.to_bytes())
            }
            18 => {
                let (coefficient, exponent) =
                    *self.pick(&[(15, -1), (9_007_199_254_740_993, 0), (1, 400), (1, -400), (10, -1)]);
                Value::Decimal128(Decimal::Finite { negative: false, coefficient, exponent }.to_bytes())
            }
            _ => {
                let special = *self.pick(&[
                    Decimal::NaN,
                    Decimal::Infinity { negative: false },
                    Decimal::Infinity { negative: true },
                ]);
                Value::Decimal128(special.to_bytes())
            }
        }
    }

    pub(crate) fn text(&mut self) -> String {
        if self.random.one_in(3) {
            (*self.pick(&TEXTS)).to_owned()
        } else {
            (*self.pick(&["a", "ab", "b"])).to_owned()
        }
    }

    pub(crate) fn scalar(&mut self) -> Value {
        match self.random.below(40) {
            0..=15 => self.number(),
            16..=22 => Value::String(self.text()),
            23..=25 => Value::Null,
            26..=28 => Value::Bool(self.random.one_in(2)),
            29 | 30 => Value::Date(*self.pick(&[
                0,
                -1,
                1,
                1_600_000_000_000,
                253_402_300_800_000,
                i64::MIN,
                i64::MAX,
            ])),
            31 | 32 => Value::ObjectId([self.random.below(3) as u8; 12]),
            33 => Value::Binary { subtype: *self.pick(&[0, 4, 128]), bytes: vec![1; self.random.index(4)] },
            // An empty one would become the time when it is stored.
            34 => Value::Timestamp {
                seconds: 1 + self.random.below(3) as u32,
                increment: self.random.below(2) as u32,
            },
            35 => Value::Regex {
                pattern: (*self.pick(&["^a", "b", "^ab"])).into(),
                options: (*self.pick(&["", "i"])).into(),
            },
            36 => self.pick(&[Value::MinKey, Value::MaxKey]).clone(),
            37 => {
                Value::Legacy(Box::new(self.pick(&[Legacy::Undefined, Legacy::Code("a".to_owned())]).clone()))
            }
            38 => Value::Array(Vec::new()),
            _ => Value::Object(Object::new()),
        }
    }

    pub(crate) fn value(&mut self, depth: usize) -> Value {
        if depth == 0 {
            return self.scalar();
        }
        match self.random.below(10) {
            0..=4 => self.scalar(),
            5..=7 => {
                let count = self.random.index(4);
                Value::Array((0..count).map(|_| self.value(depth - 1)).collect())
            }
            _ => Value::Object(self.members(depth - 1)),
        }
    }

    fn members(&mut self, depth: usize) -> Object {
        let mut object = Object::new();
        for _ in 0..self.random.index(4) {
            let name = *self.pick(&["b", "c", "d", "a", "0", "1"]);
            object.insert(name, self.value(depth));
        }
        object
    }

    /// Makes a document whose `_id` no other number's document has.
    pub(crate) fn document(&mut self, number: i32) -> Object {
        let id = match number % 7 {
            0 | 1 => Value::Int32(number),
            2 => Value::String(format!("k{number}")),
            3 => Value::Double(f64::from(number) + 0.5),
            4 => {
                let mut bytes = [9; 12];
                bytes[..4].copy_from_slice(&number.to_be_bytes());
                Value::ObjectId(bytes)
            }
            5 => Value::Date(i64::from(number)),
            _ => Value::Object(Object::from([("n", Value::Int64(number.into())), ("b", Value::Bool(true))])),
        };
        let mut document = Object::from([("_id", id)]);
        for name in ["a", "b", "c", "id", "_ts", "ttl"] {
            let (percent, depth) = match name {
                "a" | "c" => (85, 3),
                "b" => (85, 1),
                _ => (10, 1),
            };
            if self.random.percent(percent) {
                document.insert(name, self.value(depth));
            }
        }
        document
    }

    pub(crate) fn path(&mut self) -> &'static str {
        PATHS[self.random.index(PATHS.len())]
    }

    fn operand(&mut self) -> Value {
        if self.random.percent(85) { self.scalar() } else { self.value(2) }
    }

    fn operands(&mut self) -> Value {
        let count = self.random.index(4);
        Value::Array((0..count).map(|_| self.operand()).collect())
    }

    fn range(&mut self) -> Object {
        let names = ["$gt", "$gte", "$lt", "$lte"];
        let name = *self.pick(&names);
        let mut range = single(name, self.operand());
        if self.random.one_in(2) {
            let other = *self.pick(&names);
            range.insert(other, self.operand());
        }
        range
    }

    /// Makes the operators that a path is asked about.
    fn operators(&mut self, depth: usize) -> Object {
        match self.random.below(30) {
            0..=2 => single("$eq", self.operand()),
            3 | 4 => single("$ne", self.operand()),
            5..=10 => self.range(),
            11..=13 => single("$in", self.operands()),
            14 => single("$nin", self.operands()),
            15 | 16 => single("$exists", self.random.one_in(2)),
            17 => {
                let name = *self.pick(&[
                    "number",
                    "string",
                    "array",
                    "object",
                    "null",
                    "bool",
                    "date",
                    "undefined",
                    "long",
                ]);
                single("$type", name)
            }
            18 => single("$size", self.random.below(4) as i32),
            19 | 20 => single("$all", self.operands()),
            21 | 22 if depth > 0 => single("$elemMatch", self.operators(depth - 1)),
            23 | 24 if depth > 0 => single("$elemMatch", self.filter(depth - 1)),
            25 | 26 if depth > 0 => single("$not", self.operators(depth - 1)),
            27 | 28 => {
                let pattern = *self.pick(&["^a", "^ab", "b", "^", "a$", "^a|b", "^\u{1F600}", "^a.*c"]);
                Object::from([("$regex", pattern), ("$options", *self.pick(&["", "", "i", "s"]))])
            }
            29 => {
                single("$mod", Value::Array(vec![Value::Int32(2), Value::Int32(self.random.below(2) as i32)]))
            }
            _ => single("$bitsAllSet", Value::Int32(self.random.below(3) as i32)),
        }
    }

    fn condition(&mut self, depth: usize) -> Object {
        let path = self.path();
        if self.random.one_in(4) {
            return single(path, self.operand());
        }
        single(path, self.operators(depth))
    }

    pub(crate) fn filter(&mut self, depth: usize) -> Object {
        match self.random.below(12) {
            0 | 1 if depth > 0 => self.logical("$and", depth),
            2 | 3 if depth > 0 => self.logical("$or", depth),
            4 if depth > 0 => self.logical("$nor", depth),
            5 | 6 => {
                let mut filter = self.condition(depth);
                for (name, value) in self.condition(depth) {
                    filter.insert(name, value);
                }
                filter
            }
            7 if depth > 1 => {
                let name = *self.pick(&["$eq", "$gt", "$lte", "$ne"]);
                let path = Value::String(format!("${}", self.pick(&["a", "b", "c.d"])));
                single(
                    "$expr",
                    single(name, Value::Array(vec![path, single("$literal", self.scalar()).into()])),
                )
            }
            _ => self.condition(depth),
        }
    }

    fn logical(&mut self, name: &str, depth: usize) -> Object {
        let count = 1 + self.random.index(3);
        single(name, Value::Array((0..count).map(|_| self.filter(depth - 1).into()).collect()))
    }

    /// Makes a filter of a document by its `_id`, and perhaps more.
    pub(crate) fn filter_of_id(&mut self, ids: &[Value]) -> Object {
        let mut filter = match self.random.below(5) {
            0 | 1 => single("_id", self.pick(ids).clone()),
            2 => {
                let some = (0..1 + self.random.index(4)).map(|_| self.pick(ids).clone()).collect();
                single("_id", single("$in", Value::Array(some)))
            }
            3 => {
                let name = *self.pick(&["$gt", "$lt", "$gte", "$lte", "$ne"]);
                single("_id", single(name, self.pick(ids).clone()))
            }
            _ => {
                // The same number in another type.
                let number = self.random.below(200);
                let decimal = Decimal::Finite { negative: false, coefficient: number.into(), exponent: 0 };
                let forms = [
                    Value::Double(number as f64),
                    Value::Int64(number as i64),
                    Value::Decimal128(decimal.to_bytes()),
                ];
                single("_id", self.pick(&forms).clone())
            }
        };
        if self.random.one_in(3) {
            for (name, value) in self.condition(1) {
                filter.insert(name, value);
            }
        }
        filter
    }

    pub(crate) fn sort(&mut self) -> Object {
        let mut sort = Object::new();
        for _ in 0..1 + self.random.index(2) {
            let path = *self.pick(&["a", "b", "c", "c.d", "a.b", "_id", "id", "x"]);
            sort.insert(path, Value::Int32(*self.pick(&[1, -1])));
        }
        sort
    }

    /// Makes an update: operators mostly, a replacement or a pipeline now and then.
    pub(crate) fn update(&mut self) -> Value {
        match self.random.below(12) {
            0 => {
                let mut replacement = self.members(2);
                replacement.remove("_id");
                Value::Object(replacement)
            }
            1 => {
                let stage = match self.random.below(3) {
                    0 => single("$set", single("x", "$a")),
                    1 => single("$unset", *self.pick(&["a", "c.d", "b"])),
                    _ => single(
                        "$set",
                        single("c.d", single("$ifNull", Value::Array(vec!["$b".into(), self.number()]))),
                    ),
                };
                Value::Array(vec![stage.into()])
            }
            _ => {
                let mut update = Object::new();
                for _ in 0..1 + self.random.index(2) {
                    let (name, operand) = self.modifier();
                    update.insert(name, operand);
                }
                Value::Object(update)
            }
        }
    }

    fn modifier(&mut self) -> (&'static str, Object) {
        let path = *self.pick(&["a", "b", "c", "c.d", "a.b", "x", "x.y", "b.0", "a.$[]", "id"]);
        let name = *self.pick(&[
            "$set",
            "$set",
            "$unset",
            "$inc",
            "$mul",
            "$min",
            "$max",
            "$rename",
            "$push",
            "$addToSet",
            "$pop",
            "$pull",
            "$pullAll",
        ]);
        let operand = match name {
            "$unset" => Value::from(""),
            "$inc" | "$mul" => self.number(),
            "$rename" => Value::from(*self.pick(&["y", "c", "z.y"])),
            "$pop" => Value::Int32(*self.pick(&[1, -1])),
            "$pullAll" => self.operands(),
            "$pull" if self.random.one_in(2) => Value::Object(self.range()),
            "$push" if self.random.one_in(2) => {
                let mut push = single("$each", self.operands());
                push.insert("$slice", Value::Int32(self.small()));
                push.insert("$sort", Value::Int32(1));
                push.into()
            }
            _ => self.value(1),
        };
        (name, single(path, operand))
    }

    /// Makes a pipeline whose result has one order, or none that matters.
    pub(crate) fn pipeline(&mut self) -> Vec<Value> {
        let mut stages: Vec<Value> = Vec::new();
        if self.random.percent(80) {
            stages.push(single("$match", self.filter(1)).into());
        }
        if self.random.one_in(2) {
            // Ties would come in any order.
            let mut sort = self.sort();
            sort.remove("_id");
            sort.insert("_id", Value::Int32(*self.pick(&[1, -1])));
            stages.push(single("$sort", sort).into());
            if self.random.one_in(3) {
                stages.push(single("$skip", Value::Int32(self.random.below(30) as i32)).into());
            }
            if self.random.one_in(2) {
                stages.push(single("$limit", Value::Int32(1 + self.random.below(60) as i32)).into());
            }
        }
        match self.random.below(6) {
            0 => stages.push(single("$count", "n").into()),
            1 | 2 => {
                let key = *self.pick(&["$a", "$b", "$c.d"]);
                let mut group = single("_id", key);
                group.insert("n", single("$sum", Value::Int32(1)));
                group.insert("low", single("$min", *self.pick(&["$b", "$a", "$_id"])));
                group.insert("high", single("$max", *self.pick(&["$b", "$c", "$_id"])));
                stages.push(single("$group", group).into());
            }
            3 => {
                let include = *self.pick(&["a", "b", "c.d", "a.b"]);
                stages.push(single("$project", single(include, Value::Int32(1))).into());
            }
            4 => {
                stages.push(
                    single("$set", single("x", single("$type", *self.pick(&["$a", "$b", "$c.d"])))).into(),
                );
                stages.push(single("$match", self.filter(1)).into());
            }
            _ => {}
        }
        stages
    }
}
