//! Tests of decimals against the examples of the BSON specification.

use proptest::prelude::*;

use super::*;

#[test]
fn text_and_bytes() {
    // Text, the bits from the top as the specification's corpus gives them, and the canonical text.
    let cases = [
        ("0", 0x3040_0000_0000_0000_0000_0000_0000_0000u128, "0"),
        ("-0", 0xB040_0000_0000_0000_0000_0000_0000_0000, "-0"),
        ("0.1", 0x303E_0000_0000_0000_0000_0000_0000_0001, "0.1"),
        ("1.10", 0x303C_0000_0000_0000_0000_0000_0000_006E, "1.10"),
        ("-100E-10", 0xB02C_0000_0000_0000_0000_0000_0000_0064, "-1.00E-8"),
        ("0.0000001", 0x3032_0000_0000_0000_0000_0000_0000_0001, "1E-7"),
        ("0.000001", 0x3034_0000_0000_0000_0000_0000_0000_0001, "0.000001"),
        ("1E+3", 0x3046_0000_0000_0000_0000_0000_0000_0001, "1E+3"),
        (
            "1.000000000000000000000000000000000E+6144",
            0x5FFE_314D_C644_8D93_38C1_5B0A_0000_0000,
            "1.000000000000000000000000000000000E+6144",
        ),
        ("1E+6144", 0x5FFE_314D_C644_8D93_38C1_5B0A_0000_0000, "1.000000000000000000000000000000000E+6144"),
        ("1E-6176", 0x0000_0000_0000_0000_0000_0000_0000_0001, "1E-6176"),
        ("10E-6177", 0x0000_0000_0000_0000_0000_0000_0000_0001, "1E-6176"),
        (
            "9999999999999999999999999999999999",
            0x3041_ED09_BEAD_87C0_378D_8E63_FFFF_FFFF,
            "9999999999999999999999999999999999",
        ),
        ("NaN", 0x7C00_0000_0000_0000_0000_0000_0000_0000, "NaN"),
        ("inf", 0x7800_0000_0000_0000_0000_0000_0000_0000, "Infinity"),
        ("-Infinity", 0xF800_0000_0000_0000_0000_0000_0000_0000, "-Infinity"),
        ("0E+9999", 0x5FFE_0000_0000_0000_0000_0000_0000_0000, "0E+6111"),
    ];
    for (text, bits, canonical) in cases {
        let decimal: Decimal = text.parse().unwrap();
        assert_eq!(u128::from_le_bytes(decimal.to_bytes()), bits, "{text}");
        assert_eq!(Decimal::from_bytes(&bits.to_le_bytes()).to_string(), canonical, "{text}");
    }
}

#[test]
fn texts_that_are_none() {
    for text in ["", "-", ".", "e5", "1e", "1.2.3", "--1", "0x1", "1 ", "1e1.5", "é"] {
        assert_eq!(text.parse::<Decimal>(), Err(DecimalError::Malformed), "{text}");
    }
    for text in
        ["1E+6145", "1E-6177", "12345678901234567890123456789012345", "1E+99999999999", "1E-99999999999"]
    {
        assert_eq!(text.parse::<Decimal>(), Err(DecimalError::Inexact), "{text}");
    }
}

#[test]
fn non_canonical_coefficients_are_zero() {
    let beyond = 0x3040u128 << 112 | (COEFFICIENT_MAX + 1);
    let implied = 0x6C10u128 << 112 | 1;
    for bits in [beyond, implied] {
        assert!(matches!(Decimal::from_bytes(&bits.to_le_bytes()), Decimal::Finite { coefficient: 0, .. }));
    }
}

proptest! {
    #[test]
    fn text_round_trips(bytes: [u8; 16]) {
        let decimal = Decimal::from_bytes(&bytes);
        prop_assert_eq!(decimal.to_string().parse::<Decimal>(), Ok(decimal));
        prop_assert_eq!(Decimal::from_bytes(&decimal.to_bytes()), decimal);
    }
}
