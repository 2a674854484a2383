//! Tests of effective partition keys against vectors that the official clients' own code produced.
//!
//! One client leaves the trailing `01` of a null out in version 1; the rule, and the vector here, has it.

use super::*;

#[track_caller]
fn check(key: &str, version: HashVersion, hex: &str) {
    let key = PartitionKey::from_json(key.as_bytes()).unwrap();
    assert_eq!(hashed_key(&key, version).to_hex(), hex, "{}", key.to_json());
}

#[test]
fn single_values() {
    let long = |count: usize| format!(r#""{}""#, "a".repeat(count));
    let long_v1 = format!("05C1EB5921F70608{}00", "62".repeat(100));
    let cases: &[(&str, &str, &str)] = &[
        (r#""""#, "32E9366E637A71B4E710384B2F4970A0", "05C1CF33970FF80800"),
        (r#""a""#, "3A5381E1114EB8D3FCC90795045B49B7", "05C1D78593652C086200"),
        (
            r#""partitionKey""#,
            "013AEFCF77FA271571CF665A58C933F1",
            "05C1E1B3D9CD2608716273756A756A706F4C667A00",
        ),
        (r#""redmond""#, "22E342F38A486A088463DFF7838A5963", "05C1EFE313830C087366656E706F6500"),
        (r#""é""#, "007199F104E04116EE25AF912CA4889B", "05C1B3CD91912008C4AA00"),
        (r#""😀""#, "28D7FCB721E75FBE0DAC3D71DAB82766", "05C1814D5F9C08F1A0998100"),
        (&long(100), "0DBD7D229437BB665DE6417747994D57", &long_v1),
        (&long(101), "08042541D30C8BF90D7092B1519AE0BC", &long_v1),
        (&long(1024), "332BDF5512AE49615F32C7D98C2DB86C", &long_v1),
        ("0", "155B95BEDAC4B1E9EC1CDC9BB0DDDE58", "05C1BF6DA11560058000"),
        ("-0.0", "3D018BB1DF3DB27235766E81FD10406E", "05C1E703ED99A0058000"),
        ("1", "20CD98B339BA78A5D0CF6953B87070B0", "05C1ED172B6B2605BFF0"),
        ("-1", "19938E7A936C1C5B9E3AE842BBC16839", "05C1D1A5BDDF9C054010"),
        ("-1.5", "151793206780805FF6E1DCAE6C787B6A", "05C1E901090F44054008"),
        ("5", "19C08621B135968252FB34B4CF66F811", "05C1D9C1C5517C05C014"),
        ("5.0", "19C08621B135968252FB34B4CF66F811", "05C1D9C1C5517C05C014"),
        ("-128", "01DAEDABF913540367FE219B2AD06148", "05C1D73349F54C053FA0"),
        ("127", "0C507ACAC853ECA7977BF4CEFB562A25", "05C1DD539DDFCC05C05FE0"),
        ("3.14", "319C496AE088984E764AF1B65EF5394D", "05C1E179CD954C05C0098FAF0B1F5D153E"),
        ("1e300", "1234CB21048B20039B22F11DBB13CD7B", "05C1AB5FCFAF8005FE37F30F918103D738"),
        ("2147483648", "33327EB74B02C8B1C6AB54A7F3254A7A", "05C1DB83B57005C1E0"),
        ("true", "0E711127C5B5A8E4726AC6DD306A3E59", "05C1D7C5A903D803"),
        ("false", "2FE1BE91E90A3439635E0E9E37361EF2", "05C1DB857D857C02"),
        ("null", "378867E4430E67857ACE5C908374FE16", "05C1ED45D7475601"),
        ("{}", "11622DAA78F835834610ABE56EFF5CB5", "05C1D529E345DC00"),
    ];
    for (value, v2, v1) in cases {
        let key = format!("[{value}]");
        check(&key, HashVersion::V2, v2);
        check(&key, HashVersion::MultiHash, v2);
        check(&key, HashVersion::V1, v1);
    }
}

#[test]
fn hierarchical_keys() {
    let contoso = "23C3EC20CBEA798430F192F7BB985CAE";
    let cases = [
        (r#"["Contoso"]"#, contoso.to_owned()),
        (r#"["Contoso","alice"]"#, format!("{contoso}35EAEE8D6020FFCABDE75797DFE27C34")),
        (
            r#"["Contoso","alice","s1"]"#,
            format!("{contoso}35EAEE8D6020FFCABDE75797DFE27C342924A879AFFF52A411F93F1A83532751"),
        ),
        (
            r#"["Contoso",null,true]"#,
            format!("{contoso}378867E4430E67857ACE5C908374FE160E711127C5B5A8E4726AC6DD306A3E59"),
        ),
        (
            r#"["Contoso",{},1]"#,
            format!("{contoso}11622DAA78F835834610ABE56EFF5CB520CD98B339BA78A5D0CF6953B87070B0"),
        ),
        (
            "[1,2,3]",
            "20CD98B339BA78A5D0CF6953B87070B011BEC098BB8A08943F0A144281ACC26C192FBBAA0435B36FED85610B205D4DC0"
                .to_owned(),
        ),
        (
            r#"["t","u","s"]"#,
            "3B310042FC8EA24E4CB78FD8BFEDBAA729E7D08B5A25B26B4FB56A0F9A7E5DFD301928A9CC667CC96854CF504941EA5E"
                .to_owned(),
        ),
    ];
    for (key, hex) in cases {
        check(key, HashVersion::MultiHash, &hex);
    }
    let prefix = PartitionKey::from_json(br#"["t"]"#).unwrap();
    let (start, end) = prefix_range(&prefix);
    assert_eq!(start.to_hex(), "3B310042FC8EA24E4CB78FD8BFEDBAA7");
    assert_eq!(end.to_hex(), "3B310042FC8EA24E4CB78FD8BFEDBAA7FF");
    let full = PartitionKey::from_json(br#"["t","u","s"]"#).unwrap();
    assert!((start..end).contains(&hashed_key(&full, HashVersion::MultiHash)));
}

#[test]
fn version_1_cuts_strings_at_100_code_units() {
    let hash = |text: String| hashed_key(&PartitionKey(vec![Component::String(text)]), HashVersion::V1);
    // Half of the pair would be left: it becomes the replacement character.
    assert_eq!(hash(format!("{}😀", "a".repeat(99))), hash(format!("{}\u{fffd}", "a".repeat(99))));
    assert_ne!(hash(format!("{}😀", "a".repeat(98))), hash(format!("{}\u{fffd}", "a".repeat(98))));
    // One hundred code units of two bytes each: 101 bytes are shown, and no end mark.
    let key = hash("é".repeat(100));
    assert!(key.to_hex().ends_with(&format!("08{}C4", "C4AA".repeat(50))), "{key}");
}

#[test]
fn the_empty_key_is_the_start_of_the_ring() {
    for version in [HashVersion::V1, HashVersion::V2, HashVersion::MultiHash] {
        check("[]", version, "");
    }
}

#[test]
fn initial_cuts() {
    let hex = |count, version| -> Vec<String> {
        initial_bounds(count, version).iter().map(HashedKey::to_hex).collect()
    };
    let v2 = |digits: &str, fill: &str| format!("{digits}{}", fill.repeat(32 - digits.len()));
    assert_eq!(hex(1, HashVersion::V2), Vec::<String>::new());
    assert_eq!(hex(2, HashVersion::V2), [v2("1", "F")]);
    assert_eq!(hex(3, HashVersion::MultiHash), [v2("1", "5"), v2("2", "A")]);
    // One width for all, as the service has it.
    let last = |digits: &str, digit: &str| format!("{}{digit}", &v2(digits, "F")[..31]);
    assert_eq!(hex(4, HashVersion::V2), [v2("0", "F"), last("1", "E"), last("2", "D")]);
    assert_eq!(hex(5, HashVersion::V2)[3], format!("{}0", "3".repeat(31)));
    assert_eq!(hex(2, HashVersion::V1), ["05C1DFFFFFFFFC"]);
    assert_eq!(hex(4, HashVersion::V1), ["05C1CFFFFFFFF8", "05C1DFFFFFFFFC", "05C1E7FFFFFFFE"]);
    for version in [HashVersion::V1, HashVersion::V2] {
        let bounds = initial_bounds(1000, version);
        assert!(bounds.is_sorted() && bounds.len() == 999);
        assert!(bounds[0] > HashedKey::MIN && bounds[998] < HashedKey::MAX);
    }
    assert_eq!(initial_bounds(0, HashVersion::V2), []);
}

#[test]
fn hexadecimal_and_order() {
    assert_eq!(HashedKey::from_hex(""), Some(HashedKey::MIN));
    assert_eq!(HashedKey::from_hex("ff"), Some(HashedKey::MAX));
    for text in ["F", "0G", "+1", "é"] {
        assert_eq!(HashedKey::from_hex(text), None, "{text}");
    }
    for length in [47, 48, 49, 200] {
        let key = HashedKey::from_bytes(&vec![7; length]);
        assert_eq!(key.as_bytes().len(), length);
        assert_eq!(HashedKey::from_hex(&key.to_hex()), Some(key));
    }
    let [short, long] = ["1F", "1F0000"].map(|hex| HashedKey::from_hex(hex).unwrap());
    assert!(short < long);
    assert_eq!(short.cmp_bounds(&long), Ordering::Equal);
    assert_eq!(short.cmp_bounds(&HashedKey::from_hex("1F0001").unwrap()), Ordering::Less);
    assert_eq!(HashedKey::MIN.cmp_bounds(&HashedKey::from_hex("0000").unwrap()), Ordering::Equal);
}

#[test]
fn keys_of_version_1_begin_with_their_hash() {
    for (hash, start) in [(0, "0580"), (1, "05BFF0"), (u32::MAX, "05C1EFFFFFFFFE")] {
        assert!(hash_start_v1(hash).to_hex().starts_with(start), "{hash}: {}", hash_start_v1(hash));
    }
    // The hash of "redmond", see above.
    let key = hashed_key(&PartitionKey(vec![Component::String("redmond".into())]), HashVersion::V1);
    let hash = (0..32).rev().fold(0_u32, |below, bit| {
        let next = below | 1 << bit;
        if hash_start_v1(next) <= key { next } else { below }
    });
    assert!(key.as_bytes().starts_with(hash_start_v1(hash).as_bytes()), "{hash}");
}
