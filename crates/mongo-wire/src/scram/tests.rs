//! Tests of SCRAM: the examples of the RFCs, and a client that says the right and the wrong things.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::*;

const SECRET: &[u8] = b"secret of the server";

fn rounds(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

/// Runs one of the RFCs' examples, in which the password itself is hashed.
#[track_caller]
fn check_example(mechanism: Mechanism, nonces: (&str, &str), salt: &str, proof: &str, signature: &str) {
    let salt = STANDARD.decode(salt).unwrap();
    let credential = Credential::derive(mechanism, "pencil", &salt, rounds(4096));
    let account = Account { salt: salt.clone(), iterations: 4096, credentials: vec![credential] };
    let first = format!("n,,n=user,r={}", nonces.0);
    let (conversation, reply) =
        ServerConversation::start(mechanism, first.as_bytes(), |_| Some(account), nonces.1, SECRET).unwrap();
    let expected = format!("r={}{},s={},i=4096", nonces.0, nonces.1, STANDARD.encode(&salt));
    assert_eq!(String::from_utf8(reply).unwrap(), expected);
    let last = format!("c=biws,r={}{},p={proof}", nonces.0, nonces.1);
    let finished = conversation.finish(last.as_bytes()).unwrap();
    assert_eq!(finished.payload, format!("v={signature}").into_bytes());
    assert_eq!((finished.user.as_str(), finished.credential), ("user", 0));
}

#[test]
fn the_example_of_rfc_5802() {
    check_example(
        Mechanism::Sha1,
        ("fyko+d2lbbFgONRv9qkxdawL", "3rfcNHYJY1ZVvWVs7j"),
        "QSXCR+Q6sek8bf92",
        "v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        "rmF9pqV8S7suAoZWja4dJRkFsKQ=",
    );
}

#[test]
fn the_example_of_rfc_7677() {
    check_example(
        Mechanism::Sha256,
        ("rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"),
        "W22ZaJ0SNY7soEsUEjb6gQ==",
        "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    );
}

/// A client: returns its last message and the signature that it expects of the server.
fn answer(
    mechanism: Mechanism,
    user: &str,
    password: &str,
    first_bare: &str,
    server: &str,
) -> (String, String) {
    let attribute = |letter: &str| server.split(',').find_map(|text| text.strip_prefix(letter)).unwrap();
    let salt = STANDARD.decode(attribute("s=")).unwrap();
    let iterations = rounds(attribute("i=").parse().unwrap());
    let text = password_text(mechanism, user, password).unwrap();
    let mut salted = vec![0; mechanism.key_bytes()];
    ring::pbkdf2::derive(mechanism.pbkdf2(), iterations, &salt, text.as_bytes(), &mut salted);
    let client_key = mechanism.sign(&salted, b"Client Key");
    let stored_key = ring::digest::digest(mechanism.digest(), &client_key);
    let without_proof = format!("c=biws,r={}", attribute("r="));
    let message = format!("{first_bare},{server},{without_proof}");
    let signature = mechanism.sign(stored_key.as_ref(), message.as_bytes());
    let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
    let server_signature = mechanism.sign(&mechanism.sign(&salted, b"Server Key"), message.as_bytes());
    (
        format!("{without_proof},p={}", STANDARD.encode(proof)),
        format!("v={}", STANDARD.encode(server_signature)),
    )
}

/// Lets a client with a password in, where the account has those passwords.
fn converse(
    mechanism: Mechanism,
    user: &str,
    password: &str,
    passwords: &[&str],
) -> Result<Finished, ScramError> {
    let bare = format!("n={},r=abc", user.replace('=', "=3D").replace(',', "=2C"));
    let salt = salt_of(mechanism, user, SECRET);
    let lookup = |name: &str| {
        assert_eq!(name, user);
        Some(Account::derive(mechanism, user, passwords, &salt, rounds(4096)).unwrap())
    };
    let first = format!("n,,{bare}");
    let nonce = nonce_text(&[7; 24]);
    let (conversation, reply) =
        ServerConversation::start(mechanism, first.as_bytes(), lookup, &nonce, SECRET).unwrap();
    assert_eq!((conversation.user(), conversation.mechanism()), (user, mechanism));
    let (last, signature) = answer(mechanism, user, password, &bare, std::str::from_utf8(&reply).unwrap());
    let finished = conversation.finish(last.as_bytes())?;
    assert_eq!(finished.payload, signature.into_bytes());
    Ok(finished)
}

#[test]
fn any_of_several_keys_is_accepted_and_told() {
    let keys = [
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
        "b",
        "c",
        "d",
    ];
    for mechanism in [Mechanism::Sha1, Mechanism::Sha256] {
        for (index, key) in keys.iter().enumerate() {
            assert_eq!(converse(mechanism, "localhost", key, &keys).unwrap().credential, index);
        }
        assert_eq!(converse(mechanism, "localhost", "e", &keys), Err(ScramError::Failed));
        assert_eq!(converse(mechanism, "localhost", "", &keys), Err(ScramError::Failed));
    }
}

#[test]
fn names_may_have_commas_and_equal_signs() {
    for user in ["a,b", "=", "a=2C", "é,=,"] {
        assert_eq!(converse(Mechanism::Sha256, user, "p", &["p"]).unwrap().user, user);
        assert_eq!(converse(Mechanism::Sha1, user, "p", &["p"]).unwrap().user, user);
    }
}

#[test]
fn passwords_compare_however_they_were_typed() {
    // The ligature, a space that is none, and a soft hyphen, by which SASLprep does what RFC 4013 shows.
    assert!(converse(Mechanism::Sha256, "u", "\u{2168}", &["IX"]).is_ok());
    assert!(converse(Mechanism::Sha256, "u", "I\u{ad}X", &["IX"]).is_ok());
    assert!(converse(Mechanism::Sha256, "u", "a\u{a0}b", &["a b"]).is_ok());
    assert_eq!(password_text(Mechanism::Sha256, "u", "\u{7}"), Err(ScramError::Password));
    assert_eq!(password_text(Mechanism::Sha256, "u", "\u{627}\u{31}"), Err(ScramError::Password));
    assert_eq!(password_text(Mechanism::Sha1, "user", "pencil").unwrap(), "1c33006ec1ffd90f9cadcbcc0e118200");
}

#[test]
fn a_user_who_does_not_exist_looks_like_one_who_does() {
    for mechanism in [Mechanism::Sha1, Mechanism::Sha256] {
        let start = |user: &str, secret: &[u8]| {
            let first = format!("n,,n={user},r=abc");
            ServerConversation::start(mechanism, first.as_bytes(), |_| None, "xyz", secret).unwrap()
        };
        let (conversation, reply) = start("who", SECRET);
        assert_eq!(reply, start("who", SECRET).1);
        assert_ne!(reply, start("whom", SECRET).1);
        assert_ne!(reply, start("who", b"another").1);
        let reply = String::from_utf8(reply).unwrap();
        assert!(reply.ends_with(&format!(",i={}", mechanism.default_iterations())));
        let salt = reply.split(',').nth(1).unwrap().strip_prefix("s=").unwrap();
        assert_eq!(STANDARD.decode(salt).unwrap().len(), mechanism.salt_bytes());
        let (last, _) = answer(mechanism, "who", "", "n=who,r=abc", &reply);
        assert_eq!(conversation.finish(last.as_bytes()), Err(ScramError::Failed));
        // An account without credentials is none.
        let empty = Account { salt: vec![1], iterations: 1, credentials: vec![] };
        let (_, of_empty) =
            ServerConversation::start(mechanism, b"n,,n=who,r=abc", |_| Some(empty), "xyz", SECRET).unwrap();
        assert_eq!(of_empty, reply.into_bytes());
    }
}

#[test]
fn first_messages_of_another_form_are_refused() {
    for (text, what) in [
        ("", "channel binding"),
        ("n", "channel binding"),
        ("p=tls-unique,,n=u,r=a", "channel binding"),
        ("x,,n=u,r=a", "channel binding"),
        ("n,a=other,n=u,r=a", "identity"),
        ("n,b,n=u,r=a", "identity"),
        ("n,,", "user name"),
        ("n,,n=,r=a", "user name"),
        ("n,,m=ext,n=u,r=a", "user name"),
        ("n,,n=a=b,r=a", "user name"),
        ("n,,n=a=,r=a", "user name"),
        ("n,,n=a=2c,r=a", "user name"),
        ("n,,n=u", "nonce"),
        ("n,,n=u,r=", "nonce"),
        ("n,,n=u,r=a b", "nonce"),
        ("n,,n=u,r=é", "nonce"),
    ] {
        let result = ServerConversation::start(Mechanism::Sha256, text.as_bytes(), |_| None, "xyz", SECRET)
            .map(|_| ());
        assert_eq!(result, Err(ScramError::Malformed(what)), "{text}");
    }
    for text in ["y,,n=u,r=a", "n,a=u,n=u,r=a", "n,,n=u,r=a,x=extension"] {
        assert!(ServerConversation::start(Mechanism::Sha256, text.as_bytes(), |_| None, "x", SECRET).is_ok());
    }
    let long = format!("n,,n={},r=a", "u".repeat(SCRAM_PAYLOAD_BYTES_MAX - 8));
    assert!(ServerConversation::start(Mechanism::Sha1, long.as_bytes(), |_| None, "x", SECRET).is_err());
    let long = format!("n,,n={},r=a", "u".repeat(SCRAM_PAYLOAD_BYTES_MAX - 9));
    assert!(ServerConversation::start(Mechanism::Sha1, long.as_bytes(), |_| None, "x", SECRET).is_ok());
    for length in [NONCE_BYTES_MAX, NONCE_BYTES_MAX + 1] {
        let text = format!("n,,n=u,r={}", "a".repeat(length));
        let result = ServerConversation::start(Mechanism::Sha1, text.as_bytes(), |_| None, "x", SECRET);
        assert_eq!(result.is_ok(), length == NONCE_BYTES_MAX);
    }
    for nonce in ["", "a,b", "a b"] {
        assert!(ServerConversation::start(Mechanism::Sha1, b"n,,n=u,r=a", |_| None, nonce, SECRET).is_err());
    }
}

#[test]
fn last_messages_that_do_not_fit_are_refused() {
    let mechanism = Mechanism::Sha256;
    let salt = [1; 28];
    let account = Account::derive(mechanism, "u", &["p"], &salt, rounds(4096)).unwrap();
    let (conversation, reply) =
        ServerConversation::start(mechanism, b"n,,n=u,r=abc", |_| Some(account), "xyz", SECRET).unwrap();
    let (last, _) = answer(mechanism, "u", "p", "n=u,r=abc", std::str::from_utf8(&reply).unwrap());
    assert!(conversation.clone().finish(last.as_bytes()).is_ok());
    let refused = |text: &str| conversation.clone().finish(text.as_bytes()).unwrap_err();
    assert_eq!(refused(&last.replace("biws", "eSws")), ScramError::Failed);
    assert_eq!(refused(&last.replace("abcxyz", "abcxyy")), ScramError::Failed);
    assert_eq!(refused(&last.replace("abcxyz", "abc")), ScramError::Failed);
    assert_eq!(refused("c=biws,r=abcxyz"), ScramError::Malformed("proof"));
    assert_eq!(refused("c=biws,r=abcxyz,p=###"), ScramError::Malformed("proof"));
    assert_eq!(refused("c=biws,r=abcxyz,p="), ScramError::Failed);
    assert_eq!(refused("r=abcxyz,p=AAAA"), ScramError::Malformed("channel binding"));
    assert_eq!(refused("c=biws,p=AAAA"), ScramError::Malformed("nonce"));
    assert_eq!(refused(&last.replace(",p=", ",x=1,p=")), ScramError::Failed);
}

#[test]
fn keys_are_not_shown() {
    let credential = Credential::derive(Mechanism::Sha1, "p", b"salt", rounds(1));
    assert_eq!(format!("{credential:?}"), "Credential");
}

#[test]
fn mechanisms_have_names() {
    for mechanism in [Mechanism::Sha1, Mechanism::Sha256] {
        assert_eq!(Mechanism::from_name(mechanism.name()), Some(mechanism));
    }
    assert_eq!(Mechanism::from_name("PLAIN"), None);
    assert_eq!((Mechanism::Sha1.salt_bytes(), Mechanism::Sha256.salt_bytes()), (16, 28));
}

proptest! {
    #[test]
    fn random_payloads_do_no_harm(
        first in "[ny]?,?,?(n=|r=)?[a-z=,2CD3]{0,8},?(r=)?.{0,6}",
        last in "(c=biws)?,?(r=abcxyz)?,?(p=)?[A-Za-z=]{0,12}",
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let start = |payload: &[u8]| ServerConversation::start(Mechanism::Sha1, payload, |_| None, "xyz", SECRET);
        _ = start(first.as_bytes());
        _ = start(&bytes);
        let (conversation, _) = start(b"n,,n=u,r=abc").unwrap();
        prop_assert!(conversation.clone().finish(last.as_bytes()).is_err());
        prop_assert!(conversation.finish(&bytes).is_err());
    }
}
