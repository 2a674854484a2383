//! Dates: parts, texts, arithmetic, time zones.

use super::check;

// 2020-03-08T06:59:59.500Z: an hour before clocks in New York go forward, a Sunday.
const DOCUMENT: &str = r#"{
    "d": {"$date": {"$numberLong": "1583650799500"}},
    "y": {"$date": {"$numberLong": "1483228800000"}},
    "old": {"$date": {"$numberLong": "-62167219200001"}},
    "n": null, "s": "x", "tz": "America/New_York"
}"#;

#[test]
fn parts() {
    check(
        DOCUMENT,
        &[
            (r#"{"$year": "$d"}"#, "2020"),
            (r#"{"$month": ["$d"]}"#, "3"),
            (r#"{"$dayOfMonth": {"date": "$d"}}"#, "8"),
            (r#"{"$hour": {"date": "$d", "timezone": "$tz"}}"#, "1"),
            (r#"{"$hour": {"date": {"$add": ["$d", 500]}, "timezone": "$tz"}}"#, "3"),
            (r#"{"$hour": {"date": "$d", "timezone": "+05:30"}}"#, "12"),
            (r#"{"$minute": {"date": "$d", "timezone": "+0530"}}"#, "29"),
            (r#"{"$hour": {"date": "$d", "timezone": "-03"}}"#, "3"),
            (r#"{"$second": "$d"}"#, "59"),
            (r#"{"$millisecond": "$d"}"#, "500"),
            (r#"{"$dayOfWeek": "$d"}"#, "1"),
            (r#"{"$isoDayOfWeek": "$d"}"#, "7"),
            (r#"{"$dayOfYear": "$d"}"#, "68"),
            (r#"{"$week": "$d"}"#, "10"),
            (r#"{"$isoWeek": "$d"}"#, "10"),
            (r#"{"$isoWeekYear": "$y"}"#, "2016L"),
            (r#"{"$isoWeek": "$y"}"#, "52"),
            (r#"{"$week": "$y"}"#, "1"),
            (r#"{"$year": "$old"}"#, "-1"),
            (r#"{"$year": "$n"}"#, "null"),
            (r#"{"$year": "$s"}"#, "error 16006"),
            (r#"{"$year": {"$oid": "5f5e0ff00000000000000000"}}"#, "2020"),
            (r#"{"$year": "$$CLUSTER_TIME"}"#, "2020"),
            (r#"{"$year": {"date": "$d", "timezone": "Nowhere/Land"}}"#, "error 40485"),
            (r#"{"$year": {"date": "$d", "timezone": 1}}"#, "error 40517"),
            (r#"{"$year": {"date": "$d", "timezone": null}}"#, "null"),
            (r#"{"$year": {"date": "$d", "x": 1}}"#, "error 40535"),
            (r#"{"$year": {"timezone": "UTC"}}"#, "error 40539"),
            (r#"{"$year": ["$d", "$d"]}"#, "error 40536"),
            (
                r#"{"$dateToParts": {"date": "$d", "timezone": "$tz"}}"#,
                "{year: 2020, month: 3, day: 8, hour: 1, minute: 59, second: 59, millisecond: 500}",
            ),
            (
                r#"{"$dateToParts": {"date": "$y", "iso8601": true}}"#,
                "{isoWeekYear: 2016, isoWeek: 52, isoDayOfWeek: 7, hour: 0, minute: 0, second: 0, millisecond: 0}",
            ),
            (r#"{"$dateToParts": {"date": "$n"}}"#, "null"),
            (r#"{"$dateToParts": {"date": "$d", "iso8601": 1}}"#, "error 40521"),
        ],
    );
}

#[test]
fn made_of_parts() {
    check(
        DOCUMENT,
        &[
            (
                r#"{"$dateFromParts": {"year": 2017, "month": 2, "day": 8, "hour": 12}}"#,
                "date(2017-02-08T12:00:00.000Z)",
            ),
            (
                r#"{"$dateFromParts": {"year": 2017, "month": 14, "day": 0}}"#,
                "date(2018-01-31T00:00:00.000Z)",
            ),
            (
                r#"{"$dateFromParts": {"year": 2017, "hour": 46, "timezone": "America/New_York"}}"#,
                "date(2017-01-03T03:00:00.000Z)",
            ),
            (
                r#"{"$dateFromParts": {"isoWeekYear": 2017, "isoWeek": 6, "isoDayOfWeek": 3}}"#,
                "date(2017-02-08T00:00:00.000Z)",
            ),
            // In the hour that is left out, and in the one that comes twice.
            (
                r#"{"$dateFromParts": {"year": 2020, "month": 3, "day": 8, "hour": 2, "minute": 30, "timezone": "$tz"}}"#,
                "date(2020-03-08T07:30:00.000Z)",
            ),
            (
                r#"{"$dateFromParts": {"year": 2020, "month": 11, "day": 1, "hour": 1, "minute": 30, "timezone": "$tz"}}"#,
                "date(2020-11-01T05:30:00.000Z)",
            ),
            (r#"{"$dateFromParts": {"year": 2017, "month": null}}"#, "null"),
            (r#"{"$dateFromParts": {"month": 1}}"#, "error 40516"),
            (r#"{"$dateFromParts": {"year": 2017, "isoWeek": 1}}"#, "error 40489"),
            (r#"{"$dateFromParts": {"year": 10000}}"#, "error 40523"),
            (r#"{"$dateFromParts": {"year": 2017, "month": 32768}}"#, "error 31034"),
            (r#"{"$dateFromParts": {"year": 2017, "month": "x"}}"#, "error 40515"),
            (r#"{"$dateFromParts": {"year": 2017, "second": 9223372036854775807}}"#, "error 15"),
            (r#"{"$dateFromParts": {"year": 2017, "x": 1}}"#, "error 40518"),
        ],
    );
}

#[test]
fn texts() {
    check(
        DOCUMENT,
        &[
            (r#"{"$dateToString": {"date": "$d"}}"#, "'2020-03-08T06:59:59.500Z'"),
            (r#"{"$dateToString": {"date": "$d", "timezone": "$tz"}}"#, "'2020-03-08T01:59:59.500'"),
            (
                r#"{"$dateToString": {"date": "$d", "format": "%Y%m%d %H:%M:%S.%L %j %w %u %U %V %G %% %b %B"}}"#,
                "'20200308 06:59:59.500 068 1 7 10 10 2020 % Mar March'",
            ),
            (r#"{"$dateToString": {"date": "$d", "format": "%z %Z", "timezone": "-04:45"}}"#, "'-0445 -285'"),
            (r#"{"$dateToString": {"date": "$d", "format": "%i"}}"#, "error 18536"),
            (r#"{"$dateToString": {"date": "$d", "format": "%"}}"#, "error 18535"),
            (r#"{"$dateToString": {"date": "$d", "format": 1}}"#, "error 18533"),
            (r#"{"$dateToString": {"date": "$d", "format": null}}"#, "null"),
            (r#"{"$dateToString": {"date": "$n", "onNull": "none"}}"#, "'none'"),
            (r#"{"$dateToString": {"date": "$zzz"}}"#, "null"),
            (r#"{"$dateToString": {"date": "$old"}}"#, "error 18537"),
            (r#"{"$dateToString": {"format": "%Y"}}"#, "error 18628"),
            (r#"{"$dateToString": {"date": "$d", "x": 1}}"#, "error 18534"),
            (
                r#"{"$dateFromString": {"dateString": "2017-02-08T12:10:40.787"}}"#,
                "date(2017-02-08T12:10:40.787Z)",
            ),
            (
                r#"{"$dateFromString": {"dateString": "2017-02-08T12:10:40.787", "timezone": "$tz"}}"#,
                "date(2017-02-08T17:10:40.787Z)",
            ),
            (r#"{"$dateFromString": {"dateString": "2017-02-08"}}"#, "date(2017-02-08T00:00:00.000Z)"),
            (
                r#"{"$dateFromString": {"dateString": "2017-02-08T12:10:40Z"}}"#,
                "date(2017-02-08T12:10:40.000Z)",
            ),
            (
                r#"{"$dateFromString": {"dateString": "2017-02-08 12:10:40+02:00"}}"#,
                "date(2017-02-08T10:10:40.000Z)",
            ),
            (
                r#"{"$dateFromString": {"dateString": "2017-02-08 12:10:40 EST"}}"#,
                "date(2017-02-08T17:10:40.000Z)",
            ),
            (r#"{"$dateFromString": {"dateString": "20170208T121040"}}"#, "date(2017-02-08T12:10:40.000Z)"),
            (r#"{"$dateFromString": {"dateString": "2017-W06-3"}}"#, "date(2017-02-08T00:00:00.000Z)"),
            (r#"{"$dateFromString": {"dateString": "2017-039"}}"#, "date(2017-02-08T00:00:00.000Z)"),
            (r#"{"$dateFromString": {"dateString": "02/08/2017"}}"#, "date(2017-02-08T00:00:00.000Z)"),
            (
                r#"{"$dateFromString": {"dateString": "July 4th, 2017 11:56:02 pm"}}"#,
                "date(2017-07-04T23:56:02.000Z)",
            ),
            (
                r#"{"$dateFromString": {"dateString": "Tue, 4 Jul 2017 11:56 GMT"}}"#,
                "date(2017-07-04T11:56:00.000Z)",
            ),
            (
                r#"{"$dateFromString": {"dateString": "2017-02-08T12:10:40Z", "timezone": "$tz"}}"#,
                "error 241",
            ),
            (r#"{"$dateFromString": {"dateString": "2017-02-30"}}"#, "error 241"),
            (r#"{"$dateFromString": {"dateString": "July 4th"}}"#, "error 241"),
            (r#"{"$dateFromString": {"dateString": "ünsinn"}}"#, "error 241"),
            (r#"{"$dateFromString": {"dateString": ""}}"#, "error 241"),
            (r#"{"$dateFromString": {"dateString": "x", "onError": "bad"}}"#, "'bad'"),
            (r#"{"$dateFromString": {"dateString": 1, "onError": "bad"}}"#, "'bad'"),
            (r#"{"$dateFromString": {"dateString": 1}}"#, "error 241"),
            (r#"{"$dateFromString": {"dateString": null, "onNull": "none"}}"#, "'none'"),
            (
                r#"{"$dateFromString": {"dateString": "06-15-2018", "format": "%m-%d-%Y"}}"#,
                "date(2018-06-15T00:00:00.000Z)",
            ),
            (
                r#"{"$dateFromString": {"dateString": "15 Jun 2018 10:5:7 +0200", "format": "%d %b %Y %H:%M:%S %z"}}"#,
                "date(2018-06-15T08:05:07.000Z)",
            ),
            (
                r#"{"$dateFromString": {"dateString": "2017 6 3", "format": "%G %V %u"}}"#,
                "date(2017-02-08T00:00:00.000Z)",
            ),
            (r#"{"$dateFromString": {"dateString": "2018-06-15x", "format": "%Y-%m-%d"}}"#, "error 241"),
            (r#"{"$dateFromString": {"dateString": "2018", "format": "%Y-%m-%d"}}"#, "error 241"),
            (r#"{"$dateFromString": {"dateString": "2018", "format": "%U"}}"#, "error 18536"),
            (r#"{"$dateFromString": {"format": "%Y"}}"#, "error 40542"),
        ],
    );
}

#[test]
fn arithmetic() {
    check(
        DOCUMENT,
        &[
            (
                r#"{"$dateAdd": {"startDate": "$y", "unit": "month", "amount": 1}}"#,
                "date(2017-02-01T00:00:00.000Z)",
            ),
            (
                r#"{"$dateAdd": {"startDate": {"$dateFromString": {"dateString": "2020-01-31"}}, "unit": "month", "amount": 1}}"#,
                "date(2020-02-29T00:00:00.000Z)",
            ),
            (
                r#"{"$dateAdd": {"startDate": "$d", "unit": "day", "amount": 1, "timezone": "$tz"}}"#,
                "date(2020-03-09T05:59:59.500Z)",
            ),
            (
                r#"{"$dateAdd": {"startDate": "$d", "unit": "hour", "amount": 24, "timezone": "$tz"}}"#,
                "date(2020-03-09T06:59:59.500Z)",
            ),
            (
                r#"{"$dateSubtract": {"startDate": "$y", "unit": "quarter", "amount": 1}}"#,
                "date(2016-10-01T00:00:00.000Z)",
            ),
            (
                r#"{"$dateSubtract": {"startDate": "$y", "unit": "week", "amount": 1}}"#,
                "date(2016-12-25T00:00:00.000Z)",
            ),
            (
                r#"{"$dateAdd": {"startDate": "$y", "unit": "year", "amount": 3}}"#,
                "date(2020-01-01T00:00:00.000Z)",
            ),
            (
                r#"{"$dateAdd": {"startDate": "$y", "unit": "year", "amount": 9223372036854775807}}"#,
                "error 5166406",
            ),
            (r#"{"$dateAdd": {"startDate": "$y", "unit": "eon", "amount": 3}}"#, "error 9"),
            (r#"{"$dateAdd": {"startDate": "$y", "unit": "day", "amount": 1.5}}"#, "error 5166405"),
            (r#"{"$dateAdd": {"startDate": "$s", "unit": "day", "amount": 1}}"#, "error 5166403"),
            (r#"{"$dateAdd": {"startDate": "$y", "unit": "day"}}"#, "error 5166402"),
            (r#"{"$dateAdd": {"startDate": "$n", "unit": "day", "amount": 1}}"#, "null"),
            (r#"{"$dateDiff": {"startDate": "$y", "endDate": "$d", "unit": "year"}}"#, "3L"),
            (r#"{"$dateDiff": {"startDate": "$d", "endDate": "$y", "unit": "month"}}"#, "-38L"),
            (r#"{"$dateDiff": {"startDate": "$y", "endDate": "$d", "unit": "quarter"}}"#, "12L"),
            (r#"{"$dateDiff": {"startDate": "$y", "endDate": "$d", "unit": "day"}}"#, "1162L"),
            (r#"{"$dateDiff": {"startDate": "$y", "endDate": {"$add": ["$y", -1]}, "unit": "week"}}"#, "-1L"),
            (
                r#"{"$dateDiff": {"startDate": "$y", "endDate": {"$add": ["$y", -1]}, "unit": "week", "startOfWeek": "monday"}}"#,
                "0L",
            ),
            (r#"{"$dateDiff": {"startDate": "$d", "endDate": {"$add": ["$d", 600]}, "unit": "hour"}}"#, "1L"),
            (
                r#"{"$dateDiff": {"startDate": "$d", "endDate": {"$add": ["$d", 600]}, "unit": "hour", "timezone": "$tz"}}"#,
                "1L",
            ),
            (
                r#"{"$dateDiff": {"startDate": "$d", "endDate": {"$add": ["$d", 600]}, "unit": "millisecond"}}"#,
                "600L",
            ),
            (r#"{"$dateDiff": {"startDate": "$d", "endDate": "$s", "unit": "day"}}"#, "error 5166307"),
            (r#"{"$dateDiff": {"startDate": "$d", "endDate": "$d", "unit": "eon"}}"#, "error 5439014"),
            (r#"{"$dateDiff": {"startDate": "$d", "endDate": "$n", "unit": "day"}}"#, "null"),
            (r#"{"$dateTrunc": {"date": "$d", "unit": "hour"}}"#, "date(2020-03-08T06:00:00.000Z)"),
            (
                r#"{"$dateTrunc": {"date": "$d", "unit": "day", "timezone": "$tz"}}"#,
                "date(2020-03-08T05:00:00.000Z)",
            ),
            (r#"{"$dateTrunc": {"date": "$d", "unit": "week"}}"#, "date(2020-03-08T00:00:00.000Z)"),
            (
                r#"{"$dateTrunc": {"date": "$d", "unit": "week", "startOfWeek": "Mon"}}"#,
                "date(2020-03-02T00:00:00.000Z)",
            ),
            (
                r#"{"$dateTrunc": {"date": "$d", "unit": "month", "binSize": 2}}"#,
                "date(2020-03-01T00:00:00.000Z)",
            ),
            (r#"{"$dateTrunc": {"date": "$d", "unit": "quarter"}}"#, "date(2020-01-01T00:00:00.000Z)"),
            (
                r#"{"$dateTrunc": {"date": "$d", "unit": "year", "binSize": 3}}"#,
                "date(2018-01-01T00:00:00.000Z)",
            ),
            (
                r#"{"$dateTrunc": {"date": "$d", "unit": "minute", "binSize": 15}}"#,
                "date(2020-03-08T06:45:00.000Z)",
            ),
            (r#"{"$dateTrunc": {"date": "$old", "unit": "month"}}"#, "date(-001-12-01T00:00:00.000Z)"),
            (r#"{"$dateTrunc": {"date": "$d", "unit": "day", "binSize": 0}}"#, "error 5439018"),
            (r#"{"$dateTrunc": {"date": "$d", "unit": "day", "binSize": "x"}}"#, "error 5439017"),
            (r#"{"$dateTrunc": {"date": "$s", "unit": "day"}}"#, "error 5439012"),
            (r#"{"$dateTrunc": {"date": "$d", "unit": "week", "startOfWeek": "someday"}}"#, "error 5439016"),
            (r#"{"$dateTrunc": {"date": "$n", "unit": "day"}}"#, "null"),
        ],
    );
}

#[test]
fn no_date_and_no_text_panics() {
    let dates = [i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1, 0, -1];
    let zones = ["UTC", "America/New_York", "+14:00", "-12:00", "Asia/Kathmandu"];
    let expressions = [
        r#"{"$dateToParts": {"date": "$d", "timezone": "$z"}}"#,
        r#"{"$dateToParts": {"date": "$d", "timezone": "$z", "iso8601": true}}"#,
        r#"{"$dateToString": {"date": "$d", "timezone": "$z"}}"#,
        r#"{"$dateTrunc": {"date": "$d", "unit": "$u", "timezone": "$z", "binSize": 7}}"#,
        r#"{"$dateAdd": {"startDate": "$d", "unit": "$u", "timezone": "$z", "amount": "$m"}}"#,
        r#"{"$dateDiff": {"startDate": "$d", "endDate": "$e", "unit": "$u", "timezone": "$z"}}"#,
        r#"{"$toString": "$d"}"#,
        r#"{"$week": "$d"}"#,
    ];
    for ms in dates {
        for zone in zones {
            for unit in ["millisecond", "hour", "day", "week", "month", "quarter", "year"] {
                for amount in [i64::MIN, i64::MAX, -1, 1_000_000_000] {
                    let document = super::object(&format!(
                        r#"{{"d": {{"$date": {{"$numberLong": "{ms}"}}}}, "e": {{"$date": {{"$numberLong": "{}"}}}}, "z": "{zone}", "u": "{unit}", "m": {amount}}}"#,
                        ms.wrapping_neg()
                    ));
                    for expression in expressions {
                        super::evaluated(&document, expression);
                    }
                }
            }
        }
    }
    for text in [
        "2017-",
        "2017-02",
        "2017W",
        "99999999",
        "1",
        "1/",
        "1/1/",
        "12.",
        "T",
        "2017-01-01T",
        "2017-01-01T99",
        "2017-01-01T1:",
        "2017-01-01 +",
        "2017-01-01 +1:",
        "é",
        "2017-01-01é",
        "Mon",
        "Jan",
        "2017-01-01T12:00:00.",
        "2017-01-01T24:00:00",
        "00000000",
    ] {
        super::evaluated(
            &super::object("{}"),
            &format!(r#"{{"$dateFromString": {{"dateString": "{text}"}}}}"#),
        );
        for format in ["%Y", "%z", "%Z", "%b", "%L", "é"] {
            super::evaluated(
                &super::object("{}"),
                &format!(r#"{{"$dateFromString": {{"dateString": "{text}", "format": "{format}"}}}}"#),
            );
        }
    }
}
