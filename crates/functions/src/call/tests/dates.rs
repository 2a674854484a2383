//! Date functions: their argument and result types; the calendar has tests of its own.

use super::{NOW_TICKS, check, check_wrong_types, with_context};
use crate::testing::show;
use crate::{Function, call};

#[test]
fn moments() {
    check(&[
        ("DATETIMEADD('mm', 1, '2020-07-09T23:20:13.4575530Z')", "\"2020-08-09T23:20:13.4575530Z\""),
        ("DATETIMEADD('YYYY', -1, '2020-07-03')", "\"2019-07-03T00:00:00.0000000Z\""),
        // Ours: a day that the month lacks becomes its last.
        ("DATETIMEADD('month', 1, '2020-01-31')", "\"2020-02-29T00:00:00.0000000Z\""),
        ("DATETIMEADD('hh', 1.5, '2020-07-03')", "undefined"),
        ("DATETIMEADD('hh', 2.0, '2020-07-03')", "\"2020-07-03T02:00:00.0000000Z\""),
        ("DATETIMEADD('fortnight', 1, '2020-07-03')", "undefined"),
        ("DATETIMEADD('hh', 1, 'yesterday')", "undefined"),
        ("DATETIMEADD('yyyy', 9000, '2020-07-03')", "undefined"),
        ("DATETIMEDIFF('year', '2028-12-31T23:59:59', '2029-01-01')", "1"),
        ("DATETIMEDIFF('dd', '2019-02-04T16:00:00', '2018-03-05T05:00:00')", "-336"),
        ("DATETIMEDIFF('x', '2019-02-04', '2018-03-05')", "undefined"),
        ("DATETIMEPART('m', '2020-01-02T03:04:05.6789123Z')", "1"),
        ("DATETIMEPART('ns', '2016-05-29T08:30:00.1301617')", "130161700"),
        // Ours: there is no such part.
        ("DATETIMEPART('weekday', '2020-01-02')", "undefined"),
        ("DATETIMEBIN('2021-06-28T17:24:29.2991234Z', 'hh')", "\"2021-06-28T17:00:00.0000000Z\""),
        ("DATETIMEBIN('2021-01-08T18:35:00', 'hh', 5)", "\"2021-01-08T15:00:00.0000000Z\""),
        ("DATETIMEBIN('2021-01-08T18:35:00', 'dd', 7, '1601-01-01')", "\"2021-01-04T00:00:00.0000000Z\""),
        ("DATETIMEBIN('2021-01-08', 'dd', 0)", "undefined"),
        ("DATETIMEBIN('2021-01-08', 'dd', 1.5)", "undefined"),
        ("DATETIMEBIN('2021-01-08', 'dd', 1, 'x')", "undefined"),
        ("DATETIMEBIN('2021-01-08', 'dd', undefined)", "undefined"),
        // Ours: months and years have no bins.
        ("DATETIMEBIN('2021-01-08', 'mm')", "undefined"),
        ("DATETIMEFORMAT('2021-01-08T18:35:00', 'yyyy/MM/dd')", "\"2021/01/08\""),
        ("DATETIMEFROMPARTS(2017, 4, 20)", "\"2017-04-20T00:00:00.0000000Z\""),
        ("DATETIMEFROMPARTS(2017, 4, 20, 13, 15, 20, 3456789)", "\"2017-04-20T13:15:20.3456789Z\""),
        ("DATETIMEFROMPARTS(2017, 4.0, 20, 13, 15)", "\"2017-04-20T13:15:00.0000000Z\""),
        ("DATETIMEFROMPARTS(-2000, -1, -1)", "undefined"),
        ("DATETIMEFROMPARTS(2017, 4.5, 20)", "undefined"),
        ("DATETIMEFROMPARTS(2017, 4, 20, undefined)", "undefined"),
        ("DATETIMETOTICKS('2015-05-19T12:00:00')", "14320368000000000"),
        ("DATETIMETOTICKS('2020-01-02T03:04:05.6789123')", "15779342456789124"),
        ("DATETIMETOTIMESTAMP('2015-05-19T12:00:00')", "1432036800000"),
        ("DATETIMETOTIMESTAMP('1969-12-31T23:59:59.9999999')", "-1"),
        ("TICKSTODATETIME(15973607943002652)", "\"2020-08-13T23:19:54.3002652Z\""),
        ("TICKSTODATETIME(-116444736000000000)", "\"1601-01-01T00:00:00.0000000Z\""),
        ("TICKSTODATETIME(0.5)", "undefined"),
        ("TICKSTODATETIME(9223372036854775807)", "undefined"),
        ("TIMESTAMPTODATETIME(1597360794300)", "\"2020-08-13T23:19:54.3000000Z\""),
        ("TIMESTAMPTODATETIME(0.0)", "\"1970-01-01T00:00:00.0000000Z\""),
        ("TIMESTAMPTODATETIME(9223372036854775807)", "undefined"),
        ("YEAR('2020-03-04')", "2020"),
        ("MONTH('2020-03-04')", "3"),
        ("DAY('2020-03-04')", "4"),
        ("YEAR('2020')", "undefined"),
    ]);
    // The string among the other types names a part: the second.
    check_wrong_types("DATETIMEADD('dd', 1, '2020-01-01')", &["'s'", "1", ""]);
    check_wrong_types("DATETIMEDIFF('dd', '2020-01-01', '2020-01-01')", &["'s'", "", ""]);
    check_wrong_types("DATETIMEPART('dd', '2020-01-01')", &["'s'", ""]);
    check_wrong_types("DATETIMEBIN('2020-01-01', 'dd', 1, '2020-01-01')", &["", "'s'", "1", ""]);
    check_wrong_types("DATETIMEFORMAT('2020-01-01', 'yyyy')", &["", "'s'"]);
    check_wrong_types("DATETIMEFROMPARTS(2020, 1, 1, 1, 1, 1, 1)", &["1"; 7]);
    for name in ["DATETIMETOTICKS", "DATETIMETOTIMESTAMP", "YEAR", "MONTH", "DAY"] {
        check_wrong_types(&format!("{name}('2020-01-01')"), &[""]);
    }
    check_wrong_types("TICKSTODATETIME(1)", &["1"]);
    check_wrong_types("TIMESTAMPTODATETIME(1)", &["1"]);
}

#[test]
fn the_present() {
    check(&[
        ("GETCURRENTDATETIMESTATIC()", "\"2024-02-29T12:34:56.7891234Z\""),
        ("GETCURRENTTICKSSTATIC()", "17092100967891234"),
        ("GETCURRENTTIMESTAMPSTATIC()", "1709210096789"),
        ("NOW()", "\"2024-02-29T12:34:56.7891234Z\""),
        ("NOW('dd', 1)", "\"2024-03-01T12:34:56.7891234Z\""),
        ("NOW('dd', -1)", "\"2024-02-28T12:34:56.7891234Z\""),
        ("NOW('dd')", "undefined"),
        ("NOW('dd', '1')", "undefined"),
        ("AGO('hh', 1)", "\"2024-02-29T11:34:56.7891234Z\""),
        ("AGO('yyyy', 1)", "\"2023-02-28T12:34:56.7891234Z\""),
        ("AGO('hh', -9223372036854775808)", "undefined"),
        ("AGO('hh', 0.5)", "undefined"),
        ("AGO(null, 1)", "undefined"),
    ]);
    assert_eq!(NOW_TICKS % 2, 0, "or the double would show another number");
    // The others ask each time.
    with_context(false, |context| {
        let run = |function| show(&call(function, &[], context));
        assert_eq!(run(Function::GetCurrentDateTime), "\"2024-02-29T12:34:57.7891234Z\"");
        assert_eq!(run(Function::GetCurrentDateTime), "\"2024-02-29T12:34:58.7891234Z\"");
        assert_eq!(run(Function::GetCurrentTicks), "17092100997891234");
        assert_eq!(run(Function::GetCurrentTimestamp), "1709210100789");
    });
}
