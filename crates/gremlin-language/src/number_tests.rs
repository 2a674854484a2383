use super::number;

#[test]
fn numbers() {
    let table = [
        ("0", "Int32(0)"),
        ("7", "Int32(7)"),
        ("+7", "Int32(7)"),
        ("-7", "Int32(-7)"),
        ("123456789", "Int32(123456789)"),
        ("2147483647", "Int32(2147483647)"),
        ("2147483648", "Int64(2147483648)"),
        ("-2147483648", "Int32(-2147483648)"),
        ("-2147483649", "Int64(-2147483649)"),
        ("9223372036854775807", "Int64(9223372036854775807)"),
        ("9223372036854775808", "BigInteger(9223372036854775808)"),
        ("1_000_000", "Int32(1000000)"),
        ("1__0", "Int32(10)"),
        ("12b", "Byte(12)"),
        ("-128B", "Byte(-128)"),
        ("12s", "Int16(12)"),
        ("12S", "Int16(12)"),
        ("12i", "Int32(12)"),
        ("12I", "Int32(12)"),
        ("12l", "Int64(12)"),
        ("12L", "Int64(12)"),
        ("12n", "BigInteger(12)"),
        ("12N", "BigInteger(12)"),
        ("0x1F", "Int32(31)"),
        ("0XfF", "Int32(255)"),
        ("-0x10", "Int32(-16)"),
        ("0x1FL", "Int64(31)"),
        ("0xFFFFFFFF", "Int64(4294967295)"),
        ("0xA_B", "Int32(171)"),
        ("0xAb", "Int32(171)"),
        ("017", "Int32(15)"),
        ("0_17", "Int32(15)"),
        ("-017", "Int32(-15)"),
        ("017L", "Int64(15)"),
        ("00", "Int32(0)"),
        ("0L", "Int64(0)"),
        ("1.5", "Double(1.5)"),
        ("-1.5", "Double(-1.5)"),
        ("01.5", "Double(1.5)"),
        ("1e3", "Double(1000.0)"),
        ("1E-3", "Double(0.001)"),
        ("1.5e+2", "Double(150.0)"),
        ("1.5f", "Float(1.5)"),
        ("1F", "Float(1.0)"),
        ("1d", "Double(1.0)"),
        ("1.25D", "Double(1.25)"),
        ("1m", "BigDecimal(\"1\")"),
        ("-1.50M", "BigDecimal(\"-1.50\")"),
        ("1_0.2_5", "Double(10.25)"),
        ("1e400", "BigDecimal(\"1e400\")"),
        ("-Infinity", "Double(-inf)"),
        ("+Infinity", "Double(inf)"),
        ("-170141183460469231731687303715884105728", "BigInteger(-170141183460469231731687303715884105728)"),
        ("170141183460469231731687303715884105727", "BigInteger(170141183460469231731687303715884105727)"),
    ];
    for (text, value) in table {
        assert_eq!(format!("{:?}", number(text).unwrap()), value, "{text}");
    }
}

#[test]
fn what_is_no_number() {
    let table = [
        "128b",
        "40000s",
        "3000000000i",
        "9223372036854775808L",
        "09",
        "08",
        "1_",
        "1_L",
        "0x",
        "0xg",
        "0x_1",
        "1x",
        "1.5x",
        "1e",
        "1e+",
        "1._5",
        "1_.5",
        "1.5_",
        "1e_5",
        "1.5l",
        "1.5b",
        "12q",
        "1e5e5",
        "1abc",
        "170141183460469231731687303715884105728",
    ];
    for text in table {
        assert!(number(text).is_err(), "{text}: {:?}", number(text));
    }
    assert!(number(&format!("1.{}m", "1".repeat(2_000))).is_err());
    assert!(number(&"1".repeat(60_000)).is_err());
}

#[test]
fn messages_do_not_repeat_much() {
    for script in [format!("g.inject({})", "9".repeat(60_000)), format!("g.{}()", "x".repeat(60_000))] {
        let error = crate::parse(&script, &[], crate::Dialect::Open).unwrap_err();
        assert!(error.to_string().len() < 4 * 1_100, "{}", error.to_string().len());
    }
}
