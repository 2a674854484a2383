//! Expressions that make no sense: each gives a value or a failure, and none panics or takes the stack.

use armilla_value::{Decimal, Legacy, Object, Value};

use super::{environment, object, scope, value};
use crate::Expression;
use crate::tree::random;

const LISTED: &[&str] = &[
    "$and",
    "$or",
    "$not",
    "$cond",
    "$ifNull",
    "$eq",
    "$gt",
    "$cmp",
    "$add",
    "$subtract",
    "$multiply",
    "$divide",
    "$mod",
    "$abs",
    "$ceil",
    "$floor",
    "$round",
    "$trunc",
    "$pow",
    "$sqrt",
    "$exp",
    "$ln",
    "$log10",
    "$log",
    "$bitAnd",
    "$bitOr",
    "$bitXor",
    "$bitNot",
    "$sin",
    "$acosh",
    "$atan2",
    "$degreesToRadians",
    "$concat",
    "$toLower",
    "$toUpper",
    "$substr",
    "$substrBytes",
    "$substrCP",
    "$strLenBytes",
    "$strLenCP",
    "$split",
    "$strcasecmp",
    "$indexOfBytes",
    "$indexOfCP",
    "$size",
    "$arrayElemAt",
    "$first",
    "$last",
    "$slice",
    "$in",
    "$indexOfArray",
    "$concatArrays",
    "$isArray",
    "$range",
    "$reverseArray",
    "$setUnion",
    "$setIntersection",
    "$setDifference",
    "$setEquals",
    "$setIsSubset",
    "$anyElementTrue",
    "$allElementsTrue",
    "$mergeObjects",
    "$objectToArray",
    "$arrayToObject",
    "$getField",
    "$bsonSize",
    "$binarySize",
    "$type",
    "$isNumber",
    "$tsSecond",
    "$toString",
    "$toInt",
    "$toLong",
    "$toDouble",
    "$toDecimal",
    "$toBool",
    "$toDate",
    "$toObjectId",
    "$sum",
    "$avg",
    "$min",
    "$max",
    "$stdDevPop",
    "$stdDevSamp",
    "$year",
    "$month",
    "$dayOfMonth",
    "$hour",
    "$dayOfWeek",
    "$dayOfYear",
    "$week",
    "$isoWeek",
    "$isoWeekYear",
    "$literal",
    "$rand",
    "$nope",
];

const NAMED: &[(&str, &[&str])] = &[
    ("$trim", &["input", "chars"]),
    ("$replaceAll", &["input", "find", "replacement"]),
    ("$regexFind", &["input", "regex", "options"]),
    ("$regexFindAll", &["input", "regex"]),
    ("$regexMatch", &["input", "regex"]),
    ("$zip", &["inputs", "defaults", "useLongestLength"]),
    ("$sortArray", &["input", "sortBy"]),
    ("$firstN", &["input", "n"]),
    ("$lastN", &["input", "n"]),
    ("$maxN", &["input", "n"]),
    ("$map", &["input", "in"]),
    ("$filter", &["input", "cond", "limit"]),
    ("$reduce", &["input", "initialValue", "in"]),
    ("$let", &["vars", "in"]),
    ("$switch", &["branches", "default"]),
    ("$getField", &["field", "input"]),
    ("$setField", &["field", "input", "value"]),
    ("$unsetField", &["field", "input"]),
    ("$convert", &["input", "to", "onError", "onNull"]),
    ("$median", &["input", "method"]),
    ("$percentile", &["input", "p", "method"]),
    ("$dateToString", &["date", "format", "timezone", "onNull"]),
    ("$dateFromString", &["dateString", "format", "timezone", "onError"]),
    ("$dateToParts", &["date", "timezone", "iso8601"]),
    ("$dateFromParts", &["year", "month", "day", "hour", "second", "millisecond", "timezone"]),
    ("$dateFromParts", &["isoWeekYear", "isoWeek", "isoDayOfWeek", "minute"]),
    ("$dateAdd", &["startDate", "unit", "amount", "timezone"]),
    ("$dateSubtract", &["startDate", "unit", "amount"]),
    ("$dateDiff", &["startDate", "endDate", "unit", "timezone", "startOfWeek"]),
    ("$dateTrunc", &["date", "unit", "binSize", "timezone", "startOfWeek"]),
];

struct Draws(u64);

impl Draws {
    fn below(&mut self, count: usize) -> usize {
        self.0 += 1;
        (random(7, self.0) * count as f64) as usize
    }

    fn leaf(&mut self) -> Value {
        let numbers =
            [0, 1, -1, 2, 7, 53, 366, 2020, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN];
        let doubles =
            [0.0, -0.0, 1.5, -1e308, 1e-320, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 9.3e18, 0.5];
        let texts = [
            "",
            "x",
            "é𝄞",
            "$a",
            "$$ROOT",
            "$$this",
            "$list.x",
            "$$value",
            "UTC",
            "America/New_York",
            "+05:30",
            "%Y-%m",
            "day",
            "week",
            "month",
            "hour",
            "2020-02-29T12:00:00Z",
            "int",
            "(a|b)*c",
            "approximate",
            "$text",
            "\0",
        ];
        let decimals =
            ["0", "-0", "1.5", "NaN", "Infinity", "9.999999999999999999999999999999999E+6144", "1E-6176"];
        match self.below(12) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 => Value::Int32(numbers[self.below(numbers.len())] as i32),
            3 => Value::Int64(numbers[self.below(numbers.len())]),
            4 => Value::Double(doubles[self.below(doubles.len())]),
            5 => {
                Value::Decimal128(decimals[self.below(decimals.len())].parse::<Decimal>().unwrap().to_bytes())
            }
            6 => Value::Date(numbers[self.below(numbers.len())]),
            7 => match self.below(7) {
                0 => Value::MinKey,
                1 => Value::Timestamp { seconds: u32::MAX, increment: 0 },
                2 => Value::ObjectId([0xFF; 12]),
                3 => Value::Binary { subtype: 2, bytes: vec![1, 2] },
                4 => Value::Regex { pattern: "a+".into(), options: "i".into() },
                5 => Value::Legacy(Box::new(Legacy::Undefined)),
                _ => Value::Legacy(Box::new(Legacy::Symbol("s".to_owned()))),
            },
            _ => Value::from(texts[self.below(texts.len())]),
        }
    }

    fn expression(&mut self, levels: usize) -> Value {
        if levels == 0 {
            return self.leaf();
        }
        match self.below(10) {
            0 => self.leaf(),
            1 => Value::Array((0..self.below(4)).map(|_| self.expression(levels - 1)).collect()),
            2 => Value::Object(
                (0..self.below(3)).map(|place| (["k", "v"][place], self.expression(levels - 1))).collect(),
            ),
            3..6 => {
                let (name, arguments) = NAMED[self.below(NAMED.len())];
                let mut object = Object::new();
                for argument in arguments {
                    if self.below(8) > 0 {
                        object.insert(*argument, self.expression(levels - 1));
                    }
                }
                Value::Object(Object::from([(name, object)]))
            }
            _ => {
                let name = LISTED[self.below(LISTED.len())];
                let count = 1 + self.below(3);
                let arguments: Vec<Value> = (0..count).map(|_| self.expression(levels - 1)).collect();
                Value::Object(Object::from([(name, arguments)]))
            }
        }
    }
}

#[test]
fn nothing_panics() {
    let document = object(
        r#"{"a": 5, "text": "ab-c", "list": [{"x": 1}, {"x": [2, "3"]}, null, 4.5], "empty": [], "o": {"k": "a", "v": 1}}"#,
    );
    let (mut draws, mut succeeded, mut failed) = (Draws(0), 0, 0);
    for _ in 0..60_000 {
        let expression = draws.expression(3);
        // Whole gigabytes are refused, but making a hundred megabytes again and again takes its time.
        let result = Expression::parse(&expression, &scope())
            .and_then(|expression| expression.evaluate(&document, &environment()));
        match result {
            Ok(_) => succeeded += 1,
            Err(error) => {
                assert!(error.code > 0 && error.message.len() < 20_000, "{error:?}");
                failed += 1;
            }
        }
    }
    assert!(succeeded > 5_000 && failed > 5_000, "{succeeded} {failed}");
}

#[test]
fn deep_expressions_fit_the_stack() {
    let wrap: [fn(Value) -> Value; 5] = [
        |inner| object_of("$let", r#"{"vars": {"x": 1}}"#, "in", inner),
        |inner| object_of("$map", r#"{"input": [1]}"#, "in", inner),
        |inner| object_of("$reduce", r#"{"input": [1, 2], "initialValue": 0}"#, "in", inner),
        |inner| Value::Object(Object::from([("$cond", vec![value("true"), inner, value("1")])])),
        |inner| Value::Object(Object::from([("$ifNull", vec![value("null"), inner])])),
    ];
    for (kind, wrap) in wrap.into_iter().enumerate() {
        // Only reduce doubles its work with each level.
        let levels = if kind == 2 { 12 } else { 190 };
        let mut expression = value(r#""$a""#);
        for _ in 0..levels {
            expression = wrap(expression);
        }
        let parsed = Expression::parse(&expression, &scope()).unwrap();
        parsed.evaluate(&object(r#"{"a": 1}"#), &environment()).unwrap();
    }
}

fn object_of(name: &str, members: &str, last: &str, inner: Value) -> Value {
    let mut arguments = object(members);
    arguments.insert(last, inner);
    Value::Object(Object::from([(name, arguments)]))
}
