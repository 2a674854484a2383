use super::*;

#[test]
fn programs_are_numbered_and_compared_by_their_texts() {
    let program = |body: &str| Program::new(body.to_owned()).unwrap();
    let (first, second) = (program("x => x"), program("x => x"));
    assert_eq!(first, second);
    assert_ne!(first.number(), second.number());
    assert_eq!(first.number(), first.clone().number());
    assert_ne!(first, program("x => 1"));
}

#[test]
fn long_texts_are_refused() {
    let longest = "x".repeat(PROGRAM_BYTES_MAX);
    assert!(Program::new(longest.clone()).is_ok());
    assert_eq!(Program::new(longest + "x"), Err(ScriptError::TooLong));
}
