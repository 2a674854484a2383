use super::*;

#[test]
fn arithmetic() {
    use Arithmetic::{Add, Divide, Multiply, Subtract};
    let decimal = |text: &str| Value::BigDecimal(text.into());
    let cases = [
        (Value::Int32(1), Add, Value::Int32(2), Value::Int32(3)),
        (Value::Int32(i32::MAX), Add, Value::Int32(1), Value::Int64(2_147_483_648)),
        (Value::Int64(i64::MAX), Add, Value::Int64(1), Value::BigInteger(9_223_372_036_854_775_808)),
        (Value::Byte(100), Add, Value::Byte(100), Value::Int16(200)),
        (Value::Int32(7), Divide, Value::Int32(2), Value::Int32(3)),
        (Value::Int32(7), Divide, Value::Double(2.0), Value::Double(3.5)),
        (Value::Int64(2), Multiply, Value::Int32(3), Value::Int64(6)),
        (Value::Float(0.5), Add, Value::Float(0.25), Value::Float(0.75)),
        (Value::Float(0.5), Add, Value::Double(0.25), Value::Double(0.75)),
        (Value::Int32(4), Divide, Value::Float(0.5), Value::Float(8.0)),
        (Value::Int64(4), Divide, Value::Float(0.5), Value::Double(8.0)),
        (decimal("0.10"), Add, decimal("0.2"), decimal("0.3")),
        (decimal("1.5"), Multiply, Value::Int32(2), decimal("3")),
        (decimal("1"), Subtract, decimal("1.25"), decimal("-0.25")),
    ];
    for (left, what, right, expected) in cases {
        let result = left.compute(what, &right).unwrap();
        assert!(result.equivalent(&expected), "{left} {what:?} {right} is {result:?}");
    }
    assert_eq!(
        Value::Int32(1).compute(Divide, &Value::Int32(0)).unwrap_err(),
        ArithmeticError::DivisionByZero
    );
    assert_eq!(Value::text("1").compute(Add, &Value::Int32(0)).unwrap_err(), ArithmeticError::NotANumber);
    assert_eq!(
        Value::BigInteger(i128::MAX).compute(Add, &Value::Int32(1)).unwrap_err(),
        ArithmeticError::Overflow
    );
}

#[test]
fn integers_and_reals_compare_exactly() {
    let large = 9_007_199_254_740_993i64;
    assert!(!Value::Int64(large).equals(&Value::Double(9_007_199_254_740_992.0)));
    assert!(Value::Int32(-1).equals(&Value::Double(-1.0)));
    assert_eq!(Value::Int32(-1).compare(&Value::Double(-1.5)), Some(Ordering::Greater));
}

/// Scales that no text can be written out for were written out, digit by digit.
#[test]
fn decimals_of_any_scale_are_computed_at_once() {
    let decimal = |text: &str| Value::BigDecimal(text.into());
    for text in ["1e-2000000000", "0e-2000000000", "0e2000000000", "1e2000000000", "1e-10001", "1e-9000"] {
        for what in [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide] {
            let result = decimal(text).compute(what, &decimal(text)).unwrap();
            assert!(result.to_string().len() < 20_000, "{text} {what:?}");
        }
        assert!(decimal(text).equivalent(&decimal(text)), "{text}");
    }
}
