//! Tests of compressors and of what is agreed about them.

use proptest::prelude::*;

use super::*;

const ALL: [Compressor; 4] = [Compressor::Noop, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd];

#[test]
fn the_client_order_counts() {
    use Compressor::*;
    assert_eq!(negotiate(["zstd", "snappy", "zlib"]), [Zstd, Snappy, Zlib]);
    assert_eq!(negotiate(["zlib", "lz4", "zlib", "snappy"]), [Zlib, Snappy]);
    assert_eq!(negotiate(["none"]), []);
    assert_eq!(negotiate(["noop"]), []);
    assert_eq!(negotiate([]), []);
}

#[test]
fn secrets_are_not_compressed() {
    for name in ["hello", "isMaster", "ismaster", "saslStart", "saslContinue", "createUser", "updateUser"] {
        assert!(!may_compress(name));
    }
    assert!(may_compress("find") && may_compress("ping"));
}

#[test]
fn numbers_and_names_go_both_ways() {
    for compressor in ALL {
        assert_eq!(Compressor::from_number(compressor.number()), Some(compressor));
        if compressor != Compressor::Noop {
            assert_eq!(Compressor::from_name(compressor.name()), Some(compressor));
        }
    }
    assert_eq!(Compressor::from_number(4), None);
}

#[test]
fn no_more_is_produced_than_announced() {
    let zeros = vec![0; 1_000_000];
    for compressor in ALL {
        let mut packed = Vec::new();
        compressor.compress(&zeros, &mut packed).unwrap();
        let mut out = Vec::new();
        compressor.decompress(&packed, zeros.len(), &mut out).unwrap();
        assert_eq!(out, zeros);
        for size in [0, 10, zeros.len() - 1, zeros.len() + 1] {
            let mut out = Vec::new();
            assert!(compressor.decompress(&packed, size, &mut out).is_err(), "{compressor:?} {size}");
            assert!(out.len() <= size + 1);
        }
    }
}

proptest! {
    #[test]
    fn what_is_compressed_comes_back(bytes in proptest::collection::vec(0u8..4, 0..2000)) {
        for compressor in ALL {
            let mut packed = vec![1];
            compressor.compress(&bytes, &mut packed).unwrap();
            let mut out = vec![2];
            compressor.decompress(&packed[1..], bytes.len(), &mut out).unwrap();
            prop_assert_eq!(&out[1..], &bytes[..]);
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..100), size in 0usize..1000) {
        for compressor in ALL {
            let mut out = Vec::new();
            _ = compressor.decompress(&bytes, size, &mut out);
            prop_assert!(out.len() <= size + 1);
        }
    }
}
